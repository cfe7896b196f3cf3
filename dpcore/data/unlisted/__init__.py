"""Domains whose cells are not listed."""
