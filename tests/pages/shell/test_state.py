"""Keys of a session's state: text with a type and a default, which no session shares."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

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


def _whole_of_other_data() -> None:
    import streamlit as st

    from pages.shell.controls import whole
    from pages.shell.state import set_controls

    most = st.session_state.get("most", 8)
    if "kept" in st.session_state:
        set_controls({"attributes": st.session_state["kept"]})
    st.write(str(whole("Attributes", 2, most, most, key="attributes")))


@pytest.mark.parametrize(("kept", "shown"), [(8, 3), (1, 2), (3, 3)])
def test_a_value_kept_from_other_data_moves_into_the_range_of_these(kept: int, shown: int) -> None:
    app = AppTest.from_function(_whole_of_other_data)
    app.session_state["most"], app.session_state["kept"] = 3, kept
    app.run()
    assert not app.exception and app.markdown[0].value == str(shown)
