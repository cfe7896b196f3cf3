"""Data for intervals and rectangles: cut at private quantiles."""
