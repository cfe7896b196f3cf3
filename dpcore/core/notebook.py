"""Small tables that a notebook shows for an object instead of its ``repr``: public facts alone."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

SHOWN = 10
"""Lines of a longer table that a notebook shows."""


def html_facts(facts: Mapping[str, str]) -> str:
    """Return named facts as an HTML table of two columns; names and texts are escaped, empty ones left out.

    >>> html_facts({"unit": "rows", "note": "", "label": "<b>"})
    '<table><tr><th>unit</th><td>rows</td></tr><tr><th>label</th><td>&lt;b&gt;</td></tr></table>'
    """
    lines = (f"<tr>{_cell(name, 'th')}{_cell(text)}</tr>" for name, text in facts.items() if text)
    return f"<table>{''.join(lines)}</table>"


def html_lines(names: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return the first lines of a table as HTML, with how many more there are.

    >>> html_lines(["statistic"], [["mean"], ["count"]])
    '<table><tr><th>statistic</th></tr><tr><td>mean</td></tr><tr><td>count</td></tr></table>'
    """
    shown = "".join(f"<tr>{''.join(map(_cell, line))}</tr>" for line in lines[:SHOWN])
    more = len(lines) - SHOWN
    left = f'<tr><td colspan="{len(names)}">… and {more:,} more</td></tr>' if more > 0 else ""
    return f"<table><tr>{''.join(_cell(name, 'th') for name in names)}</tr>{shown}{left}</table>"


def _cell(text: str, tag: str = "td") -> str:
    return f"<{tag}>{html.escape(text)}</{tag}>"
