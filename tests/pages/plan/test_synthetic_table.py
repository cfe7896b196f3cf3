"""A whole table on the Plan page: rows of nobody with the declared columns, errors of pairs beside what is promised."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.core import Guarantee, Neighbours, Problem
from dpcore.data.columns import Labels
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.product import is_table
from dpcore.data.samples import sample
from dpcore.mechanisms.tables.whole_table import WholeTable
from dpcore.queries.marginals import Marginals
from dplab.measure import finish
from dprelease.plan.whole_table import WholeRehearsal, rehearse_table
from pages.charts.picture import Dots
from pages.charts.words import percent_up
from pages.plan.plan_table import PlanTable
from pages.plan.synthetic_table import _measured_sentence, _release_sentence, _sentence, code, pair_errors
from tests.kit.attribute_tables import problem_of
from tests.pages.drawn_charts import drawn
from tests.pages.opening import opened, sound, texts

PAGE = "plan/page.py"
TABLE = DeclaredTable(columns=tuple(DeclaredColumn(name=each.name, on=each.on) for each in sample("penguins").columns))


def rehearsal(epsilon: float, *, n: int = 2_000, beta: float = 0.05) -> WholeRehearsal:
    names = [column.name for column in TABLE.used]
    mechanism = WholeTable(epsilon=epsilon, delta=1e-6)
    relation = Neighbours.REPLACE_ONE
    return finish(rehearse_table(TABLE, names, mechanism=mechanism, n=n, neighbours=relation, beta=beta))


def test_a_whole_table_is_made_on_demand_of_made_up_rows() -> None:
    app = opened(PAGE, table="penguins")
    assert "plan_whole_pairs_chart" not in drawn(app)
    app.session_state["plan_whole"] = True
    chart = drawn(sound(app.run()))["plan_whole_pairs_chart"]
    assert chart["layout"]["title"]["text"].startswith("mock data")
    assert "344 rows of 6 columns cost ε = 1, δ = 1e-9" in texts(app)
    shown = app.dataframe[-1].value
    assert list(shown) == [column.name for column in TABLE.used] and len(shown) == 5
    app.multiselect(key="plan_whole_of_penguins").set_value(["sex"])
    assert "at least two columns" in sound(app.run()).info[-1].value


def test_the_promise_stands_beside_what_was_observed() -> None:
    found = rehearsal(10.0)
    assert found.ways == 2 and len(found.names) == len(found.worst) == 15
    assert (found.worst <= found.within).all()
    picture = pair_errors(found)
    dots = {mark.role: mark for mark in picture.marks if isinstance(mark, Dots)}
    order = np.argsort(found.worst, kind="stable")
    np.testing.assert_array_equal(dots["released"].y, found.worst[order])
    np.testing.assert_array_equal(dots["theory"].y, found.within[order])
    assert picture.y.rows == found.n == 2_000
    told = f"with confidence 95%, the guaranteed error is at most {percent_up(found.within.max())}."
    assert picture.sentence.endswith(told)
    sure = pair_errors(rehearsal(10.0, beta=0.001)).sentence
    assert "with confidence 99.9%, " in sure and sure.rpartition(" ")[2] != told.rpartition(" ")[2]
    assert picture.table["pair"][0] == " × ".join(found.names[order[0]])


def test_only_a_proved_target_is_said_to_be_met_on_all_data() -> None:
    """The smallest ε may also come from simulated releases."""
    told = " ".join(opened(PAGE, table="penguins").button(key="plan_targets").help.split())
    assert "that a theorem proves is met on all data; a simulated one is not proved." in told
    assert told.count("all data") == 1


def test_pairs_that_are_not_measured_are_not_promised() -> None:
    found = rehearsal(0.1)
    assert found.ways == 1 and math.isinf(found.within.min())
    picture = pair_errors(found)
    assert [mark.role for mark in picture.marks] == ["released"]
    assert "no error is guaranteed" in picture.sentence
    assert found.guarantee == Guarantee(epsilon=0.1, delta=1e-6, neighbours=Neighbours.REPLACE_ONE)


def test_what_a_release_is_made_of_is_said_as_it_is_measured() -> None:
    app = opened(PAGE, table="penguins")
    app.session_state["plan_whole"] = True
    single = "A release measures noisy counts of single columns only. It does not show which values occur together."
    assert single in texts(sound(app.run())) and "treated as independent" in texts(app)
    few, some, many = rehearsal(0.1), rehearsal(1.0), rehearsal(10.0)
    assert (few.ways, some.ways, many.ways) == (1, 1, 2) and _release_sentence(few) == single
    assert few.chosen == many.chosen == 0 < some.chosen < 15 and math.isinf(few.within.min())
    assert np.isfinite(some.within).sum() == some.chosen and (some.worst <= some.within).all()
    assert f"an error is guaranteed for {some.chosen} chosen pairs only" in _sentence(some)
    assert "no error is guaranteed" in _sentence(few)
    assert f"then {some.chosen} of 15 pairs" in _measured_sentence(some)
    assert "of the pairs that it chooses from your rows" in _release_sentence(some)
    assert _release_sentence(many) == "A release measures noisy counts of the pairs of your columns."


def test_persons_cost_what_their_rows_cost() -> None:
    columns = tuple(DeclaredColumn(name=name, on=Labels(labels=("a", "b"))) for name in ("x", "y"))
    table = DeclaredTable(columns=columns, person="who", person_rows=3)
    mechanism = WholeTable(epsilon=0.5, delta=1e-9)
    relation = Neighbours.ADD_REMOVE_ONE
    work = rehearse_table(table, ["x", "y"], mechanism=mechanism, n=400, neighbours=relation, beta=0.05)
    result = finish(work)
    domain = table.whole("x", "y").domain
    assert is_table(domain)
    queries = Marginals(domain=domain, ways=2)
    problem = Problem(domain=queries.domain, queries=queries, n=400, neighbours=relation)
    assert result.guarantee == mechanism.person_guarantee(problem, 3)
    assert 0.5 < result.guarantee.epsilon < 1.5, "have an error below three times a row's"
    assert result.n == len(result.rows) == 400


@pytest.mark.parametrize(
    ("neighbours", "person_rows"),
    [(Neighbours.REPLACE_ONE, 0), (Neighbours.ADD_REMOVE_ONE, 0), (Neighbours.ADD_REMOVE_ONE, 3)],
)
def test_the_code_keeps_the_promise_of_the_page_and_tells_no_private_number(
    neighbours: Neighbours, person_rows: int
) -> None:
    columns = tuple(DeclaredColumn(name=name, on=Labels(labels=("no", "yes"))) for name in ("a", "b"))
    table = DeclaredTable(columns=columns, person="who" if person_rows else "", person_rows=person_rows or 1)
    frame = pd.DataFrame({"a": ["no", "yes"] * 10, "b": ["no"] * 20, "who": ["x", "y", "z", "w"] * 5})
    named = len(frame) if neighbours is Neighbours.REPLACE_ONE else 17
    mechanism = WholeTable(epsilon=1.0, delta=1e-9)
    told = PlanTable(key="k", title="t", table=table, n=named, neighbours=neighbours, beta=0.05)
    about: dict[str, Any] = {"mechanism": mechanism, "n": named, "neighbours": neighbours, "beta": 0.05}
    names: dict[str, Any] = {"table": table, "df": frame}
    exec(compile(code(told, ["a", "b"], mechanism), "snippet", "exec"), names)
    assert names["guarantee"] == finish(rehearse_table(table, ["a", "b"], **about)).guarantee
    assert names["guarantee"].person_rows == person_rows and len(names["rows"]) == named


def test_single_columns_are_measured_most_exactly_where_pairs_are_measured() -> None:
    sizes = tuple(column.on.size for column in TABLE.used)
    problem = problem_of(sizes, ways=2, n=10_000, neighbours=Neighbours.REPLACE_ONE)
    plan = WholeTable(epsilon=10.0, delta=1e-6).plan(problem)
    assert plan.cliques.ways == 2 and rehearsal(10.0).ways == 2
    alone = [plan.cell_sigma((a,)) * math.sqrt(sizes[a]) for a in range(len(sizes))]
    both = [
        plan.cell_sigma(pair) * math.sqrt(sizes[pair[0]] * sizes[pair[1]])
        for pair in combinations(range(len(sizes)), 2)
    ]
    assert max(alone) < min(both)
    said = "All pairs of columns are measured. Single columns are measured with less noise."
    assert _measured_sentence(rehearsal(10.0)) == said and _measured_sentence(rehearsal(0.1)) != said
