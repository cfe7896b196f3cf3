"""Text in a page of HTML: nothing in it is run, and nothing moves what stands beside it."""

from __future__ import annotations

from html import escape as escape_html

JOINERS = str.maketrans("", "", "\u200c\u200d")
"""Joiners of Persian letters and emoji, which are safe: they move no other character."""


def escape(text: str) -> str:
    """Return the text escaped for HTML; control characters and those that change a line's direction are replaced."""
    shown = text if text.isprintable() else "".join(c if c.translate(JOINERS).isprintable() else "\ufffd" for c in text)
    return escape_html(shown)
