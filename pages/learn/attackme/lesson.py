"""Lesson: the user types sixteen secrets; counts of groups reveal them, and so does one count asked again and again."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpcore.core import Booleans, exactly, rounded_up
from dplab.limits import typed_bits
from pages.learn import kit, screen
from pages.learn.attackme import figure
from pages.shell.controls import choice, stops
from pages.shell.presentation import outside_presentation
from pages.shell.state import SessionKey
from pages.shell.tasks.memory import remember, with_progress

PEOPLE = tuple(range(1, typed_bits.PEOPLE + 1))
BEFORE = (2, 3, 5, 8, 13)
"""People who initially say yes; the user's choice stays in the session and is in no link."""


EPSILON = "One person changes the probability of any output by a factor of at most e^ε."
ODDS = (
    "Let an attacker know all other answers and have prior odds of 1. The posterior odds are at most "
    "$e^{\\varepsilon}$ for each single answer."
)
NOTHING = 0.9995
"""A bound above it is written as 100%."""
SECRETS, NOISE, AGAIN = VIEWS = ("Your secrets", "More noise", "Ask again")
"""Its pictures."""


def lesson() -> None:
    """Draw the lesson: sixteen answers, the attack's result, and the noise that stops it."""
    kit.intro(
        "Sixteen people answer yes or no. Only **counts** are published: how many say yes in each of "
        f"{typed_bits.GROUPS} random groups. There are no names. Is that anonymous?"
    )
    chosen_people = st.pills(
        "Who says yes? Your secrets.",
        PEOPLE,
        selection_mode="multi",
        default=BEFORE,
        format_func=lambda person: figure.NAMES[person - 1],
        key="attack-me-bits",
        persist_state="session",
    )
    bits = np.isin(PEOPLE, chosen_people)
    choice_place = st.container()
    epsilon = stops(
        "Privacy budget ε of all counts together", typed_bits.LOSSES, 1.0, key="attack-me-epsilon", help_text=EPSILON
    )
    # A change of ε switches to private counts, to which alone it applies.
    if SessionKey("attack-me-before", epsilon).setdefault(epsilon) != epsilon:
        kit.apply_settings({"attack-me-before": epsilon, "attack-me-counts": "noisy"})
    with choice_place:
        noisy = choice("The counts are", {"exact": "exact", "noisy": "private"}, key="attack-me-counts") == "noisy"
    with kit.more():
        seed = kit.draws_seed()
    guess = screen.guess_number(
        "attack-me",
        "An attacker knows only who is in which group. How many of the 16 answers follow from the "
        f"{'private' if noisy else 'exact'} counts?",
        label="Your guess, people",
        high=16,
        default=8,
    )
    shown_picture = kit.pictures("attack-me", *VIEWS)
    if shown_picture == AGAIN:
        return _ask_again(bits, epsilon=epsilon, seed=seed)
    epsilon_of_counts = epsilon if noisy else None
    attack = typed_bits.attack(bits, epsilon=epsilon_of_counts, seed=seed)
    yes = int(bits.sum())
    with_noise = f"noise at ε = {exactly(epsilon)}" if noisy else "exact counts"
    badge = f"true: typed by you · simulated, preview sampler, seed {seed}"
    kit.show_result(
        f"With {with_noise}, least squares finds **{round(attack.share * 16)} of 16** answers (always "
        f"guessing “{'yes' if yes * 2 > 16 else 'no'}”: {max(yes, 16 - yes)}); you guessed {guess}. "
        f"{kit.SIMULATED}",
        verdict=screen.verdict(guess, round(attack.share * 16)),
    )
    if shown_picture == SECRETS:
        kit.picture(figure.bits(truth=bits, attack=attack), key="attackme_bits", badge=badge)
    else:
        key = f"limits-attack-me|{bits.tolist()}|{seed}"
        shares = with_progress(key, lambda: typed_bits.sweep(bits, seed=seed), label="Attacking 3,600 times.")
        shown = figure.over_epsilon(shares=shares, epsilon=epsilon_of_counts, guess=guess / 16)
        kit.picture(shown, key="attackme_epsilon", badge=badge)
    first_equation = " + ".join(
        rf"\text{{{figure.NAMES[person - 1]}}}" for person in typed_bits.group_members(attack, 0)
    )
    best = float(typed_bits.best_possible(np.array([epsilon]))[0])
    kit.theorem(
        r"\mathbb{E}[\text{share found}]\le\frac{e^{\varepsilon}}{1+e^{\varepsilon}}",
        f"The first published count is one equation in sixteen unknowns: ${first_equation} = "
        f"{attack.answers[0]:g}$. There are {typed_bits.GROUPS} such equations.",
        *([ODDS] if noisy else []),
        reference="Dinur and Nissim (2003) for exact counts; Kasiviswanathan and Smith (2014) for private counts.",
        meaning=f"From private counts at ε = {exactly(epsilon)}, no attacker finds more than {rounded_up(100 * best)}% "
        "of answers that are fair coin flips, on average"
        + (": this excludes nothing." if best > NOTHING else ", even one who knows all other answers."),
    )
    if noisy:
        settings = {"attack-me-epsilon": kit.stop(1000), "attack-me-picture": NOISE}
        kit.break_it("With such a large ε the counts are almost exact.", "ε = 1,000", settings)
    else:
        kit.break_it(
            "At ε = 1 the attack is no better than guessing.",
            "Make the counts private",
            {"attack-me-counts": "noisy", "attack-me-epsilon": kit.stop(1)},
        )


def _ask_again(bits: Booleans, *, epsilon: float, seed: int) -> None:
    """Draw the averages of one count that is asked again and again: how many people say yes."""
    with screen.SCREEN.get().picture, outside_presentation():
        times = int(stops("Times asked, k", typed_bits.TIMES, 20, key="attack-me-times"))
    yes, place = int(bits.sum()), typed_bits.TIMES.index(times)
    key = f"limits-again|{bits.tolist()}|{epsilon}|{seed}"
    repeated = remember(key, lambda: typed_bits.repeat_count(bits, epsilon=epsilon, seed=seed))
    fresh, shared, stored = (
        rounded_up(float(each)) for each in (repeated.fresh[place], repeated.shared[place], repeated.stored)
    )
    kit.show_result(
        f"How many say yes? The average of {times} answers is this near the true {yes} "
        f"({typed_bits.LEVEL:.0%}):\n\n"
        f"- Fresh noise at ε = {exactly(epsilon)} each, ε = {times * epsilon:,.6g} in total: **± {fresh}**.\n"
        f"- ε = {exactly(epsilon)} shared by all: **± {shared}**.\n"
        f"- The stored answer, as *Release* does: **± {stored}**. {kit.THEORY}"
    )
    shown = figure.averages(true_count=yes, times=times, repeated=repeated)
    badge = f"true: typed by you · theory: exact law · one run: simulated, preview sampler, seed {seed}"
    kit.picture(shown, key="attackme_again", badge=badge)
    kit.theorem(
        r"\text{sd}(\overline Z)=\frac1{\sqrt k}\cdot\frac{\sqrt{2e^{-\varepsilon}}}{1-e^{-\varepsilon}}",
        "Composition: k answers at ε each are kε-private together. Shared, each answer has ε/k, and its noise is about "
        "k times as large.",
        reference="Dwork, McSherry, Nissim and Smith (2006); Ghosh, Roughgarden and Sundararajan (2009) for the noise.",
        meaning="The average of k fresh noises Z is √k times smaller. The price is kε.",
    )
    kit.break_it("With shared ε, more answers tell less.", "Ask 100 times", {"attack-me-times": kit.stop(100)})


LESSON = kit.Lesson(
    key="attack-me",
    question="Attack me: do group counts hide your answers?",
    place=210,
    minutes=5,
    needs="none; the lesson on the meaning of ε helps",
    class_questions=(
        "A count of a random group contains no names. Why is it not anonymous?",
        "How many equations does it take to find sixteen unknowns?",
        "At which ε does the attack do no better than coin flips, and what are the counts worth then?",
    ),
    point=((16, 16), (16, 16)),
    show=lesson,
)
