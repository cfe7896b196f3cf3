"""What pages share: session rules, controls made from declared parameters, badges, cards, charts."""
