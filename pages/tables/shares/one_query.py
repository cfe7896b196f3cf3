"""One query: the user picks attributes and reads the true, the direct and the polynomial's answer."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dplab.marginals import OneAnswer, answer_one
from dplab.measure import finish
from pages.charts.words import percent, percent_up
from pages.shell.state import SessionKey
from pages.tables.shares.compute import ShareResult


def one_query(result: ShareResult) -> None:
    """Draw the controls for one query, and a table of its answers by each method."""
    names, answers = result.request.queries.domain.names, result.answers
    queries, plan = answers.queries, answers.release.plan
    st.header("One query")
    width, key = queries.width, SessionKey[list[int]](f"marginal-picked-{len(names)}", [])
    if len(key.value) > width:
        key.value = key.value[:width]
    places = st.multiselect(
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
            "Of these, negated", places, format_func=lambda place: f"not {names[place]}", key=f"{key}-negated"
        )
    if not places:
        st.caption("Pick an attribute.")
        return
    sets = np.array([sorted(places)])
    answer = finish(answer_one(answers, result.packed, sets, np.isin(sets, negated_names)))
    if answer.refusal:
        st.caption(answer.refusal)
    if len(places) < width:
        st.caption(f"Choose all {width} attributes to compare every method.")
    lines = ["| answer | share | error |", "|---|---|---|", f"| true | {_share(answer.truth)} | – |"]
    lines += _lines(answer, direct_chosen=answers.plan.polynomial is None)
    st.markdown("Share of the rows :gray-badge[true] :blue-badge[simulated]\n\n" + "\n".join(lines))
    with st.expander("Predicted"):
        st.markdown(
            f"The bias of the polynomial is at most {percent_up(plan.gamma)}, and its noise has a standard "
            f"deviation of {percent(plan.deviation)}. Direct noise has a standard deviation of "
            f"{percent(answers.direct.deviation)}."
        )


def _lines(answer: OneAnswer, *, direct_chosen: bool) -> list[str]:
    """Return the lines of the table, one for each answer that there is."""
    answers = []
    if answer.polynomial is not None:
        answers.append(("polynomial" + " (chosen)" * (not direct_chosen), answer.polynomial))
    if answer.bounds is not None:
        low, high = answer.bounds
        answers.append((f"midpoint of its bounds, {_share(low)} to {_share(high)}", (low + high) / 2))
    if answer.direct is not None:
        answers.append(("direct" + " (chosen)" * direct_chosen, answer.direct))
    return [f"| {name} | {_share(share)} | {percent(abs(share - answer.truth))} |" for name, share in answers]


def _share(share: float) -> str:
    """Return a share with two decimals of a percent."""
    return f"{100 * share:.2f}%"
