"""Style sheets whose rules the browser need not try on every element, at every change of a picture."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGES = Path(__file__).resolve().parents[2] / "pages"
SLOW = re.compile(r"(?:^|[\s>+~,{}*]|\.stMain):has\(", re.MULTILINE)
"""Asks what is inside any element whatsoever, or anywhere on the page."""


def test_what_is_inside_is_asked_of_named_elements() -> None:
    sheets = [path for kind in ("*.css", "*.py") for path in PAGES.rglob(kind)]
    assert [path.name for path in sheets if SLOW.search(path.read_text(encoding="utf-8"))] == []
    assert sum(":has(" in path.read_text(encoding="utf-8") for path in sheets) > 5


@pytest.mark.parametrize("rule", ["nav > :has(> a)", ".a *:has(b)", ".stMain:has(.b) .c", ":has(p)"])
def test_rules_that_were_slow_are_found(rule: str) -> None:
    assert SLOW.search(rule)
