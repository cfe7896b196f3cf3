"""Polynomials in the literals of a decision list that approximate its output.

A list of k rules is a function of which of its k literals hold: of 2^k patterns. A polynomial of degree t in the
literals is a number for each subset R of at most t rules, times "all literals of R hold".

Three ways to one, worst bias over all lists of k = 4 rules at t = 2: the paper's sum over rules of approximated ANDs
(0.458), the prefix form b_1 + sum of (b_{i+1} - b_i) * P_i, with P_i = "the first i literals all fail", which pays only
where the output changes (0.292), and the linear program over the 2^k patterns (0.167).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import numpy as np

from dpcore.core import Floats, Integers, ParameterError
from dpcore.mechanisms.marginals.polynomials import minimax, nearest_combination
from dpcore.queries.attribute_sets import places

SCALE = 5040
"""Coefficients are whole multiples of 1/5040, so that what rows add up to is whole: 7! holds all small denominators."""


@lru_cache(maxsize=32)
def subsets(rules: int, degree: int) -> tuple[tuple[int, ...], ...]:
    """Return the subsets of at most ``degree`` rules, the empty one first, level by level."""
    return tuple(tuple(chosen.tolist()) for size in range(degree + 1) for chosen in places(rules, size=size))


@lru_cache(maxsize=32)
def _patterns(rules: int, degree: int) -> Floats:
    """Return whether all literals of each subset hold: (2^rules, subsets); bit i of a pattern is literal i."""
    patterns = np.arange(1 << rules)[:, None] >> np.arange(rules) & 1
    columns = [patterns[:, list(chosen)].all(axis=1) for chosen in subsets(rules, degree)]
    return np.stack(columns, axis=1).astype(np.float64)


def outputs_on_patterns(outputs: tuple[int, ...]) -> Floats:
    """Return the output of a list with these outputs (one a rule, one for the end) on each pattern, (2^rules,)."""
    rules = len(outputs) - 1
    patterns = np.arange(1 << rules)[:, None] >> np.arange(rules) & 1
    first = np.where(patterns.any(axis=1), patterns.argmax(axis=1), rules)
    return np.array(outputs, dtype=np.float64)[first]


def bias(coefficients: Floats, outputs: tuple[int, ...], *, degree: int) -> float:
    """Return the largest distance from what the list says, over all patterns."""
    rules = len(outputs) - 1
    return float(np.abs(_patterns(rules, degree) @ coefficients - outputs_on_patterns(outputs)).max())


def _none_hold(first: int, *, rules: int, degree: int) -> Floats:
    """Coefficients of the minimax stand-in for "the first so many literals all fail", of the degree at most."""
    polynomial = minimax(width=first, least=1, degree=min(degree, first), basis="ones")
    coefficients = [
        -polynomial.coefficients[len(chosen)] if all(rule < first for rule in chosen) else 0.0
        for chosen in subsets(rules, degree)
    ]
    coefficients[0] += 1.0
    return np.array(coefficients)


def prefix_form(outputs: tuple[int, ...], *, degree: int) -> Floats:
    """b_1 + sum of (b_{i+1} - b_i) P_i with each P_i approximated: coefficients by subset."""
    rules = len(outputs) - 1
    coefficients = np.zeros(len(subsets(rules, degree)))
    coefficients[0] = outputs[0]
    for first in range(1, rules + 1):
        change = outputs[first] - outputs[first - 1]
        if change:
            coefficients += change * _none_hold(first, rules=rules, degree=degree)
    return coefficients


def rule_by_rule_bias(outputs: tuple[int, ...], *, degree: int) -> float:
    """The paper's bound: each rule that says yes, and the end, is an AND of its literals, and their biases add up."""
    rules = len(outputs) - 1
    widths = [*range(1, rules + 1), rules]
    paid = (
        minimax(width=width, least=width, degree=min(degree, width), basis="ones").gamma
        for width, output in zip(widths, outputs, strict=True)
        if output
    )
    return float(sum(paid))


@lru_cache(maxsize=4096)
def program(outputs: tuple[int, ...], *, degree: int, costs: tuple[float, ...] = ()) -> tuple[float, ...]:
    """Coefficients with the least bias plus costs (one a level) times absolute coefficients; no costs: least bias."""
    rules = len(outputs) - 1
    if not 0 <= degree <= rules:
        raise ParameterError(f"The degree must lie between 0 and {rules}, got {degree}.")
    paid = np.array([costs[len(chosen)] if costs else 0.0 for chosen in subsets(rules, degree)])
    coefficients = nearest_combination(_patterns(rules, degree), outputs_on_patterns(outputs), costs=paid)
    return tuple(coefficients.tolist())


def all_outputs(rules: int) -> list[tuple[int, ...]]:
    """Return every list's outputs; number b of a list is sum of output_i * 2^i."""
    return [outputs[::-1] for outputs in product((0, 1), repeat=rules + 1)]


@lru_cache(maxsize=64)
def whole_coefficients(rules: int, *, degree: int, costs: tuple[float, ...] = ()) -> tuple[Integers, float]:
    """SCALE times the program's coefficients, rounded, for every list's outputs, and the worst bias after rounding.

    Returns:
        (2^(rules + 1), subsets) whole numbers, read-only, and the bias.
    """
    lists = all_outputs(rules)
    table = np.zeros((len(lists), len(subsets(rules, degree))), dtype=np.int64)
    for number, outputs in enumerate(lists[: len(lists) // 2]):
        table[number] = np.rint(SCALE * np.array(program(outputs, degree=degree, costs=costs))).astype(np.int64)
        # The list that always says the opposite is 1 minus this one.
        table[~number] = -table[number]
        table[~number, 0] += SCALE
    worst = max(bias(table[number] / SCALE, outputs, degree=degree) for number, outputs in enumerate(lists))
    table.setflags(write=False)
    return table, worst
