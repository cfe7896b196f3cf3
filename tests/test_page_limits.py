"""Limits without a browser: every lesson asks before it shows, and takes bad links in its stride."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.limits_view import LESSONS

MAIN = Path(__file__).resolve().parents[1] / "pages" / "main.py"


def opened(**link: str) -> AppTest:
    """Limits, opened by a link whose names may be written with _ for -."""
    app = AppTest.from_file(MAIN, default_timeout=120)
    app.run()
    app.switch_page("limits.py")
    for name, value in link.items():
        app.query_params[name.replace("_", "-")] = value
    app.run()
    assert not app.exception, [each.message for each in app.exception]
    return app


def charts(app: AppTest) -> list[Any]:
    return list(app.get("vega_lite_chart")) + list(app.get("arrow_vega_lite_chart"))


def texts(app: AppTest) -> str:
    kinds = ("markdown", "caption", "error", "info", "warning")
    return "\n".join(str(getattr(element, "value", "")) for kind in kinds for element in app.get(kind))


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_asks_before_it_shows(lesson: str) -> None:
    app = opened(lesson=lesson)
    assert not charts(app)
    assert "Guess first" in texts(app)
    app.toggle(key=f"{lesson}-shown").set_value(True).run()
    assert not app.exception, [each.message for each in app.exception]
    assert charts(app) and not app.error
    told = texts(app)
    assert "Reference:" in told
    assert "you guessed" in told.lower()


def test_a_bad_link_gets_a_sentence() -> None:
    for link in ({"lesson": "no-such"}, {"median_n": "0"}, {"median_bits": "7"}, {"median_epsilon": "-1"}):
        assert len(opened(**link).warning) == 1, link


@pytest.mark.parametrize("walk", ["exponential", "permute-and-flip", "refusing", "stable", "search"])
def test_every_mechanism_walks(walk: str) -> None:
    app = opened(lesson="median", median_shown="true", median_walk=walk, median_bits="10000", median_n="201")
    assert not app.error and len(charts(app)) == (2 if walk == "search" else 3)


def test_publishing_true_counts_is_caught() -> None:
    app = opened(lesson="vc", vc_shown="true", vc_mechanism="noise-free")
    assert "This cannot be ε-DP" in app.warning[0].value
    assert "finds 32 of the 32 secret points" in texts(app)
    assert not opened(lesson="vc", vc_shown="true", vc_mechanism="identity").warning


def test_ten_thousand_people() -> None:
    app = opened(lesson="vc", vc_shown="true", vc_points="10000", vc_epsilon="10")
    assert not app.error and "of the 5,000 secret points" in texts(app)
