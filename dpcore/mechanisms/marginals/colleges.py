"""A made-up year of students, each with a rule by which to choose colleges (after Thaler, Ullman and Vadhan 2012)."""

from __future__ import annotations

import numpy as np

from dpcore.core import Integers, ParameterError
from dpcore.mechanisms.marginals.decision_lists import MOST_RULES, DecisionLists

COLLEGE = ("top ten", "rural", "good basketball", "near home", "low fees", "large", "technical", "has scholarships")
NOT = len(COLLEGE)
NOTHING = 2 * NOT

KINDS: tuple[tuple[float, tuple[tuple[int, int], ...], int], ...] = (
    (0.22, ((0, 1), (NOT + 4, 0), (6, 1)), 0),  # ambitious: top ten; else not if dear; else if technical
    (0.20, ((NOT + 4, 0), (3, 1), (7, 1)), 0),  # careful: not if dear; else near home, or with a scholarship
    (0.16, ((0, 1), (1, 0), (2, 1)), 0),  # the paper's: top ten; else not if rural; else if the team is good
    (0.14, ((NOT + 3, 0), (5, 0), (4, 1)), 1),  # stays: not if far; else not if large; else anything
    (0.12, ((6, 1), (0, 1), (NOT + 7, 0)), 1),  # technical first
    (0.10, ((2, 1), (5, 1), (1, 0)), 0),  # campus life
    (0.06, ((7, 1), (3, 0), (NOT + 0, 1)), 0),  # away with a scholarship
)
"""Shares of the students, rules as (literal, output), and what they say if no rule fires."""
OWN_RULE = 0.25
"""Chance that a rule is the student's own instead of their kind's."""


def college_domain(rules: int) -> DecisionLists:
    """Lists of so many rules over the attributes of a college."""
    return DecisionLists(names=COLLEGE, rules=rules)


def college_students(*, n: int, rules: int, seed: int) -> Integers:
    """Lists of n students, (n, 2 * rules + 1): kinds of students, with rules of their own mixed in.

    >>> college_students(n=3, rules=2, seed=1).shape
    (3, 5)
    """
    if not (1 <= n <= 1_000_000 and 1 <= rules <= MOST_RULES):
        raise ParameterError(f"Between 1 and 1,000,000 students with 1 to {MOST_RULES} rules are needed.")
    random = np.random.Generator(np.random.SFC64(seed))
    shares = np.array([share for share, _, _ in KINDS])
    kind = random.choice(len(KINDS), n, p=shares / shares.sum())
    shown = min(rules, 3)
    literals = np.full((n, rules), NOTHING, dtype=np.int64)
    outputs = random.integers(0, 2, (n, rules + 1))
    literals[:, :shown] = np.array([[literal for literal, _ in listed] for _, listed, _ in KINDS])[kind, :shown]
    outputs[:, :shown] = np.array([[output for _, output in listed] for _, listed, _ in KINDS])[kind, :shown]
    outputs[:, -1] = np.array([last for _, _, last in KINDS])[kind]
    own = random.random((n, rules)) < OWN_RULE
    literals = np.where(own, random.integers(0, NOTHING + 1, (n, rules)), literals)
    for later in range(1, rules):
        # A variable that stands earlier in the list decides nothing more: that rule is dropped.
        seen = (literals[:, :later] % NOT == literals[:, later : later + 1] % NOT) & (literals[:, :later] < NOTHING)
        literals[seen.any(axis=1), later] = NOTHING
    return np.concatenate([literals, outputs], axis=1)
