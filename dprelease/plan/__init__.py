"""Release plans: statistics of one declared table, each with a mechanism and a share of the privacy budget."""
