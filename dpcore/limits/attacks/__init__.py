"""Reconstructions from releases that are too accurate, and the dimensions of classes they need."""
