"""Sparse histograms without a browser: both figures, any data, the condition, the warning, and private data unseen."""

from __future__ import annotations

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpcore import Preview
from dpcore.figures.figure import percent
from dpcore.mechanisms.sparse_histogram import grid_example, line_example, lone_row_chance, loss_figure
from dpcore.sources import Bundled
from pages.ui.sparse_view import rows_needed
from pages.ui.sparse_warning import lone_pet, pet_names, shown_chances
from tests.test_page_explore import MAIN, charts, sound, texts, uploaded

CHARTS = 6


def opened(**link: str) -> AppTest:
    """The page, opened by a link."""
    app = AppTest.from_file(MAIN, default_timeout=600)
    app.run()
    app.switch_page("sparse.py")
    for name, value in link.items():
        app.query_params[name] = value
    return app.run()


@pytest.mark.parametrize(
    ("link", "histogram"), [({}, line_example()), ({"sparse": "figure-2"}, grid_example(3000))], ids=["one", "two"]
)
def test_one_click_redraws_a_figure_of_the_paper(link: dict[str, str], histogram: np.ndarray) -> None:
    app = sound(opened(**link))
    assert len(charts(app)) == CHARTS and not app.error and not app.warning
    found = loss_figure(histogram, epsilon=1.0, gamma=0.1, condition="sharper", sampler=Preview(1))
    told = f"{found.private_loss.mean():.3g} for the private histogram, {found.random_loss.mean():.3g} for the"
    assert told in texts(app) and "**✓ met, chosen**" in texts(app)
    sound(app.number_input(key="epsilon").set_value(0.3).run())
    again = loss_figure(histogram, epsilon=0.3, gamma=0.1, condition="sharper", sampler=Preview(1))
    assert f"{again.private_loss.mean():.3g} for the private histogram" in texts(app)
    sound(app.toggle(key="sparse-projected").set_value(False).run())
    assert f"{again.private_noise.mean():.3g} for the private histogram" in texts(app)


def test_the_privacy_line_says_epsilon_exactly() -> None:
    app = sound(opened(**{"sparse_histogram-gamma": "0.123456789"}))
    assert "Privacy: ε = 1, γ = 0.123456789 (replace one row)" in texts(app)
    assert "γ = 0.123456789 is allowed" in texts(app)
    sound(app.number_input(key="epsilon").set_value(1.23456789).run())
    assert "Privacy: ε = 1.23456789, γ =" in texts(app) and "ε = 1.23456789 for the private one" in texts(app)


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
    found = loss_figure(line_example(), epsilon=1.0, gamma=0.1, condition="sharper", sampler=Preview(1))
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
    assert "no guarantee is left" in app.warning[0].value and "sparse_draw" not in [each.key for each in app.button]


def test_where_the_condition_fails_both_histograms_are_one() -> None:
    app = sound(opened())
    sound(app.number_input(key="sparse_histogram-gamma").set_value(0.01).run())
    text = texts(app)
    assert text.count("✗ not met") == 2 and "both mechanisms are one" in text
    assert "Privacy: ε = 1 (replace one row) for the random-private histogram" in text


@pytest.mark.parametrize("condition", ["paper", "sharper"])
@pytest.mark.parametrize("cells", [1, 3, 25, 400, 5000])
@pytest.mark.parametrize("gamma", [0.5, 0.1, 0.001])
def test_rows_needed_is_the_first_n_that_meets_the_condition(condition: str, cells: int, gamma: float) -> None:
    n = rows_needed(cells=cells, gamma=gamma, condition=condition)
    assert lone_row_chance(cells=cells, n=n, condition=condition) <= gamma
    assert n == 1 or lone_row_chance(cells=cells, n=n - 1, condition=condition) > gamma


def test_other_data_are_released_too() -> None:
    app = sound(opened(sparse="data", data="pets.zip_code"))
    assert "100 cells, 52,519 rows" in texts(app) and len(charts(app)) == CHARTS
    sound(app.selectbox(key="data").set_value("skewed").run())
    assert "1,024 cells, 10,000 rows" in texts(app)


def test_the_warning_is_about_a_real_licence() -> None:
    dataset = Bundled(sample_key="pets", column_name="zip_code").dataset()
    cell, elsewhere = lone_pet(dataset.histogram)
    assert dataset.histogram[cell] == 1 and elsewhere[cell] == 0 and elsewhere.sum() == dataset.n
    assert np.abs(elsewhere - dataset.histogram).sum() == 2
    names, unique = pet_names()
    text = texts(sound(opened()))
    assert 0 < unique < names and f"**{unique:,}**" in text and dataset.domain.describe(cell) in text
    shown = shown_chances(dataset, epsilon=1.0, gamma=0.1, condition="sharper", seed=1)
    assert shown[1, 1] == 0 < shown[1, 0] and 0 < shown[0, 1] < shown[0, 0] < np.e * shown[0, 1] + 0.1
    spread = shown_chances(dataset, epsilon=1.0, gamma=0.001, condition="paper", seed=1)
    assert np.array_equal(spread[0], spread[1])


@pytest.mark.parametrize("link", [{"sparse": "<script>"}, {"grid-rows": "17", "sparse": "figure-2"}], ids=str)
def test_a_bad_link_gets_a_sentence_and_the_page_goes_on(link: dict[str, str]) -> None:
    app = sound(opened(**link))
    assert len(app.warning) == 1 and len(charts(app)) == CHARTS


def test_private_data_show_nothing_until_their_steward_asks() -> None:
    app = AppTest.from_file(MAIN, default_timeout=600)
    app.session_state["upload"] = uploaded(private=True)
    app.session_state["data"] = "my-file"
    app.session_state["sparse"] = "data"
    app.run()
    app.switch_page("sparse.py").run()
    sound(app)
    assert len(charts(app)) == 1 and "private" in app.info[0].value  # only the pets of the warning
    sound(app.toggle(key="steward_choice").set_value(True).run())
    assert len(charts(app)) == CHARTS
    assert "not protected: made by the data's steward" in texts(app)
