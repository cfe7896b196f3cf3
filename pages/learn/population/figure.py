"""Pictures of distributional privacy: how well a private count distinguishes two samples of one population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpcore.core import Floats, rounded_down, rounded_up
from dpcore.limits.bounds.distributional import Separation
from dpcore.limits.bounds.net_samples import reaching
from dplab.limits.split_samples import SplitLosses
from pages.charts.picture import Axis, Curve, Dots, Picture, Rule
from pages.charts.words import percent, significant
from pages.learn.pictures import guess_rule, lesson_picture

LONG = 20.0
"""Largest loss from which the axis is logarithmic, so that a loss of 1 stays visible."""


def separation(*, folded: Separation, net: Floats, n: int, limit: float | None, guess: float) -> Picture:
    """Return the probability that two samples are distinguished with at least a given loss.

    Args:
        folded: the exact distribution.
        net: losses of the net mechanism between pairs of samples, at least, (P,).
        n: rows of each sample.
        limit: limit of the probability at loss 1 for large n, if it is known.
        guess: the user's guess at loss 1.
    """
    losses = {"folded count": folded.chances(), "net mechanism, at least": reaching(net)}
    roles = dict(zip(losses, ("theory", "mechanism:net"), strict=True))
    furthest = max(2.0, *(float(reached.max()) for reached, _ in losses.values()))
    title = "privacy loss between two samples, at least"
    x = Axis(title=title, log=furthest > LONG, low=folded.epsilon / 2 if furthest > LONG else 0, high=furthest * 1.05)
    tends = f", which tends to {percent(limit)} for large n" if limit is not None else ""
    shown = lesson_picture(
        title="Two samples of one population",
        x=x,
        y=Axis(title="chance", low=-0.02, high=1.2, form=".0%", ticks=(0, 0.25, 0.5, 0.75, 1)),
        marks=[
            *(
                _steps(name, role=roles[name], x=x, losses=reached, chances=chances)
                for name, (reached, chances) in losses.items()
            ),
            Rule(role="ink", x=folded.epsilon, label=f"one row: never above {rounded_up(folded.epsilon)}"),
            Rule(role="quiet", x=1.0, label="loss 1"),
            guess_rule(y=guess, label="your guess, at loss 1"),
        ],
        sentence=f"Take pairs of samples of {n:,} rows from the same population. {percent(folded.far)} of all pairs "
        f"have a privacy loss of 1 or more (you guessed {percent(guess)}){tends}. For a single row it is "
        f"at most {rounded_up(folded.epsilon)}. Half of {len(net)} pairs of net-mechanism outputs have at "
        f"least {significant(float(np.median(net)))}.",
    )
    table: dict[str, list[str] | list[float]] = {
        "what": [name for name, (reached, _) in losses.items() for _ in reached],
        x.title: [float(loss) for reached, _ in losses.values() for loss in reached],
        "chance": [float(chance) for _, chances in losses.values() for chance in chances],
    }
    return replace(shown, table=table)


def needed_epsilon(*, rows: Sequence[int], epsilons: Sequence[float], beta: float) -> Picture:
    """Return the largest ε at which a net mechanism hides its sample, against n, with 1/√n.

    Args:
        rows: n of the samples, (K,).
        epsilons: no larger ε keeps the loss below 1 in all but a share β of the pairs, (K,).
        beta: that share.
    """
    places, needed = np.array(rows, dtype=np.float64), np.array(epsilons)
    factor = float(np.median(needed * np.sqrt(places)))
    return lesson_picture(
        title="Largest ε for a net mechanism",
        x=Axis(title="rows n of each sample", log=True, low=rows[0] * 0.8, high=rows[-1] * 1.25, ticks=tuple(rows)),
        y=Axis(title="ε, at most", log=True, low=float(needed.min()) / 3, high=float(needed.max()) * 3),
        marks=[
            Curve(role="theory", name="1/√n", x=places, y=1 / np.sqrt(places)),
            Dots(role="mechanism:net", name="net mechanism, measured", x=places, y=needed),
        ],
        caption=f"At n = {rows[-1]:,} an ε of {rounded_down(float(needed[-1]))} at most; 1/√n is "
        f"{significant(rows[-1] ** -0.5)}.",
        sentence=f"All but {percent(beta)} of pairs should have a privacy loss below 1. For that, a net mechanism "
        f"needs an ε of at most {rounded_down(float(needed[0]))} at n = {rows[0]:,} and "
        f"{rounded_down(float(needed[-1]))} at n = {rows[-1]:,}. That is about {significant(factor)} times "
        "1/√n.",
    )


def split_losses(result: SplitLosses, *, epsilon: float) -> Picture:
    """Return the share of splits of a table with at least a given loss between both halves.

    Args:
        result: losses of the splits.
        epsilon: ε of the mechanism.
    """
    reached, chances = reaching(result.losses)
    x = Axis(title="privacy loss between both halves, at least", low=0, high=max(1.1, 1.1 * float(reached.max())))
    shown = lesson_picture(
        title="Two halves of one table",
        x=x,
        y=Axis(title="splits", low=-0.02, high=1.2, form=".0%", ticks=(0, 0.25, 0.5, 0.75, 1)),
        marks=[
            _steps("halves", role="mechanism:net", x=x, losses=reached, chances=chances),
            Rule(role="ink", x=epsilon, label="ε, for one row"),
            Rule(role="quiet", x=1.0, label="loss 1"),
        ],
        sentence=f"Half of {len(result.losses)} random splits into halves of {result.rows:,} rows have a loss of "
        f"at least {significant(float(np.median(result.losses)))} between their releases.",
    )
    return replace(shown, table={x.title: reached.tolist(), "splits": chances.tolist()})


def _steps(name: str, *, role: str, x: Axis, losses: Floats, chances: Floats) -> Curve:
    """Return the probability of reaching a loss, (K,) each, as a step curve."""
    is_visible = losses > 0 if x.log else losses >= 0
    losses, chances = losses[is_visible], chances[is_visible]
    hover_texts = [
        f"{name} {significant(loss)}: {percent(chance)}" for loss, chance in zip(losses, chances, strict=True)
    ]
    hover = [hover_texts[0], *hover_texts]
    return Curve(role=role, name=name, x=[x.low or 0, *losses], y=[*chances, 0.0], step=True, hover=hover)
