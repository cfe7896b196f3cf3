"""Which method wins where: rows against attributes of a query."""

from __future__ import annotations

import numpy as np

from dpcore.core import Integers
from dpcore.mechanisms.marginals.preview import DIRECT, NEITHER, WINNERS, Places
from pages.charts.picture import Axis, Bars, Dots, Mark, Picture
from pages.charts.words import percent, rows

WORDS = {
    NEITHER: "neither: ½ is as good",
    **{name: f"polynomial, {name}" for name in WINNERS[1:-1]},
    DIRECT: "the marginals themselves",
}
HALF = 10 ** (1 / 6)
"""Half a tile's width, as a factor."""


def row_grid() -> Integers:
    """Numbers of rows that the map shows, three to a factor of ten."""
    return np.unique(np.round(10 ** (np.arange(9, 25) / 3)).astype(np.int64))


def winners_map(*, places: Places, n: int, width: int, here: str, key: str) -> Picture:
    """A tile for each number of rows and attributes: the method of least predicted error.

    Args:
        places: what preview.crossover found.
        n: the reader's rows.
        width: the reader's attributes in a query.
        here: who wins there.
        key: of the polynomial's mechanism.
    """
    at, wide = (np.array([float(place[name]) for place in places]) for name in ("n", "width"))
    winners = np.array([str(place["winner"]) for place in places])
    said = [
        f"{WORDS[str(place['winner'])]}\n{row:,.0f} rows, {k:.0f} attributes a query\npredicted error "
        f"{percent(float(place['error']))} ({rows(float(place['error']), int(row))})\ntheory"
        for place, row, k in zip(places, at, wide, strict=True)
    ]
    looks = {NEITHER: ("quiet", 0.15), DIRECT: ("mechanism:marginals-direct", 0.6)}
    looks |= {name: (f"mechanism:{key}", 0.22 + 0.26 * step) for step, name in enumerate(WINNERS[1:-1])}
    marks: list[Mark] = []
    for name in WINNERS:
        won = winners == name
        if won.any():
            role, opacity = looks[name]
            marks.append(
                Bars(
                    role=role,
                    name=WORDS[name],
                    start=wide[won] - 0.5,
                    end=wide[won] + 0.5,
                    base=at[won] / HALF,
                    value=at[won] * HALF,
                    across=True,
                    opacity=opacity,
                    hover=[said[place] for place in np.flatnonzero(won)],
                )
            )
    you = [f"your {n:,} rows, {width} attributes a query\n{WORDS[here]}"]
    inside = [float(np.clip(n, at.min(), at.max()))]
    marks.append(Dots(role="ink", name="you", x=inside, y=[width], shape="circle-open", size=15, hover=you))
    tally = {name: int((winners == name).sum()) for name in WINNERS}
    useful = len(places) - tally[NEITHER] - tally[DIRECT]
    return Picture(
        title="Which method wins where",
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
            f"At {n:,} rows and {width} attribute{'s' if width > 1 else ''} a query the least predicted error is by "
            f"{WORDS[here]}. Of the {len(places)} places shown, the marginals themselves win {tally[DIRECT]}, "
            f"polynomials {useful}, and at {tally[NEITHER]} neither is predicted to beat answering 1/2."
        ),
        table={
            "rows": at.astype(int).tolist(),
            "attributes": wide.astype(int).tolist(),
            "least error by": [WORDS[str(place["winner"])] for place in places],
            "predicted error": [percent(float(place["error"])) for place in places],
        },
        height=380,
    )
