"""Mechanisms beside the bounds and attacks of `dpcore.limits`."""
