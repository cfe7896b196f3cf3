"""Labels that nobody can list: from Data to a release and back, and nothing of a row on the way."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.data.dictionaries.description import CATEGORY
from dpcore.data.dictionaries.labels import split_labels
from dprelease.ledger.checks import check
from dprelease.requests.tables import released_labels
from dprelease.verification import FORMAT
from pages.data.descriptions.private_labels import DELTA, FIND
from pages.data.upload import PERSON, STAND_IN
from tests.kit.ledgers import SPEND
from tests.pages.data.test_page import OWN, fill, give, grid_of, type_in
from tests.pages.opening import as_steward, sound, visitor
from tests.pages.release.test_page_states import press, said, the, token

__all__ = ["token"]
NAMES = {"ann": 300, "Łódź": 220, "a;b": 150, "=1+1": 80}
"""Labels of enough rows, with their counts."""
RARE = "secret-name"


def with_names() -> AppTest:
    """A data owner's session with private names, of which nothing is declared."""
    rows = [name for name, count in NAMES.items() for _ in range(count)] + [RARE]
    lines = "".join(f"{place // 2},{name},{place % 90}\n" for place, name in enumerate(rows))
    app = as_steward(visitor("data/page.py"))
    app.query_params["way"] = OWN
    return give(sound(app.run()), f"who,name,age\n{lines}", name="names.csv")


def find(app: AppTest) -> AppTest:
    app = press(app, FIND)
    return sound(app.switch_page("release/page.py").run())


def test_labels_are_found_by_a_release_and_complete_the_description(no_ledger: Path) -> None:
    app = with_names()
    assert not any(each.label == FIND for each in app.button), "no column is a category yet"
    type_in(app, name={"kind": CATEGORY}, who={"use": False}, age={"from": "0", "to": "90"})
    app = find(app)
    assert next(each for each in app.radio if each.label == "Release").value == "What Data shows"
    app = press(app, "Register")
    assert "Labels of name" in said(app) and RARE not in said(app)
    app = press(press(app, "Test run, free"), SPEND)
    ledger, dataset_id = the(no_ledger)
    assert not check(ledger, dataset_id)
    [stored] = ledger.stored(dataset_id)
    assert stored.body["format"] == FORMAT and list(stored.files) == ["labels.csv"]
    request = json.dumps(stored.body["request"])
    assert not any(name in request for name in [*NAMES, RARE, "=1"])
    assert set(released_labels(stored.files["labels.csv"])) == set(NAMES) and RARE not in str(stored.files)
    app = press(app, "Use these labels in the description")
    app = sound(app.switch_page("data/page.py").run())
    declared = grid_of(app, "name")
    assert declared["kind"] == CATEGORY
    assert declared["labels"] == "; ".join('"a;b"' if name == "a;b" else name for name in NAMES)
    assert not any(each.label == FIND for each in app.button), "no label is missing"
    app = sound(app.switch_page("plan/page.py").run())
    [lines] = [each for each in app.text_area if each.label.startswith("One statistic per line")]
    lines.set_value("mean age by name")
    app = press(sound(app.run()), "Add these lines")
    plan = app.session_state["plan_shown"][1]
    assert [(each.statistic, each.by) for each in plan.questions] == [("mean", ("name",))]
    assert plan.table.on("name").labels == tuple(NAMES)


def test_the_labels_of_persons_are_charged_as_persons_and_say_who_is_protected(no_ledger: Path) -> None:
    app = with_names()
    fill(app, **{"Who is protected?": PERSON})
    type_in(app, name={"kind": CATEGORY}, age={"use": False})
    assert not any(each.label == FIND for each in app.button), "it is not known whose rows these are"
    fill(app, **{"Column that identifies the person": "who", "Maximum rows per person": 2})
    app = press(find(app), "Register")
    app = press(press(app, "Test run, free"), f"{SPEND} 1 ")
    ledger, dataset_id = the(no_ledger)
    [stored] = ledger.stored(dataset_id)
    guarantee = stored.body["guarantee"]
    assert guarantee["epsilon"] == "1" and guarantee["unit"]["rows_a_person"] == 2
    # Two rows with one label, which is group privacy.
    assert float(guarantee["delta"]) == pytest.approx((1 + math.exp(0.5)) * DELTA)
    assert stored.body["parts"][0]["mechanism"]["key"] == "find_labels_optimal"


def test_labels_of_public_rows_are_filled_in_and_need_no_release() -> None:
    app = as_steward(visitor("data/page.py"))
    app.query_params["way"] = OWN
    sound(app.run()).radio(key="whose").set_value(STAND_IN)
    app = give(sound(app.run()), "name,age\n" + "ann,4\n" * 50, name="names.csv")
    type_in(app, name={"kind": CATEGORY})
    assert not any(each.label == FIND for each in app.button)


def test_found_labels_are_filled_in_from_earlier_releases(no_ledger: Path) -> None:
    app = with_names()
    type_in(app, name={"kind": CATEGORY}, who={"use": False}, age={"use": False})
    press(press(press(find(app), "Register"), "Test run, free"), SPEND)
    later = press(with_names(), "Fill in from earlier releases")
    declared = grid_of(later, "name")
    assert declared["kind"] == CATEGORY and set(split_labels(declared["labels"])) == set(NAMES)
    assert not any(each.label == FIND for each in later.button), "no label is missing"
    assert "From earlier releases, check it." in said(later) and RARE not in said(later)
