"""Marginals of yes/no attributes: counting sets, polynomials that stand in for any-of and all-of, noise per level."""
