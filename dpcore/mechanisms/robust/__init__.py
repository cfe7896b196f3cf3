"""One number about many people: means and medians."""
