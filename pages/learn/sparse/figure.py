"""The lesson's own pictures: losses with the reader's guess, and the histograms in one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dplab.sparse import LossFigure
from pages.charts.picture import BEHIND, Axis, Bars, Dots, Picture
from pages.charts.words import significant
from pages.learn.pictures import guess_rule
from pages.learn.sparse.histograms import PRIVATE, RANDOM, ROLES, losses

MAX_CELLS = 60


def losses_guessed(*, found: LossFigure, guess: float) -> Picture:
    """The losses after the projection, and the loss that the reader expects of the weaker promise."""
    shown = losses(found=found, projected=True)
    at = float(found.private_loss.mean()) / guess
    return replace(
        shown,
        marks=[*shown.marks, replace(guess_rule(x=at), line=2, side="right")],
        x=replace(shown.x, low=0.0, high=max(shown.x.high or 0.0, 1.05 * at)),
        sentence=f"{shown.sentence} You guessed {guess:g} times.",
        height=330,
    )


def histograms(*, found: LossFigure) -> Picture:
    """True counts as bars, one release with each promise as dots; of many cells those around the full ones."""
    full = np.flatnonzero(found.histogram > 0)
    middle = int(full.mean())
    start = max(0, min(middle - MAX_CELLS // 2, len(found.histogram) - MAX_CELLS))
    cells = np.arange(len(found.histogram))[start : start + MAX_CELLS]
    truth, private, random = (each[cells] for each in (found.histogram, found.private[0], found.random[0]))
    shown = int((found.private[0] > 0).sum()), int((found.random[0] > 0).sum())
    return Picture(
        title="The histograms",
        x=Axis(title="cell", low=float(cells[0]), high=float(cells[-1] + 1)),
        y=Axis(title="rows", low=0),
        marks=[
            Bars(role="true", name="true", start=cells, end=cells + 1, value=truth, opacity=BEHIND),
            Dots(role=ROLES[PRIVATE], name=PRIVATE, x=cells + 0.5, y=private, shape="triangle-up"),
            Dots(role=ROLES[RANDOM], name=RANDOM, x=cells + 0.5, y=random, shape="circle"),
        ],
        sentence=f"{len(full)} of {len(found.histogram)} cells hold rows; the private release shows rows in "
        f"{shown[0]}, the random-private one in {shown[1]}. Their total errors here: "
        f"{significant(float(found.private_loss[0]))} and {significant(float(found.random_loss[0]))} of n.",
        table={"cell": cells.tolist(), "true": truth.tolist(), PRIVATE: private.tolist(), RANDOM: random.tolist()},
        height=330,
    )
