"""What was let out of each data set and what it cost: one SQLite file per data set, in a folder of the user's."""
