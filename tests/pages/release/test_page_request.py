"""What the Release page asks for: persons as registered, a name that is nobody's, no table as a file too early."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpcore.core import Neighbours
from dpcore.data.declarations import Capped
from dpcore.data.sources import Uploaded
from dprelease.ledger.records import Registration
from pages.data.upload import SessionFile
from pages.release.register import PRIVATE_NAME
from pages.release.request import cap_mismatch
from pages.shell.ledger.roles import ADMITTED, VARIABLE
from pages.shell.private.clearing import KEPT_KEYS
from tests.kit.ledgers import SPEND
from tests.pages.release.test_page_states import KEY, came, press, registered
from tests.pages.uploads import uploaded

HIDDEN = "[data-testid='stElementToolbar'] { display: none; }"


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, KEY)


def test_persons_declared_otherwise_than_registered_are_refused() -> None:
    rows = uploaded(private=True)
    persons = replace(rows, reading=Capped(reading=rows.reading, person="who", rows=3))
    single = Registration(name="incomes", neighbours=Neighbours.ADD_REMOVE_ONE, public_n=500)
    same = replace(single, person_column="who", rows_a_person=3)
    assert cap_mismatch(persons, same) == cap_mismatch(rows, same) == cap_mismatch(rows, single) == ""
    for other in (single, replace(same, rows_a_person=2), replace(same, person_column="whose")):
        assert "Declare it as registered" in cap_mismatch(persons, other)


def test_a_private_file_s_name_is_not_offered_as_the_certificate_s() -> None:
    own = uploaded(private=True)
    assert isinstance(own.origin, Uploaded)
    state = {"upload": own, "file": SessionFile(origin=own.origin, turn=1), "data": "my-file"}
    app = came(**state)
    [name] = [each.value for each in app.text_input if each.label == "Name in certificates"]
    assert not [each for each in app.caption if "a release of them is a demonstration" in each.value]
    assert name == PRIVATE_NAME and "incomes" not in name


def test_no_table_of_what_is_unpublished_offers_itself_as_a_file() -> None:
    app = press(press(registered(), "Test run"), SPEND)
    assert any(HIDDEN in each.proto.body for each in app.get("html"))
    app = press(app, "Publish")
    assert not any(HIDDEN in each.proto.body for each in app.get("html"))


def test_who_was_admitted_still_is_after_a_file_is_forgotten() -> None:
    assert ADMITTED in KEPT_KEYS
