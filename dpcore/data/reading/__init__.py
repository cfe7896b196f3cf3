"""Files of strangers: checked while they are copied, read by a locked-down DuckDB, tidied away."""
