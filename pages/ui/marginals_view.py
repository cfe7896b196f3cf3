"""The Marginals page: the polynomial, the noise of its levels, errors over many queries, one query, and who wins."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
import streamlit as st

from dpcore.core import Dataset, Floats, Integers, Neighbours, Problem
from dpcore.figures.figure import percent
from dpcore.figures.marginals import level_bars, step_curve
from dpcore.figures.marginals_errors import error_curves
from dpcore.figures.marginals_map import row_grid, winners_map
from dpcore.marginals.counting import Packed, count_sets, pack
from dpcore.marginals.plans import Plan, direct_plan, most_degree
from dpcore.marginals.preview import best_along, crossover, direct_answers, released_counts, sampled
from dpcore.marginals.queries import AtLeast
from dpcore.marginals.release import MarginalRelease, MarginalState
from dpcore.mechanisms.marginals_polynomial import Marginals
from dpcore.randomness import Preview
from pages.ui.charts import draw, hide_toolbars, is_dark, numbers
from pages.ui.marginals_controls import Asked, ask
from pages.ui.marginals_lists import college_story
from pages.ui.marginals_query import one_query
from pages.ui.session import is_steward, remembered, with_progress

MAP_WIDTHS = range(1, 13)


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What the pictures are made of.

    Attributes:
        asked: the controls.
        problem: the public problem.
        mechanism: what is asked for.
        plan: its plan; a polynomial's, or direct release.
        polynomial: the polynomial's plan, beside direct release where that is chosen.
        direct: direct release's plan.
        release: one release by the polynomial.
        packed: the rows.
        indices: sampled queries.
        truth: their true answers.
        by_polynomial: their answers by the polynomial, in [0, 1].
        between: midpoints of the bounds the same release gives them.
        directly: their answers by direct release, in [0, 1].
    """

    asked: Asked
    problem: Problem
    mechanism: Marginals
    plan: Plan
    polynomial: Plan
    direct: Plan
    release: MarginalRelease
    packed: Packed
    indices: Integers
    truth: Floats
    by_polynomial: Floats
    between: Floats
    directly: Floats

    @property
    def chosen(self) -> Floats:
        """Answers of the method that is asked for."""
        return self.directly if self.plan.polynomial is None else self.by_polynomial


def marginals() -> None:
    """Read the controls, then show what they do."""
    st.markdown(
        "What share of rows has **any**, **all** or **some** of these attributes? There are too many such questions to "
        "answer each with noise of its own. But a row's answer depends only on *how many* of the attributes it has, "
        "and a polynomial in that number needs only marginals of few attributes (Thaler, Ullman and Vadhan 2012)."
    )
    asked = ask()
    if asked is None:
        return
    if asked.source.provenance.is_private and not is_steward():
        st.info(
            "These data are private, so nothing is computed from them here. Preview on a public stand-in or on "
            "generated rows of the same size, or, if you are their steward, say so above."
        )
        return
    if asked.source.provenance.is_private:
        hide_toolbars()
    shown = _computed(asked)
    _headline(shown)
    left, right = st.columns(2)
    with left:
        st.subheader("A polynomial bent toward a step")
        _polynomial(shown)
    with right:
        st.subheader("Where the privacy budget goes")
        _levels(shown)
    left, right = st.columns(2)
    with left:
        st.subheader("Errors over many queries")
        _errors(shown)
    with right:
        st.subheader("Which method wins where")
        _map(shown)
    one_query(
        asked.source.domain, shown.release, shown.direct, shown.packed, seed=asked.seed, n=shown.problem.n,
        direct_chosen=shown.plan.polynomial is None,
    )  # fmt: skip
    _promise(shown)
    college_story(epsilon=shown.mechanism.epsilon, seed=asked.seed)
    _code(shown)


def _computed(asked: Asked) -> Shown:
    """Counts and true answers, once; then one release."""
    key = asked.source.key
    dataset: Dataset = remembered(f"dataset|{key}", asked.source.dataset)
    packed = remembered(f"packed|{key}", lambda: pack(dataset.records))
    problem, mechanism = asked.problem(dataset.n), asked.mechanism
    queries = problem.queries
    assert isinstance(queries, AtLeast)
    # For every k alike, so that moving it counts nothing anew.
    widest = dataclasses.replace(queries, width=min(12, asked.source.domain.attributes), least=1)
    size = most_degree(widest, mechanism.degree)
    counts = with_progress(
        f"counts|{key}|{size}", lambda: count_sets(packed, size=size), label="Counting sets of attributes."
    )
    kept: dict[tuple[int, int | None], Integers] = remembered(f"tables|{key}", dict)
    indices = sampled(queries, rows=dataset.n)
    truth = with_progress(
        f"truth|{key}|{queries.width}|{queries.least}|{queries.signed}|{len(indices)}",
        lambda: queries.truth(packed, indices),
        label="Counting true answers.",
    )
    # Shares are of the public number of rows, as answers are.
    truth = truth * (dataset.n / problem.n)
    plan, direct = mechanism.plan(problem), direct_plan(problem, mechanism.budget)
    smaller = mechanism if plan.polynomial else dataclasses.replace(mechanism, method="noise-aware")
    state = MarginalState(problem=problem, counts=counts, rows=dataset.n, _kept=kept)
    release = smaller.run(state, Preview(asked.seed))
    sets, negated = queries.sets(indices)
    low, high = release.bounds(sets, negated)
    return Shown(
        asked=asked, problem=problem, mechanism=mechanism, plan=plan, polynomial=release.plan, direct=direct,
        release=release, packed=packed, indices=indices, truth=truth,
        by_polynomial=release.answers(sets, negated, clip=True)[0],
        between=np.clip((low + high)[0] / 2, 0.0, 1.0),
        directly=np.clip(direct_answers(direct, truth, n=problem.n, sampler=Preview(asked.seed)), 0.0, 1.0),
    )  # fmt: skip


def _headline(shown: Shown) -> None:
    """What the chosen method does, and what it is."""
    error = float(np.quantile(np.abs(shown.chosen - shown.truth), 0.95))
    other = shown.by_polynomial if shown.plan.polynomial is None else shown.directly
    compared = float(np.quantile(np.abs(other - shown.truth), 0.95))
    name = "By the polynomial" if shown.plan.polynomial is None else "Directly"
    constant = float(np.quantile(np.abs(shown.truth - 0.5), 0.95))
    between = float(np.quantile(np.abs(shown.between - shown.truth), 0.95))
    queries = shown.problem.queries
    st.header(f"95 in 100 answers are off by at most {percent(error)}")
    st.markdown(
        f"{queries.count:,} queries about {shown.asked.words}, answered from **{shown.plan.words}**. "
        f":blue-badge[simulated] :gray-badge[true]\n\n{name} it would be {percent(compared)}; saying ½ to all, "
        f"{percent(constant)}. The polynomial's release also bounds each answer, for free; "
        f"halfway between the bounds it is **{percent(between)}**. "
        f"Privacy: {shown.mechanism.guarantee(shown.problem).sentence()}, for all queries together."
    )


def _polynomial(shown: Shown) -> None:
    polynomial = shown.polynomial.polynomial
    assert polynomial is not None
    badge = "theory: depends on public numbers only"
    figure = step_curve(
        polynomial=polynomial, used=shown.plan.polynomial is not None, badge=badge, dark=is_dark()
    )  # fmt: skip
    draw(figure, key="marginals_step_chart")
    numbers(figure, title="the polynomial", key="marginals_step_numbers")


def _levels(shown: Shown) -> None:
    queries = shown.problem.queries
    assert isinstance(queries, AtLeast)
    figure = level_bars(
        plan=shown.plan, counts=released_counts(shown.plan, queries),
        badge="theory: depends on public numbers only", dark=is_dark(),
    )  # fmt: skip
    draw(figure, key="marginals_levels_chart")
    numbers(figure, title="noise of each level", key="marginals_levels_numbers")


def _errors(shown: Shown) -> None:
    polynomial, middle, direct = (
        np.abs(answers - shown.truth) for answers in (shown.by_polynomial, shown.between, shown.directly)
    )
    figure = error_curves(
        polynomial=polynomial, middle=middle, direct=direct, plan=shown.polynomial, direct_plan=shown.direct,
        laplace=not shown.mechanism.budget.delta, badge=shown.asked.badge(), dark=is_dark(),
    )  # fmt: skip
    draw(figure, key="marginals_errors_chart")
    numbers(figure, title="errors", key="marginals_errors_numbers")


def _map(shown: Shown) -> None:
    widths = [width for width in MAP_WIDTHS if width <= shown.asked.source.domain.attributes]
    budget, degree = shown.mechanism.budget, shown.mechanism.degree
    places = crossover(shown.problem, budget, rows=row_grid(), widths=widths, degree=degree)
    here, _ = best_along(shown.problem, budget, rows=np.array([shown.problem.n]), degree=degree)
    figure = winners_map(
        places=places, n=shown.problem.n, width=shown.asked.width, here=here[0],
        badge="theory: least predicted error, minimax polynomials", dark=is_dark(),
    )  # fmt: skip
    draw(figure, key="marginals_map_chart")
    numbers(figure, title="who wins where", key="marginals_map_numbers")


def _promise(shown: Shown) -> None:
    """What the theorem promises for every query at once."""
    bound = shown.mechanism.accuracy(shown.problem, 0.05)
    with st.container(border=True):
        st.header("What is promised")
        if bound.vacuous:
            st.markdown(f"An error of {percent(min(bound.value, 1.0))} is no news: vacuous here. :orange-badge[theory]")
        else:
            st.markdown(
                f"With probability at least {1 - bound.beta:g}, no query errs by more than **{percent(bound.value)}**. "
                ":orange-badge[theory]"
            )
            st.markdown(bound.statement)
        for assumption in bound.assumptions:
            st.markdown(f"{'✓ met' if assumption.met else '✗ **not met**'}: {assumption.text}")
        st.info(
            "Nobody can make a synthetic table that is right on all two-way marginals in polynomial time (Ullman and "
            "Vadhan 2011): these are answers only. And if you need a short list of queries, known in advance, "
            "release just those: noise for 10,000 of them is far smaller than for all."
        )
        st.caption(f"Reference: {bound.reference}.")


def _code(shown: Shown) -> None:
    """The snippet, copyable."""
    place = st.expander("The code that reproduces this release", key="marginals_code_open", on_change="rerun")
    if not place.open:
        return
    asked = shown.asked
    values = ", ".join(f"{name}={value!r}" for name, value in asked.values.items())
    rows = "dataset.n" if asked.neighbours is Neighbours.REPLACE_ONE else str(asked.source.public_rows)
    lines = [
        "import dpcore",
        "from dpcore.marginals.queries import AtLeast",
        *asked.source.code(),
        "",
        f"queries = AtLeast(domain=dataset.domain, width={asked.width}, least={asked.least}, signed={asked.signed})",
        f"problem = dpcore.Problem(domain=dataset.domain, queries=queries, n={rows},",
        f"                         neighbours=dpcore.Neighbours.{asked.neighbours.name})",
        f"mechanism = dpcore.entry({asked.entry.key!r}).make({values})",
        "state = mechanism.prepare(dataset, problem)",
        f"release = mechanism.run(state, dpcore.Preview({asked.seed}))",
        "sets, negated = queries.sets(queries.batch(5))",
        "for index, answer in zip(queries.batch(5).tolist(), release.answers(sets, negated, clip=True)[0].tolist()):",
        '    print(f"{queries.describe(index)}: {answer:.3f}")',
        "print(release.plan.words, mechanism.guarantee(problem).sentence())",
    ]
    place.code("\n".join(lines), language="python")
