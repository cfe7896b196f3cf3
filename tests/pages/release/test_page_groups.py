"""A mean by group, from the form of Plan to a stored release that verifies."""

from __future__ import annotations

from pathlib import Path

from dprelease.certificate import certificate, verify
from dprelease.downloads.statistics import released_statistics
from dprelease.ledger.checks import check
from dprelease.requests.parts import Request
from pages.release.cards import MOCK
from tests.pages.opening import sound
from tests.pages.release.test_page_states import PAGE, came, press, said, the, token

__all__ = ["token"]


def test_a_mean_by_two_columns_is_planned_rehearsed_and_released(no_ledger: Path) -> None:
    app = press(press(came(), "Start a ledger"), "Register")
    app.switch_page("plan/page.py")
    app = sound(app.run())
    app.selectbox(key="table").set_value("penguins")
    sound(app.run())
    app.multiselect(key="plan_columns_penguins").set_value(["body_mass_g"])
    app.multiselect(key="plan_by_penguins").set_value(["species", "sex"])
    sound(app.run())
    app.selectbox(key="plan_asked_penguins").set_value("by-mean")
    app = press(sound(app.run()), "Add")
    for _ in range(2):
        app = press(app, "Remove")
    plan = app.session_state["plan_shown"][1]
    assert [each.statistic for each in plan.questions] == ["mean"]
    app = press(app, "Release it")
    app.switch_page(PAGE)  # as the button does, which a page without a browser does not follow for long
    app = press(sound(app.run()), "Test run, free")
    assert "On mock data: " in said(app)
    [sentence] = [each.value for each in app.code]
    assert sentence.startswith("Mean of body_mass_g by species × sex: ") and sentence.endswith(f", {MOCK}")
    app = press(app, f"Charge ε {plan.cost.epsilon:g} and release")
    assert "Entry 1, charged ε 0.25. Not published." in said(app)
    ledger, dataset_id = the(no_ledger)
    [stored] = ledger.stored(dataset_id)
    assert verify(certificate(stored), stored.files) == [] == check(ledger, dataset_id)
    assert MOCK not in said(app)
    [lines] = stored.files.values()
    [sentence] = [each.value for each in app.code]
    assert sentence == released_statistics(Request.of(stored.body["request"]).parts[0], lines)[0].sentence
    assert b"group species" in lines and b"mean" in lines
