"""Pictures of fat-shattering: the weights of one run, the share found by scale, and unavoidable errors by ε."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpcore.core import Booleans, Floats, exactly
from dpcore.limits.attacks import fat_shattering
from dplab.limits.reconstruction import BETA, EPSILONS
from dplab.limits.weighted_halves import AttackedHalf, Unavoidable
from pages.charts.picture import Axis, Curve, Dots, Picture, Rule
from pages.charts.words import percent, significant
from pages.learn.pictures import (
    OTHERS,
    as_crosses,
    axis_floor,
    blind_guess_rule,
    curves,
    epsilon_axis,
    epsilon_rule,
    error_dots,
    impossible_side,
    lesson_picture,
    runs,
)

SHOWN = 32
"""Maximum number of points that are drawn of one run."""
FLOOR = 0.01
"""Position of errors of 0 rows on the logarithmic axis."""


def weights(attack: AttackedHalf, *, scale: float) -> Picture:
    """Return the weight of each point in the secret half's query; wrong guesses are crossed."""
    points = len(attack.truth)
    weight = fat_shattering.weights(half=attack.truth, levels=attack.levels, scale=scale)
    place = np.arange(min(points, SHOWN))
    wrong = attack.chosen != attack.truth

    def dots(role: str, name: str, shape: str, which: Booleans) -> Dots:
        people_shown = place[which[: len(place)]]
        weights_shown, level = weight[people_shown], attack.levels[people_shown]
        ends = np.minimum(weights_shown, level), np.maximum(weights_shown, level)
        return Dots(role=role, name=name, x=people_shown + 1, y=weights_shown, low=ends[0], high=ends[1], shape=shape)

    part = f"; the first {SHOWN} of {points} are shown" if points > SHOWN else ""
    level_range = float(np.ptp(attack.levels))
    level_words = (
        f"around levels that differ by up to {significant(level_range)}" if level_range else "all around one level"
    )
    return Picture(
        title="One query, one attack",
        x=Axis(title="person", low=0, high=len(place) + 1),
        y=Axis(title="weight", low=-0.02, high=1.02, ticks=(0, 0.25, 0.5, 0.75, 1)),
        marks=[
            dots("true", "secret half", "circle", attack.truth),
            dots(OTHERS[0], "the others", "square", ~attack.truth),
            as_crosses(dots("ink", "wrong guess", "", wrong)),
        ],
        sentence=f"The secret half's own query gives its {points // 2} people weights {significant(2 * scale)} "
        f"larger than the others, {level_words}. The attack on one release was wrong about "
        f"{int(wrong.sum())} of {points} people (×){part}.",
        table={
            "person": list(range(1, points + 1)),
            "level": attack.levels.tolist(),
            "weight": weight.tolist(),
            "secret": attack.truth.tolist(),
            "guessed": attack.chosen.tolist(),
        },
        height=240,
    )


def by_scale(*, scales: Sequence[float], shares: Floats, scale: float) -> Picture:
    """Return the share found (S, R) against the scale of the queries, for the same releases."""
    first, last = (percent(float(mean)) for mean in shares.mean(axis=1)[[0, -1]])
    return lesson_picture(
        title="The share found, at every scale",
        x=Axis(title="scale γ: half the weight from in to out", low=0, high=0.52),
        y=Axis(title="share of the half found", low=0.4, high=1.05, form=".0%", ticks=(0, 0.2, 0.4, 0.6, 0.8, 1)),
        marks=[
            runs("noise in every count, attacked", np.array(scales), shares, role="mechanism:identity"),
            blind_guess_rule(),
            Rule(role="ink", x=scale, label=f"γ = {exactly(scale)}"),
        ],
        sentence=f"The attack finds {first} of the secret half at γ = {scales[0]:g} and {last} at γ = "
        f"{scales[-1]:g}. Small weights do not protect the secret half. Bars hold 90% of {shares.shape[1]} "
        "runs.",
    )


def errors_by_epsilon(*, forbidden: Unavoidable, points: int, epsilon: float, measured: Floats) -> Picture:
    """Return unavoidable errors in rows by three proofs, with the error of 95% of identity releases.

    Args:
        forbidden: the three constants along an axis of ε.
        points: d.
        epsilon: the current ε.
        measured: worst weighted errors in rows at each of EPSILONS, (E, R).
    """
    paper, corrected, proved = map(significant, forbidden.at(epsilon))
    median, quantile_95 = np.quantile(measured, (0.5, 1 - BETA), axis=1)
    floor = axis_floor(median, FLOOR)
    return lesson_picture(
        title="Lower bound on the error",
        x=epsilon_axis(epsilon),
        y=Axis(title="worst error, rows", log=True, low=floor),
        marks=[
            impossible_side(forbidden.epsilon, forbidden.best, end=floor, corner="bottom left"),
            *curves(forbidden.epsilon, {"the paper's constant": forbidden.paper}),
            Curve(role="theory", name="corrected constant", x=forbidden.epsilon, y=forbidden.corrected),
            error_dots(
                "noise in every count, measured",
                np.array(EPSILONS),
                quantile_95=quantile_95,
                median=median,
                floor=floor,
                role="mechanism:identity",
                error_words=lambda error: f"{significant(error)} rows",
            ),
            epsilon_rule(epsilon),
        ],
        sentence=f"At ε = {exactly(epsilon)} the paper's constant gives {paper} rows and the corrected one "
        f"{corrected}. Following every step of the proof gives {proved} (for 95% of releases), of "
        f"{points // 2} rows.",
    )
