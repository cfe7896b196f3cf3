"""What keeps chance out of the tests: digits within random words, examples of a property."""
