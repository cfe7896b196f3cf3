"""The guaranteed error of the halfspace release, the parameters that the paper prints, and the code."""

from __future__ import annotations

import dataclasses

import streamlit as st

from dpcore.core import Bound, BoundKind, Dataset, Floats, Problem, describe_error, rounded_up
from dpcore.limits.bounds.applicable import lower_bound
from dpcore.mechanisms.halfspaces.printed import printed
from dplab.halfspace_parts import with_unmet_conditions
from pages.charts.words import significant
from pages.charts.worst import TrialNouns, worst_map
from pages.learn.directions.controls import DirectionsRequest
from pages.shell.tasks.memory import remember
from pages.shell.theorem import BETA, theorem_card


def promised(request: DirectionsRequest, dataset: Dataset, degrees: Floats, errors: Floats) -> None:
    """Draw the guaranteed error for the requested margin, beside the errors seen in directions of that margin."""
    n, queries = dataset.n, dataclasses.replace(request.queries, margin=request.margin)
    problem = dataclasses.replace(request.problem(n), queries=queries)
    pointing = (dataset.records != 0).any(axis=1)
    key = f"margins|{request.source.key}|{request.tilt}"
    margins = remember(key, lambda: queries.margins(dataset.records[pointing], request.towards(degrees)))
    has_margin = margins >= request.margin
    without_direction = n - int(pointing.sum())
    count = int(has_margin.sum())
    bound = with_unmet_conditions(
        request.mechanism.accuracy(problem, BETA),
        margin=request.margin,
        with_margin=count,
        without_direction=without_direction,
    )
    left, right = st.columns(2)
    with left:
        _map(request, problem, bound, errors[:, has_margin] if count else errors, met=count > 0)
    sentences = [
        f"{count} of {len(has_margin)} directions around the circle have margin {request.margin:g}; the "
        f"largest margin is {significant(float(margins.max()))}. :gray-badge[true]"
    ]
    if without_direction:
        sentences += [
            f"{without_direction:,} rows have no direction (all zeros, or a missing number). They count in "
            "n and on one of every two opposite sides. No margin prevents this error."
        ]
    with right:
        promise = _guaranteed_error_in_words(bound, request, n=n, margins=margins, without_direction=without_direction)
        covers = "for each single release, whatever the margin"
        theorem_card(bound, request.mechanism.guarantee(problem), n=n, said=promise, seen=sentences, covers=covers)


def _map(request: DirectionsRequest, problem: Problem, bound: Bound, errors: Floats, *, met: bool) -> None:
    """Draw the worst error over directions (T, Q), beside the guaranteed error and the lower bound."""
    st.header("Worst error: guaranteed and observed")
    guarantee, count = request.mechanism.guarantee(problem), errors.shape[1]
    lower = lower_bound(problem, guarantee, beta=BETA)
    picture = worst_map(
        worst=errors.max(axis=1),
        n=problem.n,
        guarantee=guarantee,
        promised=bound,
        lower=lower,
        nouns=TrialNouns(query="direction", over=f"{count} directions"),
    )
    request.draw(picture, key="halfspaces_worst", title="worst error")
    which = f"the {count} directions of the circle that have margin {request.margin:g}"
    if not met:
        which = f"all {count} directions of the circle, none of which has margin {request.margin:g}"
    how_to_read = (
        f"Each dot is the worst error over {which}{'' if bound.applies else ': no error is guaranteed for them'}."
    )
    if lower is not None:
        how_to_read += f" Hatched: impossible (lower bound). {lower.statement}"
    st.expander("How to read this").markdown(how_to_read)


def _guaranteed_error_in_words(
    bound: Bound, request: DirectionsRequest, *, n: int, margins: Floats, without_direction: int
) -> str:
    """Return the guaranteed error in one sentence, or the reason that there is none."""
    if bound.kind is not BoundKind.GUARANTEE or bound.applies:
        return describe_error(bound, n=n, subject=f"no direction of margin {request.margin:g} or more", bold=True)
    if not (margins >= request.margin).any():
        return (
            f"No error is guaranteed for this circle: none of its {len(margins)} directions has margin "
            f"{request.margin:g}. In each, the nearest row is at most {rounded_up(float(margins.max()))} from the line."
        )
    if not bound.assumptions[0].met:
        return "No error is guaranteed at this margin. Choose a larger margin, or measure more directions."
    return f"No error is guaranteed for these rows: {without_direction:,} of them have no direction."


def paper(request: DirectionsRequest) -> None:
    """Show a table of the printed parameters."""
    with st.expander("What the paper prints"):
        _show_parameters(request)


def _show_parameters(request: DirectionsRequest) -> None:
    d = request.dimensions
    if not request.margin > 0:
        st.markdown("The paper's parameters need a margin above 0.")
        return
    sizes = printed(margin=request.margin, alpha=request.alpha, dimensions=d, beta=BETA, epsilon=request.epsilon)
    st.markdown(
        f"For margin γ = {request.margin:g}, α = {request.alpha:g}, d = {d}, β = {BETA:g}. “Polynomial for constant "
        "margin and α” is true, and this is the polynomial. :orange-badge[theory]"
    )
    up = f"{sizes.dimensions / d:,.0f} times the {d} dimensions that rows have: a projection *up*"
    lines = [
        "| parameter | here | its cost |",
        "|---|---:|---|",
        f"| dimensions T = ⌈20 · (γ/4)⁻² · ln(8/α)⌉ | {sizes.dimensions:,} | "
        f"{up if sizes.dimensions > d else f'fewer than the {d} that rows have'} |",
        f"| projections m = (16/α²) · d · (ln(4√d/γ) + ln(1/β)) | {sizes.projections:,} | so many matrices of "
        f"{sizes.dimensions:,} × {d} signs |",
        f"| directions \\|U\\| = (4√T/γ)^T | {_power(sizes.log10_directions)} | atoms in the observable "
        "universe: about 10^80 |",
        f"| counts released, m · \\|U\\| | {_power(sizes.log10_counts)} | each has noise for all of them together |",
        f"| rows needed (Theorem 6.9) | {_power(sizes.log10_rows)} | people alive: about 10^10 |",
    ]
    st.markdown("\n".join(lines))
    st.caption(
        "\\|U\\| as printed counts coordinates from 0 to 1. Between −1 and 1 there are 2^T times as many "
        f"({_power(sizes.log10_directions_both_signs)}): the theorem has this (8√T/γ), the claim has not "
        "(4√T/γ). Reference: Blum, Ligett and Roth (2013), Claim 6.7, ReleaseHalfspaces, Theorem 6.9."
    )


def _power(log10: float) -> str:
    """Return a number in words, given its decimal logarithm."""
    return f"{10**log10:,.0f}" if log10 < 6 else f"≈ 10^{log10:,.0f}"


def code(request: DirectionsRequest, *, trials: int) -> str:
    """Return Python that draws the same releases."""
    direction = [float(f"{each:.12g}") for each in request.direction]
    if request.reading.spanned:
        towards = [f"turn = np.radians({request.degrees})"]
        towards += ["towards = np.array([[np.cos(turn), np.sin(turn)]]) @ reading.plane()"]
    else:
        towards = [f"towards = np.zeros((1, {len(direction)}))", f"towards[0, :3] = {direction[:3]}"]
    return request.code(
        queries="Halfspaces(domain=dataset.domain)",
        imports=["import numpy as np", "from dpcore.data.sphere import Halfspaces"],
        then=[
            f"release = mechanism.run(state, dpcore.Preview({request.seed}), {trials})",
            *towards,
            "truth, released = queries.truth(dataset.records, towards)[0], release.answer(towards)[0, 0]",
            'print(f"true {truth:.4f}, released {released:.4f}; {mechanism.guarantee(problem).sentence()}")',
        ],
    )
