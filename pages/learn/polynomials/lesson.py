"""Lesson: counts of few attributes answer queries about many, by a polynomial of low degree."""

from __future__ import annotations

import numpy as np

from dpcore.core import Floats, exactly
from dpcore.data.product import MAX_ATTRIBUTES
from dplab.limits.few_counts import best_polynomial, degrees, predicted_errors
from pages.charts.words import percent, significant
from pages.learn import kit
from pages.learn.polynomials import figure
from pages.shell.controls import stops, whole
from pages.shell.presentation import outside_presentation, presentation_place
from pages.shell.tasks.memory import remember

VIEWS = ("How far from the step", "The polynomial", "Who needs how many rows")
MAX_WIDTH = 12
BADGE = "theory: public numbers only, nothing drawn"
ROWS = np.unique(np.round(np.geomspace(1e3, 1e10, 57)).astype(np.int64))


def lesson() -> None:
    """Draw the lesson with one of three pictures."""
    kit.intro(
        "How many rows have **any** of these k attributes? There can be astronomically many such questions. But a "
        "row's answer depends only on *how many* of the k it has."
    )
    width = whole("Attributes of a question k", 2, MAX_WIDTH, MAX_WIDTH, key="polynomials-width")
    with presentation_place("slider"):
        bias = stops("Allowed distance γ", (0.01, 0.02, 0.05, 0.1, 0.2, 0.3), 0.1, key="polynomials-bias")
    with kit.more(), outside_presentation():
        attributes = whole("Attributes of the data d", MAX_WIDTH, MAX_ATTRIBUTES, 64, key="polynomials-attributes")
        loss = kit.epsilon("polynomials", default=1.0)
        delta = stops("δ", (0, 1e-9, 1e-6, 1e-3), 1e-6, key="polynomials-delta")
    guess = kit.guess_number(
        "polynomials",
        f"Each row counts as a number within {percent(bias)} of its yes (1) or no (0): a polynomial in how many of the "
        f"{width} attributes it has. Of which degree must it be?",
        label="Your guess, a degree",
        low=1,
        high=MAX_WIDTH,
        default=MAX_WIDTH,
    )
    degree_table = degrees(attributes=attributes, width=width)
    needed = degree_table.needed(bias)
    counts = degree_table.counts[needed - 1]
    errors = remember(
        f"limits-polynomials|{attributes}|{width}|{loss}|{delta}",
        lambda: predicted_errors(attributes=attributes, width=width, epsilon=loss, delta=delta, rows=ROWS),
    )
    chosen = kit.pictures("polynomials", *VIEWS)
    if chosen == VIEWS[0]:
        kit.picture(figure.biases(degrees=degree_table, bias=bias, guess=guess), key="polynomials_bias", badge=BADGE)
    elif chosen == VIEWS[1]:
        kit.picture(
            figure.step(polynomial=best_polynomial(width=width, degree=needed)), key="polynomials_step", badge=BADGE
        )
    else:
        shown = figure.against_rows(errors=errors, width=width, attributes=attributes)
        kit.picture(shown, key="polynomials_rows", badge=f"{BADGE}; ε = {exactly(loss)}, δ = {exactly(delta)}")
    kit.show_result(
        f"Degree **{needed}** of {width} is enough: {significant(counts)} noisy counts of at most {needed} attributes "
        f"answer {significant(degree_table.queries)} questions, **{significant(degree_table.queries / counts)}** times "
        f"as many; you guessed {guess}. With noise, in the best degree (d = {attributes}, ε = {exactly(loss)}, "
        f"δ = {exactly(delta)}), "
        f"{_rows(errors.polynomial, bias)}. {kit.THEORY}"
    )
    kit.theorem(
        r"\deg p=O\bigl(\sqrt k\,\ln\tfrac1\gamma\bigr)",
        "Averaged over the rows, p of how many of the k attributes a row has is a sum of counts “all of these i”, i up "
        f"to t. Give each of those noise once, and every question is answered by adding up. C(d, 1) + … + C(d, t) = "
        f"{significant(counts)} counts (about d^t/t! where d is far above t) share ε: their noise grows with their "
        f"number, and the last picture says how many rows that takes. {kit.THEORY}",
        "“All of them” and “at least r of them” have polynomials of their own. Where k is small, or rows are very "
        "many, noise in every answer is the better way.",
        reference="Thaler, Ullman and Vadhan (2012), Fact 4.2, Lemma 4.3 and Theorem 1.1; the best polynomial is a "
        "linear program's.",
        meaning="Enough for a p(s) within γ of 0 at s = 0 and of 1 beyond; a row has s of the k attributes.",
    )
    kit.break_it(
        "A small γ needs a high degree, and little is saved.",
        "γ = 1%, k = 6",
        {"polynomials-bias": "0.01", "polynomials-width": 6},
    )


def _rows(errors: Floats, allowed: float) -> str:
    """Return the number of rows from which the worst error is allowed, as a sentence."""
    enough = ROWS[errors <= allowed]
    return (
        f"answers are that near from about {significant(float(enough[0]))} rows on"
        if len(enough)
        else f"not all are that near on up to {significant(float(ROWS[-1]))} rows"
    )


LESSON = kit.Lesson(
    key="polynomials",
    question="Can few counts answer very many questions?",
    group=kit.SYSTEMS,
    place=420,
    minutes=8,
    needs="polynomials; binomial coefficients",
    class_questions=(
        "A row's answer depends only on how many of the k attributes it has. What does that buy?",
        "Why does a degree of about √k suffice?",
        "When is it better to release the marginals of k attributes directly?",
    ),
    point=((5, 5), (100_000, 1_000_000)),
    show=lesson,
    workbench="tables/page.py",
)
