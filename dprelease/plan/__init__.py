"""Release plans: which questions of one declared table, by which mechanism, at which share of the privacy loss."""
