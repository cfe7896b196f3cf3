"""Pictures of many runs: outcomes, answers of a mechanism that never refuses, and the votes of subsamples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpcore.core import Floats, Integers, rounded_up
from dpcore.data.columns import Number
from dpcore.mechanisms import entry
from pages.charts.axes import round_ticks
from pages.charts.picture import Axis, Bars, Dots, Mark, Picture, Rule
from pages.charts.words import percent, short_numbers, significant
from pages.one_number.words import in_100, nearly_percent, refusals

MAX_BARS = 60
MAX_ANSWERS = 12
"""Answers with a bar of their own; the rest share one."""
MAX_NEEDED = 1.5
"""Votes needed, as a share of all, that are drawn."""
WRONG = "other-4"
"""Role of answers that the whole data do not give."""
SHAPES = {"the right answer": ("released", "circle"), "no answer": ("quiet", "x"), "another answer": (WRONG, "star")}


def outcomes(*, refused: float, wrong: float) -> Picture:
    """Return the picture of a hundred runs as a hundred dots: the right answer, no answer, another one.

    Args:
        refused: share of runs without an answer.
        wrong: share of runs with another answer than the whole data give.
    """
    shares = dict(zip(SHAPES, (1 - refused - wrong, refused, wrong), strict=True))
    exact = 100 * np.array(list(shares.values()))
    dots = np.floor(exact + 1e-9).astype(int)
    dots[np.argsort(-(exact - dots), kind="stable")[: 100 - dots.sum()]] += 1  # to the largest remainders
    marks, first = [], 0
    for (name, (role, shape)), count in zip(SHAPES.items(), dots.tolist(), strict=True):
        runs = np.arange(first, first + count)
        hover = [f"{name}: {percent(shares[name])} of the runs"] * count
        marks.append(Dots(role=role, name=name, x=runs // 5, y=runs % 5, shape=shape, size=10, hover=hover))
        first += count
    sentence = "All runs on these data give no answer (⊥)."
    if refused < 1:
        sentence = f"On these data {refusals(refused)}"
        right = "; all others are right." if refused else "; all are right."
        sentence += f" and {in_100(wrong)} give another answer than the whole data." if wrong else right
    return Picture(
        title="Outcomes of a hundred runs",
        x=Axis(low=-0.6, high=19.6, shown=False),
        y=Axis(low=-0.6, high=4.6, shown=False),
        marks=marks,
        sentence=sentence,
        table={"outcome": list(shares), "chance": [round(float(share), 6) for share in shares.values()]},
        height=200,
    )


def answers(*, domain: Number, truth: int, values: Integers, key: str = "exponential_median") -> Picture:
    """Return the picture of the answers of a mechanism that always answers, beside the exact quantile.

    Args:
        domain: the ordered cells.
        truth: the exact quantile's cell.
        values: released cells, (T,).
        key: the mechanism's.
    """
    unit = f" {domain.unit}" if domain.unit else ""
    low, high = min(int(values.min()), truth), max(int(values.max()), truth)
    step = -(-(high - low + 1) // MAX_BARS)
    starts = np.arange(low, high + 1, step)
    shares = np.bincount((values - low) // step, minlength=len(starts)) / len(values)
    edges = domain.low + np.append(starts, starts[-1] + step) * domain.width
    exact = float(domain.points()[truth])
    # Both sides have room, so that one cell alone is not as wide as the picture.
    air = 0.15 * max(edges[-1] - edges[0], 6 * domain.width)
    hover = [
        f"{significant(start)} to {significant(end)}{unit}: {percent(share)} of runs"
        for start, end, share in zip(edges[:-1].tolist(), edges[1:].tolist(), shares.tolist(), strict=True)
    ]
    end = 1.25 * float(shares.max())  # the upper part is for words, and has no numbers above 100%
    possible = tuple(place for place in round_ticks(0, end, whole=False) if place <= 1)
    right = float((values == truth).mean())
    off = float(np.quantile(np.abs(values - truth), 0.95)) * domain.width
    return Picture(
        title="Answers of a mechanism that never refuses",
        x=Axis(title=f"answer ({domain.unit})" if unit else "answer", low=edges[0] - air, high=edges[-1] + air),
        y=Axis(title="share of runs", low=0, high=end, form="~p", ticks=possible),
        marks=[
            Bars(role=f"mechanism:{key}", start=edges[:-1], end=edges[1:], value=shares, opacity=0.6, hover=hover),
            Rule(role="true", x=exact, label="exact", side="left" if exact > (edges[0] + edges[-1]) / 2 else "right"),
        ],
        sentence=f"{entry(key).title}: it never refuses. At the same ε, {in_100(right)} of its answers are the "
        f"exact cell, and 95 in 100 lie {f'within {rounded_up(float(off))}{unit} of' if off else 'in'} it.",
        table={
            "from": short_numbers(edges[:-1]),
            "to": short_numbers(edges[1:]),
            "share of runs": short_numbers(shares),
        },
        height=230,
    )


def votes(*, names: Sequence[str], law: Floats, truth: int, needed: float) -> Picture:
    """Return the picture of the share of subsamples that give each answer, that of the whole data in dark.

    Args:
        names: of the answers, in order.
        law: chance of each answer on one subsample, (answers,).
        truth: the data's answer.
        needed: share of votes, noise included, from which on the answer is given.
    """
    shown = np.sort(np.argsort(-law, kind="stable")[:MAX_ANSWERS])
    labels, shares = [names[i] for i in shown], law[shown]
    right = shown == truth
    if len(shown) < len(law):
        labels.append(f"{len(law) - len(shown)} others")
        shares, right = np.append(shares, max(0.0, 1 - shares.sum())), np.append(right, False)
    lines = np.arange(1, len(labels) + 1)  # the first line is for words
    marks: list[Mark] = []
    for role, name, chosen in (("true", "the data's answer", right), (WRONG, "would be wrong", ~right)):
        hover = [f"{labels[i]}, {name}: {percent(float(shares[i]))}" for i in np.flatnonzero(chosen)]
        at = lines[chosen]
        bars = Bars(
            role=role,
            name=name,
            start=at - 0.4,
            end=at + 0.4,
            value=shares[chosen],
            across=True,
            opacity=0.7,
            hover=hover,
        )
        marks.append(bars)
    marks.append(Rule(role="quiet", x=0.5, label="half", dash="dash", side="left"))
    if needed <= MAX_NEEDED:
        marks.append(Rule(role="theory", x=needed, label="needed", dash="dash"))
    end = max(0.5, float(shares.max()), needed if needed <= MAX_NEEDED else 0.0)
    room = 1.3 * end  # for words
    ticks = tuple(each for each in round_ticks(0, room, whole=False) if each <= max(1.0, end))
    beaten = law.copy()
    beaten[truth] = -1
    rival = int(beaten.argmax())
    sentence = (
        f"{nearly_percent(float(law[truth]))} of subsamples give the same answer as the whole data ({names[truth]})"
    )
    sentence += f"; the next, {names[rival]}, gets {percent(float(law[rival]))}" if len(law) > 1 else ""
    if needed >= 1000:
        sentence += ". No number of votes is enough."
    else:
        share = percent(needed) if needed <= 1 else f"{significant(needed)} times"
        sentence += f". With noise, {share} {'of' if needed <= 1 else 'as many as'} the k votes are needed."
    return Picture(
        title="Answers of the subsamples",
        x=Axis(title="share of the subsamples", low=0, high=room, form="~p", ticks=ticks),
        y=Axis(labels=("", *labels)),
        marks=marks,
        sentence=sentence,
        table={"answer": labels, "share of subsamples": short_numbers(shares)},
        height=125 + 20 * len(labels),
    )
