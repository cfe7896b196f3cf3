"""Ask in a real browser: a question, an analyst with progress, a refusal; the link reopens it; nothing spills."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.kit.browser import Server, every_view_is_sound, on_screens, press_button, reopened, see, visit
from tests.kit.rest import settled

pytestmark = pytest.mark.full

CHARTS = ".dpscope-plot"
METRICS = '[data-testid="stMetricValue"]'


def opened(page: Page, server: Server, link: str) -> Page:
    """The page at rest."""
    visit(page, server, link)
    expect(page.get_by_role("heading", name="Your query")).to_be_visible()
    return page


def metrics(page: Page) -> list[str]:
    """Free, paid, refused, price."""
    return [text.strip() for text in page.locator(METRICS).all_inner_texts()]


def test_a_question_an_analyst_and_the_same_again_by_link(page: Page, server: Server) -> None:
    opened(page, server, "ask?data=earnings.earnings&ask=weights&ask-updates=10&ask-questions=60")
    assert metrics(page) == ["0", "0 of 10", "0", "ε = 1"]
    slider = page.get_by_role("slider", name=re.compile("How many rows are below"))
    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    press_button(page, "Ask")
    expect(page.get_by_text(re.compile("^Query 1, below 49.7"))).to_be_visible()
    press_button(page, "Let an analyst ask 50 queries")
    free, paid, declined, _ = metrics(page)
    assert int(free) + int(paid.split(" of ")[0]) + int(declined) == 51
    expect(page.locator(CHARTS)).to_have_count(4)
    press_button(page, "Start over")
    press_button(page, "Let an analyst ask 50 queries")
    before = metrics(page)
    assert "ask-updates=10" in page.url and "ask=weights" in page.url
    press_button(reopened(page), "Let an analyst ask 50 queries")
    assert metrics(page) == before, "the link brings back settings and seed, so the noise too"
    # Another ε begins anew.
    page.get_by_role("slider", name="Privacy budget ε").focus()
    page.keyboard.press("ArrowLeft")
    settled(page)
    expect(page.get_by_text("The settings changed, so a new conversation began.")).to_be_visible()
    assert metrics(page)[:3] == ["0", "0 of 10", "0"]


@on_screens("link", ("ask?data=pets.species&ask=weights&ask-updates=1",), ("ask",))
def test_every_state_is_accessible_and_fits(page: Page, server: Server, link: str) -> None:
    opened(page, server, link)
    press_button(page, "Let an analyst ask 50 queries")
    expect(page.get_by_role("heading", name="Worst error: guaranteed and observed")).to_be_visible()
    see(page, "The conversation")
    expect(page.get_by_role("heading", name="Error of every answer")).to_be_visible()
    assert int(metrics(page)[2]) > 0 or "pets" not in link, "a refusal is one of the states"
    every_view_is_sound(page)
