"""What a browser's tab stores of a session, so that a reload does not lose it: public texts of the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pages.charts.script import declare_component
from pages.data.picker import OWN_FILE
from pages.data.upload import FORGOTTEN
from pages.shell.state import SessionKey

DESCRIPTION_ITEM, PLAN_ITEM = "dpscope-description", "dpscope-plan"
"""Names in the tab's storage: of a description of the user's file, and of plans, with their table's key behind it."""
_storage = declare_component(
    "dpscope.tab", js=(Path(__file__).resolve().parent / "tab_storage.js").read_text(encoding="utf-8")
)


@dataclass(frozen=True, kw_only=True)
class TabItem:
    """A text in the tab's storage.

    Attributes:
        item: its name there.
        key: of its component, and of what a session notes on it.
        name: of the table that the text is about: it is restored for this one alone.
    """

    item: str
    key: str
    name: str

    @property
    def may_restore(self) -> SessionKey[bool]:
        """Whether the session still has no text of its own."""
        return SessionKey(f"{self.key}-restore", True)

    def store(self, text: str, *, at_most: int, on_restored: Callable[[str], None]) -> None:
        """Store a text, or remove it; if the session has had none yet, restore the stored one.

        Args:
            text: the text; empty where there is none now.
            at_most: number of characters; a longer text is not stored.
            on_restored: a callback with the stored text; "" if something else is stored, which may be anything.
        """
        if text:
            self.may_restore.value = False
        text = text if len(text) <= at_most else ""
        _storage(
            key=self.key, on_restored_change=lambda: self._receive(on_restored),
            data={"item": self.item, "name": self.name, "text": text, "restore": self.may_restore.value},
        )  # fmt: skip

    def _receive(self, on_restored: Callable[[str], None]) -> None:
        stored = SessionKey[Any](self.key, None).value.restored
        if self.may_restore.value:
            self.may_restore.value = False
            on_restored(stored if isinstance(stored, str) else "")


def clear_stored() -> None:
    """Remove what the tab stores about the user's file if the file was removed in this session."""
    if FORGOTTEN.value:
        for item in (DESCRIPTION_ITEM, f"{PLAN_ITEM}-{OWN_FILE}"):
            _storage(key=f"clear-{item}", data={"item": item, "restore": False})
