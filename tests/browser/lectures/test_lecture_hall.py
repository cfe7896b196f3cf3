"""A lecture in its hall: five lessons on a projector, two phones that guess, and a handout that opens offline."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request, ViewportSize, expect

from pages.learn.view import LESSONS
from tests.browser.test_present import fits, whole
from tests.kit.browser import PHONE, Server, comes_true, sound, visit, watched_page
from tests.kit.rest import settled

FIVE = ("odds", "margins", "attack-me", "subset", "median")
PLAN = f"learn?lesson=lecture&lecture={'.'.join(FIVE)}"
PROJECTOR = ViewportSize(width=1024, height=768)


def code_for_phones(page: Page) -> str:
    """The address in the code beside the picture."""
    picture = page.get_by_role("img", name="QR code of the page for guesses")
    return page.get_by_role("link").filter(has=picture).get_attribute("href") or ""


def guess(phone: Page, key: str, times: int, button: str) -> None:
    """Move the slider of a phone, and send what it says."""
    phone.get_by_role("slider").focus()
    for _ in range(times):
        phone.keyboard.press(key)
    settled(phone)
    phone.get_by_role("button", name=button).click()
    settled(phone)
    expect(phone.get_by_text("Your guess is in.")).to_be_visible()


def next_question(phone: Page, words: str) -> None:
    """Wait until a phone has seen that the lecture went on."""
    assert comes_true(lambda: words in phone.locator(".stMain").inner_text(), page=phone, seconds=60)
    settled(phone)


@pytest.mark.parametrize("viewport", [PROJECTOR], ids=["projector"])
def test_five_lessons_are_walked_and_two_phones_guess(page: Page, browser: Browser, server: Server) -> None:
    visit(page, server, PLAN)
    sound(page)
    page.get_by_role("link", name="Present the lecture").click()
    settled(page)
    page.get_by_role("button", name="Ask the class").click()
    settled(page)
    address = code_for_phones(page)
    assert re.fullmatch(rf"{re.escape(server.url)}/learn\?room=[\w-]{{16}}", address)
    expect(page.get_by_text("The link works on this machine only. Phones cannot open it.")).to_be_visible()
    with watched_page(browser, viewport=PHONE) as one, watched_page(browser, viewport=PHONE) as other:
        for phone in (one, other):
            phone.goto(address)
            settled(phone)
            sound(phone)
            for hidden in ("stHeader", "stTopNav", "stSidebar"):
                expect(phone.get_by_test_id(hidden)).not_to_be_visible()
            expect(phone.locator("a:not([href^='#'])").locator("visible=true")).to_have_count(0)
            expect(phone.get_by_role("slider")).to_have_count(1)
            expect(phone.get_by_role("button").locator("visible=true")).to_have_count(1)
        guess(one, "ArrowLeft", 10, "Send my guess")
        guess(other, "ArrowRight", 10, "Send my guess")
        guess(other, "ArrowRight", 10, "Change my guess")
        expect(page.get_by_text("2 guesses are in")).to_be_visible()
        expect(page.locator(".dpscope-class")).to_have_count(0)
        for place, lesson in enumerate(FIVE):
            assert f"lesson={lesson}" in page.url and "present=1" in page.url
            expect(page.locator(".st-key-presentation h1")).to_have_text(LESSONS[lesson].question)
            fits(settled(page))
            page.get_by_test_id("stCheckbox").get_by_text("Show what happens").click()
            settled(page)
            whole(page)
            if place == 0:
                picture = page.locator("img.dpscope-class")
                expect(picture).to_be_visible()
                told = "2 guesses of the class; the middle one is 55. The lesson shows 23.2."
                assert picture.get_attribute("alt") == told
                next_question(one, "The class guess is closed")
            if lesson != FIVE[-1]:
                page.mouse.move(0, 0)
                page.get_by_role("link", name=f"Next ({place + 2} of 5)").click()
                settled(page)
            if place == 0:
                next_question(one, "How many of the 20 intervals")
                guess(one, "ArrowLeft", 1, "Send my guess")
                expect(page.get_by_text("1 guess is in")).to_be_visible()
        page.get_by_role("link", name="← Back").click()
        settled(page)
        assert f"lesson={FIVE[3]}" in page.url
    name = address.rpartition("=")[2]
    assert name not in server.log.read_text(errors="replace"), "a room's name is in no log"


def test_the_handout_opens_without_a_network(page: Page, browser: Browser, server: Server, tmp_path: Path) -> None:
    visit(page, server, PLAN)
    page.get_by_role("button", name="Make the handout").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the handout (HTML)").click()
    path = tmp_path / "lecture.html"
    download.value.save_as(path)
    context = browser.new_context(offline=True, java_script_enabled=False)
    try:
        paper, asked = context.new_page(), list[str]()

        def note(request: Request) -> None:
            asked.append(request.url)

        paper.on("request", note)
        paper.goto(path.as_uri())
        assert asked == [path.as_uri()], "the file alone"
        expect(paper.locator("script, link, img, iframe")).to_have_count(0)
        expect(paper.locator("svg")).to_have_count(2 * len(FIVE))
        for lesson in FIVE:
            expect(paper.get_by_role("heading", name=LESSONS[lesson].question)).to_have_count(2)
        for drawing in paper.locator("svg").all():
            box = drawing.bounding_box()
            assert box and box["width"] > 300 and box["height"] > 150
        formula = paper.locator("math[display=block]").first.bounding_box()
        assert formula and formula["height"] > 20, "typeset, not text"
        results = paper.get_by_role("heading", name="Results").bounding_box()
        last = paper.locator("ol").last.bounding_box()
        assert results and last and results["y"] > last["y"]
    finally:
        context.close()


@pytest.mark.parametrize("viewport", [PHONE], ids=["phone"])
def test_a_lecture_is_planned_on_a_phone(page: Page, server: Server) -> None:
    visit(page, server, "learn?lesson=lecture&lecture=odds.audit")
    sound(page)
    page.get_by_text("2. Is this privacy claim true?").click()
    settled(page)
    page.get_by_role("button", name="Move up").click()
    settled(page)
    assert "lecture=audit.odds" in page.url
    page.get_by_role("combobox", name="Lessons, in this order").fill("median")
    page.get_by_role("option").first.click()
    settled(page)
    assert "lecture=audit.odds.median" in page.url
    assert page.get_by_test_id("stMain").evaluate("part => part.scrollWidth") <= PHONE["width"]
