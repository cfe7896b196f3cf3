"""Keys of a session's state: each is declared once, with the type of its value and the default of a value not set."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, Generic, Self, TypeVar

import streamlit as st

ValueT = TypeVar("ValueT")


class SessionKey(str, Generic[ValueT]):
    """A key of `st.session_state`, of a control or not; the text itself, so that a control may have it as its key.

    Attributes:
        default: the value where none is set. Sessions share it, so each is given a copy.

    >>> TURN = SessionKey("turn", 0)
    >>> TURN, TURN.value
    ('turn', 0)
    """

    default: ValueT

    def __new__(cls, key: str, default: ValueT) -> Self:
        """Declare a key with its default."""
        declared = super().__new__(cls, key)
        declared.default = default
        return declared

    @property
    def value(self) -> ValueT:
        """The value in this session."""
        value: ValueT = st.session_state.get(self, self.default)
        return copy(value) if value is self.default else value

    @value.setter
    def value(self, value: ValueT) -> None:
        st.session_state[self] = value

    @property
    def is_set(self) -> bool:
        """Whether this session has a value under the key."""
        return self in st.session_state

    def set(self, value: ValueT) -> None:
        """Set the value; for a callback."""
        self.value = value

    def pop(self) -> ValueT:
        """Remove the value and return it."""
        value = self.value
        drop(self)
        return value

    def setdefault(self, value: ValueT) -> ValueT:
        """Return the value, set to this one first where none is."""
        current: ValueT = st.session_state.setdefault(self, value)
        return current


def set_controls(values: Mapping[str, Any]) -> None:
    """Set controls by their keys; before they are drawn, or in a callback."""
    for key, value in values.items():
        st.session_state[key] = value


def drop(*keys: str) -> None:
    """Remove values by their keys, in this order."""
    for key in keys:
        st.session_state.pop(key, None)


def drop_all(prefix: str) -> None:
    """Remove the values of all keys that begin with a text."""
    drop(*(str(key) for key in st.session_state if str(key).startswith(prefix)))
