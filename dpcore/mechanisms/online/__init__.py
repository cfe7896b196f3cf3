"""Conversations: queries asked one at a time, answered from a public belief or, rarely, from the data."""
