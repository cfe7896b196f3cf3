"""Reading of untrusted files: checked while they are copied, read by a locked-down DuckDB, removed afterwards."""
