"""Links on every page: what a control does not take gets its sentence, above the page, and what it takes gets none."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.data.test_page import elements, opened
from tests.pages.drawn_charts import drawn
from tests.pages.opening import DIRECTIONS, RANDOM_PRIVACY, sound

TABLES = {"view": "All tables of k attributes"}
POPOVERS = ("play", "ask", "robust", "sparse", "halfspaces", "marginals")
"""Pages with settings in a closed popover, one of them the preview seed."""


def warnings(app: AppTest) -> list[str]:
    return [each.value for each in app.warning]


FILES = {
    "play": "play/page.py",
    "data": "data/page.py",
    "limits": "learn/page.py",
    "ask": "conversation/page.py",
    "robust": "one_number/page.py",
    "marginals": "tables/page.py",
    "sparse": RANDOM_PRIVACY,
    "halfspaces": DIRECTIONS,
}
"""The script of each page, by its address."""


def at(page: str, **asked: str) -> AppTest:
    """A page, opened by a link; Play on a small problem, for a bad link's sentence does not depend on it."""
    small = {"n": "1000", "bits": "5"} if page == "play" else {}
    return opened(FILES[page], **{**small, **asked})


def link(app: AppTest, name: str) -> str | None:
    """What the address holds, as text; None if the name is gone from it."""
    found = app.query_params.get(name)
    return found[-1] if isinstance(found, list) else found


@pytest.mark.parametrize("page", [POPOVERS[0], *(pytest.param(page, marks=pytest.mark.full) for page in POPOVERS[1:])])
def test_a_bad_value_in_a_closed_popover_gets_one_sentence_in_sight(page: str) -> None:
    app = at(page, seed="abc")
    [told] = warnings(app)
    assert "“seed”" in told and "abc" not in told and told.endswith("accept. Using 1 instead.")
    assert app.session_state["seed"] == 1 and link(app, "seed") is None
    hidden = [each for popover in app.get("popover") for each in elements(popover)]
    assert app.get("popover") and not any(each.type == "alert" for each in hidden)
    # Said when the link arrives, and not again of what is now on the screen.
    assert not warnings(sound(app.number_input(key="seed").set_value(3).run()))


@pytest.mark.parametrize(
    ("page", "wrong", "beside"),
    [
        ("play", {"data": "no-such-data", "mechanism": "<script>", "n": "-1"}, {}),
        ("play", {"data": "my-file", "queries": "'; DROP TABLE", "bits": "1e9", "epsilon": "1000"}, {}),
        ("play", {"pin": "no-such"}, {}),
        ("ask", {"ask": "<script>", "ask-updates": "0", "ask-questions-about": "cats"}, {}),
        ("robust", {"data": "no-such-data", "robust": "<script>", "delta": "17"}, {}),
        ("marginals", {"cube": "<script>", "cube-rows": "17", "width": "40"}, {}),
        ("marginals", {"cube": "my-file"}, {}),
        ("marginals", {"tables-of": "<script>", "tables-method": "fourier-tables", "tables-k": "4"}, TABLES),
        ("halfspaces", {"vectors": "<script>", "angle": "400", "margin": "2", "halfspaces-projections": "3"}, {}),
        ("halfspaces", {"vectors": "my-file"}, {}),
        ("sparse", {"sparse": "<script>"}, {}),
        ("sparse", {"grid-rows": "17"}, {"sparse": "figure-2"}),
        ("limits", {"median-n": "0", "median-bits": "7", "median-epsilon": "-1"}, {}),
        ("data", {"way": "magic"}, {}),
    ],
    ids=str,
)
def test_each_wrong_value_gets_a_sentence_and_the_page_goes_on(
    page: str, wrong: dict[str, str], beside: dict[str, str]
) -> None:
    app = sound(at(page, **wrong, **beside))
    assert len(warnings(app)) == len(wrong) and drawn(app)
    assert not [
        value for value in wrong.values() if len(value) > 1 and any(f" {value}" in told for told in warnings(app))
    ]
    assert not [told for told in warnings(app) if "<" in told]


@pytest.mark.parametrize("text", ["1e400", "inf", "-inf", "1_0"])
@pytest.mark.parametrize("page", ["play", "ask"])
def test_a_number_without_end_or_with_an_underscore_gets_one_sentence(page: str, text: str) -> None:
    app = sound(at(page, seed=text))
    [sentence] = warnings(app)
    assert sentence == "The link's value of “seed” is not a finite number. Using the default instead."
    assert app.session_state["seed"] == 1 and link(app, "seed") is None


@pytest.mark.parametrize(
    ("page", "name", "text", "shown"),
    [
        ("play", "trials", "3", "the default"),
        ("play", "beta", "often", "the default"),
        ("play", "neighbours", "none", "the default"),
        ("sparse", "sparse-projected", "maybe", "the default"),
        ("limits", "limits-seed", "-1", "1"),
        ("data", "sample-adult", "soul", "the default"),
    ],
)
def test_what_streamlit_drops_or_sets_right_silently_is_said(page: str, name: str, text: str, shown: str) -> None:
    [told] = warnings(at(page, **{name: text}))
    assert f"“{name}”" in told and f"Using {shown} instead." in told


@pytest.mark.parametrize(
    ("page", "asked"),
    [
        ("play", {"seed": "7", "trials": "1000", "beta": "0.05", "neighbours": "add or remove one row"}),
        ("play", {"seed": "1", "unknown": "3", "memory": "x", "gate": "x"}),
        ("sparse", {"sparse-projected": "FALSE", "planned": "2", "sparse_histogram-gamma": "0.2"}),
        ("data", {"way": "Generated", "bits": "7", "n": "300", "shape": "sparse"}),
    ],
)
def test_a_good_link_is_not_complained_of(page: str, asked: dict[str, str]) -> None:
    assert not warnings(at(page, **asked))


@pytest.mark.parametrize(
    ("page", "name", "label"),
    [
        ("robust", "data", "Data"),
        ("robust", "robust", "Statistic"),
        ("robust", "delta", "Privacy failure probability δ"),
        ("halfspaces", "vector-rows", "Rows n"),
    ],
)
def test_a_bad_choice_is_said_with_the_label_on_the_screen(page: str, name: str, label: str) -> None:
    app = at(page, **{name: "zzz"})
    told = f"The link's value of “{name}” is not one of the choices of “{label}” here. Using the default instead."
    assert warnings(app) == [told]
    assert label in {str(getattr(each, "label", "")) for block in (app.main, app.sidebar) for each in elements(block)}


def test_what_a_page_says_of_the_link_itself_is_said_once() -> None:
    told = warnings(at("play", data="my-file", epsilons="2", mechanism="magic"))
    assert len(told) == 2 and "refers to an uploaded file, and links cannot share" in told[0]
    assert "“mechanism” is not one of the choices of “" in told[1]
    # A control that the first page, which a test passes through, does not have.
    [told_of_grid] = warnings(opened("data/page.py", way="Generated", shape="clouds", sides="99"))
    assert "“Grid bits d” is not a number between 2 and 6" in told_of_grid
