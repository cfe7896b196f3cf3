"""Lesson: the dimension of a class of queries, and the errors that follow from it."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from dpcore.core import DataError, Floats, Neighbours, exactly
from dpcore.limits.attacks import dimension_bounds
from dpcore.limits.attacks.class_text import MAX_POINTS, MAX_QUESTIONS, read_class
from dpcore.limits.attacks.named_classes import NAMED
from dpcore.limits.attacks.shattering import Shattering, fat_shattering_dimension, vc_dimension
from dplab.limits.class_errors import errors_by_rows
from dplab.limits.own_class import attack_class, hidden_points, packing_wall
from dplab.limits.reconstruction import BETA
from pages.learn import kit, screen
from pages.learn.dimension import figure
from pages.shell.controls import choice, stops, whole
from pages.shell.presentation import outside_presentation, presentation_place
from pages.shell.server.host_origin import is_public_demo
from pages.shell.tasks.memory import with_progress

OWN, SEED = "own", 1
CLASSES = {each.key: each for each in NAMED}
LARGEST = 8
"""Maximum size of a named class: the picture could not show more."""
SCALES = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
EXAMPLE = """0.9, 0.2, 0.5, 0.1
0.1, 0.8, 0.4, 0.3
0.7, 0.9, 0.6, 0.2
0.2, 0.1, 0.5, 0.4
0.5, 0.5, 0.9, 0.9"""


@dataclass(frozen=True, kw_only=True, eq=False)
class QuestionClass:
    """A class of queries with its matrix.

    Attributes:
        title: of the class.
        weights: its matrix, (questions, points).
        known: its dimension by a closed form; None for a user's matrix.
        key: cache key.
        badge: provenance.
    """

    title: str
    weights: Floats
    known: int | None
    key: str
    badge: str


GIVES = (
    "Answers with errors up to α reveal which half of these points is in the data. At most 2dα points are "
    "wrong: [why](./learn?lesson=vc)."
)
VIEWS = ("The class and the points it shatters", "Impossible and guaranteed error", "A half reconstructed")
"""Its pictures; the last one is about yes-or-no queries that shatter two points."""


def lesson() -> None:
    """Draw the lesson: the matrix with its shattered set, and the error bounds."""
    kit.intro(
        "Points are **shattered** if, for every subset of them, some query includes exactly that subset. "
        "The largest number of points that a class shatters is its **dimension**. It measures how much the "
        "class can ask, and reveal."
    )
    titles = {key: f"“{each.title}”" for key, each in CLASSES.items()} | {OWN: "My own matrix"}
    chosen = choice("Query class", titles, key="dimension-class", default="intervals")
    query_class = _own_class() if chosen == OWN else _named_class(chosen)
    is_weighted = query_class is not None and not np.isin(query_class.weights, (0.0, 1.0)).all()
    scale = None
    if is_weighted:
        scale = stops(
            "Scale γ",
            SCALES,
            0.1,
            key="dimension-scale",
            help_text="A query includes a point if its weight is at least γ above the point's level. It excludes the "
            "point if its weight is at least γ below.",
        )
    with outside_presentation():
        loss = kit.epsilon("dimension", default=0.1)
    if query_class is None:
        return
    questions, points = query_class.weights.shape
    guess = screen.guess_number(
        "dimension",
        f"The class {query_class.title} has {questions:,} queries on {points} points here. How many points "
        "can it shatter?",
        label="Your guess, points",
        high=12,
        default=3,
    )
    shattering = with_progress(
        f"limits-dimension|{query_class.key}|{scale}",
        lambda: _search(query_class.weights, scale),
        label="Checking every set of points.",
    )
    kit.show_result(
        f"**{shattering.sentence()}** You guessed {guess}. {GIVES if scale is None else ''} {kit.THEORY}",
        verdict=screen.verdict(guess, shattering.lower_bound, unit=" points") if shattering.exact else "",
    )
    claim: dict[str, Any] = {"epsilon": loss, "neighbours": Neighbours.REPLACE_ONE, "beta": BETA}
    attackable = scale is None and hidden_points(shattering) >= 2
    chosen_view = kit.pictures("dimension", *(VIEWS if attackable else VIEWS[:2]))
    if chosen_view == VIEWS[2]:
        work = partial(attack_class, query_class.weights, shattering, seed=SEED)
        attacks = with_progress(f"limits-own-class|{query_class.key}", work, label="Reconstructing halves.")
        badge = f"{query_class.badge} · simulated, preview sampler, seed {SEED}"
        kit.picture(figure.reconstructed(attacks), key="dimension_attack", badge=badge)
    elif chosen_view == VIEWS[0]:
        shown = figure.matrix(weights=query_class.weights, shattering=shattering)
        kit.picture(shown, key="dimension_matrix", badge=query_class.badge)
    else:
        bounds = errors_by_rows(weights=query_class.weights, shattering=shattering, scale=scale, **claim)
        badge = f"exact theory · ε = {exactly(loss)} · β = {BETA:g} · rows replaced"
        kit.picture(figure.worst_errors(bounds, dimension=shattering.upper_bound), key="dimension_worth", badge=badge)
    bound = dimension_bounds.hidden_half(shattering, scale=scale, repeats=1, **claim)
    rows = max(1, hidden_points(shattering) // 2)
    wall = packing_wall(query_class.weights, n=rows, epsilon=loss, beta=BETA) if points > 1 else None
    kit.theorem(
        r"2^d\le|C|\le\sum_{i\le d}\binom{|U|}{i}",
        *([_dimension_sentence(query_class, shattering, scale)] if screen.revealed() else []),
        *([f"{bound.statement} {kit.THEORY}"] if bound is not None else []),
        *([f"By packing: {wall.statement} {kit.THEORY}"] if wall is not None and screen.revealed() else []),
        reference="Vapnik and Chervonenkis (1971); Blum, Ligett and Roth (2013), Theorems 3.10 and 3.11; Roth (2010), "
        "Theorem 2, for weights; Sauer (1972).",
        meaning="d shattered points have $2^d$ subsets, and C has a query for each. If d is small, yes-or-no "
        "queries on U differ in few ways.",
    )
    kit.break_it(
        "A class that includes every subset shatters all points.", "All subsets", {"dimension-class": "subsets"}
    )


def _named_class(key: str) -> QuestionClass:
    """Draw the size of a named class and return the class."""
    example_class = CLASSES[key]
    max_size = min(LARGEST, example_class.largest)
    with presentation_place("slider"):
        size = whole(example_class.size.capitalize(), 1, max_size, min(4, max_size), key=f"dimension-{key}")
    return QuestionClass(
        title=f"“{example_class.title}”",
        weights=example_class.example(size).astype(np.float64),
        known=example_class.dimension(size),
        key=f"{key}|{size}",
        badge=f"{example_class.title}, size {size} · exact",
    )


def _own_class() -> QuestionClass | None:
    """Draw the inputs of the user's matrix and return its class; None with a message if it is invalid."""
    text = st.text_area(
        "One line per query, with one number from 0 to 1 per point",
        EXAMPLE,
        height=150,
        key="dimension-text",
        help=f"Up to {MAX_QUESTIONS} queries on {MAX_POINTS} points. Rows of zeros and ones are yes-or-no queries.",
    )
    uploaded_file = st.file_uploader(
        "Or upload the same as a text file (used instead of the text)",
        key="dimension-file",
        max_upload_size=1,
        disabled=is_public_demo(),
    )
    try:
        weights = read_class(uploaded_file.getvalue() if uploaded_file is not None else text)
    except DataError as problem:
        st.error(str(problem))
        return None
    st.caption(
        "Queries contain no personal data, so this page spends no privacy budget. The matrix stays in this session."
    )
    key = repr(hash((weights.shape, weights.tobytes())))
    return QuestionClass(title="you wrote", weights=weights, known=None, key=key, badge="your matrix · exact")


def _search(weights: Floats, scale: float | None) -> Generator[float, None, Shattering]:
    """Return the dimension; there is no progress in between."""
    yield 0.0
    return vc_dimension(weights) if scale is None else fat_shattering_dimension(weights, scale=scale)


def _dimension_sentence(query_class: QuestionClass, shattering: Shattering, scale: float | None) -> str:
    """Return the dimension, its levels, and the number of queries as sentences."""
    questions, points = dimension_bounds.different(query_class.weights), query_class.weights.shape[1]
    text = ""
    if query_class.known is not None:
        text += f"The closed form says {query_class.known} for every such class. "
    if scale is not None and len(shattering.points):
        levels = ", ".join(
            f"{float(level):.4g} for point {point + 1}"
            for point, level in zip(shattering.points.tolist(), shattering.levels, strict=True)
        )
        text += f"The levels r that show it at γ = {scale:g}: {levels}. "
    text += f"The class has {questions:,} different queries, so it shatters at most {questions.bit_length() - 1} points"
    if scale is None:
        max_questions = dimension_bounds.max_questions(points=points, dimension=shattering.upper_bound)
        text += f"; no class of this dimension on {points} points has more than {max_questions:,} queries"
    return f"{text}."


LESSON = kit.Lesson(
    key="dimension",
    question="How much can a query class ask?",
    place=330,
    minutes=6,
    needs="counting queries",
    class_questions=(
        "Which two points do intervals shatter, and why no three?",
        "A class has 64 queries. How many points can it shatter at most?",
        "Which errors does a large dimension make impossible, and which errors can a small one guarantee?",
    ),
    point=((2, 2),),
    show=lesson,
)
