"""A whole table on the Plan page: rows of nobody with the declared columns, errors of pairs beside what is promised."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.core import Guarantee, Neighbours
from dpcore.data.bundled import suggested_domain
from dpcore.data.declared import DeclaredColumn, DeclaredTable
from dpcore.data.domains import Categories
from dpcore.data.samples import sample
from dplab.measure import finish
from dpcore.mechanisms.tables.whole_table import WholeTable
from dprelease.plan.whole import WholeRehearsal, rehearsed_table
from pages.charts.picture import Dots
from pages.plan.table import Declared
from pages.plan.whole import code, pair_errors
from tests.pages.drawn import drawn
from tests.pages.opening import opened, sound, texts

PAGE = "plan/page.py"
TABLE = DeclaredTable(
    columns=tuple(DeclaredColumn(name=each.column, on=suggested_domain(each)) for each in sample("penguins").columns)
)


def rehearsal(epsilon: float, *, n: int = 2_000) -> WholeRehearsal:
    names = [column.name for column in TABLE.used]
    mechanism = WholeTable(epsilon=epsilon, delta=1e-6)
    relation = Neighbours.REPLACE_ONE
    return finish(rehearsed_table(TABLE, names, mechanism=mechanism, n=n, neighbours=relation, beta=0.05))


def test_a_whole_table_is_made_on_demand_of_made_up_rows() -> None:
    app = opened(PAGE, table="penguins")
    assert "plan_whole_pairs_chart" not in drawn(app)
    app.session_state["plan_whole"] = True
    chart = drawn(sound(app.run()))["plan_whole_pairs_chart"]
    assert chart["layout"]["title"]["text"].startswith("made-up rows")
    assert "344 rows of 6 columns cost ε = 1, δ = 1e-9" in texts(app)
    shown = app.dataframe[-1].value
    assert list(shown) == [column.name for column in TABLE.used] and len(shown) == 5
    app.multiselect(key="plan_whole_of_penguins").set_value(["sex"])
    assert "two columns or more" in sound(app.run()).info[-1].value


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
    assert "promised" in picture.sentence
    assert picture.table["pair"][0] == " × ".join(found.names[order[0]])


def test_pairs_that_are_not_measured_are_not_promised() -> None:
    found = rehearsal(0.1)
    assert found.ways == 1 and math.isinf(found.within.min())
    picture = pair_errors(found)
    assert [mark.role for mark in picture.marks] == ["released"]
    assert "nothing is promised" in picture.sentence
    assert found.guarantee == Guarantee(epsilon=0.1, delta=1e-6, neighbours=Neighbours.REPLACE_ONE)


def test_persons_cost_what_their_rows_cost() -> None:
    columns = tuple(DeclaredColumn(name=name, on=Categories(labels=("a", "b"))) for name in ("x", "y"))
    table = DeclaredTable(columns=columns, person="who", person_rows=3)
    mechanism = WholeTable(epsilon=0.5, delta=1e-9)
    relation = Neighbours.ADD_REMOVE_ONE
    work = rehearsed_table(table, ["x", "y"], mechanism=mechanism, n=400, neighbours=relation, beta=0.05)
    found = finish(work)
    assert found.guarantee.epsilon == pytest.approx(1.5)
    assert found.n == len(found.rows) == 400


@pytest.mark.parametrize(
    ("neighbours", "person_rows"),
    [(Neighbours.REPLACE_ONE, 0), (Neighbours.ADD_REMOVE_ONE, 0), (Neighbours.ADD_REMOVE_ONE, 3)],
)
def test_the_code_keeps_the_promise_of_the_page_and_tells_no_private_number(
    neighbours: Neighbours, person_rows: int
) -> None:
    columns = tuple(DeclaredColumn(name=name, on=Categories(labels=("no", "yes"))) for name in ("a", "b"))
    table = DeclaredTable(columns=columns, person="who" if person_rows else "", person_rows=person_rows or 1)
    frame = pd.DataFrame({"a": ["no", "yes"] * 10, "b": ["no"] * 20, "who": ["x", "y", "z", "w"] * 5})
    named = len(frame) if neighbours is Neighbours.REPLACE_ONE else 17
    mechanism = WholeTable(epsilon=1.0, delta=1e-9)
    told = Declared(key="k", title="t", table=table, n=named, neighbours=neighbours, beta=0.05)
    about: dict[str, Any] = {"mechanism": mechanism, "n": named, "neighbours": neighbours, "beta": 0.05}
    names: dict[str, Any] = {"table": table, "df": frame}
    exec(compile(code(told, ["a", "b"], mechanism), "snippet", "exec"), names)
    assert names["guarantee"] == finish(rehearsed_table(table, ["a", "b"], **about)).guarantee
    assert names["guarantee"].person_rows == person_rows and len(names["rows"]) == named
