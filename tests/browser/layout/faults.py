"""Words and controls that are cut, lie on each other or are too small, on a page as it is."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

FAULTS = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


def faults(page: Page) -> list[str]:
    """Return what is wrong: the kind of each fault, the words, and the key of the part they are in."""
    found: list[str] = page.evaluate(FAULTS)
    return found
