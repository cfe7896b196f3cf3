"""What no private mechanism can do, as numbers with witnesses."""
