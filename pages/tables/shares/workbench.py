"""Shares of any, all or some attributes: errors and guarantee, the method, the best method, and one query."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpcore.core import Floats
from dpcore.mechanisms.marginals.plans import BETA, MAX_COUNTS, counts_at, direct_fits
from dpcore.mechanisms.marginals.preview import released_counts
from pages.charts.words import percent_up, rows_up
from pages.charts.worst import TrialNouns
from pages.shell.workbench import Workbench
from pages.tables.shares.charts import answer_errors, level_bars, step_curve
from pages.tables.shares.compute import ShareResult
from pages.tables.shares.controls import draw_controls, in_words
from pages.tables.shares.map import winners_for
from pages.tables.shares.methods import all_methods
from pages.tables.shares.one_query import one_query
from pages.tables.shares.promise import draw_promise
from pages.tables.shares.secret_attribute import secret_of_the_rows
from pages.tables.shares.tracing import who_is_in_the_data
from pages.tables.worst_error import ErrorWords, render_headline, render_worst_error

PUBLIC = "theory: depends on public numbers only"
WINNERS = "theory: smallest predicted error, minimax polynomials"
LEAD = (
    "Which share of the rows has **any**, **all** or **at least r** of these attributes?",
    "With many attributes there are so many queries that separate noise for each hides the answers. But a "
    "row's answer depends only on *how many* of the attributes it has. A polynomial in that number needs "
    "only marginals of few attributes (Thaler, Ullman and Vadhan 2012).",
)
ANSWERS_ONLY = (
    "This release answers queries only. If one-way functions exist, no polynomial-time *differentially "
    "private* algorithm makes good synthetic tables on all data. Good means accurate two-way marginals "
    "(Ullman and Vadhan 2011). That is about the worst data: on real data synthetic rows may have small "
    "errors (see the other view). If you know a short list of queries beforehand, release only those: the "
    "noise is smaller."
)


def _headline(result: ShareResult) -> None:
    answers = result.answers
    text = f"95 in 100 answers have an error of at most {_error(answers.chosen, answers.truth)}"
    render_headline(text, answers.mechanism.guarantee(answers.problem), of="queries")


def _error(answers: Floats, truth: Floats) -> str:
    """Return the largest error of 95 in 100 answers."""
    return percent_up(float(np.quantile(np.abs(answers - truth), 0.95)))


def _errors(result: ShareResult) -> None:
    picture = answer_errors(result.answers, key=result.request.entry.key)
    result.request.draw(picture, key="marginals_errors", title="errors", heading="Errors over many queries")


def _worst_error(result: ShareResult) -> None:
    """Draw the bound for all queries at once, beside the worst errors of many releases."""
    request, answers = result.request, result.answers
    plan, problem, queries = answers.plan, answers.problem, answers.queries
    bound = answers.mechanism.accuracy(problem, BETA)
    observed = len(answers.evaluated_places)
    is_sample = observed < queries.count
    noise = bound.value - plan.gamma
    parts = [f"bias up to {percent_up(plan.gamma)}"] if plan.gamma else []
    parts += [f"noise up to {percent_up(noise)} ({rows_up(noise, problem.n)})"] if noise else []
    sampled = f"{observed:,} of the {queries.count:,} queries, sampled at random"
    dots = "Answers are clipped to 0–1. If n is the number of rows, this increases no error."
    if is_sample:
        dots += " The guaranteed error is about all queries. The worst of those not sampled may be a little larger."
    called = TrialNouns(over=f"{observed:,} sampled queries" if is_sample else "all queries")
    details = f"It is about all {queries.count:,} queries at once: {', '.join(parts)}."
    observed_on = sampled if is_sample else f"all {observed:,} queries"
    words = ErrorWords(observed_on=observed_on, dots=dots, called=called, details=details, note=ANSWERS_ONLY)
    about = f"{queries.width}|{queries.least}|{queries.signed}|{problem.neighbours}"
    key = f"{request.source.key}|{answers.mechanism!r}|{about}|{request.seed}"
    work = answers.worst if plan.polynomial or direct_fits(queries) else None
    refusal = (
        f"No release is previewed: it would have {counts_at(queries, queries.width):,} counts, and at most "
        f"{MAX_COUNTS:,} fit. The guaranteed error is shown anyway."
    )
    render_worst_error(request, problem, answers.mechanism, words, beta=BETA, key=key, work=work, refusal=refusal)


def _polynomial(result: ShareResult) -> None:
    polynomial = result.answers.release.plan.polynomial
    assert polynomial is not None
    used = result.answers.plan.polynomial is not None
    picture = step_curve(polynomial=polynomial, key=result.request.entry.key, used=used)
    result.request.draw(picture, key="marginals_step", badge=PUBLIC, title="the polynomial", heading="The polynomial")


def _budget(result: ShareResult) -> None:
    plan = result.answers.plan
    colour = "marginals-direct" if plan.polynomial is None else result.request.entry.key
    picture = level_bars(plan=plan, counts=released_counts(plan, result.answers.queries), key=colour)
    result.request.draw(picture, key="marginals_levels", badge=PUBLIC, title="noise", heading="Privacy budget")


def _winners(result: ShareResult) -> None:
    answers, request = result.answers, result.request
    picture = winners_for(answers.mechanism, answers.problem, answers.queries, key=request.entry.key)
    request.draw(picture, key="marginals_map", badge=WINNERS, title="smallest error by setting")


def _compared(result: ShareResult) -> None:
    """Draw the errors of other ways to answer the same queries."""
    answers = result.answers
    direct = answers.plan.polynomial is None
    other = answers.by_polynomial if direct else answers.directly
    compared, between, constant = (
        _error(each, answers.truth) for each in (other, answers.between, np.full(len(answers.truth), 0.5))
    )
    with st.expander("Compared"):
        st.markdown(
            f"{answers.queries.count:,} queries about {in_words(answers.queries)}, answered from "
            f"**{answers.plan.words}**. {'By the polynomial' if direct else 'Directly'} the error would be "
            f"{compared}; answering ½ to all, {constant}. The polynomial's release also bounds each "
            f"answer, for free. The error of the bounds' midpoint is **{between}**."
        )


def _code(result: ShareResult) -> str:
    request, queries = result.request, result.request.queries
    return request.code_of_release(
        "indices = queries.batch(5)",
        "answers = release.answers(*queries.sets(indices), clip=True)[0]",
        "for index, answer in zip(indices.tolist(), answers.tolist()):",
        '    print(f"{queries.describe(index)}: {answer:.3f}")',
        arguments=f", width={queries.width}, least={queries.least}, signed={queries.signed}",
    )


SHARES = Workbench(
    title="Tables",
    lead=LEAD,
    key="marginals",
    controls=draw_controls,
    promise=draw_promise,
    compute=ShareResult,
    headline=_headline,
    views={
        "Errors and guarantee": (_errors, _worst_error),
        "Method": (_polynomial, _budget),
        "Smallest error by setting": _winners,
        "One query": one_query,
        "All methods": all_methods,
        "Who is in the data": who_is_in_the_data,
        "A secret attribute": secret_of_the_rows,
    },
    slow=(_worst_error, who_is_in_the_data, secret_of_the_rows, all_methods),
    more=_compared,
    code=_code,
)
