"""A plan after a reload: the tab's storage is a mapping here, and what it holds comes back with a press of a button."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dpcore.core import Neighbours
from dprelease.plan.questions import Plan
from pages.data import tab_storage
from pages.plan.plan_table import OPENED, QUESTIONS
from pages.plan.stored_plan import RESTORED
from pages.shell.releasable import PLAN_SHOWN
from tests.pages.opening import opened, sound, visitor

PAGE = "plan/page.py"
ITEM = "dpscope-plan-adult"
Tab = dict[str, Any]


@pytest.fixture
def tab(monkeypatch: pytest.MonkeyPatch) -> Tab:
    """A tab's storage, by item: the text, or whatever else stands there."""
    stored: Tab = {}

    def storage(*, key: str, data: dict[str, Any], on_restored_change: Callable[[], None]) -> None:
        if data["text"]:
            stored[data["item"]] = data["text"]
        elif not data["restore"]:
            stored.pop(data["item"], None)
        elif data["item"] in stored:
            st.session_state[key] = SimpleNamespace(restored=stored[data["item"]])
            st.button("Restore", key=f"press-{key}", on_click=on_restored_change)

    monkeypatch.setattr(tab_storage, "_storage", storage)
    return stored


def restored(page: str = PAGE) -> AppTest:
    """A new session in the same tab."""
    app = sound(visitor(page).run())
    return sound(next(each for each in app.button if each.label == "Restore").click().run())


def shown(app: AppTest) -> Plan:
    plan: Plan = app.session_state[PLAN_SHOWN][1]
    return plan


def test_a_plan_is_the_same_after_a_reload_and_gone_once_its_statistics_are_removed(tab: Tab) -> None:
    link = f"{PAGE}?neighbours={Neighbours.ADD_REMOVE_ONE.words}"
    app = sound(opened(PAGE, neighbours=Neighbours.ADD_REMOVE_ONE.words))
    next(each for each in app.number_input if each.label == "Public n").set_value(40_000)
    app.select_slider(key="confidence").set_value("99")
    first, *others = shown(sound(app.run())).questions
    app.session_state[QUESTIONS] = {"adult": (replace(first, epsilon=0.7, target=0.03, pinned=True), *others)}
    app.session_state["plan_version"] = 7
    plan = shown(sound(app.run()))
    app = restored(link)
    assert shown(app) == plan and (plan.n, plan.level) == (40_000, 0.99)
    assert [each.value for each in app.info] == [RESTORED]
    for _ in plan.questions:
        sound(next(each for each in app.button if each.label == "Remove").click().run())
    assert not tab


def test_what_does_not_fit_the_table_and_what_is_no_plan_is_said_in_one_sentence(tab: Tab) -> None:
    text = shown(sound(opened(PAGE))).text.decode()
    tab[ITEM] = text.replace('"age"', '"height"')
    app = restored()
    assert [each.value for each in app.info] == ["1 of 2 statistics are restored. The others do not fit the table."]
    assert [each.columns for each in shown(app).questions] == [("sex",)]
    hostile = (None, [1], "", "{", "[" * 100_000, "9" * 300_000, text.replace("dpscope-plan/2", "![x](//y)"))
    for content in hostile:
        tab[ITEM] = content
        app = restored()
        (sentence,) = (each.value for each in app.info)
        assert sentence.startswith("The plan in this tab is not restored. ") and "![x]" not in sentence
        assert PLAN_SHOWN not in app.session_state and ITEM not in tab


def test_an_opened_plan_comes_back_with_its_table_where_the_link_names_it(tab: Tab) -> None:
    plan = shown(sound(opened(PAGE, table="penguins")))
    tab[f"dpscope-plan-{OPENED}"] = plan.text.decode()
    app = restored(f"{PAGE}?table={OPENED}")
    assert shown(app) == plan and "the opened plan" in app.header[0].value
    assert "Restore" not in {each.label for each in sound(visitor(PAGE).run()).button}
