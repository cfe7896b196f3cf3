"""Controls that stand in the link, and what restores them: from page to page, and after Back or Forward."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.shell.addresses import DATA_OF_REMOVED_VIEWS, REMOVED_VIEWS, RENAMED_VIEWS
from pages.shell.server import streamlit_internals
from pages.shell.state import SessionKey, drop, set_controls

PAGE = SessionKey[str | None]("page", None)
"""Address of the page that is shown."""
LINKED_KEYS = SessionKey[set[str]]("linked", set())
"""Keys of all controls that stood in this session's links."""
LINKED_VALUES = SessionKey[dict[str, Any]]("carried", {})
"""Last values of these controls, except default values."""
CHOICES = SessionKey[set[str]]("choices", set())
"""Keys of choices that Streamlit does not bind to the link."""
FOLLOWED = SessionKey[dict[str, str]]("followed", {})
"""The sample in use when a page with its own choices of data was opened last, by the key of the choice."""


def in_link(key: str) -> str:
    """Return the key of a control that stands in the link: only such controls keep their value elsewhere."""
    linked_keys().add(key)
    return key


def to_link(key: str) -> None:
    """Write a control's value into the link; for a callback: Streamlit forgets the link of a control that moved."""
    set_controls({key: SessionKey[Any](key, None).value})


def linked_keys() -> set[str]:
    """Return the keys of the controls that stood in this session's links."""
    return LINKED_KEYS.setdefault(set())


def linked_values() -> dict[str, Any]:
    """Return the last values of the controls in the link, except default values."""
    return LINKED_VALUES.setdefault({})


def control_value(key: str, default: Any) -> Any:
    """Return the value of a control that stands in the link, here or on the last page that had it."""
    return SessionKey(key, linked_values().get(key, default)).value


def restore_from_link(page: str) -> None:
    """On a new page, set controls to their values in the last link: Streamlit drops those that were never moved."""
    if PAGE.value != page:
        streamlit_internals.remove_own_uploads()  # files that the last page received and did not read to the end
        PAGE.value = page
        _restore_removed_parameters()
        read_choices_again()
        set_controls({key: value for key, value in linked_values().items() if key not in st.query_params})
    elif streamlit_internals.is_history_navigation():
        drop(*CHOICES.value)


def open_views_of_old_links() -> None:
    """Have an old link open the view that has another name now, and for a view that is gone its page with its data."""
    renamed = {key: new for (key, old), new in RENAMED_VIEWS.items() if st.query_params.get(key) == old}
    if renamed:
        streamlit_internals.remove_parameters(renamed)
        set_controls(renamed)
    removed = [tab for tab, names in REMOVED_VIEWS.items() if st.query_params.get(tab) in names]
    if removed:
        streamlit_internals.remove_parameters(removed)
        st.query_params["data"] = DATA_OF_REMOVED_VIEWS


def read_choices_again() -> None:
    """Have the choices that a followed link names read it; otherwise the session would keep their last values."""
    values = st.query_params.to_dict()
    drop(*(key for key in CHOICES.value & set(values) if SessionKey[Any](key, None).value != values[key]))


def reset_on_history(key: str) -> None:
    """Have Back and Forward on the same page read a choice from the link again, although it is not bound to it."""
    CHOICES.setdefault(set()).add(key)


def _restore_removed_parameters() -> None:
    """After Back or Forward, restore the parameters of controls that the page just left had too.

    Streamlit removes such names as leftovers of that page; here they are the settings of the page that is restored.
    """
    if not streamlit_internals.is_history_navigation():
        return
    requested = streamlit_internals.requested_parameters()
    removed = {key: requested[key] for key in linked_keys() & set(requested) if key not in st.query_params}
    if removed:
        streamlit_internals.restore_parameters(removed)


def remember_link() -> None:
    """Store the values of the controls that stand in the link now; called after the page.

    A link may name any key, also that of the held file, whose value must not be stored here.
    """
    parameters, values = st.query_params.to_dict(), linked_values()
    for key in linked_keys() & {*parameters, *values}:  # few: looking at every control takes a millisecond
        control = SessionKey[Any](key, None)
        if not control.is_set:
            continue
        if key in parameters:
            values[key] = control.value
        else:
            values.pop(key, None)
