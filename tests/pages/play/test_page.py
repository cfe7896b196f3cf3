"""Explore without a browser: every mechanism runs, bad links get a sentence, private data stay unseen, code is true."""

from __future__ import annotations

import io
import itertools
import json
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpcore import Number, Product, catalogue
from dpcore.core import DomainType, Queries, describe_error
from dpcore.data.bundled import bundled
from dpcore.data.reading.tables import read_table
from dpcore.data.sources import Source, generated_rows
from dpcore.mechanisms.intervals.printed import PrintedIntervals, printed_rows
from dpcore.queries.linear import LinearQueries
from dpcore.queries.ranges import QUERY_CLASSES
from dplab.measure import finish
from dplab.recipe import DEFAULT_RECIPE, Recipe
from pages.data.picker import ROW_CHOICES
from pages.play.comparison import choose_point
from tests.kit.sources import own
from tests.pages.drawn_charts import component, drawn, headline
from tests.pages.opening import MAIN, run_with, sound, visitor


def opened(**link: str) -> AppTest:
    """Explore, opened by a link; on a small problem, unless the link says otherwise."""
    link = {"n": "1000", "bits": "5", "trials": "100", "epsilon": "1", "card": "all", **link}
    app = AppTest.from_file(MAIN, default_timeout=600)
    for name, value in link.items():
        app.query_params[name] = value
    return app.run()


def texts(app: AppTest) -> str:
    """Everything a person could read on the page, charts included."""
    shown = (app.markdown, app.caption, app.error, app.info, app.warning)
    parts = [str(element.value) for kind in shown for element in kind]
    parts += [json.dumps(chart, ensure_ascii=False).replace("<br>", " ") for chart in drawn(app).values()]
    return "\n".join(parts)


BELOW = {"band_chart", "worst_chart", "tradeoff_chart"}
ON_A_LINE, ON_A_PLANE = {"data_chart"} | BELOW, {"true_map", "released_map"} | BELOW


def has(charts: set[str], app: AppTest) -> bool:
    """Whether a page has at least these charts, and none that is only for the other kind of data."""
    return set(drawn(app)) & (ON_A_LINE | ON_A_PLANE) == charts


@pytest.fixture(scope="module")
def app() -> Iterator[AppTest]:
    yield sound(opened())


ONE_OF_A_KIND = ("identity", "rectangles", "linear-net")
"""On a line, on a plane, of weighted sums; the other mechanisms have the same page with other controls."""


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(found, id=found.key, marks=[pytest.mark.full] * (found.key not in ONE_OF_A_KIND))
        for found in catalogue()
        if found.mechanism.releases == "data"
    ],
)
def test_every_mechanism_has_its_controls_and_pictures(entry: Any) -> None:
    pairs = DomainType.NUMBER not in entry.domains
    kinds: list[type[Queries]] = [*QUERY_CLASSES, LinearQueries]
    domain = DomainType.MAP if pairs else DomainType.NUMBER
    kind = next(kind for kind in kinds if issubclass(kind, entry.queries) and domain in kind.domains)
    app = sound(opened(data="clouds" if pairs else "bimodal", queries=kind.key, mechanism=entry.key))
    assert app.selectbox(key="mechanism").value == entry.key and not app.error
    assert has(ON_A_PLANE if pairs else ON_A_LINE, app)
    assert ("weights_chart" in drawn(app)) is (kind is LinearQueries)
    assert all(chart["download"] for chart in drawn(app).values())
    shown = {
        widget.label for widget in [*app.slider, *app.select_slider, *app.number_input, *app.toggle, *app.selectbox]
    }
    for name, parameter in entry.controls().items():
        assert ("Exact ε" if name == "epsilon" else f"{parameter.label} {parameter.symbol}".strip()) in shown


def test_the_slider_and_the_exact_entry_are_one_number(app: AppTest) -> None:
    sound(app.number_input(key="epsilon").set_value(0.07).run())
    slider = component(app, "epsilon_slider")
    assert slider["value"] == 0.07 and slider["stops"][slider["place"]] in (0.06, 0.08)
    assert (slider["stops"][0], slider["stops"][-1]) == (0.01, 10.0) and slider["label"] == "Privacy budget ε"
    assert "ε = 0.07" in texts(app) and headline(app).startswith("At ε = 0.07, ")


@pytest.mark.full
def test_too_little_time_draws_the_first_releases_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count(step=4)
    monkeypatch.setattr("dplab.measure.monotonic", lambda: next(ticks))
    app = sound(opened(trials="1000", mechanism="net-flip"))  # which says that it takes its time
    assert has(ON_A_LINE, app)
    assert "These are the first 60 of 1,000 releases" in texts(app)
    run_with(app, {"data_chart_more": True})
    assert "trials=60" in app.code[0].value


@pytest.mark.full
def test_pairs_have_two_maps_and_their_own_questions() -> None:
    app = sound(opened(data="cities.longitude*latitude", sides="4", mechanism="rectangles", queries="cells"))
    assert has(ON_A_PLANE, app) and not app.error and not app.warning
    assert "34,006 rows in 256 cells" in texts(app)
    # What was asked of numbers in a row cannot be asked of pairs, and the other way round.
    sound(app.selectbox(key="data").set_value("bimodal").run())
    assert has(ON_A_LINE, app) and app.selectbox(key="mechanism").value == "identity" and not app.error
    sound(app.selectbox(key="data").set_value("diagonal").run())
    assert has(ON_A_PLANE, app) and not app.error


def uploaded_pairs(*, private: bool) -> Source:
    draw = np.random.Generator(np.random.SFC64(4)).integers(0, 100, (500, 2))
    rows = "\n".join(f"{income},{age}" for income, age in draw)
    table = read_table(f"income,age\n{rows}\n".encode(), name="incomes.csv")
    side = Number(low=0, high=100, bits=3, missing=True)
    domain = Product.map(side, side, names=("income", "age"))
    return own(table, "income", "age", on=domain, private=private, digest="d2")


def uploaded(*, private: bool) -> Source:
    rng = np.random.Generator(np.random.SFC64(4))
    rows = "\n".join(str(value) for value in rng.integers(0, 100, 500))
    table = read_table(f"income\n{rows}\n".encode(), name="incomes.csv")
    domain = Number(low=0, high=100, bits=5, missing=True)
    return own(table, "income", on=domain, private=private, digest="d1")


def with_upload(source: Source) -> AppTest:
    """Play, with all its pictures of a file."""
    return run_with(visitor("play/page.py"), {"upload": source, "data": "my-file"}, link={"card": "all"})


@pytest.mark.parametrize("pairs", [False, pytest.param(True, marks=pytest.mark.full)], ids=["column", "pairs"])
def test_private_data_show_nothing_until_their_steward_asks(pairs: bool) -> None:
    app = with_upload(uploaded_pairs(private=True) if pairs else uploaded(private=True))
    assert set(drawn(app)) == {"promises_chart"} and "**No values of your rows are shown" in texts(app)
    sound(app.toggle(key="steward_choice").set_value(True).run())
    run_with(app, {"true_map_more" if pairs else "data_chart_more": True})
    assert has(ON_A_PLANE if pairs else ON_A_LINE, app) and app.code and not app.get("download_button")
    assert not any(chart["download"] for chart in drawn(app).values())
    assert texts(app).count("not protected: made by the data owner") >= (5 if pairs else 1)


@pytest.mark.full
def test_a_new_public_n_is_every_number_s_n() -> None:
    app = sound(opened(neighbours="add or remove one row"))
    assert not app.error and has(ON_A_LINE, app)
    assert "no proof for this neighbouring relation: Sparse histogram" in texts(app)
    assert "of 1,000 rows" in texts(app)
    public = next(each for each in app.number_input if each.label == "Public n")
    sound(public.set_value(1200).run())
    assert "of 1,200 rows" in texts(app) and "of 1,000 rows" not in texts(app)
    for chart in drawn(app).values():
        for side in ("xaxis2", "yaxis2"):
            # Rows stand where their shares of the public n are.
            rows = chart["layout"].get(side, {"tickvals": [], "ticktext": []})
            shares = [float(text.replace(",", "")) / 1200 for text in rows["ticktext"]]
            assert rows["tickvals"] == pytest.approx(shares)
    assert "yaxis2" in drawn(app)["tradeoff_chart"]["layout"] and "xaxis2" in drawn(app)["worst_chart"]["layout"]


@pytest.mark.full
def test_a_page_about_one_column_does_not_offer_pairs() -> None:
    app = with_upload(uploaded_pairs(private=False))
    assert set(drawn(app)) >= ON_A_PLANE and "Your file: income × age" in app.selectbox(key="data").options
    sound(app.switch_page("one_number/page.py").run())
    assert not any("×" in option for option in app.selectbox(key="data").options) and not app.error


@pytest.mark.full
def test_a_public_stand_in_may_be_downloaded() -> None:
    app = run_with(with_upload(uploaded(private=False)), {"data_chart_more": True})
    assert has(ON_A_LINE, app) and app.get("download_button")


SKEWED = generated_rows("skewed", n=500, bits=6, seed=3)
MASS = bundled("penguins", "body_mass_g", bits=8)
BILLS = bundled("penguins", "bill_length_mm", "flipper_length_mm", bits=4)


@pytest.mark.parametrize(
    ("source", "queries", "key"),
    [
        (SKEWED, "intervals", "identity"),
        (SKEWED, "intervals", "intervals-anchored"),
        (MASS, "intervals", "identity"),
        (MASS, "intervals", "intervals-anchored"),
        (BILLS, "rectangles", "identity"),
        (BILLS, "cells", "rectangles"),
    ],
    ids=["generated", "generated-anchored", "bundled", "bundled-anchored", "pairs", "pairs-rectangles"],
)
def test_the_code_on_the_page_computes_the_page_s_numbers(source: Source, queries: str, key: str) -> None:
    recipe = Recipe(source=source, queries=queries, entry_key=key, values=(("epsilon", 0.7),), trials=100, seed=11)
    dataset = source.dataset()
    report = finish(recipe.report(dataset, recipe.mechanism().prepare(dataset, recipe.problem(dataset))))
    printed = io.StringIO()
    names: dict[str, Any] = {}
    with redirect_stdout(printed):
        exec(compile(recipe.code(), "snippet", "exec"), names)  # the page's promise is that this runs
    assert np.array_equal(names["report"].worst, report.worst)
    assert describe_error(report.bound, n=report.problem.n) in printed.getvalue()
    assert ("observed failures: " in printed.getvalue()) is report.bound.guaranteed


def test_the_code_for_an_upload_reads_the_reader_s_own_file(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    source = uploaded(private=False)
    rng = np.random.Generator(np.random.SFC64(4))
    (tmp_path / "incomes.csv").write_text(
        "income\n" + "\n".join(str(value) for value in rng.integers(0, 100, 500)) + "\n"
    )
    monkeypatch.chdir(tmp_path)
    recipe = Recipe(source=source, queries="thresholds", entry_key="identity", values=(("epsilon", 1.0),), trials=50)
    names: dict[str, Any] = {}
    with redirect_stdout(io.StringIO()):
        exec(compile(recipe.code(), "snippet", "exec"), names)
    assert np.array_equal(names["dataset"].histogram, source.dataset().histogram)


@pytest.mark.full
def test_a_point_of_the_trade_off_sets_mechanism_and_privacy_loss(app: AppTest) -> None:
    sound(app.selectbox(key="data").set_value("bimodal").run())
    sound(app.selectbox(key="mechanism").set_value("identity").run())
    # AppTest knows no selections: this is what a click leaves in the session.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("streamlit.session_state", app.session_state)
        choose_point({"key": "gaussian", "epsilon": 0.2})
    sound(app.run())
    assert app.selectbox(key="mechanism").value == "gaussian" and app.number_input(key="epsilon").value == 0.2


def test_the_readme_names_rows_at_which_the_printed_theorem_is_content() -> None:
    """With tie-breaking bits, which count in d: at fewer rows the theorem would promise nothing."""
    told = (MAIN.parents[1] / "README.md").read_text(encoding="utf-8")
    rows = re.search(
        r"as printed\* with ([\d,]+) rows and α = ([\d.]+) .*?requires only ([\d,]+) rows .*?d = (\d+)", told, re.S
    )
    assert rows
    n, alpha, asked, depth = (float(each.replace(",", "")) for each in rows.groups())
    mechanism = PrintedIntervals(alpha=alpha)
    problem = DEFAULT_RECIPE.problem(DEFAULT_RECIPE.source.dataset())
    assert mechanism.depth(problem) == depth
    assert printed_rows(depth=int(depth), epsilon=1.0, alpha=alpha, beta=DEFAULT_RECIPE.beta) == asked <= n
    assert n in ROW_CHOICES
