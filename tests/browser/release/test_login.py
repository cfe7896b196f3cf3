"""Persons log in with a provider of their own, in Chromium: what a reader, an analyst and a steward see and may do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from dprelease.ledger.checks import check
from dprelease.ledger.store import Ledger
from launch import LOCALHOST
from pages.release.login import LOG_IN, NOTHING
from pages.release.results import NOT_YET
from tests import ROOT
from tests.browser.release.provider import CLIENT, provider
from tests.browser.release.test_drawn_once import press, ready
from tests.browser.test_shell import process_of
from tests.kit.browser import opened_tab, own_port
from tests.kit.ledgers import spend
from tests.kit.rest import settled

ADA, GRACE, EVE, MALLORY = "ada@example.org", "grace@example.org", "eve@example.org", "bob@example.org"
SECRETS = """
[auth]
redirect_uri = "{here}/oauth2callback"
cookie_secret = "a secret of a test, long enough to sign with"
client_id = "{client}"
client_secret = "another"
server_metadata_url = "{there}/.well-known/openid-configuration"

[roles]
stewards = ["{ada}", "{mallory}"]
analysts = ["{grace}"]
"""
pytestmark = pytest.mark.full


@contextmanager
def logged_in(browser: Browser, here: str, who: str) -> Iterator[Page]:
    """A browser of somebody's, at Release, where no token is asked for."""
    with opened_tab(browser) as tab:
        page = tab.page
        page.goto(f"{here}/release?data=penguins.body_mass_g")
        settled(page)
        expect(page.get_by_text(LOG_IN)).to_be_visible()
        page.get_by_role("button", name="Log in").click()
        page.get_by_role("link", name=who).click()
        page.wait_for_url(f"{here}/**")
        page.goto(f"{here}/release?data=penguins.body_mass_g")
        settled(page)
        yield page


def test_a_reader_an_analyst_and_a_steward_log_in_and_do_what_they_may(browser: Browser, tmp_path: Path) -> None:
    port, log = own_port(), tmp_path / "server.log"
    here, ledger = f"http://{LOCALHOST}:{port}", Ledger(tmp_path / "ledger")
    with provider(ADA, GRACE, EVE, MALLORY, unverified=MALLORY) as there:
        settings = tmp_path / ".streamlit" / "secrets.toml"
        settings.parent.mkdir()
        settings.write_text(
            SECRETS.format(here=here, there=there.address, client=CLIENT, ada=ADA, grace=GRACE, mallory=MALLORY)
        )
        variables = {"HOME": str(tmp_path), "DPSCOPE_LEDGER": str(ledger.folder), "DPSCOPE_TOKEN": "token"}
        with process_of(ROOT / "app.py", port=port, log=log, NO_PROXY=LOCALHOST, **variables):
            with logged_in(browser, here, MALLORY) as page:
                expect(page.get_by_text(LOG_IN)).to_be_visible()  # of an address that nobody verified
                assert not ledger.folder.exists()
            with logged_in(browser, here, EVE) as page:
                expect(page.get_by_text(f"{EVE}, viewer")).to_be_visible()
                expect(page.get_by_text(NOTHING)).to_be_visible()
                expect(page.get_by_role("button", name="Register")).to_have_count(0)
            with logged_in(browser, here, ADA) as steward:
                press(ready(steward), spend("1"))
                expect(steward.get_by_text("Entry 1, charged ε 1. Not published.")).to_be_visible()
                with logged_in(browser, here, GRACE) as page:
                    expect(page.get_by_text(f"{GRACE}, analyst")).to_be_visible()
                    expect(page.get_by_text(NOT_YET)).to_be_visible()
                    for name in ("Publish, free", "Download the release (zip)", "Register"):
                        expect(page.get_by_role("button", name=name)).to_have_count(0)
                    press(page, "Release again, ε 1")
                    press(page, "Test run, free")
                    press(page, spend("1"))
                    expect(page.get_by_text("Entry 2, charged ε 1. Not published.")).to_be_visible()
                    page.get_by_role("button", name="Log out").click()
                    page.wait_for_url(lambda url: "/release" not in url)  # it goes to the first page
                    settled(page)
                    page.goto(f"{here}/release")
                    expect(page.get_by_text(LOG_IN)).to_be_visible()
                press(steward, "Publish, free")
                (dataset_id,) = ledger.dataset_ids()
                assert [each.published for each in ledger.stored(dataset_id)] == [True, False]
            with logged_in(browser, here, EVE) as page:
                expect(page.get_by_text("Entry 1, charged ε 1. Published.")).to_be_visible()
                expect(page.get_by_text("Entry 2")).to_have_count(0)
    assert [each.body["by"] for each in ledger.stored(dataset_id)] == [ADA, GRACE] and not check(ledger, dataset_id)
    told = log.read_text()
    assert "Traceback" not in told and not any(who in told for who in (ADA, GRACE, EVE, MALLORY, "code="))
