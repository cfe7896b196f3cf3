"""Present mode without a browser: one chart and one slider on the stage, on every page of Play and every lesson."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.charts import component
from pages.charts.live import encode_states
from pages.charts.picture import Picture
from pages.learn.view import LESSONS
from pages.shell import presentation
from pages.shell.presentation import NO_BUTTON, Presentation, chart_place
from tests import ROOT
from tests.cases import full_but
from tests.pages.data.test_page import declared_pay, everything
from tests.pages.data.test_page import with_file as with_people
from tests.pages.drawn_charts import drawn, headline
from tests.pages.learn.directions.test_page import with_file as with_private_arrows
from tests.pages.learn.random_privacy.test_page import with_private_file as with_private_cells
from tests.pages.learn.test_population import with_private_halves
from tests.pages.learn.test_subset import with_private_bits
from tests.pages.opening import DIRECTIONS, RANDOM_PRIVACY, opened, run_with, sound, texts
from tests.pages.play.test_groups import private_table
from tests.pages.shell.test_page_private import SECRET
from tests.pages.shell.test_page_private import opened as with_private_file
from tests.pages.tables.shares.test_page import with_lists as with_private_lists
from tests.pages.tables.test_private_rule import with_private_rules

PAGES = {
    "play/page.py": "data_chart",
    "tables/page.py": "marginals_errors_chart",
    "one_number/page.py": "robust_chance_chart",
    "conversation/page.py": "ask_map_chart",
    DIRECTIONS: "halfspaces_circle_chart",
    RANDOM_PRIVACY: "sparse_loss_chart",
}


@pytest.mark.slow
@pytest.mark.parametrize(("page", "chart"), PAGES.items())
def test_a_page_has_one_chart_and_its_theorem_on_the_stage(page: str, chart: str) -> None:
    app = sound(opened(page, present="1"))
    assert set(drawn(app)) == {chart} and app.latex
    assert drawn(app)[chart]["layout"]["height"] < 300


def test_on_the_stage_the_error_of_simulated_releases_and_the_guaranteed_one_say_which_they_are() -> None:
    """Both were 95%: 774 people in the headline, 1,760 in the theorem below it."""
    app = sound(opened("play/page.py", present="1"))
    assert " in 19 of 20 simulations" in headline(app)
    [theorem] = [each.value for each in app.markdown if "With confidence 95%" in each.value]
    assert theorem.startswith("**Guaranteed error, for any data.** With confidence 95%, no query has an error above")
    nothing = texts(sound(opened("play/page.py", present="1", epsilon="0.01", data="bimodal", n="100")))
    assert "No guarantee: " in nothing and "Guaranteed error, for any data" not in nothing


def test_of_two_charts_of_a_page_the_first_is_on_the_stage() -> None:
    """No page draws two that may be; one that will must not show both, one over the other."""
    stage: Any = object()
    reset = presentation._presentation.set(Presentation(parts={"chart": stage}, charts={"one", "two"}))
    try:
        places = [chart_place(chart) for chart in ("other", "one", "two", "one")]
    finally:
        presentation._presentation.reset(reset)
    assert places == [None, stage, None, stage]


def test_a_mean_on_the_stage_is_the_mean_that_was_asked() -> None:
    """Its theorem once stood under a picture of other mechanisms on other data."""
    app = sound(opened("one_number/page.py", present="1", robust="unbounded_mean", data="medical.meddol"))
    assert set(drawn(app)) == {"robust_mean_chart"} and app.latex


@pytest.mark.slow
@pytest.mark.parametrize("lesson", full_but(LESSONS, *list(LESSONS)[::3]))
def test_a_revealed_lesson_stays_revealed_with_one_chart(lesson: str) -> None:
    app = sound(opened("learn/page.py", present="1", lesson=lesson, **{f"{lesson}-shown": "true"}))
    assert len(drawn(app)) == 1 and app.latex
    assert app.title[0].value == LESSONS[lesson].question
    assert "Guess first" not in texts(app)
    assert "presentation_guess { display: none" in styles(app)


@pytest.mark.parametrize("lesson", full_but(LESSONS, *list(LESSONS)[::3]))
def test_a_lesson_on_the_stage_keeps_its_answer_until_show(lesson: str) -> None:
    """Neither the picture nor a hidden part of the page has it: a browser's tools would find it there."""
    app = sound(opened("learn/page.py", present="1", lesson=lesson))
    (hidden,) = drawn(app).values()
    assert "Guess first" in texts(app) and app.title[0].value == LESSONS[lesson].question
    assert "hidden until you have guessed" in hidden["sentence"] and "display: none" in styles(app)
    assert not app.latex and "simulated]" not in texts(app) and not app.expander
    before = set(texts(app).split("\n"))
    (toggle,) = (each for each in app.toggle if each.label == "Show what happens")
    sound(toggle.set_value(True).run())
    (shown,) = drawn(app).values()
    assert "Guess first" not in texts(app) and "hidden until" not in shown["sentence"] and app.latex
    answer = {each for each in texts(app).split("\n") if "-badge[" in each and "**" in each}
    assert answer and not answer & before
    marks = [len(each["data"]) for each in (hidden, shown)]
    assert marks[0] < marks[1], "curves and dots come with the answer"


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
    assert NO_BUTTON in styles(usual)
    app = sound(opened(page, present="1"))
    assert "present" not in app.query_params and "outside_presentation" not in styles(app)
    assert drawn(app).keys() == drawn(usual).keys() and not app.latex


@pytest.mark.parametrize(
    "link", [{"page": "learn/page.py", "lesson": "none"}, {"page": "plan/page.py", "table": "none"}]
)
def test_what_is_wrong_with_a_link_is_said_once_where_there_is_nothing_to_present(link: dict[str, str]) -> None:
    app = sound(opened(present="1", **link))
    [warning] = app.warning
    assert "present" not in app.query_params and warning.value.startswith("The link")
    later, elsewhere = ([each.value for each in sound(each.run()).warning] for each in (app, opened(**link)))
    assert later == elsewhere, "no longer than without it"


@pytest.mark.parametrize("lesson", [None, *full_but(LESSONS, "odds")])
def test_a_page_with_a_chart_for_the_stage_offers_it(lesson: str | None) -> None:
    app = sound(opened("play/page.py") if lesson is None else opened("learn/page.py", lesson=lesson))
    assert NO_BUTTON not in styles(app)


SHOWN = ("play/page.py", "one_number/page.py", "tables/page.py")
"""Pages that draw a private file for its steward."""


@pytest.fixture
def badges(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Badges of all pictures and states that are sent to the browser, in whichever run."""
    found: list[str] = []
    usual_chart = component._encode_chart

    def sent(picture: Picture, *, badge: str, **more: Any) -> bytes:
        found.append(badge)
        return usual_chart(picture, badge=badge, **more)

    def states(*what: Any, badge: str, **more: Any) -> Any:
        found.append(badge)
        return encode_states(*what, badge=badge, **more)

    monkeypatch.setattr(component, "_encode_chart", sent)
    for module in ("slider_states", "groups.view", "groups.theory"):
        monkeypatch.setattr(f"pages.play.{module}.encode_states", states)
    return found


@pytest.mark.parametrize("page", SHOWN)
def test_a_presentation_shows_no_true_value_of_private_rows_whatever_the_switch_says(
    page: str, badges: list[str]
) -> None:
    """Nor does the page on which it ends, on the same wall: there the switch is off."""
    app = with_private_file(page, steward_choice=True)
    assert [each for each in badges if "not protected" in each], "elsewhere the steward sees them"
    badges.clear()
    run_with(app, link={"present": "1"})
    assert not [each for each in badges if "private" in each or "not protected" in each]
    assert "You see true values" not in texts(app) and str(SECRET) not in everything(app)
    assert app.query_params.get("present") or not app.session_state["steward_choice"]


@pytest.mark.parametrize("way", ["button", "link"])
@pytest.mark.parametrize("page", SHOWN[:2])
def test_true_values_ask_again_once_a_presentation_is_over(page: str, way: str, badges: list[str]) -> None:
    """A link that was typed begins one while the switch is on; at its end they were on the wall at once."""
    app = run_with(with_private_file(page, steward_choice=True, data="bimodal"), link={"present": "1"})
    assert app.session_state["steward_choice"], "public rows are presented"
    if way == "button":
        app.button[[each.label for each in app.button].index("End (Esc)")].click()
    else:
        del app.query_params["present"]
    app = sound(app.run())
    app.session_state["data"] = "my-file"
    badges.clear()
    app = sound(app.run())
    assert "present" not in app.query_params and not app.session_state["steward_choice"]
    assert badges and not [each for each in badges if "not protected" in each]
    sound(app.toggle(key="steward_choice").set_value(True).run())
    assert [each for each in badges if "not protected" in each], "the steward may ask again"


ELSEWHERE: dict[str, Callable[[], AppTest]] = {
    "random privacy": with_private_cells,
    "two hospitals": with_private_halves,
    "subset sums": with_private_bits,
    "private rule": with_private_rules,
    "directions": partial(with_private_arrows, private=True),
    "decision lists": partial(with_private_lists, private=True),
    "data": lambda: declared_pay(with_people()),
    "mean by group": lambda: private_table()[0],
}
"""The other places where a private file is drawn for its steward, each with one in use."""


@pytest.mark.parametrize("place", ELSEWHERE)
def test_nor_does_any_other_page_that_can_hold_a_private_file(place: str, badges: list[str]) -> None:
    app = ELSEWHERE[place]()
    sound(app.toggle(key="steward_choice").set_value(True).run())
    assert [each for each in badges if "not protected" in each], "elsewhere the steward sees them"
    badges.clear()
    run_with(app, link={"present": "1"})
    assert not [each for each in badges if "private" in each or "not protected" in each]
    assert "You see true values" not in texts(app)
    assert app.query_params.get("present") or not app.session_state["steward_choice"]


def test_every_page_with_the_gate_is_among_those_that_are_presented() -> None:
    """These files alone ask the gate, by themselves or through their workbench: a new one is a page to add above."""
    asking = {
        str(file.relative_to(ROOT / "pages"))
        for file in (ROOT / "pages").rglob("*.py")
        if re.search(r"may_show\(| = Workbench\(", file.read_text(encoding="utf-8"))
    }
    assert asking == {
        "play/view.py", "one_number/controls.py", "one_number/workbench.py", "conversation/controls.py",
        "conversation/workbench.py", "tables/shares/workbench.py", "tables/marginals/workbench.py", "tables/lists.py",
        "tables/boxes.py", "learn/random_privacy/controls.py", "learn/directions/own_data.py",
        "learn/population/own_data.py", "learn/subset/own_data.py", "tables/learner.py",
        "data/summary.py", "data/suggestions.py", "shell/status.py", "shell/request.py", "shell/workbench.py",
        "play/groups/view.py",
    }  # fmt: skip


def test_what_was_read_off_private_rows_is_in_no_frame_of_a_presentation(monkeypatch: pytest.MonkeyPatch) -> None:
    """In inputs and in a domain made of them, as where the switch is off."""
    app = with_private_file("play/page.py", steward_choice=True)
    app.session_state["upload"] = replace(app.session_state["upload"], bounds_from_data=True)
    app.session_state["filled"] = {"declare-1-0-to": (str(SECRET), None)}
    app.session_state["declare-1-0-to"] = str(SECRET)
    app.query_params["present"] = "1"
    app = sound(app.run())
    assert str(SECRET) not in everything(app) and app.session_state["declare-1-0-to"] is None
    assert app.session_state["upload"] is None


@pytest.mark.parametrize("page", SHOWN[:2])
def test_no_button_presents_true_values_of_private_rows(page: str) -> None:
    app = with_private_file(page, steward_choice=True)
    assert NO_BUTTON in styles(sound(app.run()))


def test_public_rows_are_presented_beside_a_private_file() -> None:
    app = with_private_file("play/page.py", steward_choice=True, data="bimodal")
    app.query_params["present"] = "1"
    assert set(drawn(sound(app.run()))) == {"data_chart"} and app.session_state["steward_choice"]
