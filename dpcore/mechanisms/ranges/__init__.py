"""Strategies for prefixes and ranges on a line: what to measure, so that least squares errs least."""
