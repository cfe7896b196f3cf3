"""Numbers as the five papers print them, and as they hold, at a reader's settings."""
