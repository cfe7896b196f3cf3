"""A long look at all rows, and the button that ends it, in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from pages.shell.ledger.reading_progress import READING, STOPPED
from tests.browser.release.test_drawn_once import House, press, ready
from tests.kit.browser import comes_true, watched_page
from tests.kit.rest import settled

pytestmark = pytest.mark.harness
SLOWLY = """
import dpcore.data.reading.tables, pages.shell.ledger.reading_progress
pages.shell.ledger.reading_progress.BLOCK = 1
packed = dpcore.data.reading.tables.Table.packed
def slowly(table, columns):
    for row in packed(table, columns):
        time.sleep(0.1 * pathlib.Path({gate!r}).exists())
        yield row
dpcore.data.reading.tables.Table.packed = slowly
"""


def test_comparing_rows_is_stopped_and_gone_on_with(browser: Browser, tmp_path: Path) -> None:
    house = House(tmp_path)
    begin, rest = house.app.read_text(encoding="utf-8").split("\nimport asyncio", 1)
    house.app.write_text(f"{begin}{SLOWLY.format(gate=str(house.gate))}\nimport asyncio{rest}", encoding="utf-8")
    with house.running(), watched_page(browser) as page, watched_page(browser) as other:
        ready(house.came(page))
        house.gate.touch()
        house.admitted(other)
        expect(other.get_by_text(READING)).to_be_visible()
        other.get_by_role("button", name="Stop comparing").click()
        expect(other.get_by_text(STOPPED)).to_be_visible()
        assert comes_true(lambda: not other.get_by_text(READING).count(), page=other)
        expect(other.get_by_text("The budget spent is not known.")).to_be_visible()
        house.gate.unlink()
        press(settled(other), "Continue")  # as the page comes, its head grows and what is below it moves
        expect(settled(other).get_by_text("Spent ε 0 of 2, left 2")).to_be_visible()
    assert "Traceback" not in house.log.read_text()
