"""What only a browser does to a release: two clicks, a slider moved, two tabs, a closed tab, a killed server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen

import pytest
from playwright.sync_api import Browser, Page, expect

from dprelease.ledger.checks import check
from dprelease.ledger.store import Ledger
from launch import LOCALHOST
from tests.browser.release.gated import gated_app
from tests.browser.test_shell import process_of
from tests.kit.browser import comes_true, own_port, type_token, watched_page
from tests.kit.ledgers import spend
from tests.kit.rest import PATIENCE, settled

TOKEN = "token-of-a-test"
DRAWING = "Every stored result has a charge. An interrupted release keeps its charge and has no result."
LOST = 40.0
"""Seconds after which a draw that nobody goes on with is lost: one that goes on ends within two."""
pytestmark = pytest.mark.harness


class House:
    """An app whose draws can be held up, and its ledger."""

    def __init__(self, folder: Path, *, in_the_script: bool = False) -> None:
        self.folder, self.gate, self.log = folder, folder / "gate", folder / "server.log"
        self.app = gated_app(folder / "app", self.gate, in_the_script=in_the_script)
        self.port, self.ledger = own_port(), Ledger(folder / "ledger")

    @contextmanager
    def running(self) -> Iterator[Popen[bytes]]:
        """Its server; several after each other have one ledger."""
        variables = {"DPSCOPE_TOKEN": TOKEN, "DPSCOPE_LEDGER": str(self.ledger.folder)}
        with process_of(self.app, port=self.port, log=self.log, **variables) as process:
            yield process

    @property
    def dataset_id(self) -> str:
        (found,) = self.ledger.dataset_ids()
        return found

    def came(self, page: Page) -> Page:
        """A tab of the steward's."""
        self.admitted(page)
        expect(page.get_by_label("Token", exact=True)).to_have_count(0)
        return settled(page)

    def admitted(self, page: Page) -> None:
        """The same, while it is being worked out."""
        page.goto(f"http://{LOCALHOST}:{self.port}/release?data=penguins.body_mass_g")
        type_token(settled(page), TOKEN)

    def drew_once(self, page: Page, *, seconds: float = PATIENCE) -> None:
        """The check: one draw, charged, stored and shown."""
        ended = comes_true(lambda: not self.ledger.account(self.dataset_id).begun, page=page, seconds=seconds)
        assert ended, "it is lost"
        assert [line["kind"] for line in self.ledger.outcomes(self.dataset_id)] == ["stored"]
        assert not check(self.ledger, self.dataset_id)
        expect(page.get_by_text("Spent ε 1 of 2, left 1")).to_be_visible()


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).click()
    settled(page)


def ready(page: Page) -> Page:
    """One click before the charge."""
    for name in ("Register", "Test run, free"):
        if page.get_by_role("button", name=name).count():
            press(page, name)
    expect(page.get_by_role("button", name=spend("1"))).to_be_visible()
    return page


def clicked_and_moved(house: House, page: Page) -> None:
    """Two clicks and a slider, while the draw is held up."""
    house.gate.touch()
    page.get_by_role("button", name=spend("1")).dblclick()
    assert comes_true(lambda: bool(house.ledger.account(house.dataset_id).begun), page=page)
    page.get_by_role("slider", name="Privacy budget").focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_timeout(1500)
    house.gate.unlink()


def test_clicked_twice_moved_and_in_two_tabs_it_is_drawn_once(browser: Browser, tmp_path: Path) -> None:
    house = House(tmp_path)
    with house.running(), watched_page(browser) as page, watched_page(browser) as other:
        ready(house.came(page))
        ready(house.came(other))
        clicked_and_moved(house, page)
        expect(page.get_by_text("Spent ε 1 of 2, left 1")).to_be_visible()
        house.drew_once(page)
        # The other tab still shows its button; what it asks for is known, and costs nothing.
        button = other.get_by_role("button", name=spend("1"))
        if button.count():
            button.click()
        expect(other.get_by_text("Spent ε 1 of 2, left 1")).to_be_visible()
        expect(other.get_by_text("Entry 1, charged ε 1. Not published.")).to_be_visible()
        house.drew_once(other)
    assert "Traceback" not in house.log.read_text()


def test_a_page_that_draws_inside_its_script_is_caught(browser: Browser, tmp_path: Path) -> None:
    """The control of the test above."""
    house = House(tmp_path, in_the_script=True)
    with house.running(), watched_page(browser) as page:
        ready(house.came(page))
        clicked_and_moved(house, page)
        with pytest.raises(AssertionError, match="it is lost"):
            house.drew_once(page, seconds=LOST)


def test_a_closed_tab_changes_nothing_and_a_killed_server_charges_once(browser: Browser, tmp_path: Path) -> None:
    house = House(tmp_path)
    with browser.new_context() as context:
        with house.running() as process:
            page = ready(house.came(context.new_page()))
            house.gate.touch()
            page.get_by_role("button", name=spend("1")).click()
            expect(page.get_by_text(DRAWING)).to_be_visible()
            page.close()
            house.gate.unlink()
            assert comes_true(lambda: bool(house.ledger.outcomes(house.dataset_id)))
            page = house.came(context.new_page())
            expect(page.get_by_text("as entry 1. To see it again is free.")).to_be_visible()
            house.drew_once(page)
            # Another draw, and the server dies in it.
            press(page, "Release again, ε 1")
            press(page, "Test run, free")
            house.gate.touch()
            page.get_by_role("button", name=spend("1")).click()
            expect(page.get_by_text(DRAWING)).to_be_visible()
            assert comes_true(lambda: bool(house.ledger.account(house.dataset_id).begun))
            process.kill()
            process.wait()
            page.close()
        house.gate.unlink()
        with house.running():
            page = house.came(context.new_page())
            died = (
                "the release did not finish, and no result was shown. The cause "
                "may depend on the rows, so the charge stays."
            )
            expect(page.get_by_text(died).first).to_be_visible(timeout=PATIENCE * 1000)
            expect(page.get_by_text("Spent ε 2 of 2, left 0")).to_be_visible()
            press(page, "Machine failure: remove the charge")
            expect(page.get_by_text("Spent ε 1 of 2, left 1")).to_be_visible()
            outcomes = [line["kind"] for line in house.ledger.outcomes(house.dataset_id)]
            assert outcomes == ["stored", "machine failed"] and not check(house.ledger, house.dataset_id)
