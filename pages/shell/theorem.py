"""The theorem card: what is promised, on what conditions, and whether they hold here."""

from __future__ import annotations

import streamlit as st

from dpcore.core import Bound, BoundKind, Entry, Guarantee
from dpcore.experiments.measure import ErrorReport
from pages.charts.words import percent, rows


def promise(bound: Bound, *, n: int) -> str:
    """The promise in one sentence, and what stands in its way."""
    if bound.kind is BoundKind.ORDER_ONLY:
        return "The theorem gives an order of magnitude only; no constant is proved, so no number is promised here."
    if not bound.applies:
        # What is not met need not be about n: where rows come and go, no n would do.
        needed = f" It would need n = {bound.rows_needed:,}." if bound.rows_needed and n < bound.rows_needed else ""
        return f"The theorem promises nothing here: not all that it assumes is met.{needed}"
    if bound.vacuous:
        needed = f" It starts to say something at n = {bound.rows_needed:,}." if bound.rows_needed else ""
        return f"The promise is vacuous here: an error of {percent(bound.value)} is no news.{needed}"
    return (
        f"With probability at least {1 - bound.beta:g}, no query errs by more than "
        f"**{percent(bound.value)}** (≈ {rows(bound.value, n)})."
    )


def all_digits(guarantee: Guarantee) -> str | None:
    """The guarantee with all its digits, for whoever points at the rounded one; nothing where it is not rounded."""
    exact = guarantee.exact_sentence()
    return None if exact == guarantee.sentence() else f"Rounded up; exactly: {exact}."


def theorem_card(entry: Entry, report: ErrorReport, *, aim: float | None, private: bool) -> None:
    """Statement, reference, assumptions met or not, the n it needs, and what was observed.

    ``aim`` is the error the mechanism was asked for, where it has such a parameter.
    """
    bound, n = report.bound, report.problem.n
    with st.container(border=True):
        st.header("What is promised")
        st.markdown(f"{promise(bound, n=n)} :orange-badge[theory]")
        st.markdown(bound.statement)
        if bound.formula:
            st.latex(bound.formula)
        for assumption in bound.assumptions:
            st.markdown(f"{'✓ met' if assumption.met else '✗ **not met**'}: {assumption.text}")
        low, high = report.failure_interval
        seen = " :orange-badge[not protected]" if private else ""
        if len(report.answered) and bound.value < float("inf"):
            st.markdown(
                f"Observed: {report.failures:,} of {len(report.answered):,} previews erred by more than "
                f"{percent(bound.value)}; the chance is between {low:.3g} and {high:.3g} (exact 95% interval), "
                f"the theorem allows {bound.beta:g}. :blue-badge[simulated]{seen}"
            )
        if bound.rows_needed and bound.applies and not bound.vacuous:
            enough = "✓ enough" if n >= bound.rows_needed else "✗ **too few**"
            what = f"To promise α = {aim:g}" if aim is not None else "To say anything"
            st.markdown(f"{what} it needs n = {bound.rows_needed:,} rows; here n = {n:,}: {enough}.")
        if bound.note:
            st.info(bound.note)
        st.caption(f"Reference: {bound.reference}. Mechanism: {'; '.join(entry.references)}.")
        if report.guarantee.releasable:
            st.markdown(
                f"Privacy: {report.guarantee.sentence()}, for each single release.",
                help=all_digits(report.guarantee),
            )
        else:
            st.warning(f"Privacy: none to rely on. {report.guarantee.why_not}")
