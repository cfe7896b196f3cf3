"""Lesson: a mechanism that protects every row but reveals which sample it saw."""

from __future__ import annotations

import numpy as np

from dpcore.core import Floats, ParameterError, exactly, rounded_down
from dpcore.limits.bounds import distributional, net_samples
from pages.charts.words import percent, significant
from pages.learn import kit, screen
from pages.learn.population import figure
from pages.learn.population.own_data import own_data
from pages.shell.controls import stops
from pages.shell.tasks.memory import remember_call

FAR = 4
"""Ratio of the count's spread to the ruler's length from which folded counts are nearly independent."""
NET_POINTS, PAIRS = 8, 60
"""Points of the net mechanism, and number of pairs of samples."""
VIEWS = ("Two samples", "Largest ε for a net mechanism")
"""Its pictures."""
ROWS = (10, 100, 1000, 10_000)
BETA = 0.05
"""Rows of samples, and the share of pairs that may be told apart, in the second picture."""


def lesson() -> None:
    """Draw the lesson: the probability that two samples are distinguished."""
    kit.intro(
        "Two polls of the **same** population: are their private answers alike? Fold the number of yeses like a "
        "ruler: 0, 1, …, m − 1, then down to 0. One person changes it by at most 1."
    )
    losses = (0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0)
    loss = stops(
        "Privacy budget ε", losses, 0.1, key="population-epsilon", help_text="The folded count has length m = 2/ε."
    )
    n = int(stops("Rows n of each sample", (10, 100, 1000, 10_000, 100_000), 10_000, key="population-n"))
    guess = screen.guess_percent(
        "population",
        f"ε = {exactly(loss)} protects every row. For how many pairs of samples from one population "
        "is some output **e times more likely** under one of "
        f"them{f' (a loss of 1, {significant(1 / loss)} times ε)' if loss < 1 else ''}?",
        default=0,
        of=" of all pairs",
    )
    folded = remember_call(distributional.separation, n=n, epsilon=loss)
    net = _pairs(n).losses(loss)
    if kit.pictures("population", *VIEWS) == VIEWS[1]:
        measured = [_pairs(each).max_epsilon(loss=1.0, beta=BETA) for each in ROWS]
        shown = figure.needed_epsilon(rows=ROWS, epsilons=measured, beta=BETA)
        kit.picture(shown, key="population_needed", badge=f"simulated: {PAIRS} pairs of samples each, seed 1")
    else:
        _show_separation(folded, net, n=n, loss=loss, guess=guess)
    kit.show_result(
        f"In **{percent(folded.far)}** of all pairs some output is e times likelier, or more, under one sample than "
        f"the other; you guessed {guess}%. {kit.THEORY} A net mechanism, which releases a few "
        f"synthetic rows, has a loss of {rounded_down(float(np.median(net)))} or more in half "
        f"of them. {kit.SIMULATED}",
        verdict=screen.verdict(guess, 100 * folded.far, unit=" points"),
    )
    wanders = f"The count of a sample varies by about √n = {significant(n**0.5)}"
    if n**0.5 >= FAR * folded.modulus:
        text = (
            f"{wanders}, far more than m = {folded.modulus}. The folded counts of two samples are almost independent."
        )
    else:
        text = f"{wanders}, and m = {folded.modulus}. With more rows the folded counts would be closer to independent."
    kit.theorem(
        r"m=\tfrac2\varepsilon\ll\sqrt n:\;\Pr\bigl[\text{loss}\ge1\bigr]\approx\frac{1+\varepsilon}{4}",
        f"{text} {kit.THEORY}",
        distributional_words(folded, net, n=n),
        without_replacement(n),
        reference="Blum, Ligett and Roth (2013), section 7, Theorems 7.3 and 7.5.",
        meaning="Noise protects every row. It does "
        f"{'not' if folded.beta(1.0) else 'here, up to a loss of 1, also'} hide which sample was asked.",
    )
    kit.break_it("The count of ten people varies little.", "Ten rows", {"population-n": kit.stop(10)})


def _pairs(n: int) -> net_samples.NetPairs:
    """Return pairs of samples with n rows."""
    return remember_call(net_samples.draw_pairs, rows=n, points=NET_POINTS, pairs=PAIRS, seed=1)


def _show_separation(folded: distributional.Separation, net: Floats, *, n: int, loss: float, guess: int) -> None:
    """Draw the probability that two samples are distinguished."""
    try:
        limit = distributional.limit_far(loss)
    except ParameterError:
        limit = None
    shown = figure.separation(folded=folded, net=net, n=n, limit=limit, guess=guess / 100)
    badge = f"folded count: exact theory · net mechanism: {PAIRS} simulated pairs, seed 1"
    kit.picture(shown, key="population_apart", badge=badge)


def distributional_words(folded: distributional.Separation, net: Floats, *, n: int) -> str:
    """Return the definition of distributional privacy, its consequences, and a mechanism without it.

    Args:
        folded: the folded count.
        net: losses of the net mechanism, at least, (P,).
        n: rows of each sample.
    """
    least, middle = folded.beta(1.0), float(np.median(net))
    broken = (
        f"For the folded count, (1, β)-distributional privacy needs a β of at least {rounded_down(least)}, "
        "if the population is large."
        if least
        else "At such a large ε, or on so few rows, no two samples have a loss above 1. So the folded count has "
        "(1, 0)-distributional privacy."
    )
    nor = "Nor do net mechanisms have it" if least else "Net mechanisms do not have it"
    return (
        "**Distributional privacy** is about samples. Two samples of n distinct rows, drawn without "
        "replacement from one population, look alike except with probability β. If β is below 1/(n + 1)² = "
        f"{significant(distributional.differential_from(n=n))}, it implies differential privacy; the "
        f"reverse is false. {broken} {kit.THEORY}\n\n{nor} at the ε of their differential privacy. At ε = "
        f"{exactly(folded.epsilon)}, take the one for thresholds with {NET_POINTS} points and two samples "
        f"of {n:,} of {2 * n:,} people. In half of all pairs its loss is **at least "
        f"{rounded_down(middle)}**, {significant(middle / folded.epsilon)} times ε. The loss grows like "
        f"ε√n, so ε must be about 1/√n = {significant(n ** (-0.5))}. Measured: at most "
        f"{rounded_down(_pairs(n).max_epsilon(loss=1.0, beta=BETA))} for a loss below 1 in 95% of pairs. "
        f"{kit.SIMULATED}"
    )


def without_replacement(n: int) -> str:
    """Return why the definition samples without replacement."""
    rare = f"about $2^{{{1 - n}}}$" if n > 20 else percent(distributional.giveaway(n=n, replacement=True))
    return (
        "**Why without replacement?** Let a mechanism publish whether its sample is one database D*. This "
        "is not differentially private. With replacement (n fair coins), D* is very rare: two samples are "
        f"told apart in only {rare} of pairs. A guarantee about samples does not notice this. Without "
        "replacement, from D* and one more row, it is "
        f"{percent(distributional.giveaway(n=n, replacement=False))} of pairs, more than 1/(n + 1)². "
        f"{kit.THEORY}"
    )


LESSON = kit.Lesson(
    key="population",
    question="Does protecting each row also hide the sample?",
    place=130,
    minutes=6,
    needs="differential privacy; sampling without replacement",
    class_questions=(
        "One row moves the folded count by 1 at most. Why are two samples told apart?",
        "Distributional privacy with β below 1/(n + 1)² implies differential privacy. Why not the reverse?",
        "Which ε would a net mechanism need for a useful guarantee about samples of n rows?",
    ),
    point=((25, 50),),
    show=lesson,
    own_data=own_data,
)
