"""Picture of the low-bits attack: its success against naive noise and against the secure sampler."""

from __future__ import annotations

from dataclasses import replace

from dpcore.core import exactly, rounded_up
from dpcore.limits.bounds.low_bits import Verdict
from pages.charts.picture import Axis, Dots, Picture, Region, Words
from pages.charts.words import percent
from pages.learn.pictures import guess_rule, lesson_picture

ROOM = 0.8
"""Share above which a bar's verdict is at its lower end."""


def _verdict_text(word: str, verdict: Verdict, place: int) -> Words:
    """Return a verdict at the end of its bar that has room; the guess's label is above the bar."""
    low, high = verdict.interval
    if high > ROOM:
        return Words(role="ink", text=word, x=low, y=place, align="right", shift=(-8, 0), bold=True)
    return Words(role="ink", text=word, x=high, y=place, align="left", shift=(8, 0), bold=True)


def verdicts(*, naive: Verdict, secure: Verdict, epsilon: float, guess: float) -> Picture:
    """Return the success rates with exact intervals (error one in a million), and the limit that ε allows."""
    samplers = {"textbook noise": naive, "secure sampler": secure}
    both = list(samplers.values())
    words = ["broken" if each.broken else "not caught" for each in both]
    unsettled = "".join(
        f" The confidence interval of the {name} contains values on both sides of the limit: nothing is "
        "shown against it."
        for name, each in samplers.items()
        if not each.broken and each.interval[1] > each.allowed
    )
    picture = lesson_picture(
        title="One release, one guess",
        x=Axis(title="share of guesses that are right", low=min(0.4, guess), high=1, form=".0%"),
        y=Axis(labels=tuple(samplers)),
        marks=[
            Region(role="impossible", x=(naive.allowed, 1.0), label="more than ε allows", corner="bottom right"),
            Dots(
                role="released",
                name="right guesses",
                legend=False,
                x=[each.success for each in both],
                y=range(len(both)),
                low=[each.interval[0] for each in both],
                high=[each.interval[1] for each in both],
                across=True,
                size=11,
                hover=[
                    f"{name}, {word}: {percent(each.success)} of {each.trials:,} guesses are right, "
                    f"{percent(each.interval[0])} to {percent(each.interval[1])}; allowed {percent(each.allowed)}"
                    for (name, each), word in zip(samplers.items(), words, strict=True)
                ],
            ),
            guess_rule(x=guess),
            *(_verdict_text(word, each, place) for place, (word, each) in enumerate(zip(words, both, strict=True))),
        ],
        sentence=f"From one such release the attacker tells the two counts apart in {percent(naive.success)} of "
        f"{naive.trials:,} tries. You guessed {percent(guess)}. ε = {exactly(epsilon)} allows "
        f"{rounded_up(100 * naive.allowed)}% (hatched above). With the secure sampler the same attack is "
        f"right in {percent(secure.success)}.{unsettled}",
        height=200,
    )
    ends = {end: [each.interval[place] for each in both] for place, end in enumerate(("from", "to"))}
    right, allowed = [each.success for each in both], [each.allowed for each in both]
    return replace(picture, table={"noise": list(samplers), "success": right, **ends, "allowed": allowed})
