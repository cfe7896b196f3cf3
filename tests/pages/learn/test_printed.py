"""What the papers print: a table for every system at the settings in the link, and the page that runs it."""

from __future__ import annotations

import pytest

from pages.learn.printed import SYSTEMS
from tests.pages.drawn import drawn
from tests.pages.opening import opened, sound


@pytest.mark.full
@pytest.mark.parametrize("system", SYSTEMS)
def test_every_system_has_its_table_and_its_settings_can_be_used(system: str) -> None:
    app = sound(opened("learn/page.py", lesson="printed", printed_system=system))
    assert not app.warning and not app.error
    table = next(each.value for each in app.markdown if each.value.startswith("| number"))
    lines = table.split("\n")[2:]
    assert len(lines) >= 3 and all(line.replace("\\|", "").count("|") == 5 for line in lines)
    (use,) = (each.proto for each in app.get("page_link") if each.proto.label == "Use these settings")
    link = dict(part.split("=") for part in use.query_string.split("&") if part)
    page = sound(opened(SYSTEMS[system][2], **link))
    assert not page.warning and drawn(page)
    for name, value in link.items():
        assert name == "lesson" or str(page.session_state[name]).removesuffix(".0") == value


def test_the_numbers_are_those_of_the_settings() -> None:
    link = {"printed_system": "intervals", "printed_alpha": "0.1", "printed_bits": "10"}
    app = sound(opened("learn/page.py", lesson="printed", **link))
    table = next(each.value for each in app.markdown if each.value.startswith("| number"))
    assert "| 7,745 | 27,879,391 |" in table and "| order only | 60,800 |" in table
