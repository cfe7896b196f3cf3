"""One query of the reader's: pick attributes, read the true, the direct and the polynomial's answer."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpcore.core import ParameterError
from dpcore.cube import Cube
from dpcore.experiment import finish
from dpcore.figures.figure import percent
from dpcore.marginals.counting import Packed, shares
from dpcore.marginals.plans import Plan
from dpcore.marginals.preview import direct_answers
from dpcore.marginals.queries import AtLeast
from dpcore.marginals.release import MarginalRelease
from dpcore.randomness import Preview


def one_query(
    domain: Cube, release: MarginalRelease, direct: Plan, packed: Packed, *, seed: int, n: int, direct_chosen: bool
) -> None:
    """The picker and a table of three answers.

    Args:
        domain: the attributes.
        release: the polynomial's.
        direct: direct release's plan.
        packed: the rows.
        seed: of the preview.
        n: public number of rows.
        direct_chosen: whether direct release is what was asked for.
    """
    queries = release.problem.queries
    assert isinstance(queries, AtLeast)
    st.header("Ask one")
    names, width = domain.names, queries.width
    key = f"marginal-picked-{len(names)}"
    if len(st.session_state.get(key, [])) > width:
        st.session_state[key] = st.session_state[key][:width]
    picked = st.multiselect(
        f"{width} of {len(names)} attributes", range(len(names)), default=list(range(width)), key=key,
        format_func=lambda place: names[place], max_selections=width,
    )  # fmt: skip
    negated_names: list[int] = []
    if queries.signed:
        negated_names = st.multiselect(
            "Of these, negated", picked, format_func=lambda place: f"not {names[place]}", key=f"{key}-negated"
        )
    if not picked:
        st.caption("Pick an attribute.")
        return
    sets = np.array([sorted(picked)])
    negated = np.isin(sets, negated_names)
    least = len(picked) if queries.least == width > 1 else min(queries.least, len(picked))
    truth = finish(shares(packed, sets, negated, least=least)) * (packed.n / n)
    lines = [("true", percent_of(float(truth[0])), 0.0)]
    if least == queries.least or queries.least in (1, width):
        lines += _answers(
            queries, release, direct, sets, negated, truth=truth, seed=seed, n=n, wide=len(picked) == width
        )
    text = ["| answer | share | off by |", "|---|---|---|"]
    for name, share, off in lines:
        chosen = " (chosen)" if name == ("direct" if direct_chosen else "polynomial") else ""
        text.append(f"| {name}{chosen} | {share} | {percent(off) if name != 'true' else '–'} |")
    st.markdown("What share of the rows? :gray-badge[true] :blue-badge[simulated]\n\n" + "\n".join(text))
    st.caption(
        f"Predicted: the polynomial is off by at most {percent(release.plan.gamma)} before noise, and its noise has a "
        f"standard deviation of {percent(release.plan.deviation)}; direct noise has one of {percent(direct.deviation)}."
    )


def percent_of(share: float) -> str:
    """A share with its sign."""
    return f"{100 * share:.2f}%"


def _answers(
    queries: AtLeast,
    release: MarginalRelease,
    direct: Plan,
    sets: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    negated: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
    *,
    truth: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    seed: int,
    n: int,
    wide: bool,
) -> list[tuple[str, str, float]]:
    """Rows of the table: the polynomial where it can answer, direct where the query has all k attributes."""
    rows: list[tuple[str, str, float]] = []
    narrow_all = queries.least == queries.width > 1 and not wide
    if not narrow_all:
        try:
            answer = float(release.answers(sets, negated, clip=True)[0, 0])
            rows.append(("polynomial", percent_of(answer), abs(answer - float(truth[0]))))
            if wide:
                low, high = (float(each[0, 0]) for each in release.bounds(sets, negated))
                name = f"between its bounds, {percent_of(low)} to {percent_of(high)}"
                rows.append((name, percent_of((low + high) / 2), abs((low + high) / 2 - float(truth[0]))))
        except ParameterError as reason:
            st.caption(str(reason))
    if wide:
        answer = float(np.clip(direct_answers(direct, truth, n=n, sampler=Preview(seed + 1))[0], 0, 1))
        rows.append(("direct", percent_of(answer), abs(answer - float(truth[0]))))
    else:
        st.caption(f"Pick all {queries.width} attributes to compare every method.")
    return rows
