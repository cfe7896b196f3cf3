"""Data dictionaries of other programs, read into declarations of tables and written back."""
