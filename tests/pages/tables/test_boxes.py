"""Boxes without a browser: the core's errors and promise, one box, and own columns by way of their twin."""

from __future__ import annotations

import re

import numpy as np

from dpcore import Neighbours, Preview, Problem
from dpcore.data.bundled import ranges_of
from dpcore.data.product import Product
from dpcore.data.reading.tables import read_table
from dpcore.data.sources import Uploaded
from dpcore.mechanisms.intervals.box_errors import box_errors
from dpcore.mechanisms.intervals.boxes import BoxCuts
from dpcore.queries.boxes import RangeBoxes
from dplab.measure import finish
from pages.charts.words import percent, percent_up
from pages.data.upload import SessionFile
from tests.kit.chance.numbers import has_number
from tests.pages.drawn_charts import drawn
from tests.pages.opening import printed_by_code, run_with, sound, visitor
from tests.pages.tables.opening import opened, texts

CHARTS = {"tables_boxes_chart", "marginals_worst_chart"}


def test_the_page_tells_the_core_s_errors_beside_the_promise_and_the_rows_it_needs() -> None:
    app = sound(opened(view="Boxes", boxes_of="census", epsilon="3"))
    source = ranges_of("census", "age", "income", "hrs_work")
    dataset, domain = source.dataset(), source.on(Product)
    queries, mechanism = RangeBoxes(domain=domain), BoxCuts(epsilon=3.0)
    problem = Problem(domain=domain, queries=queries, n=dataset.n)
    errors = finish(box_errors(mechanism, mechanism.prepare(dataset, problem), Preview(1), trials=100))
    bound, text = mechanism.accuracy(problem, 0.05), texts(app)
    worst = percent(float(np.median(errors.worst)))
    assert f"Expected error of the worst of {queries.count:,} boxes: {worst} (" in app.header[0].value
    assert bound.vacuous and f"a guaranteed error below 100% needs **{bound.rows_needed:,} rows**" in text
    assert set(drawn(app)) >= CHARTS and not app.error
    assert f"at evenly spaced positions of each column, at most {max(map(len, queries.places))}." in text
    half = percent_up(float(np.median(np.abs(errors.released - errors.truth))))
    assert f"In this release half of the {queries.count:,} boxes have an error of at most {half}." in text
    for place, ends in enumerate([(0, 8), (2, 3), (0, 8)]):
        sound(app.select_slider(key=f"box-{place}-9").set_value(ends).run())
    ages = domain.columns[1]
    inside = [(dataset.records[:, place] < column.ordered) for place, column in enumerate(domain.columns) if place != 1]
    low, high = queries.places[1][2], queries.places[1][3]
    truth = (inside[0] & inside[1] & (dataset.records[:, 1] >= low) & (dataset.records[:, 1] < high)).mean()
    assert ages.ordered >= 8 and f"True **{percent(float(truth))}**" in texts(app)
    sound(app.select_slider(key="box-0-9").set_value((3, 3)).run())
    assert "a box must be above its beginning." in texts(app)
    printed = printed_by_code(app, key="boxes_code_open").strip().split("\n")
    assert len(printed) == 6 and printed[-1].startswith("ε = 3 ")
    assert all(re.search(r"age .* to .*: -?\d", line) for line in printed[:5])


def test_where_rows_come_and_go_no_number_of_them_is_enough() -> None:
    app = opened(view="Boxes", boxes_of="census", epsilon="3")
    text = texts(sound(app.radio(key="neighbours").set_value(str(Neighbours.ADD_REMOVE_ONE)).run()))
    assert "rows, because the number of rows is not checked. Privacy:" in text
    assert "a guaranteed error below 100%" not in text and "Observed:" not in text


def test_fewer_than_two_columns_are_too_few_and_two_are_promised_more() -> None:
    app = sound(opened(view="Boxes", boxes_of="census"))
    sound(app.multiselect(key="boxes-columns-census").set_value(["age", "income"]).run())
    assert set(drawn(app)) >= CHARTS and "the worst of 1,296 boxes" in app.header[0].value
    sound(app.multiselect(key="boxes-columns-census").set_value(["age"]).run())
    assert not drawn(app) and "Pick two columns or three." in texts(app)


def test_own_columns_are_drawn_as_made_up_rows_and_nothing_of_the_file_is_shown() -> None:
    rows = b"".join(b"%d,%d,x\n" % (17 + i % 40, 777_000 + i) for i in range(900))
    held = SessionFile(
        origin=Uploaded(table=read_table(b"age,pay,note\n" + rows, name="own.csv"), private=True, digest="0"), turn=1
    )
    app = visitor("tables/page.py")
    app.query_params["view"] = "Boxes"
    app.session_state["file"] = held
    for place, high in enumerate(("120", "1000000")):
        app.session_state[f"{held.prefix}{place}-from"], app.session_state[f"{held.prefix}{place}-to"] = "0", high
    run_with(app, {"boxes-of": "my-file"})
    assert set(drawn(app)) >= CHARTS and not app.error
    assert app.multiselect(key=f"{held.prefix}boxes-columns").options == ["age", "pay"]
    assert not any(has_number(texts(app), 777_000 + i) for i in range(900)) and "simulated" in texts(app)
