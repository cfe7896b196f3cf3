"""Faults to be planted in a copy of the project, and the test that must catch each: ``python3 run.py test mutants``."""
