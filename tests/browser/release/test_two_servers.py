"""Two processes of the app, with a ledger in one database: two presses are one draw and one charge."""

from __future__ import annotations

from copy import copy
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from dprelease.ledger.stores.selection import ADDRESS
from tests.browser.release.test_drawn_once import DRAWING, House, ready
from tests.dprelease.engines.values import running_postgres
from tests.kit.browser import comes_true, own_port, watched_page
from tests.kit.ledgers import spend

pytestmark = pytest.mark.engines


def test_pressed_at_two_servers_it_is_drawn_once(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = House(tmp_path)
    other = copy(house)
    other.port = own_port()
    with running_postgres() as (address, _):
        monkeypatch.setenv(ADDRESS, address)
        with house.running(), other.running(), watched_page(browser) as one, watched_page(browser) as two:
            ready(house.came(one))
            ready(other.came(two))
            house.gate.touch()
            for page in (one, two):
                page.get_by_role("button", name=spend("1")).click()
                expect(page.get_by_text(DRAWING)).to_be_visible()
            assert comes_true(lambda: bool(house.ledger.account(house.dataset_id).begun), page=one)
            one.wait_for_timeout(1000)
            house.gate.unlink()
            for page in (one, two):
                house.drew_once(page)
                expect(page.get_by_text("Entry 1, charged ε 1. Not published.")).to_be_visible()
            ledger = house.ledger.folder
            assert sorted(path.name for path in ledger.iterdir()) == ["fingerprint.key", "postgres-dpscope"]
    assert "Traceback" not in house.log.read_text()
