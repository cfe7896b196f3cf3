"""Requests for a release, which are public: as values and as JSON files."""
