"""Domains whose cells nobody lists."""
