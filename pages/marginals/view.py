"""The Tables page: the polynomial, the noise of its levels, errors over many queries, one query, and who wins."""

from __future__ import annotations

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Floats
from dpcore.mechanisms.marginals.plans import BETA, MAX_COUNTS, counts_at, direct_fits
from dpcore.mechanisms.marginals.preview import best_along, crossover, released_counts
from dpcore.queries.at_least import AtLeast
from pages.charts.words import percent, rows
from pages.charts.worst import TrialNouns
from pages.marginals.controls import ask, in_words
from pages.marginals.figures import answer_errors, level_bars, step_curve
from pages.marginals.known import known_before
from pages.marginals.map import row_grid, winners_map
from pages.marginals.previews import Shown, computed
from pages.marginals.promise import Promised, beside, heading
from pages.marginals.query import one_query
from pages.shell.asked import Asked, show_code
from pages.shell.controls import audit_this
from pages.shell.status import may_show, views

PUBLIC = "theory: depends on public numbers only"
WINNERS = "theory: least predicted error, minimax polynomials"
MAP_WIDTHS = range(1, 13)
VIEWS = ("Errors and promise", "Method", "Who wins where", "Ask one", "More")
HOW_SHARES = (
    "What share of rows has **any**, **all** or **some** of these attributes?",
    "There are too many such questions to answer each with noise of its own. But a row's answer depends only on "
    "*how many* of the attributes it has, and a polynomial in that number needs only marginals of few attributes "
    "(Thaler, Ullman and Vadhan 2012).",
)
ANSWERS_ONLY = (
    "If one-way functions exist, no *differentially private* algorithm makes, in polynomial time, a synthetic table "
    "that is right on all two-way marginals, whatever the data (Ullman and Vadhan 2011): these are answers only. It is "
    "a theorem about the worst data; on real tables rows may come close, see the other view. And if you need a short "
    "list of queries, known in advance, release just those: less noise is needed for few of them than for all."
)


def marginals(beside: DeltaGenerator) -> None:
    """Read the controls in their place beside, then show what they do."""
    bar = st.container(key="epsilon_bar")
    head = bar.container()
    asked = ask(beside, bar)
    if asked is None:
        return
    asked.keep("Tables")
    if not may_show(asked.source):
        known_before(asked)
        return
    shown = computed(asked)
    with head:
        _headline(shown)
    errors, method, winners, one, more = views(*VIEWS, key="marginals-seen")
    with errors:
        left, right = st.columns(2)
    with left:
        st.subheader("Errors over many queries")
        _errors(shown)
    with method:
        _method(shown)
    with winners:
        _map(shown)
    with one:
        one_query(asked.queries.domain.names, shown.answers, shown.packed)
    with more:
        _compared(shown)
        audit_this(asked.entry, asked.values, asked.neighbours)
        show_code("Code", key="marginals_code_open", write=lambda: _code(asked))
    with right:  # last, because many releases take longer than one
        _promise(shown)


def _method(shown: Shown) -> None:
    """The polynomial, and what each level of marginals costs."""
    left, right = st.columns(2)
    with left:
        st.subheader("The polynomial")
        _polynomial(shown)
    with right:
        st.subheader("Privacy budget")
        _levels(shown)


def _headline(shown: Shown) -> None:
    """What the chosen method does, and what it is."""
    answers = shown.answers
    text = f"95 in 100 answers are off by at most {_off(answers.chosen, answers.truth)}"
    heading(text, answers.mechanism.guarantee(answers.problem), of="queries")


def _off(found: Floats, truth: Floats) -> str:
    """What 95 in 100 answers are off by at most."""
    return percent(float(np.quantile(np.abs(found - truth), 0.95)))


def _compared(shown: Shown) -> None:
    """The same queries answered in other ways."""
    answers = shown.answers
    direct = answers.plan.polynomial is None
    other = answers.by_polynomial if direct else answers.directly
    compared, between, constant = (
        _off(each, answers.truth) for each in (other, answers.between, np.full(len(answers.truth), 0.5))
    )
    with st.expander("Compared"):
        st.markdown(
            f"{answers.queries.count:,} queries about {in_words(answers.queries)}, answered from "
            f"**{answers.plan.words}**. {'By the polynomial' if direct else 'Directly'} it would be {compared}; saying "
            f"½ to all, {constant}. The polynomial's release also bounds each answer, for free; halfway between the "
            f"bounds it is **{between}**."
        )


def _polynomial(shown: Shown) -> None:
    polynomial = shown.answers.release.plan.polynomial
    assert polynomial is not None
    used = shown.answers.plan.polynomial is not None
    picture = step_curve(polynomial=polynomial, key=shown.asked.entry.key, used=used)
    shown.asked.draw(picture, key="marginals_step", badge=PUBLIC, title="the polynomial")


def _levels(shown: Shown) -> None:
    plan = shown.answers.plan
    picture = level_bars(plan=plan, counts=released_counts(plan, shown.answers.queries), key=_colour(shown))
    shown.asked.draw(picture, key="marginals_levels", badge=PUBLIC, title="noise")


def _colour(shown: Shown) -> str:
    """Whose colour the chosen method has."""
    return "marginals-direct" if shown.answers.plan.polynomial is None else shown.asked.entry.key


def _errors(shown: Shown) -> None:
    picture = answer_errors(shown.answers, key=shown.asked.entry.key)
    shown.asked.draw(picture, key="marginals_errors", title="errors")


def _map(shown: Shown) -> None:
    problem, mechanism = shown.answers.problem, shown.answers.mechanism
    queries = shown.answers.queries
    widths = [width for width in MAP_WIDTHS if width <= queries.domain.attributes]
    budget, degree = mechanism.budget, mechanism.degree
    places = crossover(problem, budget, rows=row_grid(), widths=widths, degree=degree)
    here, _ = best_along(problem, budget, rows=np.array([problem.n]), degree=degree)
    picture = winners_map(places=places, n=problem.n, width=queries.width, here=here[0], key=shown.asked.entry.key)
    shown.asked.draw(picture, key="marginals_map", badge=WINNERS, title="who wins where")


def _promise(shown: Shown) -> None:
    """What the theorem promises for every query at once, beside the worst errors of many releases."""
    asked, answers = shown.asked, shown.answers
    plan, problem, queries = answers.plan, answers.problem, answers.queries
    bound = answers.mechanism.accuracy(problem, BETA)
    read = len(answers.looked_at)
    partly = read < queries.count
    noise = bound.value - plan.gamma
    parts = [f"bias up to {percent(plan.gamma)}"] if plan.gamma else []
    parts += [f"noise up to {percent(noise)} (≈ {rows(noise, problem.n)})"] if noise else []
    looked_at = f"{read:,} of the {queries.count:,} queries, drawn at random" if partly else f"all {read:,} queries"
    dots = "Answers are moved into 0 to 1: if n is the number of rows, none gets further from the truth."
    if partly:
        dots += " The promise is about all queries: the worst of those not drawn may be a little larger."
    beside(
        Promised(
            problem=problem,
            guarantee=answers.mechanism.guarantee(problem),
            bound=bound,
            details=f"It is about all {queries.count:,} queries at once: {', '.join(parts)}.",
            looked_at=looked_at,
            dots=dots,
            called=TrialNouns(over=f"{read:,} sampled queries" if partly else "all queries"),
            badge=asked.badge(),
            private=asked.private,
            note=ANSWERS_ONLY,
        ),
        memory=f"{asked.source.key}|{answers.mechanism!r}|{queries.width}|{queries.least}|{queries.signed}|"
        f"{problem.neighbours}|{asked.seed}",
        work=answers.worst if plan.polynomial or direct_fits(queries) else None,
        why_not=f"No release is previewed: it would hold {counts_at(queries, queries.width):,} counts, more than the "
        f"{MAX_COUNTS:,} that fit. The promise beside is what it would be.",
    )


def _code(asked: Asked[AtLeast]) -> str:
    """The snippet."""
    told = asked.queries
    return asked.code(
        queries=f"AtLeast(domain=dataset.domain, width={told.width}, least={told.least}, signed={told.signed})",
        imports=["from dpcore.queries.at_least import AtLeast"],
        then=[
            f"release = mechanism.run(state, dpcore.Preview({asked.seed}))",
            "indices = queries.batch(5)",
            "answers = release.answers(*queries.sets(indices), clip=True)[0]",
            "for index, answer in zip(indices.tolist(), answers.tolist()):",
            '    print(f"{queries.describe(index)}: {answer:.3f}")',
            "print(mechanism.guarantee(problem).sentence())",
        ],
    )
