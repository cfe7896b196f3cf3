"""Three ways to one number over epsilon: exact or none, near and always, noise for the whole range."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.core import Dataset, Floats, Problem, ValueRelease
from dpcore.domains import Line
from dpcore.figures.figure import Figure, Palette, framed, palette, shortened
from dpcore.mechanisms import entry
from dpcore.mechanisms.stable_median import rank_errors, stability
from dpcore.queries import Thresholds
from dpcore.randomness import Preview

KEYS = ("stable_median", "exponential_median", "clipped_mean")
EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
SHAPES = ("circle", "triangle-up", "square")
DASHES = ([1, 0], [6, 3], [2, 2])


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """Errors and refusals of each mechanism at each epsilon, in the data's unit.

    Attributes:
        error: 95 in 100 answers err by at most so much, of its own exact value; NaN where none came, (3, E).
        refused: share of runs without an answer, (3, E).
        exact: median, median, mean.
        delta: slack of the stable median.
        stable: rows that must change before the median does.
        rank: share of all rows that 95 in 100 exponential medians have between them and the median, and the ends of
            its 95% interval, (3, E).
    """

    domain: Line
    n: int
    trials: int
    exact: tuple[float, float, float]
    error: Floats
    refused: Floats
    delta: float
    stable: int
    rank: Floats


def some_rows(dataset: Dataset, *, n: int, seed: int) -> Dataset:
    """So many rows, drawn without replacement."""
    if n >= dataset.n:
        return dataset
    rows = np.random.Generator(np.random.SFC64(seed)).choice(dataset.n, n, replace=False)
    return Dataset(dataset.domain, dataset.records[rows], dataset.provenance)


def compare(dataset: Dataset, *, delta: float, trials: int, seed: int) -> Generator[float, None, Comparison]:
    """Preview all three at every epsilon; yields the fraction done. Rows that fit nowhere are to be left out before."""
    domain = dataset.domain
    assert isinstance(domain, Line)
    problem = Problem(domain=domain, queries=Thresholds(domain=domain), n=dataset.n)
    points = domain.points()
    error, refused, rank = (np.full((len(KEYS), len(EPSILONS)), np.nan) for _ in range(3))
    cell, stable = stability(dataset.histogram, domain=domain)
    median, order = float(points[cell]), order_of_interval(trials)
    exact = (median, median, float(points[dataset.records].mean()))
    for row, key in enumerate(KEYS):
        for column, epsilon in enumerate(EPSILONS):
            yield (row * len(EPSILONS) + column) / error.size
            values = {"epsilon": epsilon} | ({"delta": delta} if key == "stable_median" else {})
            mechanism = entry(key).make(**values)
            release = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), trials)
            assert isinstance(release, ValueRelease)
            refused[row, column] = release.refused.mean()
            if not release.refused.all():
                off = np.abs(points[release.values[~release.refused]] - exact[row])
                error[row, column] = np.quantile(off, 0.95)
            if key == "exponential_median":
                rank[:, column] = np.sort(rank_errors(dataset.histogram, release.values, domain=domain))[order]
    return Comparison(
        domain=domain, n=dataset.n, trials=trials, exact=exact, error=error, refused=refused, delta=delta,
        stable=stable, rank=rank,
    )  # fmt: skip


def order_of_interval(trials: int, *, share: float = 0.95, confidence: float = 0.95) -> list[int]:
    """Places, in increasing order, of a sample's quantile and of the two ends of its exact interval.

    The quantile of the law is below the sample's number k (counted from 0) unless k numbers or fewer are below it: a
    binomial chance. With so few trials that none is enough, the ends are the smallest and the largest.
    """
    from scipy.special import bdtr

    tail = (1 - confidence) / 2
    below = bdtr(np.arange(trials + 1), trials, share)
    low = int(np.searchsorted(below, tail, side="right")) - 1
    high = int(np.searchsorted(below, 1 - tail))
    last = trials - 1
    return [min(math.ceil(share * trials), trials) - 1, max(low, 0), min(high, last)]


def errors_over_epsilon(*, found: Comparison, epsilon: float, badge: str, dark: bool) -> Figure:
    """How far 95 in 100 answers lie from the exact value, given an answer, over epsilon."""
    colours, unit = palette(dark=dark), found.domain.unit
    y = {
        "field": "y", "type": "quantitative", "title": f"95% error ({unit})",
        "scale": {"type": "symlog", "constant": found.domain.width},
        "axis": {"values": [0, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100], "labelOverlap": True},
    }  # fmt: skip
    column = int(np.argmin(np.abs(np.log(np.array(EPSILONS) / epsilon))))
    near, mean = found.error[1, column], found.error[2, column]
    return _over_epsilon(
        found, found.error, y=y, epsilon=epsilon, badge=badge, colours=colours, name="Error given an answer",
        sentence=f"If the stable median answers, it is exact; near ε = {EPSILONS[column]:g}, 95 in 100 exponential "
        f"medians lie {f'within {near:.2g} {unit} of' if near else 'in the cell of'} the median, and clipped means "
        f"within {mean:.2g} {unit} of the mean.",
    )  # fmt: skip


def _over_epsilon(
    found: Comparison,
    values: Floats,
    *,
    y: dict[str, Any],
    epsilon: float,
    badge: str,
    colours: Palette,
    name: str,
    sentence: str,
) -> Figure:
    """One line and one shape a mechanism, and a rule at the page's epsilon."""
    titles = [entry(key).title for key in KEYS]
    x = {
        "field": "epsilon", "type": "quantitative", "title": "← more private · privacy loss ε · more accurate →",
        "scale": {"type": "log", "nice": False},
        "axis": {"values": list(EPSILONS), "format": "~g", "labelOverlap": True},
    }  # fmt: skip
    who = {"field": "mechanism", "type": "nominal"}

    def by_mechanism(values: Sequence[Any]) -> dict[str, Any]:
        return {**who, "scale": {"domain": titles, "range": list(values)}}

    hues = [colours.released, colours.others[1], colours.others[0]]
    points = [
        {"epsilon": at, "y": value, "mechanism": title}
        for title, row in zip(titles, values, strict=True)
        for at, value in zip(EPSILONS, shortened(row), strict=True)
        if value is not None
    ]
    place = {"x": x, "y": y, "color": by_mechanism(hues)}
    body = {
        "layer": [
            {
                "data": {"name": "points"},
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {**place, "strokeDash": by_mechanism(DASHES)},
            },
            {
                "data": {"name": "points"},
                "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
                "encoding": {
                    **place, "shape": by_mechanism(SHAPES),
                    "tooltip": [
                        {"field": "mechanism"}, {"field": "epsilon", "title": "ε"}, {"field": "y", "title": name},
                    ],
                },
            },
            {
                "data": {"name": "here"},
                "mark": {"type": "rule", "color": colours.ink, "strokeWidth": 1.5},
                "encoding": {"x": x},
            },
        ]
    }  # fmt: skip
    here = min(max(epsilon, EPSILONS[0]), EPSILONS[-1])
    table: dict[str, list[Any]] = {"epsilon": list(EPSILONS)}
    for title, row in zip(titles, values, strict=True):
        table[title] = shortened(row)
    return Figure(
        spec=framed(
            body, badge=badge, colours=colours, height=280, datasets={"points": points, "here": [{"epsilon": here}]}
        ),
        sentence=sentence,
        table=table,
        title=name,
    )
