"""Subset sums: the bits of one attack, the share found against noise, and against the number of questions."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dpcore.core import Booleans, Floats, rounded_down
from dplab.limits.subset_sums import SharesFound
from pages.charts.picture import Axis, Curve, Dots, Picture, Rule
from pages.charts.words import percent, significant
from pages.learn.pictures import OTHERS, as_crosses, guess_rule, lesson_picture, runs

QUESTION_TICKS = (50, 100, 200, 500, 1000, 2000)
"""Numbers of questions that are named."""
SHOWN = 60
"""People of one attack that are drawn."""
SHARE = Axis(title="share of bits found", low=0, high=1.05, form=".0%", ticks=(0, 0.25, 0.5, 0.75, 1))


def bits(*, truth: Booleans, estimates: Floats, words: tuple[str, str]) -> Picture:
    """Each person's estimate before rounding, by what they really are, shapes (n,); beyond 1/2 it is wrong."""
    people, right = len(truth), (estimates > 0.5) == truth
    drawn = np.arange(min(people, SHOWN))

    def dots(shown: Booleans, *, role: str, name: str) -> Dots:
        places = drawn[shown[drawn]]
        told = [
            f"person {place} is {words[int(truth[place])]}; estimated {significant(float(estimates[place]))}, "
            f"{'right' if right[place] else 'wrong'}"
            for place in places
        ]
        return Dots(role=role, name=name, x=places, y=estimates[places], hover=told)

    part = f"; the first {SHOWN} of {people} are drawn" if people > SHOWN else ""
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
    told = [words[int(bit)] for bit in truth]
    return replace(shown, table={"person": list(range(people)), "is": told, "estimate": estimates.tolist()})


def by_noise(*, seen: SharesFound, people: int, error: int, forced: float, blind: float, guess: float) -> Picture:
    """Share of bits found against the largest noise over √n.

    Args:
        seen: shares found, with ``error`` among the noises.
        people: n.
        error: the curator's noise where the reader stands, in rows.
        forced: error in rows that every private curator makes on one of the groups.
        blind: share found by always guessing the commoner bit.
        guess: what the reader expects.
    """
    root = math.sqrt(people)
    x = seen.errors / root
    found = float(seen.by_noise[int(np.argmin(np.abs(seen.errors - error)))].mean())
    return lesson_picture(
        title="More noise",
        x=Axis(title="largest noise in an answer, in units of √n", low=-0.02 * x[-1], high=1.02 * x[-1]),
        y=SHARE,
        marks=[
            Curve(role="theory", name="proved: at least", x=seen.levels / root, y=seen.proved),
            runs("attack, measured", x, seen.by_noise, share=1.0),
            Rule(role="quiet", y=blind, label=f"always the commoner bit: {percent(blind)}"),
            Rule(role="ink", x=error / root, label=f"±{error}, {significant(error / root)} √n"),
            guess_rule(y=guess),
        ],
        sentence=f"With noise up to ±{error} people (√n is {significant(root)}) the attack finds {percent(found)} of "
        f"the bits (you guessed {percent(guess)}). A private curator cannot promise errors below "
        f"{rounded_down(forced)} people (at the ε and failure chance told below). Bars show the range of all "
        f"{seen.by_noise.shape[1]} runs.",
    )


def by_questions(*, seen: SharesFound, people: int, error: int, asked: int) -> Picture:
    """Share of bits found against how many groups were asked about."""
    grid, found = seen.questions, seen.by_questions.mean(axis=1)
    return lesson_picture(
        title="Fewer questions",
        x=Axis(
            title="questions",
            log=True,
            form=",",
            ticks=QUESTION_TICKS,
            low=min(grid[0], people) * 0.9,
            high=max(grid[-1], people) * 1.1,
        ),
        y=SHARE,
        marks=[
            runs("attack, measured", grid, seen.by_questions, share=1.0),
            Rule(role="ink", x=asked, label=f"{asked:,} asked"),
            Rule(role="quiet", x=people, label="as many as people"),
        ],
        caption="With as many questions as people, least squares fits the noise." if error and asked >= people else "",
        sentence=f"With the same noise, {grid[0]:,.0f} questions give away {percent(float(found[0]))} of the bits, "
        f"{grid[-1]:,.0f} give {percent(float(found[-1]))}: this is why a privacy budget counts questions.",
    )
