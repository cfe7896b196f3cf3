"""The theorem card: what is promised, on what conditions, whether they hold here, and what was observed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from dpcore.core import Bound, BoundKind, Entry, Floats, Guarantee
from dpcore.experiments.measure import ErrorReport
from dpcore.limits.chance import binomial_interval
from pages.charts.words import percent, rows
from pages.shell.badges import SIMULATED, THEORY


def promise(bound: Bound, *, n: int, who: str = "no query errs") -> str:
    """The promise in one sentence, and what stands in its way; ``who`` does not err by more."""
    if bound.kind is BoundKind.ORDER_ONLY:
        return "The theorem gives an order of magnitude only; no constant is proved, so no number is promised here."
    if not bound.applies:
        # What is not met need not be about n: where rows come and go, no n would do.
        needed = f" It would need n = {bound.rows_needed:,}." if bound.rows_needed and n < bound.rows_needed else ""
        return f"The theorem promises nothing here: not all that it assumes is met.{needed}"
    if bound.vacuous:
        needed = f" It starts to say something at n = {bound.rows_needed:,}." if bound.rows_needed else ""
        return f"The promise is vacuous here: an error of {percent(bound.value)} is no news.{needed}"
    return f"With {_chance(bound, n=n, who=who)}"


def if_it_held(bound: Bound, *, n: int) -> str:
    """What would be promised if all that is assumed were met."""
    return f"If what is assumed below held: with {_chance(bound, n=n, who='no query errs')}"


def _chance(bound: Bound, *, n: int, who: str) -> str:
    return (
        f"probability at least {1 - bound.beta:g}, {who} by more than **{percent(bound.value)}** "
        f"(≈ {rows(bound.value, n)})."
    )


def all_digits(guarantee: Guarantee) -> str | None:
    """The guarantee with all its digits, for whoever points at the rounded one; nothing where it is not rounded."""
    exact = guarantee.exact_sentence()
    return None if exact == guarantee.sentence() else f"Rounded up; exactly: {exact}."


@dataclass(frozen=True, kw_only=True)
class Theorem:
    """What a card tells.

    Attributes:
        bound: the promise.
        guarantee: of what is released.
        n: rows.
        said: the promise in a sentence, where it is not the usual one.
        details: what else is proved, one sentence each; the bound's own statement where none is given.
        found: what else is so here, below the assumptions, one sentence each.
        worst: largest errors of previews (T,), to be held against the promise.
        over: which answers these were: "all 300 queries"; empty: all there are.
        private: whether previews are of private data.
        covers: what the guarantee is about: "for each single release".
        mechanism: who wrote about it.
        aim: the error that the mechanism was asked for, where it has such a parameter.
        tells_rows: whether the card says how many rows are enough.
    """

    bound: Bound
    guarantee: Guarantee
    n: int
    said: str = ""
    details: Sequence[str] = ()
    found: Sequence[str] = ()
    worst: Floats | None = None
    over: str = ""
    private: bool = False
    covers: str = "for each single release"
    mechanism: Sequence[str] = ()
    aim: float | None = None
    tells_rows: bool = True

    def claims(self) -> list[str]:
        """What is promised and proved, paragraph by paragraph; the formula follows."""
        return [f"{self.said or promise(self.bound, n=self.n)} {THEORY}", *(self.details or [self.bound.statement])]

    def verdicts(self) -> list[str]:
        """What of it holds here, and what was observed."""
        conditions = self.bound.assumptions
        met = [f"{'✓ met' if each.met else '✗ **not met**'}: {each.text}" for each in conditions]
        return [*met, *self.found, *self._observed(), *self._enough()]

    def _observed(self) -> list[str]:
        """How often the promise was broken; nothing where there is no number or no answer."""
        if self.worst is None or not len(self.worst) or not self.bound.value < float("inf"):
            return []
        broken = self.bound.broken_by(self.worst)
        low, high = (float(end) for end in binomial_interval(broken, len(self.worst)))
        return [
            f"Observed: {broken:,} of {len(self.worst):,} previews erred by more than {percent(self.bound.value)}"
            f"{f' on {self.over}' if self.over else ''}; the chance is between {low:.3g} and {high:.3g} (exact 95% "
            f"interval), the theorem allows {self.bound.beta:g}. {SIMULATED}"
            + (" :orange-badge[not protected]" if self.private else "")
        ]

    def _enough(self) -> list[str]:
        """Whether there are as many rows as it needs."""
        needed = self.bound.rows_needed
        if not self.tells_rows or not needed or not self.bound.applies or self.bound.vacuous:
            return []
        enough = "✓ enough" if self.n >= needed else "✗ **too few**"
        what = f"To promise α = {self.aim:g}" if self.aim is not None else "To say anything"
        return [f"{what} it needs n = {needed:,} rows; here n = {self.n:,}: {enough}."]

    def show(self) -> None:
        """Draw the card where the page is."""
        st.header("What is promised")
        for line in self.claims():
            st.markdown(line)
        if self.bound.formula:
            st.latex(self.bound.formula)
        for line in self.verdicts():
            st.markdown(line)
        if self.bound.note:
            st.info(self.bound.note)
        written = f" Mechanism: {'; '.join(self.mechanism)}." if self.mechanism else ""
        st.caption(f"Reference: {self.bound.reference}.{written}")
        if not self.guarantee.releasable:
            st.warning(f"Privacy: none to rely on. {self.guarantee.why_not}")
            return
        st.markdown(f"Privacy: {self.guarantee.sentence()}, {self.covers}.", help=all_digits(self.guarantee))


def theorem_card(entry: Entry, report: ErrorReport, *, aim: float | None, private: bool) -> None:
    """The card of releases that were measured."""
    theorem = Theorem(
        bound=report.bound,
        guarantee=report.guarantee,
        n=report.problem.n,
        worst=report.answered,
        private=private,
        mechanism=entry.references,
        aim=aim,
    )
    with st.container(border=True):
        theorem.show()
