"""The theorem card: the guaranteed error, its conditions, and whether they hold here."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dpcore.core import Bound, Guarantee, describe_error, rounded_down, rounded_up
from dpcore.limits.chance import binomial_interval
from pages.charts.words import percent
from pages.shell.presentation import is_presenting, presentation_place

BETA = 0.05
"""Failure probability of the guaranteed error on the pages without a control for it: it holds in 95 of 100 runs."""


def lead(sentence: str, *more: str) -> None:
    """Draw the subject of a page in one sentence; more on demand."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(sentence, width="content")
        how_it_works(*more)


def how_it_works(*paragraphs: str) -> None:
    """Draw the button that explains a page."""
    with st.popover("How it works", type="tertiary"):
        for paragraph in paragraphs:
            st.markdown(paragraph)


def all_digits(guarantee: Guarantee) -> str | None:
    """Return the guarantee with all its digits, as a help text; None if it is not rounded."""
    exact = guarantee.exact_sentence()
    return None if exact == guarantee.sentence() else f"Rounded up; exactly: {exact}."


def observed(broken: int, trials: int, bound: Bound, *, private: bool, on: str = "") -> str:
    """Return how often previews exceeded the guaranteed error; empty if no error is guaranteed.

    Args:
        broken: previews that erred by more than the bound.
        trials: all previews.
        bound: that they are held against.
        private: whether the data are.
        on: what was looked at, if not everything.
    """
    if not bound.guaranteed:
        return ""
    low, high = (float(each) for each in binomial_interval(broken, trials))
    seen = " :orange-badge[not protected]" if private else ""
    return (
        f"Observed: {broken:,} of {trials:,} previews had an error above {percent(bound.value)}{on}. The "
        f"probability of that is between {rounded_down(low)} and {rounded_up(high)} (exact 95% interval); "
        f"the theorem allows {bound.beta:g}. :blue-badge[simulated]{seen}"
    )


def conditions(bound: Bound) -> tuple[str, ...]:
    """Return the assumptions of the theorem, each with whether it is met here; they go with every statement."""
    return tuple(f"{'✓ met' if each.met else '✗ **not met**'}: {each.text}" for each in bound.assumptions)


def theorem_card(
    bound: Bound,
    guarantee: Guarantee,
    *,
    n: int,
    covers: str,
    said: str = "",
    statement: str = "",
    seen: Sequence[str] = (),
    needs: str = "",
    note: str = "",
    mechanism: Sequence[str] = (),
    opened: bool = False,
) -> None:
    """The promise; and on demand statement, reference, assumptions met or not, the n it needs, what was observed.

    Args:
        bound: what is promised.
        guarantee: of what is released.
        n: rows.
        covers: what the guarantee is for, after a comma: "for each single release".
        said: the promise in one sentence, where a page has its own.
        statement: the same in more words, where a page has its own.
        seen: sentences on what was observed here; empty ones are left out.
        needs: what takes ``bound.rows_needed`` rows: "To promise α = 0.1"; told only of a bound that is guaranteed.
        note: what a reader must know besides, if not the bound's own note.
        mechanism: whom the mechanism is from.
        opened: whether the reader has asked for all of it already.
    """
    if is_presenting():
        # The headline beside it is about simulated releases of these data: only here the number is a guarantee.
        kind = "**Guaranteed error, for any data.** " if bound.guaranteed else ""
        with presentation_place("theorem"):
            st.markdown(f"{kind}{said or describe_error(bound, n=n, bold=True)} :orange-badge[theory]")
            if bound.formula:
                st.latex(bound.formula)
        return
    st.header("What is guaranteed")
    st.markdown(f"{said or describe_error(bound, n=n, bold=True)} :orange-badge[theory]")
    with st.container() if opened else st.expander("Why?"):
        st.markdown(statement or bound.statement)
        if bound.formula:
            st.latex(bound.formula)
        for condition in conditions(bound):
            st.markdown(condition)
        for sentence in filter(None, seen):
            st.markdown(sentence)
        # Enough rows mend nothing else that is not met; how many a vacuous bound needs is said above.
        if needs and bound.rows_needed and bound.guaranteed:
            enough = "✓ enough" if n >= bound.rows_needed else "✗ **too few**"
            st.markdown(f"{needs} it needs n = {bound.rows_needed:,} rows; here n = {n:,}: {enough}.")
        if note or bound.note:
            st.info(note or bound.note)
        st.caption(f"Reference: {bound.reference}." + (f" Mechanism: {'; '.join(mechanism)}." if mechanism else ""))
        if guarantee.releasable:
            st.markdown(f"Privacy guarantee: {guarantee.sentence()}, {covers}.", help=all_digits(guarantee))
        else:
            st.warning(f"Privacy: no guarantee. {guarantee.why_not}")
