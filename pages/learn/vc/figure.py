"""Pictures of the reconstruction: one attack, many runs against ε, and the two worlds of a swap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dpcore.core import Booleans, Floats, exactly
from dpcore.limits.attacks.halves import TwoWorlds
from dpcore.mechanisms import catalogue
from dplab.limits.reconstruction import BETA, EPSILONS, Attack, Recovery, RecoveryBounds
from pages.charts.picture import Axis, Curve, Dots, Picture, Region, Rule, empty_picture
from pages.charts.words import percent, percent_down, percent_up, rows_up, significant
from pages.learn.pictures import (
    OTHERS,
    as_crosses,
    axis_floor,
    blind_guess_rule,
    epsilon_axis,
    epsilon_rule,
    error_dots,
    guess_rule,
    impossible_side,
    lesson_picture,
    runs,
)

SHOWN = 48
"""Maximum number of points that are drawn of one run."""
BELOW_BLIND = 0.4
"""Lower end of the axis, with room for the label under the line of a blind guess."""
FLOOR = 0.01
"""Position of errors of 0 on the logarithmic axis."""


def one_run(attack: Attack) -> Picture:
    """Return the released rows of every point, with the secret half and the attacker's guesses."""
    title = "One release, one attack"
    if attack.refused:
        return empty_picture(title=title, sentence="The mechanism gave no answer (⊥), so there is nothing to attack.")
    truth, released, chosen = attack.truth, attack.released, attack.chosen
    points, correct = len(truth), int((truth & chosen).sum())
    hover_texts = [
        f"person {point + 1}: rows released: {significant(float(count))}; {'in' if secret else 'not in'} the secret "
        f"half; the attacker says {'in' if yes else 'not in'}"
        for point, (count, secret, yes) in enumerate(zip(released[:SHOWN], truth, chosen, strict=False))
    ]

    def dots(role: str, name: str, shape: str, which: Booleans) -> Dots:
        points_shown = np.flatnonzero(which[: len(hover_texts)])
        texts = [hover_texts[each] for each in points_shown]
        return Dots(role=role, name=name, x=points_shown + 1, y=released[points_shown], shape=shape, hover=texts)

    cut = (float(released[chosen].min()) + float(released[~chosen].max())) / 2
    part = f"; the first {SHOWN} of {points:,} points are shown" if points > SHOWN else ""
    return Picture(
        title=title,
        x=Axis(title="person", low=0, high=len(hover_texts) + 1),
        y=Axis(title="released rows"),
        marks=[
            dots("true", "in the secret half", "circle", truth),
            dots(OTHERS[0], "not in it", "square", ~truth),
            as_crosses(dots("ink", "wrong guess", "", truth != chosen)),
            Curve(
                role="quiet",
                name="guessed “in the half” above this line",
                x=[0.5, len(hover_texts) + 0.5],
                y=[cut, cut],
                dash="dash",
                width=1.5,
            ),
        ],
        sentence=f"One release: the attacker finds {correct:,} of the {points // 2:,} secret points "
        f"({percent(2 * correct / points)}; a random guess finds half). × marks wrong guesses{part}.",
        table={
            "point": list(range(1, points + 1)),
            "secret": truth.tolist(),
            "released rows": np.round(released, 3).tolist(),
            "guessed": chosen.tolist(),
        },
        height=240,
    )


def worlds(*, swap: TwoWorlds, epsilon: float, claimed: bool) -> Picture:
    """Return the shares of releases that name the point in both worlds, with exact intervals and ε's limit."""
    names = ("in the data", "swapped out")
    shares = np.array([swap.inside, swap.outside])
    low, high = np.array([swap.inside_interval, swap.outside_interval]).T
    beyond = [Region(role="impossible", x=(swap.allowed, 1.0), y=(-0.5, 0.5))] if swap.allowed < 1 else []
    verdict = f"ε = {exactly(epsilon)} allows up to {percent_up(swap.allowed)} (hatched above): no contradiction"
    if swap.impossible:
        verdict = f"ε = {exactly(epsilon)} allows at most {percent_up(swap.allowed)}, so the claim is false"
    return Picture(
        title="Why: swap one person for another",
        x=Axis(
            title="releases for which the attacker guesses this point",
            low=-0.02,
            high=1.02,
            form=".0%",
            ticks=(0, 0.25, 0.5, 0.75, 1),
        ),
        y=Axis(labels=names),
        marks=[
            *beyond,
            Dots(
                role="released",
                x=shares,
                y=np.arange(2),
                low=low,
                high=high,
                across=True,
                size=10,
                hover=[
                    f"{name}: guessed in {percent(share)} of releases ({percent(start)} to {percent(end)})"
                    for name, share, start, end in zip(names, shares, low, high, strict=True)
                ],
            ),
        ],
        sentence=f"The point is guessed in {percent(swap.inside)} of releases with its row in the data and in "
        f"{percent(swap.outside)} without; {verdict}."
        + ("" if claimed else " Publishing true counts is not private for any ε."),
        table={"world": names, "share": shares.tolist(), "from": low.tolist(), "to": high.tolist()},
        height=180,
    )


def _roles(keys: Sequence[str]) -> list[str]:
    """Return the roles of mechanisms: their own if they are in the catalogue, otherwise one of OTHERS."""
    known, others = {entry.key for entry in catalogue()}, iter(OTHERS)
    return [f"mechanism:{key}" if key in known else next(others) for key in keys]


def _spread_out(place: int) -> Floats:
    """Return the measured ε, slightly shifted for each mechanism so that dots do not overlap."""
    return np.array(EPSILONS) * 1.05 ** (place % 5 - 2)


def recovered_shares(
    *, recovery: Recovery, titles: Mapping[str, str], walls: RecoveryBounds, epsilon: float, guess: float
) -> Picture:
    """Return the mean share found against ε, with the middle 90% of the runs and the upper bound.

    Args:
        recovery: attacks; the first mechanism is the reader's.
        titles: of mechanisms, by key.
        walls: what privacy forbids, along an axis of ε.
        epsilon: the current ε.
        guess: the user's guess, a share.
    """
    near = int(np.argmin(np.abs(np.log(np.array(EPSILONS) / epsilon))))
    marks = [
        runs(titles[key], _spread_out(place), recovery.shares[place], role=role)
        for place, (key, role) in enumerate(zip(recovery.keys, _roles(recovery.keys), strict=True))
    ]
    least = min(BELOW_BLIND, guess, float(recovery.shares.min()))
    return lesson_picture(
        title="Share of the secret half found",
        x=epsilon_axis(epsilon),
        y=Axis(title="share of the half found", low=least, high=1.2, form=".0%", ticks=(0, 0.2, 0.4, 0.6, 0.8, 1)),
        marks=[
            impossible_side(walls.epsilon, walls.share, end=1.2, corner="top left"),
            *marks,
            blind_guess_rule(),
            guess_rule(y=guess),
            epsilon_rule(epsilon),
        ],
        sentence=f"Near ε = {EPSILONS[near]:g}, attacks on {titles[recovery.keys[0]]} find "
        f"{percent(float(recovery.shares[0, near].mean()))} of the secret half (you guessed "
        f"{percent(guess)}). Against a private method at ε = {exactly(epsilon)}, no attack finds more than "
        f"{percent_up(walls.at(epsilon)[0])} on average. Bars hold 90% of {recovery.shares.shape[2]} runs.",
    )


def accuracy(
    *, recovery: Recovery, titles: Mapping[str, str], walls: RecoveryBounds, epsilon: float, n: int
) -> Picture:
    """Return the error of 95% of the releases against ε, with the lower bound at β = 5%.

    Args:
        recovery: attacks; the first mechanism is the reader's.
        titles: of mechanisms, by key.
        walls: what privacy forbids, along an axis of ε.
        epsilon: the current ε.
        n: rows.
    """
    median, quantile_95 = recovery.within(0.5), recovery.within(1 - BETA)
    floor = axis_floor(median, FLOOR)
    marks = [
        error_dots(
            titles[key],
            _spread_out(place),
            quantile_95=quantile_95[place],
            median=median[place],
            floor=floor,
            role=role,
            error_words=lambda error: f"{percent_up(error)} ({rows_up(error, n)})",
        )
        for place, (key, role) in enumerate(zip(recovery.keys, _roles(recovery.keys), strict=True))
    ]
    typical = float(quantile_95[0, EPSILONS.index(1.0)])
    return lesson_picture(
        title="Error of the releases",
        x=epsilon_axis(epsilon),
        y=Axis(title="worst error, share of n", log=True, low=floor, form="~p", rows=n),
        marks=[
            impossible_side(walls.epsilon, walls.error, end=floor, corner="bottom left"),
            *marks,
            Rule(role="ink", y=0.5, label="releasing nothing: 50%"),
        ],
        sentence=f"At ε = 1, 95% of the releases of {titles[recovery.keys[0]]} have a worst error of at most "
        f"{percent_up(typical)}. No private method can guarantee less than "
        f"{percent_down(walls.at(1.0)[1])}. Each bar ends at the median.",
    )
