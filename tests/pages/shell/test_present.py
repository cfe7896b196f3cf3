"""Present mode without a browser: one chart and one slider on the stage, on every page of Play and every lesson."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from pages.learn.view import LESSONS
from pages.shell.present import NOTHING
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


def styles(app: AppTest) -> str:
    return "".join(each.proto.body for each in app.get("html"))


@pytest.mark.parametrize(
    "page",
    [
        "data/page.py",
        "learn/page.py",
        *(pytest.param(f"{name}/page.py", marks=pytest.mark.slow) for name in ("plan", "release")),
    ],
)
def test_a_page_without_a_chart_for_the_stage_stays_as_it_is_and_offers_none(page: str) -> None:
    usual = sound(opened(page))
    assert NOTHING in styles(usual)
    app = sound(opened(page, present="1"))
    assert "present" not in app.query_params and "backstage" not in styles(app)
    assert drawn(app).keys() == drawn(usual).keys() and not app.latex


@pytest.mark.parametrize(
    "link", [{"page": "learn/page.py", "lesson": "none"}, {"page": "plan/page.py", "table": "none"}]
)
def test_what_is_wrong_with_a_link_is_said_once_where_there_is_nothing_to_present(link: dict[str, str]) -> None:
    app = sound(opened(present="1", **link))
    [warning] = app.warning
    assert "present" not in app.query_params and warning.value.startswith("In the link, ")
    later, elsewhere = ([each.value for each in sound(each.run()).warning] for each in (app, opened(**link)))
    assert later == elsewhere, "no longer than without it"


@pytest.mark.parametrize("lesson", [None, *full_but(LESSONS, "odds")])
def test_a_page_with_a_chart_for_the_stage_offers_it(lesson: str | None) -> None:
    app = sound(opened("play/page.py") if lesson is None else opened("learn/page.py", lesson=lesson))
    assert NOTHING not in styles(app)
