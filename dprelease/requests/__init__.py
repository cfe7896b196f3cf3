"""Requests for a release: public, as a value and as a JSON file."""
