"""Lesson: counts of few attributes answer queries about many, by a polynomial of low degree."""

from __future__ import annotations

from functools import partial

import numpy as np

from dpcore.core import Floats, exactly
from dpcore.core.sizes import MAX_ATTRIBUTES
from dplab.limits.few_counts import best_polynomial, degrees, predicted_errors
from pages.charts.words import percent, significant
from pages.learn import kit, screen
from pages.learn.polynomials import figure
from pages.shell.controls import stops, whole
from pages.shell.presentation import outside_presentation, presentation_place
from pages.shell.tasks.memory import remember

VIEWS = ("Distance from the step", "The polynomial", "Rows needed by each method")
MAX_WIDTH = 12
BADGE = "theory: public numbers only, nothing sampled"
ROWS = np.unique(np.round(np.geomspace(1e3, 1e10, 57)).astype(np.int64))


def lesson() -> None:
    """Draw the lesson with one of three pictures."""
    kit.intro(
        "How many rows have **any** of these k attributes? There can be astronomically many such queries. "
        "But a row's answer depends only on *how many* of the k attributes it has."
    )
    width = whole("Attributes of a query k", 2, MAX_WIDTH, MAX_WIDTH, key="polynomials-width")
    with presentation_place("slider"):
        bias = stops("Allowed distance γ", (0.01, 0.02, 0.05, 0.1, 0.2, 0.3), 0.1, key="polynomials-bias")
    with kit.more(), outside_presentation():
        attributes = whole("Attributes of the data d", MAX_WIDTH, MAX_ATTRIBUTES, 64, key="polynomials-attributes")
        loss = kit.epsilon("polynomials", default=1.0)
        delta = stops("δ", (0, 1e-9, 1e-6, 1e-3), 1e-6, key="polynomials-delta")
    guess = screen.guess_number(
        "polynomials",
        f"A row's true value is yes (1) or no (0). A polynomial in how many of the {width} attributes it "
        f"has must be within {percent(bias)} of that. Which degree does it need?",
        label="Your guess, a degree",
        low=1,
        high=MAX_WIDTH,
        default=MAX_WIDTH,
    )
    degree_table = degrees(attributes=attributes, width=width)
    needed = degree_table.needed(bias)
    counts = degree_table.counts[needed - 1]
    work = partial(predicted_errors, attributes=attributes, width=width, epsilon=loss, delta=delta, rows=ROWS)
    errors = remember(f"limits-polynomials|{attributes}|{width}|{loss}|{delta}", work)
    chosen = kit.pictures("polynomials", *VIEWS)
    if chosen == VIEWS[0]:
        kit.picture(figure.biases(degrees=degree_table, bias=bias, guess=guess), key="polynomials_bias", badge=BADGE)
    elif chosen == VIEWS[1]:
        shown = figure.step(polynomial=best_polynomial(width=width, degree=needed))
        kit.picture(shown, key="polynomials_step", badge=BADGE)
    else:
        shown = figure.against_rows(errors=errors, width=width, attributes=attributes)
        kit.picture(shown, key="polynomials_rows", badge=f"{BADGE}; ε = {exactly(loss)}, δ = {exactly(delta)}")
    kit.show_result(
        f"Degree **{needed}** of {width} is enough. {significant(counts)} noisy counts of at most {needed} "
        f"attributes answer {significant(degree_table.queries)} queries, "
        f"**{significant(degree_table.queries / counts)}** times as many; you guessed {guess}. {kit.THEORY}",
        verdict=screen.verdict(guess, needed),
    )
    kit.theorem(
        r"\deg p=O\bigl(\sqrt k\,\ln\tfrac1\gamma\bigr)",
        "Let p be the polynomial in how many of the k attributes a row has. Its mean over all rows is a "
        "weighted sum of counts “all of these i attributes”, i up to t. Add noise to each count once; "
        f"every query is then a weighted sum of them. C(d, 1) + … + C(d, t) = {significant(counts)} counts "
        "share ε (about d^t/t! if d is far above t). More counts mean more noise. The last picture shows "
        f"the rows this needs. {kit.THEORY}",
        f"With noise, in the best degree (d = {attributes}, ε = {exactly(loss)}, δ = {exactly(delta)}), "
        f"{_rows(errors.polynomial, bias)}. {kit.THEORY}",
        "“All of them” and “at least r of them” have their own polynomials. If k is small, or rows are "
        "very many, noise in every answer has the smaller error.",
        reference="Thaler, Ullman and Vadhan (2012), Fact 4.2, Lemma 4.3 and Theorem 1.1; the best polynomial is a "
        "linear program's.",
        meaning="Enough for a p(s) within γ of 0 at s = 0, and within γ of 1 for larger s. A row has s of the k "
        "attributes.",
    )
    settings: dict[str, float | str] = {"polynomials-bias": "0.01", "polynomials-width": 6}
    kit.break_it("A small γ needs a high degree, and then few counts are saved.", "γ = 1%, k = 6", settings)


def _rows(errors: Floats, allowed: float) -> str:
    """Return the number of rows from which the worst error is allowed, as a sentence."""
    enough = ROWS[errors <= allowed]
    if not len(enough):
        return f"some answers have a larger error even at {significant(float(ROWS[-1]))} rows"
    return f"answers have an error this small from about {significant(float(enough[0]))} rows"


LESSON = kit.Lesson(
    key="polynomials",
    question="Can few counts answer very many queries?",
    place=420,
    minutes=8,
    needs="polynomials; binomial coefficients",
    class_questions=(
        "A row's answer depends only on how many of the k attributes it has. How does that help?",
        "Why does a degree of about √k suffice?",
        "When is it better to release the marginals of k attributes directly?",
    ),
    point=((5, 5), (100_000, 1_000_000)),
    show=lesson,
    workbench="tables/page.py",
)
