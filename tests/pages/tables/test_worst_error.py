"""The map on both views of the Tables page: its dots are the worst errors of whole releases, counted anew here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpcore import Neighbours, Preview, Problem, entry
from dpcore.core import Floats, describe_error, rounded_down, rounded_up
from dpcore.data.bundled import survey_of
from dpcore.data.product import Product
from dpcore.data.sources import generated_attributes
from dpcore.limits.bounds.applicable import lower_bound
from dpcore.limits.chance import binomial_interval
from dpcore.mechanisms.marginals.polynomial_release import PolynomialMarginals
from dpcore.queries.at_least import AtLeast
from dpcore.queries.marginals import Marginals as Tables
from dplab.marginals_worst import MAX_TRIALS
from dplab.tables import TRIALS
from pages.charts.words import percent
from tests.cases import full_but, one_relation
from tests.pages.drawn_charts import drawn
from tests.pages.opening import sound
from tests.pages.tables.opening import CHARTS, opened, texts

SMALL = {"cube_rows": "3000", "cube_attributes": "10"}
ATTRIBUTES, N, BETA = 10, 3_000, 0.05
VIEW = {"view": "All tables of k attributes"}


def dots(app: AppTest) -> list[float]:
    """Errors of the fifty dots, from the numbers of the picture."""
    app.session_state["marginals_worst_numbers"] = True
    errors: list[float] = sound(app.run()).dataframe[0].value["worst error"].tolist()
    return errors


def assert_told(app: AppTest, errors: Floats, mechanism: Any, problem: Problem) -> None:
    """The dots are these errors' quantiles; promise, failures and what is impossible are said as they are."""
    np.testing.assert_allclose(dots(app), np.quantile(errors, (np.arange(50) + 0.5) / 50), rtol=1e-3, atol=1e-12)
    bound, text = mechanism.accuracy(problem, BETA), texts(app)
    broken = int((errors > bound.value + 1e-9).sum())
    low, high = binomial_interval(broken, len(errors))
    observed = f"Observed: {broken} of {len(errors)} previews had an error above {percent(bound.value)}"
    between = f"between {rounded_down(float(low))} and {rounded_up(float(high))} (exact 95% interval)"
    chance = f"The probability of that is {between}"
    assert (observed in text, chance in text) == (bound.guaranteed, bound.guaranteed)
    lower = lower_bound(problem, mechanism.guarantee(problem), beta=BETA)
    assert lower is not None and 0 < lower.value <= bound.value and lower.statement in text
    assert f"{len(errors)} releases, each with its worst error over all {problem.queries.count:,} " in text
    if bound.value < 1:
        assert describe_error(bound, n=problem.n, bold=True) in text


KINDS = [("noise-aware", "any", 1), ("minimax", "all", 4), ("direct", "some", 2)]
WHOLE = [
    # Half of them meet every two choices together; the others meet all three in `full`.
    pytest.param(*kind, noise, signed, marks=[pytest.mark.full] * ((row + column + signed) % 2))
    for row, kind in enumerate(KINDS)
    for column, noise in enumerate(("laplace", "gaussian"))
    for signed in (False, True)
]


@pytest.mark.parametrize(("method", "kind", "least", "noise", "signed"), WHOLE)
def test_dots_are_worst_errors_of_whole_releases(
    method: str, kind: str, least: int, noise: str, *, signed: bool
) -> None:
    link = {"width": "4", "counts_if": kind, "negated": str(signed).lower(), "marginal_noise": noise, "seed": "7"}
    key = "marginals-polynomial-gaussian" if noise == "gaussian" else "marginals-polynomial"
    app = sound(opened(**SMALL, **link, **{f"{key}-method": method}))
    source = generated_attributes(n=N, attributes=ATTRIBUTES)
    queries = AtLeast(domain=source.on(Product), width=4, least=least, signed=signed)
    problem = Problem(domain=source.domain, queries=queries, n=N)
    mechanism = entry(key).make(method=method)
    assert isinstance(mechanism, PolynomialMarginals)
    dataset = source.dataset()
    sets, negated = queries.sets(np.arange(queries.count))
    truth = ((dataset.records.astype(bool)[:, sets] ^ negated).sum(axis=2) >= least).mean(axis=0)
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(7), MAX_TRIALS)
    errors = np.abs(release.answers(sets, negated, clip=True) - truth).max(axis=1)
    assert_told(app, errors, mechanism, problem)


def test_sampled_queries_are_told_and_the_promise_is_about_all() -> None:
    text = texts(sound(opened(cube_rows="1000", cube_attributes="24", width="6")))
    assert "worst error over 10,000 of the 134,596 queries, sampled at random" in text
    assert "The guaranteed error is about all queries" in text
    assert "sampled queries, share of n" in text.replace("<br>", " "), "an axis title has several lines"


def test_a_release_that_cannot_be_held_is_not_drawn() -> None:
    app = sound(opened(cube_rows="1000", cube_attributes="40", width="8", **{"marginals-polynomial-method": "direct"}))
    assert CHARTS - set(drawn(app)) == {"marginals_worst_chart"}
    assert any("it would have 76,904,685 counts" in each.value for each in app.info)
    assert "Observed:" not in texts(app) and "What is guaranteed" in [each.value for each in app.header]


def test_where_the_rows_are_only_said_the_promise_is_conditional() -> None:
    app = opened(**SMALL, width="3")
    app.radio(key="neighbours").set_value(str(Neighbours.ADD_REMOVE_ONE))
    text = texts(sound(app.run()))
    assert "If the assumptions below were met: with confidence 95%" in text and "would be guaranteed" in text
    assert "Observed:" not in text, "no promise that previews could break"


@pytest.mark.parametrize("method", full_but(["residual-planner", "direct-tables", "fourier-tables"], "fourier-tables"))
@one_relation
def test_dots_of_tables_are_their_worst_cells_as_measured(method: str, neighbours: Neighbours) -> None:
    link = {"tables_of": "penguins", "seed": "5"}
    survey = survey_of("penguins")
    if method == "fourier-tables":
        link["tables_of"], survey = "census-yes-no", survey_of("census", answers=True)
    app = opened(**VIEW, **link, tables_method=method)
    app.radio(key="neighbours").set_value(str(neighbours))
    dataset = survey.dataset()
    queries = Tables(domain=survey.on(Product), ways=2)
    problem = Problem(domain=survey.domain, queries=queries, n=dataset.n, neighbours=neighbours)
    mechanism: Any = entry(method).make()
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(5), TRIALS)
    measured_tables = [release.tables(trial=trial, fit="unbiased") for trial in range(TRIALS)]
    errors = np.zeros(TRIALS)
    for one, other in queries.sets():
        true = np.zeros((queries.domain.sizes[one], queries.domain.sizes[other]))
        np.add.at(true, (dataset.records[:, one].astype(int), dataset.records[:, other].astype(int)), 1)
        for trial in range(TRIALS):
            measured = measured_tables[trial][one, other]
            errors[trial] = max(errors[trial], np.abs(measured - true).max())
    assert_told(app, errors / dataset.n, mechanism, problem)
    assert "before post-processing" in texts(app)
