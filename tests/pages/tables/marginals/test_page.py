"""All tables of k attributes without a browser: numbers are the core's, every setting runs, rows are simulated."""

from __future__ import annotations

import csv
import io
import re
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpcore import Neighbours, Preview, Problem, entry
from dpcore.core import describe_error, finish
from dpcore.core.safe_csv import frame_csv
from dpcore.data.bundled import survey_of
from dpcore.data.product import Product
from dpcore.data.sources import Source
from dpcore.mechanisms.tables.counting import count_tables
from dpcore.mechanisms.tables.tree import answers_only, synthetic_rows, widest_tree
from dpcore.queries.marginals import Marginals
from dplab.tables import PREVIEWS, TRIALS, previewed
from pages.charts.words import percent, significant
from pages.shell.tasks.memory import with_progress
from pages.tables.marginals import rows as rows_module
from pages.tables.marginals.rows import labelled
from tests.cases import full_but
from tests.kit import searched
from tests.pages.drawn_charts import drawn
from tests.pages.opening import printed_by_code, run_with, sound
from tests.pages.tables.opening import opened as page
from tests.pages.tables.opening import sentence, texts

SMALL = {"tables_of": "penguins"}
ALL, CELLS, ERRORS, ROWS, WORST = (
    "tables_all_chart",
    "tables_cells_chart",
    "tables_errors_chart",
    "tables_rows_chart",
    "marginals_worst_chart",
)
CHARTS = {ALL, CELLS, ERRORS, ROWS, WORST}


def opened(**link: str) -> AppTest:
    """The second view, opened by a link."""
    return sound(page(view="All tables of k attributes", **link))


def cells(app: AppTest) -> Any:
    """Numbers of the table that is picked."""
    run_with(app, {"tables_cells_numbers": True})
    return app.dataframe[0].value


def average(survey: Source, *, key: str, ways: int, fit: str, **values: Any) -> tuple[float, Problem]:
    """Mean distance of the tables in the page's previews, from the core."""
    dataset = survey.dataset()
    queries = Marginals(domain=survey.on(Product), ways=ways)
    problem = Problem(domain=queries.domain, queries=queries, n=dataset.n)
    mechanism: Any = entry(key).make(**values)
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(1), trials=TRIALS)
    truth = finish(count_tables(dataset.records, survey.on(Product).sizes, ways=ways))
    return float(finish(previewed(release, truth, fit=fit, previews=PREVIEWS))[1].mean()), problem


def test_the_page_tells_the_core_s_distances_and_promise() -> None:
    app = opened()
    sound(app.number_input(key="epsilon").set_value(2.0).run())
    found, problem = average(survey_of("adult"), key="residual-planner", ways=2, fit="consistent", epsilon=2.0)
    assert app.header[0].value == f"{percent(found)} of the rows are in a wrong cell, on average"
    text = texts(app)
    assert "28 tables of 2 of 8 attributes, 497 cells, 48,842 rows" in text
    mechanism = entry("residual-planner").make(epsilon=2.0)
    assert text.count(mechanism.guarantee(problem).sentence()) == 3, "headline, map and theorem"
    assert describe_error(mechanism.accuracy(problem, 0.05), n=problem.n, bold=True) in text
    assert "one of the 497 cells of all 28 tables as measured" in text
    direct = searched(r"Direct, simplex: \*\*([\d.]+)%", text)
    assert float(direct.group(1)) > 100 * found
    assert set(drawn(app)) >= CHARTS and not app.error and not app.warning
    assert "1. sex\n1. relationship, given sex\n" in text
    # The picture's 10,000 rows stand for all: unscaled, four of five rows would be missing from every cell.
    kept, lost = (float(found) for found in re.findall(r"([\d.]+)% on average", sentence(app, ROWS)))
    assert 0.1 < kept < 1 and kept < lost < 10


def test_how_close_rows_come_to_the_released_tables_is_measured() -> None:
    survey = survey_of("penguins")
    domain, dataset = survey.on(Product), survey.dataset()
    count = len(list(combinations(range(len(domain.names)), 2)))
    text = texts(opened(**SMALL))
    assert f"of the {count} released tables, which form a tree" in text and "No synthetic rows" not in text
    problem = Problem(domain=domain, queries=Marginals(domain=domain, ways=2), n=dataset.n)
    mechanism: Any = entry("residual-planner").make(epsilon=1.0)
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(1), trials=TRIALS)
    tables = release.tables(trial=0, fit="consistent")
    rows = synthetic_rows(tables, widest_tree(tables, attributes=len(domain.names), ways=2), rows=dataset.n, seed=1)
    away = []
    for pair in combinations(range(len(domain.names)), 2):
        counts = np.zeros([domain.sizes[a] for a in pair])
        np.add.at(counts, tuple(rows[:, a] for a in pair), 1)
        away.append(float(np.abs(counts - tables[pair]).sum()) / (2 * dataset.n))
    told = searched(
        r"differ from the released tables by \*\*([\d.]+)%\*\* on average .* largest difference is ([\d.]+)%", text
    )
    assert 0 < float(np.mean(away)) < 0.3
    assert told.groups() == tuple(percent(float(each)).rstrip("%") for each in (np.mean(away), np.max(away)))


@pytest.mark.parametrize(
    "method", full_but(["residual-planner", "direct-tables", "fourier-tables"], "residual-planner")
)
def test_noise_is_seen_as_it_is_predicted(method: str) -> None:
    """60 previews of a table of 8 cells: within a quarter, where half or twice the noise would not be."""
    app = opened(tables_of="census-yes-no", tables_method=method, tables_k="3")
    found = searched(r"before fitting: ([\d.,]+) rows .* previews: ([\d.,]+)\. As", sentence(app, ERRORS))
    predicted, observed = (float(number.replace(",", "")) for number in found.groups())
    assert observed == pytest.approx(predicted, rel=0.25)


def test_the_first_view_counts_no_tables() -> None:
    app = sound(page(cube_rows="1000", cube_attributes="8"))
    assert not any("Several(" in name for name in app.session_state["memory"])
    assert "Synthetic rows" not in [each.value for each in app.subheader]


@pytest.mark.parametrize(
    ("fit", "ways", "method"),
    full_but(
        list(product(("consistent", "simplex", "unbiased"), ("1", "2", "3"), ("residual-planner", "direct-tables"))),
        ("consistent", "1", "residual-planner"),
        ("simplex", "2", "direct-tables"),
        ("unbiased", "3", "residual-planner"),
        ("consistent", "3", "direct-tables"),
    ),
)
def test_every_setting(method: str, ways: str, fit: str) -> None:
    fit = "simplex" if method == "direct-tables" and fit == "consistent" else fit
    app = opened(**SMALL, tables_method=method, tables_k=ways, **{f"tables_fit_{method}": fit})
    found, _ = average(survey_of("penguins"), key=method, ways=int(ways), fit=fit)
    assert not app.error and not app.warning and percent(found) in app.header[0].value
    rows = method != "direct-tables" and ways != "1"
    assert set(drawn(app)) >= CHARTS - {ROWS} and (ROWS in drawn(app)) is rows
    assert len(app.get("download_button")) == rows
    direct = method == "direct-tables" and ways != "1"  # tables of one attribute share none
    assert ("contradict each other" in texts(app)) is direct
    assert (answers_only(attributes=5, ways=int(ways)) in texts(app)) is not direct


def test_yes_no_attributes_have_fourier_tables_too() -> None:
    app = opened(tables_of="census-yes-no", tables_method="fourier-tables", tables_k="2")
    text = texts(app)
    assert all(
        name in text for name in ("Fourier, consistent", "Residual planner, consistent: **", "Direct, simplex: **")
    )
    sound(app.selectbox(key="tables-of").set_value("census").run())
    assert "Fourier, " not in texts(app) and not app.error


def test_a_row_that_comes_or_goes_costs_other_noise() -> None:
    app = opened(**SMALL)
    before = app.header[0].value
    sound(app.radio(key="neighbours").set_value(str(Neighbours.ADD_REMOVE_ONE)).run())
    assert "(add or remove one row)" in texts(app) and app.header[0].value != before


def test_a_table_is_picked() -> None:
    app = opened(**SMALL, tables_k="2")
    picker = app.multiselect(key="tables-picked-sample:penguins-False")
    sound(picker.set_value(["species", "sex"]).run())
    shown = cells(app)
    assert shown["cell"].tolist()[:2] == ["Adelie, female", "Adelie, male"] and len(shown) == 12
    dataset = survey_of("penguins", chosen=("species", "sex")).dataset()
    assert shown["true rows"].tolist() == np.bincount(dataset.records @ np.array([3, 1]), minlength=12).tolist()
    sound(app.multiselect(key="tables-picked-sample:penguins-False").set_value(["species"]).run())
    assert "Pick 2 attributes." in [each.value for each in app.caption] and CHARTS - set(drawn(app)) == {CELLS, ERRORS}


def test_fewer_attributes_by_link() -> None:
    app = opened(**SMALL, **{"tables_attributes_penguins": "species"})
    assert "Choose at least 3 attributes" in app.info[0].value and not drawn(app)
    sound(app.multiselect(key="tables-attributes-penguins").set_value(["sex", "species", "island"]).run())
    assert "3 tables of 2 of 3 attributes" in texts(app) and not app.error


def test_the_file_of_rows_is_marked_and_whole() -> None:
    survey = survey_of("census", chosen=("income (USD a year)", "married"))
    records = survey.dataset().records[:50].astype(np.int64)
    found = list(csv.reader(io.StringIO(frame_csv(labelled(survey.on(Product), records)))))
    assert found[0] == ["income (USD a year)", "married"] and len(found) == 51
    columns = survey.on(Product).columns
    assert found[1] == [column.describe(cell) for column, cell in zip(columns, records[0], strict=True)]
    app = opened(**SMALL)
    button = app.get("download_button")[0].proto
    assert button.label == "Download 344 simulated rows (CSV)" and "not a private release" in button.help


def test_a_file_of_many_rows_is_written_when_it_is_asked_for_with_its_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_module, "MAX_AT_ONCE", 343)
    app, labels = opened(**SMALL), list[str]()

    def noted(key: str, work: Any, *, label: str = "") -> Any:
        labels.append(label)
        return with_progress(key, work, label=label)

    monkeypatch.setattr(rows_module, "with_progress", noted)
    assert not app.get("download_button") and not labels
    [button] = [each for each in app.button if each.label == "Write 344 simulated rows (CSV)"]
    sound(button.click().run())
    assert labels == ["Writing rows."]
    assert app.get("download_button")[0].proto.label == "Download 344 simulated rows (CSV)"


@pytest.mark.parametrize(
    "link",
    [
        SMALL,
        {**SMALL, "tables_method": "direct-tables"},
        {"tables_of": "adult-yes-no", "tables_k": "1"},
    ],
    ids=str,
)
def test_the_code_on_the_page_runs(link: dict[str, str]) -> None:
    app = page(view="All tables of k attributes", **link)
    lines = printed_by_code(app, key="tables_code_open").strip().split("\n")
    assert lines[-1] in texts(app)
    number = searched(r"-?[\d.]+", lines[1])
    assert cells(app)["released rows"][0] == pytest.approx(float(number.group()), abs=0.11)


@pytest.mark.parametrize("fit", ["consistent", "unbiased"])
def test_how_far_fitted_tables_are_off_is_measured_and_said_to_be_no_theorem(fit: str) -> None:
    text = texts(opened(**SMALL, **{"tables_fit_residual-planner": fit}))
    said = re.search(
        r"No theorem covers the tables after post-processing \(Residual planner, \w+\)\. In the (\d+) previews above, "
        r"the error of their worst cell is ([\d.]+) to ([\d.]+) rows\.",
        text,
    )
    assert (said is not None) is (fit == "consistent")
    if said is None:
        return
    survey = survey_of("penguins")
    dataset, domain = survey.dataset(), survey.on(Product)
    problem = Problem(domain=domain, queries=Marginals(domain=domain, ways=2), n=dataset.n)
    mechanism: Any = entry("residual-planner").make(epsilon=1.0)
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(1), trials=TRIALS)
    truth = finish(count_tables(dataset.records, domain.sizes, ways=2))
    fitted, _ = finish(previewed(release, truth, fit=fit, previews=int(said[1])))
    worst = [max(float(np.abs(each[pair] - truth[pair]).max()) for pair in truth) for each in fitted]
    assert said.groups()[1:] == (significant(min(worst)), significant(max(worst)))
