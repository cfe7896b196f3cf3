"""The Marginals page: the polynomial, the noise of its levels, errors over many queries, one query, and who wins."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpcore.core import Neighbours
from dpcore.figures.figure import percent, rows
from dpcore.figures.marginals import level_bars, step_curve
from dpcore.figures.marginals_errors import error_curves
from dpcore.figures.marginals_map import row_grid, winners_map
from dpcore.figures.worst import Words
from dpcore.marginals.plans import BETA, MOST_COUNTS, counts_at, direct_fits
from dpcore.marginals.preview import best_along, crossover, released_counts
from dpcore.marginals.queries import AtLeast
from pages.ui.charts import draw, hide_toolbars, is_dark, numbers
from pages.ui.marginals_controls import ask
from pages.ui.marginals_lists import college_story
from pages.ui.marginals_previews import Shown, computed, worst_of_all
from pages.ui.marginals_promise import Promised, beside
from pages.ui.marginals_query import one_query
from pages.ui.marginals_worst import queries_read
from pages.ui.session import is_steward

MAP_WIDTHS = range(1, 13)
ANSWERS_ONLY = (
    "Nobody can make a synthetic table that is right on all two-way marginals in polynomial time (Ullman and Vadhan "
    "2011): these are answers only. And if you need a short list of queries, known in advance, release just those: "
    "noise for 10,000 of them is far smaller than for all."
)


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
    shown = computed(asked)
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
    place = st.container()
    college_story(epsilon=shown.mechanism.epsilon, seed=asked.seed)
    _code(shown)
    with place:  # last, because many releases take longer than one
        _promise(shown)


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
    """What the theorem promises for every query at once, beside the worst errors of many releases."""
    asked, plan, problem = shown.asked, shown.plan, shown.problem
    queries, bound = problem.queries, shown.mechanism.accuracy(problem, BETA)
    assert isinstance(queries, AtLeast)
    read = len(queries_read(plan, shown.indices))
    partly = read < queries.count
    noise = bound.value - plan.gamma
    parts = [f"bias up to {percent(plan.gamma)}"] if plan.gamma else []
    parts += [f"noise up to {percent(noise)} (≈ {rows(noise, problem.n)})"] if noise else []
    looked_at = f"{read:,} of the {queries.count:,} queries, drawn at random" if partly else f"all {read:,} queries"
    dots = "Answers are moved into 0 to 1, which brings none further from the truth."
    if partly:
        dots += " The promise is about all queries: the worst of those not drawn may be a little larger."
    beside(
        Promised(
            problem=problem,
            guarantee=shown.mechanism.guarantee(problem),
            bound=bound,
            details=f"It is about all {queries.count:,} queries at once: {', '.join(parts)}.",
            looked_at=looked_at,
            dots=dots,
            words=Words(over=f"{read:,} sampled queries" if partly else "all queries"),
            badge=asked.badge(),
            private=asked.source.provenance.is_private,
            note=ANSWERS_ONLY,
        ),
        memory=f"{asked.source.key}|{shown.mechanism!r}|{queries.width}|{queries.least}|{queries.signed}|"
        f"{problem.neighbours}|{asked.seed}",
        work=(lambda: worst_of_all(shown)) if plan.polynomial or direct_fits(queries) else None,
        why_not=f"No release is previewed: it would hold {counts_at(queries, queries.width):,} counts, more than the "
        f"{MOST_COUNTS:,} that fit. The promise beside is what it would be.",
    )


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
        "print(mechanism.guarantee(problem).sentence())",
    ]
    place.code("\n".join(lines), language="python")
