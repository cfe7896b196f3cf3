"""Where the data sets of a ledger are kept: files of SQLite in its folder, or schemas of a Postgres database."""
