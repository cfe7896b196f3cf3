"""A name that shows nothing is no name: of data, of a person, of a column."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest

from dpcore.core import ParameterError, is_visible
from dpcore.data.columns import Labels
from dpcore.data.declarations import DeclaredColumn
from dpcore.data.reading.first_row import is_value
from dpcore.data.reading.intake import clean_name, clean_names
from dprelease.ledger.records import Actor, LedgerError, Role, is_words
from dprelease.ledger.units import Price
from dprelease.plan.questions import Plan
from dprelease.verification import UNVERIFIABLE_FIELDS
from tests.kit.ledgers import plan_of, registered

BLANKS = {
    "nothing": "", "a blank": " ", "Hangul filler": "\u3164", "Hangul initial": "\u115f", "Hangul medial": "\u1160",
    "half-width filler": "\uffa0", "blank Braille": "\u2800", "joiners": "\u200b\u2060", "a mark alone": "\u034f",
    "a selector": "\ufe0f", "several": "\u3164 \u2800",
}  # fmt: skip


@pytest.mark.parametrize("name", BLANKS.values(), ids=BLANKS)
def test_a_name_that_shows_nothing_is_refused_everywhere(name: str, tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=r"^The name of the data must be 1 to 200 printable characters"):
        registered(tmp_path, name=name)
    ledger, dataset_id = registered(tmp_path)
    with pytest.raises(LedgerError, match=r"^The name of the data owner must be 1 to 200 printable characters"):
        ledger.set_budget(dataset_id, Price.allowed(epsilon=3.0), "more", Actor(name=name, role=Role.STEWARD))
    for field in ("data.name", "data.unit.stated_by", "by"):
        assert not UNVERIFIABLE_FIELDS[field][0](name)
    assert clean_name(name) == "" and clean_names([name])[0] == ("column 1",) and is_value(name)
    with pytest.raises(ParameterError, match="name needs a visible character"):
        DeclaredColumn(name=name, on=Labels(yes_no=True))
    plan: dict[str, Any] = json.loads(plan_of().text)
    plan["table"]["columns"][0]["name"] = name
    with pytest.raises(ParameterError, match="name needs a visible character"):
        Plan.read(json.dumps(plan))


@pytest.mark.parametrize("name", ["é", "名前", "صفحة", "한글", "e\u0301", "7", "%", "🐧", "\u3164x"])
def test_any_letter_digit_or_sign_is_a_name(name: str) -> None:
    assert is_visible(name) and DeclaredColumn(name=name, on=Labels(yes_no=True)).name == name


@pytest.mark.parametrize("name", ["ก็", "שָּׁ֑", "g\u0303\u0301", "a" + "\u0301" * 8])
def test_marks_of_a_script_are_in_names(name: str) -> None:
    assert is_words(name)


@pytest.mark.parametrize("name", ["a" + "\u0301" * 9, "ab" + "\u0489\u0361\u20dd" * 60, "a" + "\u0301" * 9 + "b"])
def test_letters_under_a_tower_of_marks_are_no_name(name: str, tmp_path: Path) -> None:
    """They grow over the lines around them."""
    with pytest.raises(LedgerError, match=r"^The name of the data must be"):
        registered(tmp_path, name=name)
    assert not any(UNVERIFIABLE_FIELDS[field][0](name) for field in ("data.name", "data.unit.stated_by", "by"))


def test_a_date_is_not_in_the_future() -> None:
    today = datetime.datetime.now(datetime.UTC).date()
    days = {1: True, 0: True, -1000: True, 3: False, 365: False}
    for field in ("at", "data.registered"):
        is_date, form, _ = UNVERIFIABLE_FIELDS[field]
        assert form == "a date since 2000 and not in the future"
        for later, right in days.items():
            assert is_date((today + datetime.timedelta(days=later)).isoformat()) is right
        assert not any(map(is_date, ("9999-12-31", "0001-01-01", "1999-12-31", "20260101", "2026-W01-1", "", None, 5)))
