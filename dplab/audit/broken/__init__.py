"""BROKEN ON PURPOSE: programs that claim a privacy they do not have, kept to be caught.

None of them is a Mechanism, none is in the catalogue, and nothing but the audit may import them; a test says so.
"""
