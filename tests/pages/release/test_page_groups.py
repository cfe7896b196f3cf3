"""A mean by group, from the form of Plan to a stored release that verifies."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from dprelease.certificate import certificate, verify
from dprelease.downloads.statistics import released_statistics
from dprelease.ledger.checks import check
from dprelease.requests.parts import Request
from pages.charts.words import significant
from pages.release.cards import MOCK
from tests.kit.ledgers import spend
from tests.pages.opening import sound
from tests.pages.release.test_page_states import PAGE, came, press, said, the, token

__all__ = ["token"]

ERRORS = re.compile(r"Expected: (.+?)(?: for .*)?\. (?:Released|Test run): (.+)\. Both with 95% confidence\.")


def errors(app: Any) -> list[tuple[str, str]]:
    """Expected error and that of the release, on each card."""
    found = [ERRORS.fullmatch(each.value.replace("\\", "")) for each in app.caption]
    return [(each[1], each[2]) for each in found if each]


def test_a_mean_by_two_columns_is_planned_rehearsed_and_released(no_ledger: Path) -> None:
    app = press(came(), "Register")
    app.switch_page("plan/page.py")
    app = sound(app.run())
    app.selectbox(key="table").set_value("penguins")
    app = press(sound(app.run()), "Load an example")
    app.multiselect(key="plan_columns_penguins").set_value(["body_mass_g"])
    sound(app.multiselect(key="plan_by_penguins").set_value(["species", "sex"]).run())
    app.selectbox(key="plan_asked_penguins").set_value("by-mean")
    app = press(sound(app.run()), "Add")
    app = press(app, "Remove")
    [*_, epsilon] = [each for each in app.number_input if each.label == "ε"]
    sound(epsilon.set_value(1.5).run())
    plan = app.session_state["plan_shown"][1]
    assert [each.statistic for each in plan.questions] == ["", "mean"]
    planned = [each.value for each in app.markdown if each.value.startswith("± ")]
    assert len(planned) == 2
    [button] = [each for each in app.button if each.label == "Release it"]
    assert "Until the data owner publishes it" in button.help
    app = press(app, "Release it")
    assert app.session_state["carried"]["data"] == f"penguins.{plan.table.used[0].name}"
    app.switch_page(PAGE)  # as the button does, which a page without a browser does not follow for long
    app = sound(app.run())
    assert next(each for each in app.radio if each.label == "Request").value == "The plan: 2 statistics"
    app = press(app, "Test run, free")
    assert "On mock data: " in said(app)
    _, sentence = [each.value for each in app.code]
    assert sentence.startswith("Mean of body_mass_g by species × sex: ") and sentence.endswith(f", {MOCK}")
    assert [expected for expected, _ in errors(app)] == planned, "what Plan shows, in its unit"
    app = press(app, spend(f"{plan.cost.epsilon:g}"))
    assert "Entry 1, charged ε 1.75. Not published." in said(app)
    ledger, dataset_id = the(no_ledger)
    [stored] = ledger.stored(dataset_id)
    assert len(stored.body["parts"]) == 2
    assert verify(certificate(stored), stored.files) == [] == check(ledger, dataset_id)
    assert MOCK not in said(app)
    _, lines = (stored.files[name] for name in sorted(stored.files))
    _, sentence = [each.value for each in app.code]
    released = released_statistics(Request.of(stored.body["request"]).parts[1], lines)[0]
    assert sentence == released.sentence
    (expected, counts), (margin, means) = errors(app)
    assert [expected, margin] == planned and counts == f"{expected} each"
    assert means == f"± {significant(released.half_widths.min())} to {significant(released.half_widths.max())} g each"
    assert b"group species" in lines and b"mean" in lines
