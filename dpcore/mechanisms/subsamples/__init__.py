"""Answers that many small subsamples of the data agree on."""
