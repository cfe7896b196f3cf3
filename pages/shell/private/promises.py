"""The page of a private table without access to it: what is known of a release before the data are used."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from dpcore.core import Bound, Guarantee, Mechanism, Neighbours, ParameterError, Problem, describe_error
from dpcore.core.sizes import MAX_MOCK_ROWS
from dpcore.data.sources import Source
from dpcore.limits.bounds.applicable import lower_bound
from dplab.limits.data_independent_summary import (
    DataIndependentSummary,
    data_independent_summary,
    depends_on_n,
    predicted_error,
    promised_error,
    rows_needed,
)
from pages.charts.component import draw_with_table
from pages.charts.picture import Picture
from pages.charts.words import confidence, guaranteed_rows, percent, percent_down, percent_up
from pages.shell.private.charts import IF_N, draw_outlook
from pages.shell.private.twin import NAMED, USUAL_ROWS, declared_rows, is_public, registered_rows, use_twin
from pages.shell.tasks.memory import with_progress
from pages.shell.theorem import theorem_card

USUAL_TARGET = 0.01
"""Target error where the user named none."""
BADGE = "theory: no values of your data"
NOTHING_SHOWN = "**No values of your rows are shown or used here.** All statements hold for any rows."


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A page's request without its data.

    Attributes:
        about: key of this problem and of the mechanisms' parameters in a session's memory.
        problem: with the declared n.
        makers: mechanisms that serve it, as functions of ε, by key.
        titles: their names.
        chosen: key of the mechanism on the page.
        epsilon: the page's.
        beta: failure probability.
        of: one answer in words.
        person_rows: of the source: rows of a person, where persons are protected; 0 where rows are.
        covers: what the guarantee is for, after a comma.
        references: sources of the chosen mechanism.
        target: the user's target error, a share of n.
        questions: of a conversation; None where all are answered at once.
        wall: subject of the sentence about the lower bound, and the label of its number.
    """

    about: str
    problem: Problem
    makers: Mapping[str, Callable[[float], Mechanism]]
    titles: Mapping[str, str]
    chosen: str
    epsilon: float
    beta: float
    of: str
    person_rows: int
    covers: str
    references: Sequence[str] = ()
    target: float | None = None
    questions: int | None = None
    wall: tuple[str, str] = ("no mechanism", "Impossible (lower bound), below")

    @property
    def mechanism(self) -> Mechanism:
        """The chosen mechanism at the page's ε."""
        return self.makers[self.chosen](self.epsilon)


def ask_rows(source: Source, neighbours: Neighbours, *, named: int | None = None) -> int:
    """Say that no data are shown, offer mock data, and ask for n if it is not public; return n.

    Args:
        source: the private rows; only their declaration and a public n are looked at.
        neighbours: the relation.
        named: n, if the page has asked for it elsewhere.
    """
    text, number, button = st.columns([6, 3, 3], vertical_alignment="bottom")
    text.markdown(f"{NOTHING_SHOWN} :orange-badge[theory]")
    if (registered := registered_rows(source.origin)) is not None:
        number.markdown(f"n = **{registered:,}**, as registered")
    elif named is not None:
        NAMED.value = named
    elif not is_public(source, neighbours):
        with number:
            st.number_input(
                "Public n", 1, 10**9, USUAL_ROWS, key=NAMED, persist_state="session",
                help="The number of your rows is private, or not declared public on the Data page. Name a round "
                     "number that is already public.",
            )  # fmt: skip
    n = declared_rows(source, neighbours)
    with button:
        st.button(
            "Use mock data with my columns", key="twin_on", type="primary", width="stretch", on_click=use_twin,
            args=(True,), disabled=n > MAX_MOCK_ROWS or source.bounds_from_data,
            help=f"Up to {MAX_MOCK_ROWS:,} rows made from your columns, bounds, labels and n alone. Every preview "
                 "works on them. They contain no values of your file.",
        )  # fmt: skip
    return n


def outlook_of(offer: Offer) -> DataIndependentSummary:
    """Return the errors at every ε, computed once for a problem, with progress."""
    return with_progress(
        f"data_independent_summary|{offer.about}|{offer.problem.n}|{offer.chosen}|{offer.beta}|{offer.questions}",
        lambda: data_independent_summary(
            offer.makers, offer.problem, chosen=offer.chosen, beta=offer.beta, questions=offer.questions
        ),
        label="Computing guaranteed errors.",
    )


def headline(offer: Offer, epsilon: float) -> str:
    """Return the page's headline."""
    mechanism = offer.makers[offer.chosen](epsilon)
    promised = promised_error(mechanism, offer.problem, beta=offer.beta)
    at = f"At ε = {epsilon:g}"
    if promised >= 1:
        return f"{at}, no error is guaranteed for {offer.problem.n:,} rows"
    n = offer.problem.n
    within = f"has an error of at most {percent_up(promised)}: {guaranteed_rows(promised, n)}"
    at += f", {IF_N}" if depends_on_n(mechanism, offer.problem, beta=offer.beta) else ""
    return f"{at}, in {confidence(offer.beta)} of releases the worst {offer.of} {within}"


def picture_at(offer: Offer, outlook_here: DataIndependentSummary, epsilon: float, *, tabled: bool = True) -> Picture:
    """Return the picture at an ε, with its table or without."""
    promised = promised_error(offer.makers[offer.chosen](epsilon), offer.problem, beta=offer.beta)
    return draw_outlook(
        outlook_here, titles=offer.titles, chosen=offer.chosen, epsilon=epsilon, promised=promised, beta=offer.beta,
        wall_subject=offer.wall[0], tabled=tabled,
    )  # fmt: skip


def promises(offer: Offer, *, key: str) -> None:
    """Draw four numbers, the picture, and the theorem.

    Args:
        offer: the request.
        key: prefix of the picture's key, and of its numbers'.
    """
    mechanism, problem = offer.mechanism, offer.problem
    try:
        bound, guarantee = mechanism.accuracy(problem, offer.beta), mechanism.guarantee(problem)
    except ParameterError as refusal:
        st.error(str(refusal))
        return
    outlook_here = outlook_of(offer)
    _numbers(offer, bound, guarantee)
    protects = mechanism.guarantee(replace(problem, person_rows=offer.person_rows))
    if protects.person_rows:
        st.caption(f"For a person: {protects.sentence()}.")
    picture = picture_at(offer, outlook_here, offer.epsilon)
    draw_with_table(picture, key=key, badge=BADGE, title="guaranteed and expected errors", download=False)
    promised, sentence = promised_error(mechanism, problem, beta=offer.beta), ""
    if not bound.applies and promised < 1:
        sentence = describe_error(bound, n=problem.n, given=f"{IF_N[0].upper()}{IF_N[1:]}", bold=True)
    theorem_card(bound, protects, n=problem.n, covers=offer.covers, said=sentence, mechanism=offer.references)


def _numbers(offer: Offer, bound: Bound, guarantee: Guarantee) -> None:
    """Draw the guaranteed and the expected error, the lower bound, and the rows that a target needs."""
    problem, mechanism = offer.problem, offer.mechanism
    promised = promised_error(mechanism, problem, beta=offer.beta)
    predicted = predicted_error(mechanism, problem)
    lower = lower_bound(problem, guarantee, beta=offer.beta, questions=offer.questions)
    target = offer.target or USUAL_TARGET
    needed = rows_needed(mechanism, problem, target=target, beta=offer.beta)
    on_n = depends_on_n(mechanism, problem, beta=offer.beta)
    labelled = {
        "Guaranteed if n is right" if on_n else "Guaranteed worst error": _share(promised),
        "Expected error (half of releases)": "" if math.isnan(predicted) else percent(predicted),
        offer.wall[1]: percent_down(lower.value) if lower is not None else "",
        f"Rows to guarantee {percent(target)}": f"{needed:,}" if needed else "no number of rows is enough",
    }
    numbers({label: value for label, value in labelled.items() if value})


def _share(promised: float) -> str:
    """Return a guaranteed error as a share of n."""
    return percent_up(promised) if promised < 1 else "no guarantee"


def numbers(labelled: Mapping[str, str]) -> None:
    """Draw numbers side by side, each under its label."""
    for place, (label, value) in zip(st.columns(len(labelled)), labelled.items(), strict=True):
        place.metric(label, value)
