"""The Start page: a finished picture at once, one slider, and doors to the pages that exist."""

from __future__ import annotations

import re
from typing import Any

from streamlit.testing.v1 import AppTest

from dpcore.experiments.recipe import OPENING, Recipe
from pages.charts.words import percent
from pages.play.home import DOORS
from tests import ROOT
from tests.pages.drawn import drawn

PAGES = ROOT / "pages"


def started(**link: str) -> AppTest:
    """The app as it opens."""
    app = AppTest.from_file(str(PAGES / "main.py"), default_timeout=600)
    for name, value in link.items():
        app.query_params[name] = value
    return sound(app.run())


def sound(app: AppTest) -> AppTest:
    assert not app.exception, [error.value for error in app.exception]
    return app


def headline(app: AppTest) -> str:
    return next(each.value for each in app.markdown if "the worst answer to" in each.value)


def rows_off(app: AppTest) -> int:
    found = re.search(r"([\d,]+) of 10,000 rows", headline(app))
    assert found
    return int(found[1].replace(",", ""))


def test_it_opens_on_two_finished_pictures_that_say_what_they_are() -> None:
    app = started()
    charts = drawn(app)
    assert set(charts) == {"start_data_chart", "start_worst_chart"}
    for chart in charts.values():
        badge = chart["layout"]["title"]["text"]
        assert "true: generated" in badge and "simulated" in badge and chart["download"]
    assert not app.warning and not app.error and not app.file_uploader
    assert len(app.select_slider) == 1


def test_it_shows_what_nobody_can_promise() -> None:
    for epsilon, share in (("1", "0.055%"), ("0.1", "0.575%")):
        app = started(epsilon=epsilon)
        assert f"no mechanism can promise less than {share}" in drawn(app)["start_worst_chart"]["sentence"]


def test_the_headline_is_the_median_worst_error_over_the_previewed_releases() -> None:
    app = started()
    memory: dict[str, Any] = app.session_state["memory"]
    report = next(value for key, value in memory.items() if key.startswith("report|"))
    assert report.trials == Recipe.__dataclass_fields__["trials"].default
    assert rows_off(app) == round(float(sorted(report.worst)[499] + sorted(report.worst)[500]) / 2 * 10_000)
    assert "**ε = 1**" in headline(app)


def test_less_privacy_loss_is_more_error_whether_typed_or_slid_or_linked() -> None:
    app = started()
    at_one = rows_off(app)
    app.number_input(key="epsilon").set_value(0.1)
    typed = rows_off(sound(app.run()))
    assert typed > 5 * at_one
    app.select_slider(key="epsilon_slider").set_value(1.0)
    assert rows_off(sound(app.run())) == at_one
    assert rows_off(started(epsilon="0.1")) == typed


def test_a_link_out_of_range_gets_its_sentence() -> None:
    app = started(epsilon="1000")
    assert len(app.warning) == 1
    assert "**ε = 1**" in headline(app)


def test_there_is_a_door_for_each_page_that_the_router_offers() -> None:
    router = (PAGES / "main.py").read_text(encoding="utf-8")
    offered = [title for name, (title, _) in DOORS.items() if f'"{name}"' in router]
    assert {"Explore", "Data"} <= set(offered)
    assert [link.proto.label for link in started().get("page_link")] == [f"**{title}**" for title in offered]


def test_the_door_to_explore_opens_on_the_same_picture() -> None:
    app = started()
    kept = set(app.session_state["memory"])
    sound(app.switch_page("play/explore.py").run())
    memory: dict[str, Any] = app.session_state["memory"]
    assert kept <= set(memory)
    assert len([key for key in memory if key.startswith("report|")]) == 1


def test_explore_says_the_same_number_of_the_same_settings() -> None:
    """Start's headline, and what Explore's trade-off says of the same mechanism at the same ε."""
    app = started()
    said = re.search(r"\*\*([\d.]+%)\*\*", headline(app))
    assert said
    sound(app.switch_page("play/explore.py").run())
    app.session_state["tradeoff_numbers"] = True
    numbers = sound(app.run()).dataframe[0].value.set_index(["mechanism", "epsilon"])
    assert percent(numbers["worst error"][OPENING.entry.title, 1.0]) == said[1]
    assert int(app.session_state["trials"]) == OPENING.trials and app.session_state["seed"] == OPENING.seed
