"""Home as it opens: it moves by itself until someone does anything, and fits one screen."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.kit.browser import Server, visit

SHOWN = ".st-key-data_chart .dpscope-shown"


@pytest.mark.parametrize("viewport", [ViewportSize(width=1280, height=900)], ids=["screen"])
def test_releases_follow_each_other_until_a_key_is_pressed_and_stand_still_with_reduced_motion(
    page: Page, server: Server
) -> None:
    visit(page, server, "", "data_chart")
    shown = page.locator(SHOWN)
    high, seen = page.get_by_test_id("stMain").evaluate("part => [part.scrollHeight, part.clientHeight]")
    assert high <= seen, f"{high} pixels high"
    expect(shown).to_have_text("release 1 of 20")
    page.emulate_media(reduced_motion="no-preference")
    page.goto(server.url)
    expect(shown).to_have_text("release 3 of 20", timeout=30_000)
    page.keyboard.press("Shift")
    expect(shown).to_have_text("release 1 of 20")
    page.wait_for_timeout(3_000)
    expect(shown).to_have_text("release 1 of 20")
