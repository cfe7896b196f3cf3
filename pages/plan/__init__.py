"""Plan: which questions of a table, by which mechanism, at what price, and how wrong the answers will be."""
