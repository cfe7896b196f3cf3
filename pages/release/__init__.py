"""Release: do it once, for real, and prove it."""
