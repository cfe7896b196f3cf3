"""Pictures of the attacks: the estimates of the user's bits, the share found against ε, and averages of a count."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpcore.core import Booleans, Floats, rounded_up
from dplab.limits.typed_bits import LEVEL, LOSSES, TIMES, BitsAttack, RepeatedCount, best_possible
from pages.charts.picture import Axis, Band, Curve, Dots, Frame, Mark, Picture, Rule, Words, budget_axis
from pages.charts.words import percent, significant
from pages.learn.pictures import OTHERS, as_crosses, epsilon_rule, guess_rule, impossible_side, lesson_picture, runs

NAMES = (
    "Ana", "Ben", "Chi", "Dan", "Eva", "Fay", "Gus", "Hao", "Ida", "Jan", "Kai", "Lea", "Max", "Nia", "Omar", "Pia",
)  # fmt: skip
"""The sixteen people."""
SIDE, BELOW = 4, 0.42
"""Tiles in a row, and how far below the middle of a tile its name is."""


def bits(*, truth: Booleans, attack: BitsAttack) -> Picture:
    """Return a tile for each person, which turn one by one: to the attacker's answer, or to a cross if it is wrong."""
    estimates, guessed = attack.guess.estimates[0], attack.guess.bits[0]
    right, people = guessed == truth, np.arange(len(truth))
    row, column = np.divmod(people.astype(np.float64), SIDE)
    x, y = column + 0.5, SIDE - 0.4 - row
    answers = ["yes" if bit else "no" for bit in truth]
    hover = [
        f"{name} says {answer}; estimated {significant(float(estimate))}"
        for name, answer, estimate in zip(NAMES, answers, estimates, strict=True)
    ]

    def tiles(turned: int) -> dict[str, Mark]:
        """Return the tiles when so many people are attacked; each mark has a place for everybody."""
        known = people < turned
        empty = Dots(role="quiet", name="not yet", x=_where(~known, x), y=y, shape="square-open", size=30)
        yes, no = (
            Dots(role="released", name=f"“{word}”, right", x=_where(known & right & (guessed == bit), x), y=y,
                 hover=hover, shape=shape, size=30)
            for word, bit, shape in (("yes", True, "square"), ("no", False, "circle"))
        )  # fmt: skip
        wrong = Dots(role="ink", name="wrong", x=_where(known & ~right, x), y=y, hover=hover)
        return {each.name: each for each in (empty, yes, no, replace(as_crosses(wrong), size=26))}

    sentence = f"{int(right.sum())} of {len(truth)} secret answers are right after rounding at one half."
    blank = Axis(low=0, high=SIDE, shown=False)
    names: list[Mark] = [
        Words(role="ink", text=name, x=float(a), y=float(b) - BELOW) for name, a, b in zip(NAMES, x, y, strict=True)
    ]
    found = np.concatenate([[0], np.cumsum(right)])
    frames = [
        Frame(
            label=f"{turned} of {len(truth)} people",
            sentence=f"{found[turned]} of {turned} are right so far. {sentence}" if turned < len(truth) else sentence,
            marks=tiles(turned),
        )
        for turned in range(len(truth) + 1)
    ]
    return Picture(
        title="The attacker's guesses about you",
        x=blank,
        y=blank,
        marks=[*tiles(len(truth)).values(), *names],
        sentence=sentence,
        table={"person": [*NAMES], "says": answers, "estimate": estimates.tolist()},
        height=360,
        frames=frames,
        playing="people attacked",
        turning=True,
    )


def _where(chosen: Booleans, places: Floats) -> Floats:
    """Return the places of the chosen, and NaN for all others."""
    return np.where(chosen, places, np.nan)


def over_epsilon(*, shares: Floats, epsilon: float | None, guess: float) -> Picture:
    """Return shares of answers found (K, R) against the total ε of all counts, with the upper bound of any attack."""
    losses = np.array(LOSSES)
    grid = np.geomspace(losses[0], losses[-1], 80)
    best, mean_shares = best_possible(grid), shares.mean(axis=1)
    at_one = float(mean_shares[LOSSES.index(1.0)])
    return lesson_picture(
        title="How much noise stops it",
        x=budget_axis(LOSSES, title="← more private · ε · more accurate →", ticks=(0.1, 1, 10, 100, 1000)),
        y=Axis(title="share of answers found", low=0.4, high=1.05, form=".0%", ticks=(0.5, 0.75, 1)),
        marks=[
            impossible_side(grid, best, end=1.05, corner="top left",
                            label="impossible on average,\nfor random answers"),
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


def averages(*, true_count: int, times: int, repeated: RepeatedCount) -> Picture:
    """Return the average of k answers to one count against k, with its intervals around the true count.

    Args:
        true_count: people who say yes.
        times: the selected k, one of TIMES.
        repeated: half-widths of the intervals, and the averages of one run.
    """
    k = np.array(TIMES, dtype=np.float64)
    place = TIMES.index(times)
    stored = np.full(len(k), repeated.stored)

    def ends(role: str, name: str, half: Floats, dash: str) -> Curve:
        """Return both ends of the intervals as one curve, interrupted between them."""
        y = np.concatenate([true_count - half, [np.nan], true_count + half])
        return Curve(role=role, name=name, x=np.concatenate([k, [np.nan], k]), y=y, dash=dash)

    reach = 1.08 * max(1.0, float(repeated.shared.max()), float(np.abs(repeated.averages - true_count).max()))
    return lesson_picture(
        title="Ask again and average",
        # At the right of the last dot is room for the words of the true count.
        x=Axis(title="times asked, k", log=True, low=0.9, high=TIMES[-1] * 2, ticks=tuple(k.tolist())),
        y=Axis(title="average answer", low=true_count - reach, high=true_count + reach, form="~g"),
        marks=[
            Band(role="released", x=k, low=true_count - repeated.fresh, high=true_count + repeated.fresh),
            ends("released", "fresh ε each", repeated.fresh, "solid"),
            ends(OTHERS[1], "shared ε", repeated.shared, "dash"),
            ends(OTHERS[0], "stored answer", stored, "dot"),
            Dots(role="released", name="one run, fresh", x=k, y=repeated.averages),
            Rule(role="true", y=true_count, label=f"true: {true_count}"),
            Rule(role="ink", x=times, label=f"k = {times}"),
        ],
        sentence=f"With probability {percent(LEVEL)}, the average of {times} answers is within "
        f"{rounded_up(float(repeated.fresh[place]))} of the true count if each has fresh noise at ε, within "
        f"{rounded_up(float(repeated.shared[place]))} if they share ε, and within {rounded_up(repeated.stored)} if "
        "the stored answer is returned.",
        caption=f"Lines: {percent(LEVEL)} intervals.",
    )  # fmt: skip
