"""Statistics by group: errors beside what others release, coverage of intervals, and times."""
