"""Pictures of subset sums: the bits of one attack, and the share found by noise and by number of queries."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dpcore.core import Booleans, Floats, rounded_down
from dplab.limits.subset_sums import RecoveredShares
from pages.charts.picture import Axis, Curve, Dots, Picture, Rule
from pages.charts.words import percent, significant
from pages.learn.pictures import OTHERS, as_crosses, guess_rule, lesson_picture, runs

QUESTION_TICKS = (50, 100, 200, 500, 1000, 2000)
"""Ticks of the axis of questions."""
SHOWN = 60
"""Maximum number of people that are drawn of one attack."""
SHARE = Axis(title="share of bits found", low=0, high=1.05, form=".0%", ticks=(0, 0.25, 0.5, 0.75, 1))


def bits(*, truth: Booleans, estimates: Floats, words: tuple[str, str]) -> Picture:
    """Return each person's estimate before rounding (n,), with the wrong ones crossed."""
    people, right = len(truth), (estimates > 0.5) == truth
    drawn = np.arange(min(people, SHOWN))

    def dots(shown: Booleans, *, role: str, name: str) -> Dots:
        places = drawn[shown[drawn]]
        hover_texts = [
            f"person {place} is {words[int(truth[place])]}; estimated {significant(float(estimates[place]))}, "
            f"{'right' if right[place] else 'wrong'}"
            for place in places
        ]
        return Dots(role=role, name=name, x=places, y=estimates[places], hover=hover_texts)

    part = f"; the first {SHOWN} of {people} are shown" if people > SHOWN else ""
    shown = lesson_picture(
        title="One attack",
        x=Axis(title="person", low=-1, high=len(drawn)),
        y=Axis(title="estimated bit", form="~g", ticks=(0, 0.5, 1) if np.ptp(estimates[drawn]) < 4 else ()),
        marks=[
            Rule(role="quiet", y=0.5, dash="dash"),
            *(dots(truth == bool(bit), role=OTHERS[bit], name=words[bit]) for bit in (0, 1)),
            as_crosses(dots(~right, role="ink", name="wrong after rounding")),
        ],
        caption=f"A bit of 1 means “{words[1]}”{part}.",
        sentence=f"One attack: {percent(float(right.mean()))} of {people} secret bits are right after rounding at one "
        f"half (× is wrong){part}.",
    )
    hover_texts = [words[int(bit)] for bit in truth]
    return replace(shown, table={"person": list(range(people)), "is": hover_texts, "estimate": estimates.tolist()})


def by_noise(
    *,
    shares: RecoveredShares,
    people: int,
    error: int,
    blind: float,
    forced: float | None = None,
    guess: float | None = None,
) -> Picture:
    """Return the share of bits found against the largest noise over √n.

    Args:
        shares: shares found, with ``error`` among the noises.
        people: n.
        error: the curator's current noise, in rows.
        blind: share found by always guessing the commoner bit.
        forced: unavoidable error in rows of every private curator, where it is shown.
        guess: the user's guess, if there is one.
    """
    root = math.sqrt(people)
    x = shares.errors / root
    share_at_error = float(shares.by_noise[int(np.argmin(np.abs(shares.errors - error)))].mean())
    guessed = "" if guess is None else f" (you guessed {percent(guess)})"
    unavoidable = (
        ""
        if forced is None
        else "With the ε and β given below, no private mechanism can guarantee errors below "
        f"{rounded_down(forced)} people. "
    )
    ends = (-0.02 * x[-1], 1.02 * x[-1])
    return lesson_picture(
        title="More noise",
        x=Axis(title="largest noise in an answer, in units of √n", low=ends[0], high=ends[1]),
        y=SHARE,
        marks=[
            Curve(role="theory", name="proved: at least", x=shares.levels / root, y=shares.proved),
            runs("attack, measured", x, shares.by_noise, share=1.0),
            blind_line(blind, ends),
            Rule(role="ink", x=error / root, label=f"±{error}, {significant(error / root)} √n"),
            *([] if guess is None else [guess_rule(y=guess)]),
        ],
        sentence=f"With noise up to ±{error} people (√n is {significant(root)}) the attack finds "
        f"{percent(share_at_error)} of the bits{guessed}. {unavoidable}Bars show the range of all "
        f"{shares.by_noise.shape[1]} runs.",
    )


def by_questions(
    *, shares: RecoveredShares, people: int, error: int, question_count: int, blind: float | None = None
) -> Picture:
    """Return the share of bits found against the number of queries, and by a constant guess if that is given."""
    grid, mean_shares = shares.questions, shares.by_questions.mean(axis=1)
    ends = (min(grid[0], people) * 0.9, max(grid[-1], people) * 1.1)
    return lesson_picture(
        title="Fewer queries",
        x=Axis(title="queries", log=True, form=",", ticks=QUESTION_TICKS, low=ends[0], high=ends[1]),
        y=SHARE,
        marks=[
            runs("attack, measured", grid, shares.by_questions, share=1.0),
            Rule(role="ink", x=question_count, label=f"{question_count:,} queries asked"),
            Rule(role="quiet", x=people, label="as many as people"),
            *([] if blind is None else [blind_line(blind, ends)]),
        ],
        caption="With as many queries as people, least squares fits the noise."
        if error and question_count >= people
        else "",
        sentence=f"With the same noise, {grid[0]:,.0f} queries reveal {percent(float(mean_shares[0]))} of the bits "
        f"and {grid[-1]:,.0f} reveal {percent(float(mean_shares[-1]))}. This is why every query uses "
        "privacy budget.",
    )


def blind_line(share: float, ends: tuple[float, float]) -> Curve:
    """Return the line of the share that is found by always guessing the more common bit, from end to end of the axis.

    Its name is in the legend: beside the line it would cover dots, which lie on both sides of it. A longer one would
    give the legend of a presentation a second line.
    """
    return Curve(role="quiet", name=f"common bit: {percent(share)}", x=ends, y=(share, share), dash="dash", width=2)
