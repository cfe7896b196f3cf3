"""Plan in a real browser: a click on the frontier changes the plan; the way from least ε to Play and back."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dprelease.plan.questions import Plan
from tests.browser.pages.test_play import PLOT, POINT, SENTENCE, chart, move_slider
from tests.kit.browser import Server
from tests.kit.rest import PATIENCE, settled

pytestmark = pytest.mark.full


def test_a_click_on_the_frontier_puts_its_mechanism_and_epsilon_into_the_plan(page: Page, server: Server) -> None:
    page.goto(server.url + "/plan?table=penguins")
    page.get_by_role("button", name="Load an example").click()
    settled(page)
    page.get_by_text("Every mechanism, at every ε or n").click()
    settled(page)
    expect(page.get_by_role("button", name="Stop")).to_have_count(0, timeout=1000 * PATIENCE)
    settled(page)
    plot = chart(page, "plan_frontier_chart").locator(PLOT)
    plot.scroll_into_view_if_needed()
    name = "Overlapping windows"
    places = plot.evaluate("(plot, name) => plot._fullData.find(t => t.name === name && t.mode === 'markers').x", name)
    page.mouse.click(*plot.evaluate(POINT, [name, "markers", places.index(0.2)]))
    settled(page)
    expect(page.get_by_role("spinbutton", name="ε", exact=True).first).to_have_value("0.2")
    assert asked(page)[0] == (name, "0.2")
    expect(page.get_by_role("heading", level=2)).to_contain_text("0.45")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the plan").click()
    assert Plan.read(Path(download.value.path()).read_bytes()).cost.epsilon == 0.45


def asked(page: Page) -> list[tuple[str, str]]:
    """Mechanism and ε of each question, as their controls show them."""
    shown = []
    for row in page.locator("[class*='st-key-plan_row_']").all():
        row.get_by_role("button", name="⋯").click()
        mechanism = page.get_by_role("combobox", name="Mechanism").input_value()
        page.keyboard.press("Escape")
        expect(page.get_by_role("combobox", name="Mechanism")).to_have_count(0)
        shown.append((mechanism, row.get_by_role("spinbutton", name="ε", exact=True).input_value()))
    return shown


def test_the_least_epsilon_for_targets_is_rehearsed_compared_opened_in_play_and_still_there_on_the_way_back(
    page: Page, server: Server
) -> None:
    page.goto(server.url + "/plan?table=penguins")
    page.get_by_role("button", name="Load an example").click()
    settled(page)
    before, cost = asked(page), page.get_by_role("heading", level=2).inner_text()
    sentence = chart(page, "plan_chart").locator(SENTENCE)
    missed = "No theorem guarantees the target of: 1. Counts in ranges of flipper_length_mm"
    expect(sentence).to_contain_text(f"{missed}, 2. Histogram")
    page.get_by_role("button", name="Fit ±").click()
    expect(page.get_by_text("2 targets met with the smallest ε")).to_be_visible(timeout=1000 * PATIENCE)
    settled(page)
    solved, total = asked(page), page.get_by_role("heading", level=2).inner_text()
    assert len(solved) == 2 and total != cost
    assert all(now[1] != then[1] for now, then in zip(solved, before, strict=True))
    expect(page.get_by_text("simulated releases, with 90% confidence")).to_be_visible()
    expect(sentence).to_contain_text(missed)
    # A rehearsal on made-up rows.
    page.get_by_text("Example of a release").click()
    settled(page)
    expect(chart(page, "plan_preview_chart").locator(PLOT)).to_be_visible()
    # The frontier, with a rule at what was worked out.
    page.get_by_text("Every mechanism, at every ε or n").click()
    settled(page)
    expect(page.get_by_role("button", name="Stop")).to_have_count(0, timeout=1000 * PATIENCE)
    settled(page)
    mechanism, epsilon = solved[0]
    plot = chart(page, "plan_frontier_chart").locator(PLOT)
    rules = plot.evaluate("plot => plot._fullLayout.annotations.map(each => each.text)")
    assert f"ε = {float(epsilon):.3g}" in rules
    # The same question in Play.
    page.get_by_role("link", name="Open this statistic in Play").click()
    settled(page)
    expect(page.get_by_role("spinbutton", name="Exact ε")).to_have_value(epsilon)
    expect(page.get_by_role("combobox", name="Mechanism")).to_have_value(mechanism.removesuffix(" (suggested)"))
    move_slider(page)
    page.go_back()
    settled(page)
    assert asked(page) == solved and page.get_by_role("heading", level=2).inner_text() == total
