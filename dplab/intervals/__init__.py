"""Intervals for true values, given a release of noisy counters: post-processing, so they cost no privacy budget."""
