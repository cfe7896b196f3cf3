"""The possible/impossible map in a real browser: no word crosses the promise, and every dot can be seen."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from pages.charts.palette import LIGHT
from tests.kit.browser import DESKTOP, PHONE, Server, visit

pytestmark = pytest.mark.full

PROMISE = """(chart, colour) => [...chart.querySelectorAll('.shapelayer path')]
    .filter(path => getComputedStyle(path).stroke === colour)"""
CROSSED = f"""(chart, colour) => {{
    const line = ({PROMISE})(chart, colour)[0].getBoundingClientRect();
    const words = [...chart.querySelectorAll('.annotation-text')].map(word => [word, word.getBoundingClientRect()]);
    return [words.length, words.filter(([word, box]) => box.left < line.left && line.right < box.right
        && box.top < line.bottom && line.top < box.bottom).map(([word]) => word.textContent)];
}}"""
DOTS = """chart => [...chart.querySelectorAll('.scatterlayer .points path')]
    .map(dot => dot.getBoundingClientRect()).map(box => Math.min(box.width, box.height))"""
THEORY = "rgb({}, {}, {})".format(*bytes.fromhex(LIGHT.roles["theory"].removeprefix("#")))


@pytest.mark.parametrize(
    ("link", "key", "viewport"),
    [
        pytest.param(link, key, viewport, id=f"{link}-{name}")
        for link, key in (
            [
                ("?card=wrong", "worst_chart"),
                ("?card=wrong&epsilon=0.02&bits=8", "worst_chart"),  # vacuous
                ("marginals?cube-rows=10000&cube-attributes=24", "marginals_worst_chart"),
                ("marginals?cube-rows=1000&cube-attributes=12&epsilon=0.05", "marginals_worst_chart"),  # vacuous
                ("?card=wrong&queries=thresholds&mechanism=gaussian", "worst_chart"),
                ("?card=wrong&mechanism=sparse_histogram&epsilon=4&trials=200", "worst_chart"),
                ("marginals?view=All+tables+of+k+attributes&tables-of=penguins", "marginals_worst_chart"),
            ]
        )
        for name, viewport in (("desktop", DESKTOP), ("phone", PHONE))
    ],
)
def test_words_keep_off_the_promise_and_dots_can_be_seen(
    page: Page, server: Server, link: str, key: str, viewport: ViewportSize
) -> None:
    visit(page, server, link)
    chart = page.locator(f".st-key-{key} .dpscope-plot")
    expect(chart).to_have_attribute("data-drawn", re.compile(r"\d"))
    words, crossed = chart.evaluate(CROSSED, THEORY)
    assert words >= 2
    assert crossed == []
    dots = chart.evaluate(DOTS)
    assert len(dots) == 50
    assert min(dots) >= 4
