"""Pictures of the attack: the estimates of the user's bits, and the share found against ε."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpcore.core import Booleans, Floats, rounded_up
from dplab.limits.typed_bits import LOSSES, BitsAttack, best_possible
from pages.charts.picture import Axis, Curve, Dots, Picture, Rule
from pages.charts.words import percent, significant
from pages.learn.pictures import as_crosses, epsilon_rule, guess_rule, impossible_side, lesson_picture, runs

WORDS = 3.6
"""Width in people at the right of the last one, for the label of the line at one half."""


def bits(*, truth: Booleans, attack: BitsAttack) -> Picture:
    """Return each person's estimate before rounding: a circle if the rounded bit is right, a cross if it is wrong."""
    estimates, right = attack.guess.estimates[0], attack.guess.bits[0] == truth
    people = np.arange(1, len(truth) + 1)
    ticks = tuple(range(2, len(truth) + 1, 2))  # all of them would overlap on a phone

    def dots(picture: Booleans, *, role: str, name: str) -> Dots:
        hover = [
            f"person {person} says {'yes' if truth[person - 1] else 'no'}; estimated "
            f"{significant(float(estimates[person - 1]))}"
            for person in people[picture]
        ]
        return Dots(role=role, name=name, x=people[picture], y=estimates[picture], hover=hover)

    picture = lesson_picture(
        title="The attacker's guesses about you",
        x=Axis(title="person", low=0.4, high=len(truth) + WORDS, ticks=ticks, form="d"),
        y=Axis(title="estimated answer (1 is yes)", form="~g", ticks=(0, 0.5, 1) if np.ptp(estimates) < 4 else ()),
        marks=[
            Rule(role="quiet", y=0.5, dash="dash", label="above: “yes”"),
            dots(right, role="released", name="right"),
            as_crosses(dots(~right, role="ink", name="wrong")),
        ],
        sentence=f"{int(right.sum())} of {len(truth)} secret answers are right after rounding at one half.",
    )
    answers = ["yes" if bit else "no" for bit in truth]
    return replace(picture, table={"person": people.tolist(), "says": answers, "estimate": estimates.tolist()})


def over_epsilon(*, shares: Floats, epsilon: float | None, guess: float) -> Picture:
    """Return shares of answers found (K, R) against the total ε of all counts, with the upper bound of any attack."""
    losses = np.array(LOSSES)
    grid = np.geomspace(losses[0], losses[-1], 80)
    best, mean_shares = best_possible(grid), shares.mean(axis=1)
    at_one = float(mean_shares[LOSSES.index(1.0)])
    return lesson_picture(
        title="How much noise stops it",
        x=Axis(
            title="← more private · ε · more accurate →",
            log=True, low=losses[0] * 0.8, high=losses[-1] * 1.25, ticks=(0.1, 1, 10, 100, 1000),
        ),
        y=Axis(title="share of answers found", low=0.4, high=1.05, form=".0%", ticks=(0.5, 0.75, 1)),
        marks=[
            impossible_side(grid, best, end=1.05, corner="top left",
                            label="impossible on average (lower bound), for random answers"),
            Curve(role="theory", name="the best attacker", x=grid, y=best),
            runs("this attacker, middle 90% of runs", losses, shares),
            Rule(role="quiet", y=0.5, label="coin flips", below=True),
            guess_rule(y=guess),
            *([] if epsilon is None else [epsilon_rule(epsilon)]),
        ],
        sentence=f"At ε = 1 this attack finds {percent(at_one)} of the answers on average; at ε = 1,000 it finds "
                 f"{percent(float(mean_shares[-1]))}. If answers are fair coin flips, no attack finds more than "
                 f"{rounded_up(100 * float(best_possible(np.array([1.0]))[0]))}% at ε = 1.",
    )  # fmt: skip
