"""Every lesson is one screen: guess, picture and theorem side by side, and its link reopens it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from pages.learn.view import LESSONS, PRINTED, TEACHERS, THEOREMS
from tests.cases import full_but
from tests.kit.browser import PHONE, Server, reopened, sentences, sound, visible_words, visit
from tests.kit.rest import settled

SCREEN = ViewportSize(width=1280, height=900)
MOST, LESSON = 250, 220
ROOM = "document.querySelector('[data-testid=stMain]').scrollHeight - window.innerHeight"
IN_SIGHT = """selectors => selectors.map(selector => {
    const box = document.querySelector(selector).getBoundingClientRect();
    return box.width > 0 && box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth;
})"""
FORMULAS = """() => [...document.querySelectorAll('.st-key-lesson_theorem .katex-display')].map(
    each => each.scrollWidth <= each.clientWidth)"""
TOPS = "selectors => selectors.map(each => document.querySelector(each).getBoundingClientRect().top)"
PARTS = (
    ".st-key-lesson [data-testid=stSlider], .st-key-lesson [data-testid=stRadio]",
    ".st-key-lesson .dpscope-plot",
    ".st-key-lesson_theorem .katex-display",
)


def on_one_screen(page: Page) -> None:
    """Fail if anything must be scrolled to, or a part of the lesson is out of sight."""
    assert page.evaluate(ROOM) <= 0
    assert page.evaluate(IN_SIGHT, list(PARTS)) == [True] * len(PARTS)
    formulas = page.evaluate(FORMULAS)
    assert formulas and all(formulas), "a formula is cut off"
    assert len(words := visible_words(page)) <= LESSON, f"{len(words)} words"


def shown(page: Page, server: Server, lesson: str) -> str:
    """Open a lesson, and show what happens; what its pictures say then."""
    visit(page, server, f"learn?lesson={lesson}")
    on_one_screen(page)
    assert "hidden until you have guessed" in sentences(page)
    page.get_by_text("Show what happens", exact=True).click()
    settled(page)
    on_one_screen(page)
    after = sentences(page)
    assert "hidden" not in after and f"{lesson}-shown=true" in page.url
    return after


@pytest.mark.parametrize("viewport", [SCREEN], ids=["screen"])
@pytest.mark.parametrize("lesson", full_but(LESSONS, *list(LESSONS)[::3]))
def test_a_lesson_is_one_screen_and_its_link_reopens_it_on_a_phone(page: Page, server: Server, lesson: str) -> None:
    after = shown(page, server, lesson)
    sound(page)
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    assert sentences(reopened(page)) == after or lesson == "low-bits"  # its secure draws are never the same
    sound(page)
    assert len(words := visible_words(page)) <= LESSON, f"{len(words)} words on a phone"
    places = page.evaluate(TOPS, [".st-key-lesson_guess", ".st-key-lesson_told", ".st-key-lesson .dpscope-plot"])
    assert places == sorted(places), "what happens is out of sight of whoever asked to see it"


@pytest.mark.full
@pytest.mark.parametrize("viewport", [PHONE], ids=["phone"])
@pytest.mark.parametrize("link", ["", *(f"?lesson={each}" for each in (TEACHERS, PRINTED, THEOREMS))])
def test_the_wall_fits_a_phone(page: Page, server: Server, link: str) -> None:
    visit(page, server, f"learn{link}")
    sound(page)
    assert len(visible_words(page)) <= MOST


def test_a_card_is_opened_by_a_click_on_its_drawing_and_by_the_keyboard(page: Page, server: Server) -> None:
    visit(page, server, "learn")
    path = page.locator(".st-key-lesson_path a").evaluate_all("links => links.map(link => link.offsetTop)")
    assert len(path) > 5 and len(set(path)) == 1, "the path is one line"
    page.locator(".st-key-card_odds img").click(force=True)  # what lies above it is the link
    settled(page)
    assert "lesson=odds" in page.url
    page.go_back()
    settled(page)
    link = page.get_by_role("link", name=LESSONS["subset"].question)
    link.focus()
    expect(link).to_be_focused()
    page.keyboard.press("Enter")
    settled(page)
    expect(page.get_by_role("heading", name=LESSONS["subset"].question)).to_be_visible()


def test_tiles_of_an_attack_turn_by_themselves_and_are_all_there_with_reduced_motion(
    page: Page, server: Server
) -> None:
    link = "learn?lesson=attack-me&attack-me-shown=true"
    shown = visit(page, server, link, "attackme_bits_chart").locator(".dpscope-shown")
    expect(shown).to_have_text("16 of 16 people")
    page.emulate_media(reduced_motion="no-preference")
    page.goto(f"{server.url}/{link}")
    expect(shown).to_have_text(re.compile("^[1-9] of 16"), timeout=30_000)
    expect(shown).to_have_text("16 of 16 people")
    expect(page.locator(".dpscope-play")).to_have_text("Play")
