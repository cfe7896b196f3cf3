"""Noise on every cell of a histogram, or on those that are not empty."""
