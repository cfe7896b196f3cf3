"""Benchmarks: ratios against peers and limits, measured interleaved in one run. `python3 run.py bench`."""
