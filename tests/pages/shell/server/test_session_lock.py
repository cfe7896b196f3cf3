"""Runs of one session take turns with its state, which Streamlit leaves to chance when one run replaces another."""

from __future__ import annotations

import threading
from typing import Any

from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.runtime.state.common import WidgetMetadata

import app

A_WHILE = 0.2
"""Seconds in which a run that need not wait has long changed the state."""


class StoppedRunError(Exception):
    """Raised in a run that was stopped."""


def widget(name: str, deserialize: Any) -> WidgetMetadata[Any]:
    """Return what a widget tells the session of itself."""
    return WidgetMetadata(id=name, deserializer=deserialize, serializer=lambda value: value, value_type="int_value")


def test_a_stopped_run_leaves_the_state_to_the_next_one() -> None:
    assert app.app  # importing it sets the locks
    state, stopped, outcomes = SessionState(), threading.Event(), []

    def checkpoint() -> None:
        if stopped.is_set():
            raise StoppedRunError

    last, following = SafeSessionState(state, checkpoint), SafeSessionState(state, lambda: None)

    def late() -> None:
        try:
            last.register_widget(widget("late", lambda value: value or 0), None)
        except StoppedRunError:
            outcomes.append("stopped")

    thread = threading.Thread(target=late)

    def meanwhile(value: int | None) -> int:
        """Value of the typed widget, which the next run reads while it goes through all widgets."""
        if value and not thread.ident:
            thread.start()
            thread.join(A_WHILE)
            stopped.set()
        return value or 0

    following.register_widget(widget("typed", meanwhile), None)
    typed = WidgetStates()
    typed.widgets.add(id="typed", int_value=1)
    following.on_script_will_rerun(typed)  # Streamlit's: dictionary changed size during iteration
    thread.join()
    assert outcomes == ["stopped"]
    assert "late" not in state._new_widget_state.states
    assert following["typed"] == 1
