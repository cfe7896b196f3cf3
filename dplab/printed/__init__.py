"""What the five papers print, beside what holds, at a reader's settings."""
