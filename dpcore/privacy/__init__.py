"""Costs of several releases together: composition and conversion of guarantees, and exact Gaussian deltas."""
