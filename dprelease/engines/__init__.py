"""Tables in an engine: a folder of Parquet files, a database or a cluster. Only counts of cells leave the engine."""
