"""Stores of a ledger's data sets: SQLite files in its folder, or schemas of a Postgres database."""
