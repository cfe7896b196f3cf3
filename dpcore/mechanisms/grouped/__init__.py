"""Statistics of a number in every group of a table, from counters that share each row."""
