"""Conversations: questions asked one at a time, answered from what is believed or, rarely, from the data."""
