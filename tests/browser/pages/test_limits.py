"""Limits in a real browser: a newcomer's way from Start, a large attack, a class of one's own, a search stopped."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.kit.browser import Server, go_to, reopened, sentences, visit, watched_page
from tests.kit.rest import settled

CHARTS = ".dpscope-plot"


def expect_drawn(page: Page, *names: str) -> None:
    """Wait for each of these pictures."""
    for name in names:
        expect(page.locator(f".st-key-{name}_chart .dpscope-plot[data-drawn]")).to_be_visible()


@pytest.mark.full
def test_a_newcomer_guesses_and_sees(page: Page, server: Server) -> None:
    visit(page, server, "?n=1000&bits=6&trials=100")
    go_to(page, "limits-and-attacks")
    page.get_by_role("link", name="Can a private method find the median?").press("Enter")
    settled(page)
    expect(page.get_by_text("Guess first.")).to_be_visible()
    assert "hidden until you have guessed" in sentences(page)
    guess = page.get_by_role("slider", name="Your guess, in bits of the grid")
    guess.focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    settled(page)
    page.get_by_text("Show what happens").click()
    settled(page)
    expect_drawn(page, "median_success")
    told = sentences(page)
    assert "(you guessed 300)" in told and "The limit is at 144.4 bits" in told
    assert sentences(reopened(page)) == told


@pytest.mark.full
def test_the_wall_is_between_two_lessons(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/limits?lesson=odds&odds-shown=true&odds-prior=20")
    settled(page)
    assert "thinks it 20% likely" in sentences(page)
    page.get_by_role("link", name="All lessons").click()
    settled(page)
    page.get_by_role("link", name="Does protecting each row also hide the sample?").click()
    settled(page)
    assert "lesson=population" in page.url
    expect(page.get_by_role("heading", name="Does protecting each row also hide the sample?")).to_be_visible()
    page.go_back()
    settled(page)
    expect(page.get_by_role("link", name="Does protecting each row also hide the sample?")).to_be_visible()
    assert "lesson" not in page.url


@pytest.mark.full
@pytest.mark.parametrize("mechanism", ["identity", "subset-sums"])
def test_ten_thousand_people_are_attacked(page: Page, server: Server, mechanism: str) -> None:
    link = f"lesson=vc&vc-shown=true&vc-points=10000&vc-epsilon=10&vc-picture=One+attack&vc-mechanism={mechanism}"
    page.goto(f"{server.url}/limits?{link}")
    settled(page)
    expect(page.locator('[data-testid="stException"]')).to_have_count(0)
    expect_drawn(page, "vc_run")
    told = sentences(page)
    assert re.search(r"the attacker finds [\d,]+ of the 5,000 secret points", told)
    assert "the first 48 of 10,000 points are shown" in told


@pytest.mark.full
def test_a_newcomer_writes_a_class_and_is_told_what_is_wrong(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/limits?lesson=dimension&dimension-shown=true&dimension-class=own")
    settled(page)
    expect_drawn(page, "dimension_matrix")
    text = page.get_by_role("textbox", name=re.compile("One line per query, with one"))
    text.fill("0,0\n0,1\n1,0\n1,1")
    text.press("Control+Enter")
    settled(page)
    assert "Points 1, 2 are shattered" in sentences(page)
    text.fill("0,0\n0,secret")
    text.press("Control+Enter")
    settled(page)
    expect(page.get_by_text("Query 2, point 2: this is not a decimal number between 0 and 1.")).to_be_visible()
    expect(page.locator(CHARTS)).to_have_count(0)
    assert "secret" not in page.url


@pytest.mark.full
def test_a_long_attack_shows_progress_and_can_be_stopped(browser: Browser, server: Server) -> None:
    with watched_page(browser) as page:
        link = "lesson=subset&subset-shown=true&subset-people=500&subset-questions=2000&subset-method=sum"
        page.goto(f"{server.url}/limits?{link}")
        expect(page.get_by_text("Solving for the bits with more and more answers.")).to_be_visible()
        page.get_by_role("button", name="More settings").click()
        page.get_by_role("combobox", name=re.compile("Attack")).click()
        page.get_by_text("Least squares (at once)").last.click()
        settled(page)
        assert "the attack finds" in sentences(page)
        expect(page.get_by_text("Solving for the bits with more and more answers.")).to_have_count(0)
