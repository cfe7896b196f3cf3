"""Classes of counting queries: ranges of cells, weighted sums, at least r of k attributes."""
