"""The bar on top says which data sets are neighbours: what the page's control holds, what its guarantees are for."""

from __future__ import annotations

import re

import pytest

from dpcore.core import Guarantee, Neighbours, per_person
from pages.shell.status import BADGES, unit_help
from tests.pages.opening import neighbours_said, opened, sound, texts

REPLACE, ADD_REMOVE = (each.words for each in Neighbours)
SMALL = {"data": "bimodal", "n": "1000", "bits": "5", "trials": "100", "epsilon": "1"}


@pytest.mark.parametrize("relation", Neighbours)
@pytest.mark.parametrize(
    ("page", "link"),
    [
        ("play/page.py", SMALL),
        ("one_number/page.py", {"robust": "stable_median"}),
        ("tables/page.py", {"cube_rows": "1000", "cube_attributes": "8"}),
        pytest.param("tables/page.py", {"view": "Decision lists", "students": "1000"}, marks=pytest.mark.full),
        pytest.param("plan/page.py", {}, marks=pytest.mark.full),
    ],
)
def test_the_bar_says_the_relation_that_the_page_has(page: str, link: dict[str, str], relation: Neighbours) -> None:
    app = sound(opened(page, **link, neighbours=relation.words))
    assert app.radio(key="neighbours").value == str(relation)
    assert neighbours_said(app) == [relation.words] and "Protects: **one row**" in texts(app)
    other = next(each for each in Neighbours if each is not relation)
    sound(app.radio(key="neighbours").set_value(str(other)).run())
    assert neighbours_said(app) == [other.words]


@pytest.mark.parametrize(
    ("page", "link"),
    [("one_number/page.py", {"robust": "subsample_median"}), ("conversation/page.py", {"data": "penguins.species"})],
)
def test_a_page_without_a_choice_says_what_its_guarantees_are_for(page: str, link: dict[str, str]) -> None:
    app = sound(opened(page, **link, neighbours=ADD_REMOVE))
    assert not [each for each in app.radio if each.label == "Neighbours"]
    assert neighbours_said(app) == [REPLACE]
    promised = re.findall(rf"\(({REPLACE}|{ADD_REMOVE})", "\n".join([texts(app), *(each.value for each in app.header)]))
    assert promised and set(promised) == {REPLACE}


@pytest.mark.parametrize("page", ["data/page.py", "learn/page.py", "release/page.py"])
def test_a_page_that_has_no_relation_says_none(page: str) -> None:
    assert neighbours_said(sound(opened(page, neighbours=ADD_REMOVE))) == []


def test_an_audit_says_the_relation_that_it_tries() -> None:
    app = sound(opened("learn/page.py", lesson="audit", audit_of="identity", neighbours=ADD_REMOVE))
    assert neighbours_said(app) == [ADD_REMOVE]


@pytest.mark.parametrize("page", ["play/page.py", "learn/page.py"])
def test_the_bar_has_a_key_of_the_badges(page: str) -> None:
    app = sound(opened(page))
    assert BADGES not in texts(app)
    app.session_state["badges_open"] = True
    assert BADGES in texts(sound(app.run()))
    assert re.findall(r"\*\*(.+?)\*\*:", BADGES) == [
        "true", "simulated", "released", "post-processed", "theory", "not protected",
    ]  # fmt: skip


@pytest.mark.parametrize("rows", [1, 2, 30])
def test_the_unit_says_how_much_larger_the_epsilon_of_a_person_is(rows: int) -> None:
    """Sliders and fields are per row, budgets and totals per person: nothing said so where the unit is shown."""
    row = Guarantee(epsilon=0.25, neighbours=Neighbours.ADD_REMOVE_ONE)
    times = per_person(row, rows).epsilon / row.epsilon
    said = unit_help(Neighbours.ADD_REMOVE_ONE, rows)
    assert said.startswith(f"Neighbouring data sets: {ADD_REMOVE.removesuffix(' row')} person, ≤ {rows} row")
    assert said.endswith(f"it is {times:g} times as large." if rows > 1 else "ε is for one person, with one row.")
    assert unit_help(Neighbours.REPLACE_ONE).endswith(
        "ε is for one row: for a person with c rows it is at most c times as large."
    )


def test_plan_explains_its_unit_in_the_words_of_the_bar() -> None:
    app = sound(opened("plan/page.py"))
    [header] = [each for each in app.header if "protects one row" in each.value]
    said = unit_help(Neighbours(str(app.radio(key="neighbours").value)))
    assert said in header.proto.help and said in [each.proto.help for each in app.markdown]
