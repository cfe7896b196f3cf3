"""Keys of a session's state: text with a type and a default, which no session shares."""

from __future__ import annotations

import pytest

from pages.shell.state import SessionKey, drop, set_controls


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    found: dict[str, object] = {}
    monkeypatch.setattr("streamlit.session_state", found)
    return found


def test_a_value_is_set_read_and_removed(state: dict[str, object]) -> None:
    turn = SessionKey("turn", 1)
    assert turn.value == 1 and not turn.is_set and not state
    turn.value += 1
    assert turn.is_set and state == {"turn": 2}
    assert turn.pop() == 2 and turn.pop() == 1 and not state
    assert turn.setdefault(5) == 5 and turn.setdefault(6) == 5
    turn.set(0)
    assert turn.value == 0 and turn.is_set, "what is false is set too"
    set_controls({turn: 3, "other": 4})
    drop(turn, "other", "unknown")
    assert not state


def test_no_session_changes_the_default_of_another(state: dict[str, object]) -> None:
    names = SessionKey[set[str]]("names", set())
    names.value.add("Ada")
    names.pop().add("Bob")
    assert names.value == set() and names.default == set() and not state
    names.setdefault(set()).add("Eve")
    assert state == {"names": {"Eve"}}
