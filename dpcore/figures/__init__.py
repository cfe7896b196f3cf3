"""Pictures as plain Vega-Lite specifications: pure functions, no plotting library."""
