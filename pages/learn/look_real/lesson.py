"""Lesson: synthetic rows may look like real ones, and an interval computed from them as if they were is wrong."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from dpcore.core import exactly, scaled
from dplab.utility.inference import LEVEL, RELEASES, SlopeIntervals, draw_slopes
from pages.charts.words import percent, significant
from pages.learn import kit, screen
from pages.learn.look_real import figure
from pages.shell.controls import stops
from pages.shell.tasks.memory import call_with_progress

VIEWS = ("Twenty releases", "Intervals that hold", "Distance of pairs")
"""Its pictures."""
ROWS = (2000, 5000, 10_000, 20_000, 48_842)
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Values of ε in the pictures by ε."""


def lesson() -> None:
    """Draw the lesson: how many intervals from synthetic rows hold the slope of all people."""
    kit.intro(
        f"From each of {RELEASES} samples of real people, a table is released as synthetic rows. An analyst fits "
        "weekly hours on age and education, as if the rows were real."
    )
    loss = kit.epsilon("look-real", default=1.0)
    n = int(stops("Rows n of each sample", ROWS, 10_000, key="look-real-n"))
    with kit.more():
        seed = kit.draws_seed()
    guess = screen.guess_number(
        "look-real",
        f"n = {n:,}, ε = {exactly(loss)}. How many of the {RELEASES} intervals ({percent(LEVEL)}) hold the slope of "
        "all people?",
        label=f"Your guess, of {RELEASES}",
        high=RELEASES,
        default=15,
    )
    seen = call_with_progress("Releasing samples.", draw_slopes, n=n, epsilon=loss, seed=seed)
    chosen = kit.pictures("look-real", *VIEWS)
    badge = f"simulated: samples and preview sampler, seed {seed}"
    if chosen == VIEWS[0]:
        kit.picture(figure.twenty(seen), key="look_real_twenty", badge=badge)
    else:
        each = call_with_progress("Releasing at each ε.", _by_epsilon, n=n, seed=seed)
        draw, key = (figure.holding, "holding") if chosen == VIEWS[1] else (figure.alike, "alike")
        kit.picture(draw(each, epsilon=loss), key=f"look_real_{key}", badge=badge)
    hits = figure.counted(seen, seen.synthetic)
    kit.show_result(
        f"**{hits}** of {RELEASES} hold it; you guessed {guess}. The rows' pairs of columns are "
        f"{percent(float(seen.distances.mean()))} off the sample's; those of another real sample, "
        f"{percent(float(seen.other_rows.mean()))}. "
        f"From the released tables, whose noise is known, **{figure.counted(seen, seen.released)}** hold it"
        f"{figure.refusals(seen)}. {kit.SIMULATED}",
        verdict=screen.verdict(guess, hits),
    )
    kit.theorem(
        r"\mathrm{Var}(\hat b)=A^{-1}\bigl(\mathrm{Var}(v)+s^2A\bigr)A^{-1}",
        f"**Why do they miss?** {mean_slope_words(seen)} And their intervals count sampling alone, not the noise. "
        f"{kit.SIMULATED}",
        "**Why may it refuse?** If noise could hide that regressors differ, A has no inverse to trust. Then nothing "
        f"is said. The rule was found by simulation. {kit.SIMULATED}",
        "**What do the rows know?** What follows from the released tables, here those of two columns. What needs "
        "three columns was not measured, whatever the rows look like.",
        reference="Räisä, Jälkö, Kaski and Honkela (2023); Ferrando, Wang and Sheldon (2022).",
        meaning="A: released sums of products of the regressors; v: noise of the normal equations; s²: residual "
        "variance.",
    )
    kit.break_it("With little noise, most intervals hold.", "ε = 10", {"look-real-epsilon": 10.0})


def _by_epsilon(*, n: int, seed: int) -> Generator[float, None, dict[float, SlopeIntervals]]:
    """Return the intervals at each ε; yield the share done."""
    found = dict[float, SlopeIntervals]()
    for place, epsilon in enumerate(EPSILONS):
        found[epsilon] = yield from scaled(draw_slopes(n=n, epsilon=epsilon, seed=seed), place, len(EPSILONS))
    return found


def mean_slope_words(seen: SlopeIntervals) -> str:
    """Return the mean slope of the synthetic rows beside that of all people."""
    middle = seen.synthetic.mean(axis=1)
    known = middle[np.isfinite(middle)]
    if not len(known):
        return "These rows fit no model."
    return (
        f"Noise blurs how columns go together: the mean slope of the rows is {significant(float(known.mean()))} hours "
        f"a week for a year of education, that of all people {significant(seen.truth)}."
    )


LESSON = kit.Lesson(
    key="look-real",
    question="Are synthetic rows right?",
    place=150,
    minutes=8,
    needs="linear regression; confidence intervals; synthetic rows",
    class_questions=(
        "Synthetic rows are as near to a sample as another real sample. Why do their intervals miss?",
        "Which tables have to be released for a regression of one column on two others?",
        "Why is it better to say nothing than to give an interval that is too short?",
    ),
    point=((0, 3), (15, 20)),
    show=lesson,
)
