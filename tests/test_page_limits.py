"""Limits without a browser: every lesson asks before it shows, and takes bad links in its stride."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.limits import halves, vc
from dpcore.limits.group_counts import SUBSET_SUMS
from dpcore.randomness import Preview
from pages.ui.limits_runs import fitting, release_half
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


@pytest.mark.parametrize("mechanism", ["net", "subset-sums", "intervals-recursive"])
def test_other_releases_are_attacked(mechanism: str) -> None:
    app = opened(lesson="vc", vc_shown="true", vc_points="16", vc_epsilon="10", vc_mechanism=mechanism)
    assert not app.error and not app.warning and len(charts(app)) == 4
    assert "of the 8 secret points" in texts(app)


def test_every_release_that_fits_is_attacked_at_once() -> None:
    app = opened(lesson="vc", vc_shown="true", vc_points="8", vc_all="true")
    assert not app.error and "Subset sums" in str(charts(app)[1].proto)


@pytest.mark.parametrize("mechanism", ["identity", "subset-sums"])
def test_ten_thousand_people(mechanism: str) -> None:
    app = opened(lesson="vc", vc_shown="true", vc_points="10000", vc_epsilon="10", vc_mechanism=mechanism)
    assert not app.error and not app.warning and "of the 5,000 secret points" in texts(app)


def test_ten_thousand_people_are_reconstructed_at_once() -> None:
    # What the page does with one release.
    truth = halves.random_half(Preview(1), points=10_000)[0]
    assert "net" not in fitting(10_000) and {"net", "subset-sums", "intervals-recursive"} <= set(fitting(64))
    for entry in (fitting(10_000)["identity"], SUBSET_SUMS, None):
        release = release_half(entry, truth, repeats=1, epsilon=10.0, sampler=Preview(2), trials=1)
        taken = []
        for _ in range(5):
            start = time.perf_counter()
            found = vc.reconstruct(release)
            taken.append(time.perf_counter() - start)
        assert min(taken) < 0.1, taken
        assert halves.recovered(found, truth)[0] > 0.5
