"""What the halfspace release promises here, what the paper prints, and the code that draws the same."""

from __future__ import annotations

import dataclasses

import streamlit as st

from dpcore.core import Bound, BoundKind, Dataset, Floats, Problem, describe_error
from dpcore.limits.bounds.applicable import lower_bound
from dpcore.mechanisms.halfspaces.printed import printed
from dplab.halfspace_parts import here
from pages.charts.words import significant
from pages.charts.worst import Called, worst_map
from pages.learn.directions.controls import DirectionsAsked
from pages.shell.session import remembered
from pages.shell.theorem import theorem_card

BETA = 0.05


def promised(asked: DirectionsAsked, dataset: Dataset, degrees: Floats, errors: Floats) -> None:
    """The promise for the margin asked, beside what was seen in the directions of the circle that have it."""
    n, queries = dataset.n, dataclasses.replace(asked.queries, margin=asked.margin)
    problem = dataclasses.replace(asked.problem(n), queries=queries)
    pointing = (dataset.records != 0).any(axis=1)
    margins = remembered(
        f"margins|{asked.source.key}|{asked.tilt}",
        lambda: queries.margins(dataset.records[pointing], asked.towards(degrees)),
    )
    kept = margins >= asked.margin
    lost = n - int(pointing.sum())
    bound = here(asked.mechanism.accuracy(problem, BETA), margin=asked.margin, kept=int(kept.sum()), lost=lost)
    left, right = st.columns(2)
    with left:
        _map(asked, problem, bound, errors[:, kept] if kept.any() else errors, met=bool(kept.any()))
    seen = [
        f"{int(kept.sum())} of {len(kept)} directions around the circle have margin {asked.margin:g}; the largest "
        f"margin is {significant(float(margins.max()))}. :gray-badge[true]"
    ]
    if lost:
        seen += [
            f"{lost:,} rows have no direction (all zeros, or a number missing). They stay in n and are counted for "
            "one of every two opposite directions: an error of so many rows that no margin prevents."
        ]
    with right:
        theorem_card(
            bound,
            asked.mechanism.guarantee(problem),
            n=n,
            said=_told(bound, asked, n=n, margins=margins, lost=lost),
            seen=seen,
            covers="for each single release, whatever the margin",
        )


def _map(asked: DirectionsAsked, problem: Problem, bound: Bound, errors: Floats, *, met: bool) -> None:
    """The worst error over directions (T, Q) beside its promise and what is impossible."""
    st.header("Worst error: promised and observed")
    guarantee, count = asked.mechanism.guarantee(problem), errors.shape[1]
    lower = lower_bound(problem, guarantee, beta=BETA)
    picture = worst_map(
        worst=errors.max(axis=1),
        n=problem.n,
        guarantee=guarantee,
        promised=bound,
        lower=lower,
        called=Called(query="direction", over=f"{count} directions"),
    )
    asked.draw(picture, key="halfspaces_worst", title="worst error")
    which = f"the {count} directions of the circle that have margin {asked.margin:g}"
    if not met:
        which = f"all {count} directions of the circle, none of which has margin {asked.margin:g}"
    said = f"Each dot is the worst error over {which}{'' if bound.applies else ': nothing is promised of them'}."
    if lower is not None:
        said += f" Hatched: impossible to promise. {lower.statement}"
    st.expander("How to read this").markdown(said)


def _told(bound: Bound, asked: DirectionsAsked, *, n: int, margins: Floats, lost: int) -> str:
    """The promise in one sentence, or why there is none."""
    if bound.kind is not BoundKind.GUARANTEE or bound.applies:
        return describe_error(bound, n=n, subject=f"no direction of margin {asked.margin:g} or more", bold=True)
    if not (margins >= asked.margin).any():
        return (
            f"Nothing is promised of this circle: rows lie all around, and in each of its {len(margins)} directions "
            f"some row comes as near to the line as {significant(float(margins.max()))}."
        )
    if not bound.assumptions[0].met:
        return "At this margin nothing is promised: ask for a larger one, or measure more directions."
    return f"Nothing is promised of these rows: {lost:,} of them have no direction."


def paper(asked: DirectionsAsked) -> None:
    """The printed parameters as they are: a table."""
    with st.expander("What the paper prints"):
        _printed(asked)


def _printed(asked: DirectionsAsked) -> None:
    """The table."""
    d = asked.dimensions
    if not asked.margin > 0:
        st.markdown("The paper's parameters need a margin above 0.")
        return
    found = printed(margin=asked.margin, alpha=asked.alpha, dimensions=d, beta=BETA, epsilon=asked.epsilon)
    st.markdown(
        f"For margin γ = {asked.margin:g}, α = {asked.alpha:g}, d = {d}, β = {BETA:g}. “Polynomial for constant "
        "margin and α” is true, and this is the polynomial. :orange-badge[theory]"
    )
    up = f"{found.dimensions / d:,.0f} times the {d} dimensions that rows have: a projection *up*"
    lines = [
        "| parameter | here | its cost |",
        "|---|---:|---|",
        f"| dimensions T = ⌈20 · (γ/4)⁻² · ln(8/α)⌉ | {found.dimensions:,} | "
        f"{up if found.dimensions > d else f'fewer than the {d} that rows have'} |",
        f"| projections m = (16/α²) · d · (ln(4√d/γ) + ln(1/β)) | {found.projections:,} | so many matrices of "
        f"{found.dimensions:,} × {d} signs |",
        f"| directions \\|U\\| = (4√T/γ)^T | {_power(found.log10_directions)} | atoms one can see the light of: "
        "about 10^80 |",
        f"| counts released, m · \\|U\\| | {_power(found.log10_counts)} | each has noise for all of them together |",
        f"| rows asked for (Theorem 6.9) | {_power(found.log10_rows)} | people alive: about 10^10 |",
    ]
    st.markdown("\n".join(lines))
    st.caption(
        "\\|U\\| as printed counts coordinates from 0 to 1; between −1 and 1 there are 2^T times as many "
        f"({_power(found.log10_directions_both_signs)}), which the theorem's 8√T/γ has and the claim's 4√T/γ has not. "
        "Reference: Blum, Ligett and Roth (2013), Claim 6.7, ReleaseHalfspaces, Theorem 6.9."
    )


def _power(log10: float) -> str:
    """A number given by its logarithm."""
    return f"{10**log10:,.0f}" if log10 < 6 else f"≈ 10^{log10:,.0f}"


def code(asked: DirectionsAsked, *, trials: int) -> str:
    """The snippet."""
    direction = [float(f"{each:.12g}") for each in asked.direction]
    if asked.reading.spanned:
        towards = [f"turn = np.radians({asked.degrees})"]
        towards += ["towards = np.array([[np.cos(turn), np.sin(turn)]]) @ reading.plane()"]
    else:
        towards = [f"towards = np.zeros((1, {len(direction)}))", f"towards[0, :3] = {direction[:3]}"]
    return asked.code(
        queries="Halfspaces(domain=dataset.domain)",
        imports=["import numpy as np", "from dpcore.data.sphere import Halfspaces"],
        then=[
            f"release = mechanism.run(state, dpcore.Preview({asked.seed}), {trials})",
            *towards,
            "truth, released = queries.truth(dataset.records, towards)[0], release.answer(towards)[0, 0]",
            'print(f"true {truth:.4f}, released {released:.4f}; {mechanism.guarantee(problem).sentence()}")',
        ],
    )
