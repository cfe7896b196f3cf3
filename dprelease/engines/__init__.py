"""Tables that an engine keeps: a folder of Parquet files, a database, a cluster. Only counts of cells leave it."""
