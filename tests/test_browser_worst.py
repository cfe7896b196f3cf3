"""The possible/impossible map in a real browser: no word crosses the promise, and equal errors are seen."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from dpcore.figures.figure import LIGHT
from tests.browser import DESKTOP, PHONE, Server, settled

CHARTS = '[data-testid="stVegaLiteChart"]'
CROSSED = """(chart, colour) => {
    const line = chart.querySelector(`.mark-rule line[stroke="${colour}"]`).getBoundingClientRect();
    const words = [...chart.querySelectorAll('.mark-text.role-mark text')]
        .map(word => [word, word.getBoundingClientRect()]);
    return [words.length, words.filter(([word, box]) => box.left < line.left && line.right < box.right
        && box.top < line.bottom && line.top < box.bottom).map(([word]) => word.textContent)];
}"""
DOTS = """(chart, colour) => [...chart.querySelectorAll(`.mark-symbol path[stroke="${colour}"]`)]
    .map(dot => dot.getBoundingClientRect()).map(box => Math.min(box.width, box.height))"""


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP], ids=["phone", "desktop"])
@pytest.mark.parametrize(
    "link",
    [
        "queries=linear&mechanism=linear-net&weights=ramps&bits=8",  # promised: all of n; all errors equal
        "queries=intervals&mechanism=net&bits=3",
        "queries=intervals&mechanism=gaussian",
        "queries=thresholds&mechanism=intervals-anchored&epsilon=0.05",
    ],
)
def test_words_keep_off_the_promise_and_dots_can_be_seen(
    page: Page, server: Server, link: str, viewport: ViewportSize
) -> None:
    page.goto(f"{server.url}/explore?{link}")
    settled(page)
    chart = page.locator(CHARTS).nth(2)
    expect(chart.locator(f'.mark-rule line[stroke="{LIGHT.theory}"]')).to_have_count(1)
    words, crossed = chart.evaluate(CROSSED, LIGHT.theory)
    assert words >= 2
    assert crossed == []
    dots = chart.evaluate(DOTS, LIGHT.released)
    assert len(dots) == 50
    assert min(dots) >= 4
