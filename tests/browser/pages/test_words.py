"""Every page says little before anything is opened, and what it does not show is said to whoever cannot see."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from pages.learn.view import LESSONS
from tests.kit.browser import Server, visible_words, visit

LINKS = {
    "ranges-and-cells": "",
    "tables": "tables",
    "all-tables": "tables?view=All+tables+of+k+attributes",
    "one-number": "one-number",
    "subsamples": "one-number?robust=subsample_median",
    "mean": "one-number?robust=unbounded_mean",
    "conversation": "conversation",
    "data": "data",
    "generated": "data?way=Generated",
    "plan": "plan",
    "release": "release",
    "own-file": "data?way=My+own+file",
    "directions": "directions",
    "random-privacy": "random-privacy",
    "random-privacy-of-data": "random-privacy?sparse=data",
    **{lesson: f"learn?lesson={lesson}" for lesson in LESSONS},
    **{f"{lesson}-shown": f"learn?lesson={lesson}&{lesson}-shown=true" for lesson in LESSONS},
}
MOST, FEWEST = 250, 40
"""Words outside pictures and tables; with fewer the page did not open."""


@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
def test_a_page_says_little_before_anything_is_opened(page: Page, server: Server, link: str) -> None:
    visit(page, server, link)
    words = visible_words(page)
    assert FEWEST < len(words) <= MOST, f"{len(words)} words: {' '.join(words)}"


def test_the_sentence_of_a_picture_opens_and_describes_it(page: Page, server: Server) -> None:
    visit(page, server, "tables", "marginals_errors_chart")
    chart = page.locator(".st-key-marginals_errors_chart")
    sentence = chart.locator(".dpscope-sentence")
    expect(sentence).not_to_be_visible()
    expect(chart.locator(".dpscope-plot")).to_have_accessible_description(sentence.text_content() or "none")
    chart.get_by_text("In words").click()
    expect(sentence).to_be_visible()
    assert "95 in 100 of 3,000 queries err by at most" in sentence.inner_text()
