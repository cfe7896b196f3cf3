"""Domains of rows, sources of rows, and the reading of files."""
