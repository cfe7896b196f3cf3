"""Experiments that pages show: mechanisms run, attacked and compared with bounds, topic by topic."""
