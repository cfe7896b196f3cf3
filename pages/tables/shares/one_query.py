"""One query of the reader's: pick attributes, read the true, the direct and the polynomial's answer."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpcore.queries.counting import Packed
from dplab.marginals import MarginalAnswers, OneAnswer, answer_one
from dplab.measure import finish
from pages.charts.words import percent
from pages.shell.state import SessionKey


def one_query(names: tuple[str, ...], shown: MarginalAnswers, packed: Packed) -> None:
    """The picker and a table of the answers.

    Args:
        names: of the attributes.
        shown: releases that can answer it.
        packed: the rows.
    """
    queries, plan = shown.queries, shown.release.plan
    st.header("Ask one")
    width, key = queries.width, SessionKey[list[int]](f"marginal-picked-{len(names)}", [])
    if len(key.value) > width:
        key.value = key.value[:width]
    picked = st.multiselect(
        f"{width} of {len(names)} attributes",
        range(len(names)),
        default=list(range(width)),
        key=key,
        format_func=lambda place: names[place],
        max_selections=width,
    )
    negated_names: list[int] = []
    if queries.signed:
        negated_names = st.multiselect(
            "Of these, negated", picked, format_func=lambda place: f"not {names[place]}", key=f"{key}-negated"
        )
    if not picked:
        st.caption("Pick an attribute.")
        return
    sets = np.array([sorted(picked)])
    answer = finish(answer_one(shown, packed, sets, np.isin(sets, negated_names)))
    if answer.refusal:
        st.caption(answer.refusal)
    if len(picked) < width:
        st.caption(f"Pick all {width} attributes to compare every method.")
    lines = ["| answer | share | off by |", "|---|---|---|", f"| true | {_share(answer.truth)} | – |"]
    lines += _lines(answer, direct_chosen=shown.plan.polynomial is None)
    st.markdown("Share of the rows :gray-badge[true] :blue-badge[simulated]\n\n" + "\n".join(lines))
    with st.expander("Predicted"):
        st.markdown(
            f"The polynomial is off by at most {percent(plan.gamma)} before noise, and its noise has a standard "
            f"deviation of {percent(plan.deviation)}; direct noise has one of {percent(shown.direct.deviation)}."
        )


def _lines(answer: OneAnswer, *, direct_chosen: bool) -> list[str]:
    """Rows of the table, as far as there are answers."""
    found = []
    if answer.polynomial is not None:
        found.append(("polynomial" + " (chosen)" * (not direct_chosen), answer.polynomial))
    if answer.bounds is not None:
        low, high = answer.bounds
        found.append((f"between its bounds, {_share(low)} to {_share(high)}", (low + high) / 2))
    if answer.direct is not None:
        found.append(("direct" + " (chosen)" * direct_chosen, answer.direct))
    return [f"| {name} | {_share(share)} | {percent(abs(share - answer.truth))} |" for name, share in found]


def _share(share: float) -> str:
    """A share with two decimals of a percent."""
    return f"{100 * share:.2f}%"
