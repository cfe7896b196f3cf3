"""What rows can be, where they come from, and how a file becomes a data set."""
