"""The page of a private table that nobody may see: what is known of a release before anybody looks at the data."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from dpcore.core import Bound, Guarantee, Mechanism, Neighbours, ParameterError, Problem, describe_error
from dpcore.data.sources import Source
from dpcore.data.twin import MAX_ROWS
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
from pages.charts.words import confidence, percent, percent_up, rows
from pages.shell.private.figure import IF_N, known_before
from pages.shell.private.twin import NAMED, USUAL_ROWS, declared_rows, is_public, registered_rows, use_twin
from pages.shell.session import with_progress
from pages.shell.theorem import theorem_card

USUAL_TARGET = 0.01
"""The error for which rows are counted where nobody named one."""
BADGE = "theory: nothing of your data"
SAID = "**Nothing of your rows is shown or computed here.** All of this holds whatever they are."


@dataclass(frozen=True, kw_only=True)
class Offer:
    """What a page asks, without its data.

    Attributes:
        about: tells this problem, and the mechanisms' parameters, from all others in a session's memory.
        problem: with the declared n.
        makers: mechanisms that serve it, at an epsilon, by key.
        titles: their names.
        chosen: key of the one on the page.
        epsilon: of the page.
        beta: failure chance.
        of: one answer in words.
        person_rows: of the source: rows of a person, where persons are protected; 0 where rows are.
        covers: what the guarantee is for, after a comma.
        references: whom the chosen one is from.
        target: an error that somebody named, a share of n.
        questions: of a conversation; None where all are answered at once.
        nobody: whom the wall is for, in words; and what its number is called.
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
    nobody: tuple[str, str] = ("nobody", "Nobody promises less than")

    @property
    def mechanism(self) -> Mechanism:
        """The chosen one."""
        return self.makers[self.chosen](self.epsilon)


def ask_rows(source: Source, neighbours: Neighbours, *, named: int | None = None) -> int:
    """Say that nothing is shown, offer the twin, and ask n where it is not public.

    Args:
        source: the private rows; only their declaration and a public n are looked at.
        neighbours: the relation.
        named: n, where the page has asked for it elsewhere.
    """
    told, number, button = st.columns([6, 3, 3], vertical_alignment="bottom")
    told.markdown(f"{SAID} :orange-badge[theory]")
    if (registered := registered_rows(source.origin)) is not None:
        number.markdown(f"n = **{registered:,}**, as registered")
    elif named is not None:
        NAMED.value = named
    elif not is_public(source, neighbours):
        with number:
            st.number_input(
                "Rows n, as you name them", 1, 10**9, USUAL_ROWS, key=NAMED, persist_state="session",
                help="The number of your rows was not declared public on the Data page, so it is not used: name a "
                "round figure that was public before.",
            )  # fmt: skip
    n = declared_rows(source, neighbours)
    with button:
        st.button(
            "Use made-up rows like mine", key="twin_on", type="primary", width="stretch", on_click=use_twin,
            args=(True,), disabled=n > MAX_ROWS or source.bounds_from_data,
            help=f"Rows made from your columns, bounds, labels and n alone, up to {MAX_ROWS:,}: every preview works "
            "on them, and nothing of your file is in them.",
        )  # fmt: skip
    return n


def known(offer: Offer) -> DataIndependentSummary:
    """Errors at every epsilon; worked out once for a problem, and seen to be under way."""
    return with_progress(
        f"data_independent_summary|{offer.about}|{offer.problem.n}|{offer.chosen}|{offer.beta}|{offer.questions}",
        lambda: data_independent_summary(
            offer.makers, offer.problem, chosen=offer.chosen, beta=offer.beta, questions=offer.questions
        ),
        label="Working out what can be promised.",
    )


def headline(offer: Offer, epsilon: float) -> str:
    """The page in one sentence."""
    mechanism = offer.makers[offer.chosen](epsilon)
    promised = promised_error(mechanism, offer.problem, beta=offer.beta)
    at = f"At ε = {epsilon:g}"
    if promised >= 1:
        return f"{at}, nothing is promised for {offer.problem.n:,} rows"
    n = offer.problem.n
    within = f"errs by at most {percent_up(promised)}: {rows(promised, n)}"
    at += f", {IF_N}" if depends_on_n(mechanism, offer.problem, beta=offer.beta) else ""
    return f"{at}, in {confidence(offer.beta)} of releases the worst {offer.of} {within}"


def picture_at(offer: Offer, found: DataIndependentSummary, epsilon: float, *, tabled: bool = True) -> Picture:
    """The picture at an epsilon, with its table or without."""
    promised = promised_error(offer.makers[offer.chosen](epsilon), offer.problem, beta=offer.beta)
    return known_before(
        found, titles=offer.titles, chosen=offer.chosen, epsilon=epsilon, promised=promised, beta=offer.beta,
        nobody=offer.nobody[0], tabled=tabled,
    )  # fmt: skip


def promises(offer: Offer, *, key: str) -> None:
    """Four numbers, the picture, and the theorem.

    Args:
        offer: what is asked.
        key: of the picture: ``key``_chart, and of its numbers.
    """
    mechanism, problem = offer.mechanism, offer.problem
    try:
        bound, guarantee = mechanism.accuracy(problem, offer.beta), mechanism.guarantee(problem)
    except ParameterError as refusal:
        st.error(str(refusal))
        return
    found = known(offer)
    _numbers(offer, bound, guarantee)
    protects = mechanism.guarantee(replace(problem, person_rows=offer.person_rows))
    if protects.person_rows:
        st.caption(f"For a person: {protects.sentence()}.")
    draw_with_table(
        picture_at(offer, found, offer.epsilon), key=key, badge=BADGE, title="promises and predictions", download=False
    )
    promised, said = promised_error(mechanism, problem, beta=offer.beta), ""
    if not bound.applies and promised < 1:
        said = describe_error(bound, n=problem.n, given=f"{IF_N[0].upper()}{IF_N[1:]}", bold=True)
    theorem_card(bound, protects, n=problem.n, covers=offer.covers, said=said, mechanism=offer.references)


def _numbers(offer: Offer, bound: Bound, guarantee: Guarantee) -> None:
    """Promised, expected, impossible, and how many rows are needed."""
    problem, mechanism = offer.problem, offer.mechanism
    promised = promised_error(mechanism, problem, beta=offer.beta)
    predicted = predicted_error(mechanism, problem)
    lower = lower_bound(problem, guarantee, beta=offer.beta, questions=offer.questions)
    target = offer.target or USUAL_TARGET
    needed = rows_needed(mechanism, problem, target=target, beta=offer.beta)
    on_n = depends_on_n(mechanism, problem, beta=offer.beta)
    told = {
        "Promised if n is right" if on_n else "Promised worst error": _share(promised),
        "Half of releases keep within": "" if math.isnan(predicted) else percent(predicted),
        offer.nobody[1]: percent(lower.value) if lower is not None else "",
        f"Rows for a promise of {percent(target)}": f"{needed:,}" if needed else "no n is enough",
    }
    numbers({label: value for label, value in told.items() if value})


def _share(promised: float) -> str:
    """A promise, as a share."""
    return percent(promised) if promised < 1 else "no guarantee"


def numbers(told: Mapping[str, str]) -> None:
    """Numbers side by side."""
    for place, (label, value) in zip(st.columns(len(told)), told.items(), strict=True):
        place.metric(label, value)
