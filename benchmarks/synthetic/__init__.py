"""Synthetic rows of the bundled Adult table: how near they are, and what they are good for."""
