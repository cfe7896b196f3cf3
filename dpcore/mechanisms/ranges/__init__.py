"""Strategies for prefixes and ranges on a line: measurements with a small least-squares error."""
