"""Rectangles of Blum, Ligett and Roth (2013) in constant dimension: two columns and three."""

from __future__ import annotations

import numpy as np

from dpcore.core import Problem
from dpcore.data.product import Product, is_table
from dpcore.mechanisms.intervals.box_errors import box_errors
from dpcore.mechanisms.intervals.boxes import BoxCuts, BoxState
from dpcore.queries.boxes import RangeBoxes
from dpcore.randomness import Preview
from dplab.measure import finish
from dplab.printed.lines import PrintedLine, PrintedTable

CELLS, RELEASES = 16, 10


def rectangle_table(*, levels: int, n: int, epsilon: float, beta: float, seed: int) -> PrintedTable:
    """Return the table of guaranteed errors, rows needed, and worst errors observed on mock data."""
    lines: list[PrintedLine] = []
    for columns in (2, 3):
        domain = Product.coded({f"column {place}": CELLS for place in range(columns)})
        queries = RangeBoxes(domain=domain)
        problem, mechanism = Problem(domain=domain, queries=queries, n=n), BoxCuts(epsilon=epsilon, levels=levels)
        bound, where = mechanism.accuracy(problem, beta), f"{columns} columns"
        state = _mock_state(problem, seed=seed)
        worst = float(np.median(finish(box_errors(mechanism, state, Preview(seed), trials=RELEASES)).worst))
        lines += [
            PrintedLine(
                what=f"guaranteed error at n = {n:,}, {where}",
                printed=None,
                holds=bound.value,
                why="no guarantee (100% or more)" if bound.vacuous else "holds for every data set",
            ),
            PrintedLine(
                what=f"smallest n with a guarantee, {where}",
                printed=None,
                holds=bound.rows_needed,
                why=f"{2 ** (levels * columns):,} cells; errors of {2 ** (levels * (columns - 1))} pieces add up",
            ),
            PrintedLine(
                what=f"worst of {queries.count:,} boxes, {where}, observed (simulated)",
                printed=None,
                holds=worst,
                why=f"median of {RELEASES} releases of synthetic correlated rows, {CELLS} cells per column",
            ),
        ]
    return PrintedTable(
        title="Rectangles in two columns and in three",
        lines=tuple(lines),
        reference="Blum, Ligett and Roth (2013), Section 4: “easily extended” in constant dimension, no constants",
        link={
            "data": "clouds",
            "queries": "rectangles",
            "mechanism": "rectangles",
            "rectangles-levels": str(levels),
            "epsilon": f"{epsilon:g}",
            "beta": f"{beta:g}",
        },
    )


def _mock_state(problem: Problem, *, seed: int) -> BoxState:
    """Return the state of mock rows around a diagonal."""
    sizes = problem.domain.sizes if is_table(problem.domain) else ()
    generator = np.random.Generator(np.random.SFC64(seed))
    near = generator.normal(CELLS / 2, CELLS / 6, (problem.n, 1))
    cells = np.clip(near + generator.normal(0, CELLS / 12, (problem.n, len(sizes))), 0, CELLS - 1).astype(np.int64)
    rows = np.bincount(np.ravel_multi_index(tuple(cells.T), sizes), minlength=problem.domain.size)
    return BoxState(problem=problem, rows=rows.reshape(sizes))
