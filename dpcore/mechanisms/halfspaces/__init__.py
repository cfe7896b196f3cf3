"""Geometry of the halfspace release: sets of directions, counts on a side, and random projections."""
