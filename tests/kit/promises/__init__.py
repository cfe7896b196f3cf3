"""Promises of every mechanism, put to the test on data made hard for them."""
