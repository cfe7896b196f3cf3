"""What is pinned on Play: it stays while the slider moves, on the same axes, and stands in the link."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dplab.recipe import DEFAULT_RECIPE
from pages.charts.worst import DOTS
from pages.play.slider_states import BROWSER_READY
from pages.shell.controls import log_stops
from tests.pages.drawn_charts import drawn, sent_states
from tests.pages.opening import opened, sound


def small(**link: str) -> AppTest:
    return sound(opened("play/page.py", **{"n": "1000", "bits": "6", "epsilon": "0.1", **link}))


def released(chart: dict[str, Any]) -> Any:
    (line,) = (each["y"] for each in chart["data"] if each["name"] == "released")
    return line


def test_two_values_of_epsilon_are_side_by_side_on_the_same_axes_after_a_pin_and_a_move() -> None:
    app = small()
    before = drawn(app)["data_chart"]
    assert "pinned_chart" not in drawn(app)
    sound(app.button(key="pin_button").click().run())
    sound(app.number_input(key="epsilon").set_value(1.0).run())
    pinned, moved = drawn(app)["pinned_chart"], drawn(app)["data_chart"]
    assert released(pinned) == released(before) != released(moved)
    assert pinned["layout"]["yaxis"]["range"] == moved["layout"]["yaxis"]["range"]
    assert pinned["caption"].startswith("Pinned: Identity histogram, ε = 0.1: observed error ≤ ")
    assert moved["caption"].startswith("Identity histogram, ε = 1: observed error ≤ ")
    sound(app.button(key="pin_button").click().run())
    assert "pinned_chart" not in drawn(app) and "pin" not in app.query_params


@pytest.mark.parametrize(
    ("link", "keys"),
    [
        ({}, ("pinned_chart", "data_chart")),
        ({"data": "clouds", "sides": "3", "mechanism": "rectangles"}, ("pinned_map", "released_map")),
    ],
)
def test_a_link_opens_what_is_pinned_and_the_slider_moves_the_other(
    link: dict[str, str], keys: tuple[str, str]
) -> None:
    app = small(**link, pin="identity", pin_epsilon="0.5")
    app.session_state[BROWSER_READY] = True
    states, place = sent_states(sound(app.run())), log_stops(DEFAULT_RECIPE.entry.controls()["epsilon"]).index(0.1)
    texts, charts = states["texts"], drawn(app)
    assert set(keys) <= set(states["charts"]) and "band_chart" not in charts
    for key in keys:
        assert texts[key][place] == charts[key]["caption"]
    assert len(set(texts[keys[0]])) == 1 < len(set(texts[keys[1]])), "the slider moves one of both"


def test_how_wrong_shows_the_pinned_errors_on_the_same_axis() -> None:
    """At ε = 0.1 and 1 the errors differ tenfold; their pictures had shown the second alone."""
    charts = drawn(small(card="wrong", pin="identity", pin_epsilon="0.1", epsilon="1"))
    assert list(charts)[:2] == ["pinned_worst", "worst_chart"]
    pinned, moved = charts["pinned_worst"], charts["worst_chart"]
    assert pinned["layout"]["xaxis"]["range"] == moved["layout"]["xaxis"]["range"]
    dots = [next(each["x"] for each in chart["data"] if len(each["x"]) == DOTS) for chart in (pinned, moved)]
    assert min(dots[0]) > max(dots[1]) > 0
    assert pinned["caption"].startswith("Pinned: Identity histogram, ε = 0.1: observed error ≤ ")
    assert moved["caption"].startswith("Identity histogram, ε = 1: observed error ≤ ")
    assert "pinned_worst" not in drawn(small(card="wrong"))
