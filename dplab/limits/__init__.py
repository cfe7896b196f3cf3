"""Run mechanisms against the bounds and attacks of `dpcore.limits`."""
