"""Sparse histograms without a browser: both figures, any data, the condition, the warning, and private data unseen."""

from __future__ import annotations

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.data.bundled import bundled
from dplab.sparse import LossFigure, grid_example, line_example, lone_row, rows_needed, simulate
from pages.charts.words import percent
from pages.learn.random_privacy.warning import pet_names
from tests.pages.drawn_charts import drawn
from tests.pages.opening import RANDOM_PRIVACY, run_with, sound, texts, visitor
from tests.pages.uploads import uploaded

ALONE = "sparse_alone_chart"
CHARTS = {f"sparse_{name}_chart" for name in ("true", "differentially", "random", "loss", "growth")} | {ALONE}


def simulated(histogram: np.ndarray, *, epsilon: float = 1.0) -> LossFigure:
    return simulate(histogram, epsilon=epsilon, gamma=0.1, condition="sharper", seed=1, times=100)


def opened(**link: str) -> AppTest:
    """The page, opened by a link."""
    app = visitor(RANDOM_PRIVACY)
    for name, value in link.items():
        app.query_params[name] = value
    return app.run()


@pytest.mark.parametrize(
    ("link", "name"),
    [
        ({}, "Figure 1 of the paper: 25 cells"),
        ({"sparse": "figure-2"}, "Figure 2 of the paper: 400 cells"),
        ({"sparse": "data"}, "Two humps, 10,000 rows"),
    ],
)
def test_the_bar_names_the_rows_of_the_pictures(link: dict[str, str], name: str) -> None:
    app = sound(opened(**link))
    names = [each.proto.label.replace("\\", "") for each in app.get("page_link")]
    assert [each for each in names if each.startswith("Public")] == [f"Public · {name}"]


@pytest.mark.parametrize(
    ("link", "histogram"), [({}, line_example()), ({"sparse": "figure-2"}, grid_example(8000))], ids=["one", "two"]
)
def test_one_click_redraws_a_figure_of_the_paper(link: dict[str, str], histogram: np.ndarray) -> None:
    app = sound(opened(**link))
    assert set(drawn(app)) >= CHARTS and not app.error and not app.warning
    found = simulated(histogram)
    told = f"{found.private_loss.mean():.3g} for the private histogram, {found.random_loss.mean():.3g} for the"
    assert told in texts(app) and "**✓ met, chosen**" in texts(app)
    needed = rows_needed(cells=len(histogram), gamma=0.1, condition="paper")
    assert f"γ = 0.1 is allowed. n must be at least {needed:,}." in texts(app)
    sound(app.number_input(key="epsilon").set_value(0.3).run())
    again = simulated(histogram, epsilon=0.3)
    assert f"{again.private_loss.mean():.3g} for the private histogram" in texts(app)
    sound(app.toggle(key="sparse-projected").set_value(False).run())
    assert f"{again.private_noise.mean():.3g} for the private histogram" in texts(app)


def test_the_privacy_line_rounds_up_and_says_all_digits_on_demand() -> None:
    app = sound(opened(**{"sparse_histogram-gamma": "0.123456789"}))
    assert "Privacy: ε = 1, γ = 0.124 (replace one row)" in texts(app)
    assert any("γ = 0.123456789 (replace one row)" in each.help for each in app.markdown)
    assert "γ = 0.123456789 is allowed" in texts(app)
    sound(app.number_input(key="epsilon").set_value(1.23456789).run())
    assert "Privacy: ε = 1.24, γ =" in texts(app) and "ε = 1.24 for the private one" in texts(app)


def test_the_toggle_moves_both_charts_before_the_projection() -> None:
    app = sound(opened())
    assert "about as log k" in texts(app) and "as k/(εn)" not in texts(app)
    sound(app.toggle(key="sparse-projected").set_value(False).run())
    assert "as k/(εn)" in texts(app) and "about as log k" not in texts(app)


def test_releases_planned_up_front_add_up_and_one_more_is_refused() -> None:
    app = sound(opened())
    assert "together **ε = 2, γ = 0.2 (replace one row)**" in texts(app)
    sound(app.slider(key="planned").set_value(3).run())
    assert "together **ε = 3, γ = 0.3 (replace one row)**" in texts(app)
    assert "sparse_again" not in [each.key for each in app.button]
    sound(app.button(key="sparse_draw").click().run())
    found = simulated(line_example())
    assert all(f"| {place + 1} |" in texts(app) for place in range(3)) and "| 4 |" not in texts(app)
    assert f"{percent(float(found.random_loss[2]))} |" in texts(app) and not app.error
    sound(app.button(key="sparse_again").click().run())
    assert "Refused." in app.error[0].value and "fixed in advance" in app.error[0].value
    assert "4 of them add up to ε = 4 (replace one row) in any order" in texts(app)
    # Another plan starts anew.
    sound(app.slider(key="planned").set_value(2).run())
    assert not app.error and "sparse_again" not in [each.key for each in app.button]


def test_one_more_is_allowed_where_every_cell_gets_noise() -> None:
    app = sound(opened(**{"sparse_histogram-gamma": "0.01"}))
    assert "together **ε = 2 (replace one row)**" in texts(app)
    sound(app.button(key="sparse_draw").click().run())
    sound(app.button(key="sparse_again").click().run())
    assert not app.error and "ε = 3 (replace one row)" in app.success[0].value


def test_a_plan_that_promises_nothing_says_so() -> None:
    app = sound(opened(planned="6", **{"sparse_histogram-gamma": "0.2"}))
    assert "δ or γ would add up to 1 or more: no guarantee." in app.warning[0].value and "sparse_draw" not in [
        each.key for each in app.button
    ]


def test_where_the_condition_fails_both_histograms_are_one() -> None:
    app = sound(opened())
    sound(app.number_input(key="sparse_histogram-gamma").set_value(0.01).run())
    text = texts(app)
    assert text.count("✗ not met") == 2 and "the condition is not met, so both mechanisms are the same here." in text
    assert "Privacy: ε = 1 (replace one row) for random privacy" in text


def test_other_data_are_released_too() -> None:
    app = sound(opened(sparse="data", data="pets.zip_code"))
    assert "100 cells and 52,519 rows" in texts(app) and set(drawn(app)) >= CHARTS
    sound(app.selectbox(key="data").set_value("skewed").run())
    assert "1,024 cells and 10,000 rows" in texts(app)


def test_the_warning_is_about_a_real_licence() -> None:
    dataset = bundled("pets", "zip_code").dataset()
    cell, _ = lone_row(dataset.histogram)
    names, unique = pet_names()
    text = texts(sound(opened()))
    assert 0 < unique < names and f"**{unique:,}**" in text and dataset.domain.describe(cell) in text


def with_private_file() -> AppTest:
    """The page about a private column."""
    return run_with(visitor(RANDOM_PRIVACY), {"upload": uploaded(private=True), "data": "my-file", "sparse": "data"})


def test_private_data_show_nothing_until_their_steward_asks() -> None:
    app = with_private_file()
    assert set(drawn(app)) == {ALONE} and "private" in app.info[0].value  # only the pets of the warning
    sound(app.toggle(key="steward_choice").set_value(True).run())
    assert set(drawn(app)) >= CHARTS
    assert "not protected: made by the data owner" in texts(app)
    kept = {key for key, chart in drawn(app).items() if chart["download"]}
    assert kept == {ALONE}, "pictures of private data are not offered as files"


def test_a_twin_of_private_data_is_named_once_in_the_bar() -> None:
    """The lesson's page names the data in use where no view has: twice would be two buttons of one key."""
    app = with_private_file()
    app.session_state["twin"] = True
    assert set(drawn(sound(app.run()))) >= CHARTS
    assert [each.label for each in app.button].count("Use my table again") == 1
    assert len([each for each in app.get("page_link") if each.proto.label.startswith("Mock data")]) == 1
