"""The map of the best method: rows against attributes of a query."""

from __future__ import annotations

import numpy as np

from dpcore.core import Integers, Problem
from dpcore.mechanisms.marginals.polynomial_release import PolynomialMarginals
from dpcore.mechanisms.marginals.preview import DIRECT, NEITHER, WINNERS, Places, best_along, crossover
from dpcore.queries.at_least import AtLeast
from pages.charts.picture import Axis, Bars, Dots, Mark, Picture
from pages.charts.words import percent, rows

WORDS = {
    NEITHER: "neither: answering ½ is as good",
    **{name: f"polynomial, {name}" for name in WINNERS[1:-1]},
    DIRECT: "the marginals themselves",
}
MAX_WIDTH = 12
"""Attributes of a query on the map."""
HALF = 10 ** (1 / 6)
"""Half a tile's width, as a factor."""


def row_grid() -> Integers:
    """Return the numbers of rows that the map shows, three to a factor of ten."""
    return np.unique(np.round(10 ** (np.arange(9, 25) / 3)).astype(np.int64))


def winners_for(mechanism: PolynomialMarginals, problem: Problem, queries: AtLeast, *, key: str) -> Picture:
    """Return the map for a mechanism's budget and degree, with the user's problem on it.

    Args:
        mechanism: the polynomial mechanism.
        problem: the public problem.
        queries: the user's queries.
        key: the key of the mechanism, for its colour.
    """
    budget, degree = mechanism.budget, mechanism.degree
    widths = list(range(1, min(MAX_WIDTH, queries.domain.attributes) + 1))
    places = crossover(problem, budget, rows=row_grid(), widths=widths, degree=degree)
    here, _ = best_along(problem, budget, rows=np.array([problem.n]), degree=degree)
    return winners_map(places=places, n=problem.n, width=queries.width, here=here[0], key=key)


def winners_map(*, places: Places, n: int, width: int, here: str, key: str) -> Picture:
    """Return a map of tiles: for each number of rows and attributes the method of least predicted error.

    Args:
        places: the result of preview.crossover.
        n: the user's number of rows.
        width: the attributes in a query of the user.
        here: the best method there.
        key: the key of the polynomial's mechanism, for its colour.
    """
    at, wide = (np.array([float(place[name]) for place in places]) for name in ("n", "width"))
    winners = np.array([str(place["winner"]) for place in places])
    per_query = [f"{k:.0f} attribute{'s' if k > 1 else ''} per query" for k in wide]
    hover = [
        f"{WORDS[str(place['winner'])]}\n{row:,.0f} rows, {each}\npredicted error "
        f"{percent(float(place['error']))} ({rows(float(place['error']), int(row))})\ntheory"
        for place, row, each in zip(places, at, per_query, strict=True)
    ]
    styles = {NEITHER: ("quiet", 0.12), DIRECT: ("mechanism:marginals-direct", 0.6)}
    styles |= {name: (f"mechanism:{key}", 0.34 + 0.22 * step) for step, name in enumerate(WINNERS[1:-1])}
    marks: list[Mark] = []
    for name in WINNERS:
        at_best = winners == name
        if at_best.any():
            role, opacity = styles[name]
            bars = Bars(
                role=role,
                name=WORDS[name],
                start=wide[at_best] - 0.5,
                end=wide[at_best] + 0.5,
                base=at[at_best] / HALF,
                value=at[at_best] * HALF,
                across=True,
                tiles=True,
                opacity=opacity,
                hover=[hover[place] for place in np.flatnonzero(at_best)],
            )
            marks.append(bars)
    about = f"{width} attribute{'s' * (width > 1)} per query"
    you = [f"your {n:,} rows, {about}\n{WORDS[here]}"]
    inside = [float(np.clip(n, at.min(), at.max()))]
    marks.append(Dots(role="ink", name="you", x=inside, y=[width], shape="circle-open", size=15, hover=you))
    tally = {name: int((winners == name).sum()) for name in WINNERS}
    useful = len(places) - tally[NEITHER] - tally[DIRECT]
    return Picture(
        title="Which method has the smallest error",
        x=Axis(
            title="rows n (log)",
            log=True,
            low=float(at.min() / HALF),
            high=float(at.max() * HALF),
            form="~s",
            ticks=tuple(10.0**power for power in range(3, 9)),
        ),
        y=Axis(
            title="attributes in a query, k",
            low=float(wide.min() - 0.5),
            high=float(wide.max() + 0.5),
            form="d",
            ticks=tuple(np.unique(wide).tolist()),
        ),
        marks=marks,
        sentence=(
            f"At {n:,} rows and {about}, the smallest "
            f"predicted error is that of {WORDS[here]}. Of {len(places)} settings shown, the marginals are "
            f"best at {tally[DIRECT]} and polynomials at {useful}. At {tally[NEITHER]} neither is "
            "predicted to be better than answering 1/2."
        ),
        table={
            "rows": at.astype(int).tolist(),
            "attributes": wide.astype(int).tolist(),
            "smallest error by": [WORDS[str(place["winner"])] for place in places],
            "predicted error": [percent(float(place["error"])) for place in places],
        },
        height=380,
    )
