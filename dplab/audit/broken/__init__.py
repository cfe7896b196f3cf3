"""BROKEN ON PURPOSE: programs whose privacy claims are false, for the audit to refute.

None of them is a Mechanism, none is in the catalogue, and nothing but the audit may import them; a test says so.
"""
