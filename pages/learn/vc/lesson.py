"""Lesson: answers that are accurate for every subset reveal the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.core import Entry, Neighbours, exactly
from dpcore.limits.attacks import vc
from dplab.limits.reconstruction import (
    BETA,
    EPSILONS,
    NOISE_FREE,
    attackable_entries,
    one_attack,
    recovery,
    recovery_bounds,
    swap_worlds,
)
from pages.charts.words import percent
from pages.learn import kit, screen
from pages.learn.pictures import epsilon_grid
from pages.learn.vc import figure
from pages.shell.controls import choice, stops, whole
from pages.shell.links import in_link
from pages.shell.tasks.memory import call_with_progress, remember

POINTS = (8, 16, 32, 64, 128, 256, 1024, 10_000)
ALL_COMPARED = 256
"""Maximum number of points at which all mechanisms can be attacked at once."""


USUAL = {"identity": "Noise in every count", NOISE_FREE: "No noise at all (not private)"}
"""Names of the initial releases."""
VIEWS = ("Share found", "One attack", "Error", "Two data sets")
"""Its pictures."""


def lesson() -> None:
    """Draw the lesson: one run, many runs, and the two worlds."""
    kit.intro(
        "A table holds a secret half of d people. The release answers *every* query “how many people of "
        "this group are in it?” with small error. The attacker guesses the people with the most rows in "
        "the release."
    )
    loss = kit.epsilon("vc", default=0.5)
    points = int(stops("People d (half of them are in the table)", POINTS, 64, key="vc-points"))
    mores = kit.more()
    with mores:
        repeats = whole("Rows per person", 1, 10, 1, key="vc-repeats")
        neighbours = kit.relation(
            "vc",
            default=Neighbours.REPLACE_ONE,
            help_text="The paper counts replacing one person as removing one row and adding one: e^(2ε) under “add "
            "or remove one row”.",
        )
        entries = attackable_entries(points, neighbours)
        titles = {key: entry.title for key, entry in entries.items()} | USUAL
        chosen = choice("Mechanism", titles, key="vc-mechanism", default="identity")
        drawn = kit.draws_seed()
    question = (
        f"Which share of the secret half does the attacker find at ε = {EPSILONS[near(loss)]:g}, on "
        "average? A random guess finds 50%, exact counts reveal 100%."
    )
    guess = screen.guess_percent("vc", question, default=90)
    badge = f"true: generated secret · released: simulated, preview sampler, seed {drawn}"
    entry = entries.get(chosen)
    chosen_picture = kit.pictures("vc", *VIEWS)
    everyone = points <= ALL_COMPARED and mores.toggle(
        "Attack every mechanism that fits", key=in_link("vc-all"), bind="query-params"
    )
    keys = [chosen] + [key for key in (*entries, NOISE_FREE) if key != chosen and (everyone or key == NOISE_FREE)]
    people: dict[str, Any] = {"points": points, "repeats": repeats, "neighbours": neighbours}
    recovered = call_with_progress("Attacking releases.", recovery, keys, seed=drawn, **people)
    forbidden = recovery_bounds(epsilon_grid(loss), delta=recovered.delta, **people)
    shares = {key: float(recovered.shares[place, near(loss)].mean()) for place, key in enumerate(recovered.keys)}
    kit.show_result(
        f"Exact counts reveal **{percent(shares[NOISE_FREE])}** of the secret half. {titles[chosen]} at ε "
        f"= {EPSILONS[near(loss)]:g}: **{percent(shares[chosen])}**; you guessed {guess}%. {kit.SIMULATED}",
        verdict=screen.verdict(guess, 100 * float(shares[chosen]), unit=" points", near=2),
    )
    if chosen_picture == VIEWS[0]:
        shown = figure.recovered_shares(
            recovery=recovered, titles=titles, walls=forbidden, epsilon=loss, guess=guess / 100
        )
        kit.picture(shown, key="vc_recovered", badge=badge)
    elif chosen_picture == VIEWS[1]:
        attack = one_attack(entry, epsilon=loss, seed=drawn, **people)
        kit.picture(figure.one_run(attack), key="vc_run", badge=badge)
    elif chosen_picture == VIEWS[2]:
        n = points * repeats // 2
        shown = figure.accuracy(recovery=recovered, titles=titles, walls=forbidden, epsilon=loss, n=n)
        kit.picture(shown, key="vc_accuracy", badge=badge)
    else:
        _worlds(entry, loss=loss, drawn=drawn, badge=badge, **people)
    bound = vc.error_bound(epsilon=loss, beta=BETA, **people)
    kit.theorem(
        r"|T\,\triangle\,T'|\le2d\alpha",
        f"{bound.statement} {bound.note} {kit.THEORY}",
        "If releases are accurate, the attacker must mostly answer yes on one data set and no on the "
        f"other. But only {repeats} row{'s' if repeats > 1 else ''} changed value.",
        reference=f"{bound.reference}; Lemmas 3.12 and 3.13 for the attack.",
        meaning="Answers with errors up to α, a share of the rows, give a half T′. It differs (△) from the secret half "
        "T in at most 2dα people.",
    )
    kit.break_it(
        "With a larger ε, or ten rows per person (then ε counts ten times), noise hides little.",
        "ε = 10, ten rows each",
        {"vc-epsilon": 10.0, "vc-repeats": 10, "vc-picture": VIEWS[0]},
    )


def near(loss: float) -> int:
    """Return the index of the nearest measured ε."""
    return int(np.argmin(np.abs(np.log(np.array(EPSILONS) / loss))))


def _worlds(
    entry: Entry | None, *, points: int, repeats: int, loss: float, neighbours: Neighbours, drawn: int, badge: str
) -> None:
    """Draw the swap of one person, on which the proof is based."""
    trials = 1000 if points <= 1024 else 100
    swap = remember(
        f"limits-worlds|{entry.key if entry else NOISE_FREE}|{points}|{repeats}|{loss}|{neighbours}|{drawn}",
        lambda: swap_worlds(
            entry, points=points, repeats=repeats, epsilon=loss, neighbours=neighbours, seed=drawn, trials=trials
        ),
    )
    kit.picture(figure.worlds(swap=swap, epsilon=loss, claimed=entry is not None), key="vc_worlds", badge=badge)
    if swap.impossible:
        kit.show_warning(
            f"This cannot be private at ε = {exactly(loss)}: the probabilities on the two data sets differ "
            "by more than e^ε allows."
        )
    kit.show_result(
        f"{trials:,} releases of each data set; all intervals hold together with 95% confidence. {kit.SIMULATED}"
    )


LESSON = kit.Lesson(
    key="vc",
    question="What do accurate answers give away?",
    place=230,
    minutes=8,
    needs="counting queries; shattered sets help",
    class_questions=(
        "Every group count is right within a few people. How does that reveal the secret half?",
        "Exact counts give 100%. What does a private histogram at ε = 0.5 reveal, and a random guess?",
        "What does the theorem say about α when there are very many people?",
    ),
    point=((100, 100), (50, 60)),
    show=lesson,
)
