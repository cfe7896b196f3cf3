"""Lesson: the lowest bits of a noisy number reveal the true count."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpcore.core import exactly, rounded_up
from dpcore.limits.bounds import low_bits, odds
from pages.charts.component import draw_while_open
from pages.charts.words import percent, percent_down
from pages.learn import kit, screen
from pages.learn.lowbits import figure
from pages.shell.controls import stops
from pages.shell.tasks.memory import call_with_progress


def lesson() -> None:
    """Draw the lesson: the two verdicts, and some releases in detail."""
    kit.intro(
        "A count is released with textbook noise, `scale * log(uniform)`, which is private on paper. In a "
        "computer this noise takes finitely many values. **Rounding the sum differs from count to count**, "
        "and that reveals the count."
    )
    loss = kit.epsilon("low-bits", default=0.5, high=1.0)
    counts, label = (0, 1, 10, 100, 1000), "The attacker must tell this count from this count plus one."
    low = int(stops(label, counts, 0, key="low-bits-count"))
    with kit.more():
        seed = kit.draws_seed(
            "Textbook noise has a seed. The secure sampler has none, so a link samples its part of the picture again."
        )
    allowed = rounded_up(100 * float(odds.best_guess(0.5, epsilon=loss)))
    guess = screen.guess_percent(
        "low-bits",
        f"One release at ε = {exactly(loss)}. Privacy allows at most {allowed}% right guesses between "
        f"{low} and {low + 1}, for any attack. How often is this attacker right with textbook noise?",
        default=50,
    )
    label = "Sampling and attacking 20,000 releases."
    result = call_with_progress(label, low_bits.attack_both, low=low, epsilon=loss, seed=seed)
    shown = figure.verdicts(naive=result.naive, secure=result.secure, epsilon=loss, guess=guess / 100)
    badge = f"simulated: textbook noise with seed {seed}, secure sampler from the system's entropy"
    kit.picture(shown, key="lowbits_verdicts", badge=badge)
    certain = (
        f"{percent(result.naive.certain)} of the releases exclude one count **with certainty**, whatever ε "
        f"is. {kit.SIMULATED}"
    )
    if result.naive.broken:
        kit.show_result(
            f"**Broken**: **{percent(result.naive.success)}** right guesses, where **{allowed}%** are "
            f"allowed; at least {percent_down(result.naive.interval[0])} with confidence 99.9999%. "
            f"{certain}",
            verdict=screen.verdict(guess, 100 * float(result.naive.success), unit=" points", near=2),
        )
    else:
        kit.show_result(f"This attack does not show it, but the release is not private: {certain}")
    if screen.revealed():
        with kit.below():
            draw_while_open("Textbook releases in detail", key="lowbits_open", content=partial(_show_releases, result))
    kit.theorem(
        r"\Pr[\text{right}]\le\frac{e^{\varepsilon}}{1+e^{\varepsilon}}",
        "The secure sampler samples whole-number noise exactly: every whole number has positive "
        "probability for every count.",
        reference="Mironov (2012), sections 4 and 5; the allowance e^ε/(1 + e^ε) is the best any attacker can do.",
        meaning="No attacker on an ε-private release tells two neighbouring tables apart more often.",
    )
    kit.break_it(
        "For large counts the rounding is the same, and this attack fails.",
        "Counts 1,000 and 1,001 at ε = 0.5",
        {"low-bits-count": kit.stop(1000), "low-bits-epsilon": 0.5},
    )


def _show_releases(result: low_bits.Attacked) -> None:
    """Draw some textbook releases, and the counts that could have produced them."""
    low, number = result.low, len(result.outputs)
    guesses = zip(result.guesses.high, result.guesses.certain, strict=True)
    st.dataframe(
        {
            "released": [repr(float(value)) for value in result.outputs],
            "last bits": [float(value).hex().split("p")[0][-4:] for value in result.outputs],
            **{
                f"can come from {low + more}": ["yes" if each else "no" for each in possible]
                for more, possible in enumerate(result.possible)
            },
            "attacker says": [f"{low + int(high)}{', for certain' if sure else ''}" for high, sure in guesses],
            "truth": [low] * (number // 2) + [low + 1] * (number - number // 2),
        },
        hide_index=True,
    )


LESSON = kit.Lesson(
    key="low-bits",
    question="Do a noisy number’s last bits reveal your row?",
    place=250,
    minutes=5,
    needs="the Laplace mechanism; how computers round",
    class_questions=(
        "The proof of the Laplace mechanism is right. Which of its assumptions does a computer break?",
        "Why can a release exclude one count with certainty, for every ε?",
        "What does the secure sampler do instead?",
    ),
    point=((75, 100), (62.2, 62.3)),
    show=lesson,
)
