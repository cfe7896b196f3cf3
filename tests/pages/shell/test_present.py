"""Present mode without a browser: one chart and one slider on the stage, on every page of Play and every lesson."""

from __future__ import annotations

import pytest

from pages.learn.view import LESSONS
from tests.cases import full_but
from tests.pages.drawn import drawn
from tests.pages.opening import opened, sound, texts

PAGES = {
    "play/page.py": "data_chart",
    "marginals/page.py": "marginals_errors_chart",
    "robust/page.py": "robust_chance_chart",
    "ask/page.py": "ask_map_chart",
}


@pytest.mark.slow
@pytest.mark.parametrize(("page", "chart"), PAGES.items())
def test_a_page_has_one_chart_and_its_theorem_on_the_stage(page: str, chart: str) -> None:
    app = sound(opened(page, present="1"))
    assert set(drawn(app)) == {chart} and app.latex
    assert drawn(app)[chart]["layout"]["height"] < 300


def test_a_mean_on_the_stage_is_the_mean_that_was_asked() -> None:
    """Its theorem once stood under a picture of other mechanisms on other data."""
    app = sound(opened("robust/page.py", present="1", robust="unbounded_mean", data="medical.meddol"))
    assert set(drawn(app)) == {"robust_mean_chart"} and app.latex


@pytest.mark.slow
@pytest.mark.parametrize("lesson", full_but(LESSONS, *list(LESSONS)[::3]))
def test_a_lesson_is_shown_at_once_with_one_chart(lesson: str) -> None:
    app = sound(opened("learn/page.py", present="1", lesson=lesson))
    assert len(drawn(app)) == 1 and app.latex
    assert app.title[0].value == LESSONS[lesson].question
    assert "Guess first" not in texts(app)


def test_a_page_without_a_chart_for_the_stage_stays_as_it_is() -> None:
    app = sound(opened("data/page.py", present="1"))
    assert not any("backstage" in each.proto.body for each in app.get("html")) and not app.latex
