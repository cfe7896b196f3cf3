"""An analyst's walk in a browser: a messy private file, six statistics and synthetic rows, released and verified.

All that is released agrees: cards, report, files, certificate, synthetic rows, and pandas within the noise.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Browser, FilePayload, Locator, Page, expect

from dprelease.downloads.statistics import ReleasedStatistic, released_statistics
from dprelease.requests.parts import Request
from pages.shell.server.access import PARAMETER
from tests.browser.pages.test_grid import HEAD, ROW, grid
from tests.dprelease.plan.test_messy_groups import (
    DAY,
    MEAN,
    MEDIAN,
    PEOPLE,
    REGIONS,
    SEXES,
    TOP,
    VISITS,
    as_declared,
    messy_file,
    planned,
    values,
)
from tests.kit.browser import (
    DESKTOP,
    OWN_FILE,
    PHONE,
    bring,
    csv_file,
    in_menu,
    no_traceback,
    running_server,
    watched_page,
)
from tests.kit.ledgers import SPEND
from tests.kit.rest import settled

CODE = "Gq7-a-code-of-a-test"
KIND, LOW, HIGH, LABELS, BINS = 2, 3, 4, 5, 6
"""Columns of the grid of columns."""
MAX_WALK, MAX_DECLARED, MAX_FITTED, MAX_MEAN, MAX_RELEASED, MAX_OPENED, MAX_COMPARED = 45, 15, 5, 8, 7, 2, 2
"""Largest numbers of actions: clicks and typed fields."""
LINES = (
    "people by region, sex", "mean income by region, sex", "spread answer by sex", "share sex by region",
    "ratio income, visits by sex", "median income by region",
)  # fmt: skip
PLANNED = (
    PEOPLE,
    MEAN,
    *(
        planned(*words, by=by)
        for words, by in (
            (("spread", "answer"), ("sex",)),
            (("share", "sex"), ("region",)),
            (("ratio", "income", "visits"), ("sex",)),
        )
    ),
    MEDIAN,
)
"""The same statistics."""
CHARGE, CHARGED = re.compile(f"{SPEND} .* of .*"), re.compile(r"Entry 1, charged ε .*\. Not published\.")
FAR = 6
"""Half-widths of an interval within which the true values lie, but for a chance of 10⁻⁶ in all: 0.05⁶ each."""


class Hand:
    """Clicks and types on one page, counted."""

    def __init__(self, page: Page) -> None:
        self.page, self.count, self.cell = page, 0, (0, 0)

    def on(self, control: Locator) -> None:
        """Click, and wait until the page has come to rest."""
        control.click()
        self.count += 1
        settled(self.page)

    def button(self, name: str) -> None:
        """Press a button by its exact name."""
        self.on(self.page.get_by_role("button", name=name, exact=True))

    def type(self, field: Locator, text: str, key: str = "Enter") -> None:
        """Type into a field."""
        field.fill(text)
        field.press(key)
        self.count += 1
        settled(self.page)

    def choose(self, box: str, *options: str, instead: bool = False) -> None:
        """Choose options of a box by typing, beside what is chosen or instead of it."""
        self.on(self.page.get_by_role("combobox", name=box, exact=True).last)
        if instead:
            self.page.keyboard.press("Backspace")
        for option in options:
            self.page.keyboard.type(option)
            self.page.keyboard.press("Enter")
        self.page.keyboard.press("Tab")  # leaves the list, which hides all other controls while it is open
        settled(self.page)

    def brings(self, button: Locator, file: FilePayload) -> None:
        """Click on what opens the system's own window, in which the file is chosen."""
        with self.page.expect_file_chooser() as chooser:
            button.click()
        self.count += 1
        chooser.value.set_files(file)
        settled(self.page)

    def into_the_grid(self) -> None:
        """Click on the name of the first column."""
        grid(self.page).hover(force=True)
        grid(self.page).click(position={"x": 20, "y": HEAD + ROW // 2}, force=True)
        self.count, self.cell = self.count + 1, (0, 0)

    def cells(self, row: int, column: int, *texts: str) -> None:
        """Go to a cell by arrows, and type into it and those right of it."""
        down, right = row - self.cell[0], column - self.cell[1]
        for key, times in (("Down" if down > 0 else "Up", abs(down)), ("Right" if right > 0 else "Left", abs(right))):
            for _ in range(times):
                self.page.keyboard.press(f"Arrow{key}")
        for text in texts:
            self.page.keyboard.type(text, delay=20)
            self.page.keyboard.press("Enter" if column == KIND else "Tab")
        settled(self.page)
        self.count += len(texts)
        self.cell = (row + 1, column) if column == KIND else (row, column + len(texts))


def declare(hand: Hand) -> None:
    """Declare eight columns, whose names suggest half of it, and who is protected."""
    hand.button("Suggest from the names")
    hand.into_the_grid()
    hand.cells(1, KIND, "category")
    hand.cells(1, LABELS, "; ".join(REGIONS))
    hand.cells(2, LABELS, "; ".join(SEXES))
    hand.cells(3, HIGH, DAY)
    hand.cells(4, LOW, "0", str(TOP))
    hand.cells(5, KIND, "whole")
    hand.cells(5, LOW, "1", "5")
    hand.cells(6, HIGH, str(VISITS))
    hand.on(hand.page.get_by_text("A person, who may have several rows"))
    hand.choose("Column that identifies the person", "person")
    hand.type(hand.page.get_by_role("spinbutton", name="Maximum rows per person"), "3")


def intervals_in(text: str) -> list[tuple[float, float]]:
    """Return all intervals that a text writes as "1,200 to 3,400"."""
    found = re.findall(r"(-?[\d,]+(?:\.\d+)?) to (-?[\d,]+(?:\.\d+)?)", text)
    return [(float(low.replace(",", "")), float(high.replace(",", ""))) for low, high in found]


def check_statistic(statistic: ReleasedStatistic, expected: pd.Series, report: str) -> int:
    """Fail unless the report has the intervals of a file, and true values are near; return how many groups are shown.

    Args:
        statistic: as a card shows it, from the file.
        expected: by group, as pandas has it.
        report: its words.
    """
    scale, written = (100.0 if statistic.unit == "%" else 1.0), intervals_in(report)
    shown = np.flatnonzero(np.isfinite(statistic.low) & np.isfinite(statistic.high) & np.isfinite(statistic.values))
    for place in shown.tolist():
        low, high = statistic.low[place] / scale, statistic.high[place] / scale
        room = 0.06 * (high - low)  # ends are rounded outwards, to two digits of half of the width
        said = any(abs(start - low) <= room and abs(end - high) <= room for start, end in written)
        said |= statistic.amount(place) in report or f"plus or minus {(high - low) / 2:,.0f} rows" in report
        label = statistic.labels[place]
        if statistic.name == "rows":  # with the margin of the noise, which may reach below 0
            pairs = re.findall(rf"{re.escape(label)}\s+(-?[\d,]+) ± ([\d,]+)", report)
            margins = [tuple(float(each.replace(",", "")) for each in pair) for pair in pairs]
            said |= any(max(0, n - margin) <= low + 1 and high - 1 <= n + margin <= high + 2 for n, margin in margins)
        assert said, (statistic.title, label)
        true = expected.get(tuple(label.split(" × ")) if " × " in label else label)
        if true is not None:
            assert abs(true - statistic.values[place] / scale) <= FAR * (high - low) / 2, (statistic.title, label)
    return len(shown)


def check_synthetic_rows(distances: bytes, rows: bytes, truth: pd.DataFrame) -> None:
    """Fail unless synthetic rows have declared values, and a table of pairs as far from the true one as is said."""
    synthetic = pd.read_csv(io.BytesIO(rows), keep_default_na=False)
    assert set(synthetic["region"]) <= {*REGIONS, ""} and set(synthetic["sex"]) <= {*SEXES, ""}
    incomes = pd.to_numeric(synthetic["income"], errors="coerce").dropna()
    assert incomes.between(0, TOP).all() and 0.01 < 1 - len(incomes) / len(synthetic) < 0.2
    known = truth.assign(sex=truth["sex"].where(truth["sex"].isin(SEXES)))
    told = pd.read_csv(io.BytesIO(distances)).set_index("table").loc["region × sex"]
    within = told["apart"] + FAR * (told["within"] - told["apart"])
    for labels, count in known.groupby(["region", "sex"]).size().items():
        made = ((synthetic["region"] == labels[0]) & (synthetic["sex"] == labels[1])).sum()
        assert abs(count - made) <= within


def check_files(files: Mapping[str, bytes], cards: str, report: str, truth: pd.DataFrame) -> None:
    """Fail unless cards, report, files and certificate say the same, and what pandas says is within reach of it."""
    certificate, shown = json.loads(files["certificate.json"]), 0
    assert f"ε = {certificate['guarantee']['epsilon']} and δ = {certificate['guarantee']['delta']}" in report
    parts = zip(Request.of(certificate["request"]).parts, certificate["parts"], strict=True)
    for (part, named), question in zip(parts, (*PLANNED, None), strict=True):
        if question is None:
            distances, _, rows = named["files"]
            check_synthetic_rows(files[distances], files[rows], truth)
            continue
        each_file = (released_statistics(part, files[name]) for name in named["files"])
        found, expected = next(filter(None, each_file)), values(question, truth)
        assert sum(each.sentence in cards for each in found) == 1, "a card shows one statistic at a time"
        assert found[0].title in report
        for statistic in found:
            name = statistic.name or "rows"
            assert name in expected or question.statistic == "quantiles", "people by group are a question of their own"
            shown += check_statistic(statistic, expected[name], report) if name in expected else 0
    assert shown > 30


@pytest.mark.harness
def test_an_analyst_plans_and_releases_statistics_of_a_messy_file_that_agree_with_each_other(browser: Browser) -> None:
    frame = messy_file()
    survey = csv_file("survey.csv", frame.to_csv(index=False))
    with running_server(code=CODE) as server, no_traceback(server):
        with watched_page(browser) as page:
            page.goto(f"{server.url}/?{PARAMETER}={CODE}")
            hand = Hand(settled(page))
            hand.on(in_menu(page, "data"))
            hand.on(page.get_by_role("radio", name="My own file"))
            hand.brings(page.get_by_test_id("stFileUploaderDropzone").locator("button"), survey)
            hand.button("Names of the columns")
            before = hand.count
            declare(hand)
            assert hand.count - before <= MAX_DECLARED
            with page.expect_download() as saved:
                page.get_by_role("button", name="Save this description").click()
            description = saved.value.path().read_bytes()
            # The plan: six statistics with one target for all of them, and synthetic rows.
            hand.on(in_menu(page, "plan"))
            before = hand.count
            hand.on(page.get_by_role("tab", name="Paste statistics"))
            hand.type(page.get_by_role("textbox", name=re.compile("One statistic per line")), "\n".join(LINES), "Tab")
            hand.button("Add these lines")
            hand.type(page.get_by_role("textbox", name="± of each"), "5%")
            hand.button("Fit ±")
            expect(page.get_by_text("6 targets met with the smallest ε")).to_be_visible()
            assert hand.count - before <= MAX_FITTED
            before = hand.count
            hand.type(page.get_by_role("spinbutton", name="Compare with ε"), "1")
            expect(page.locator(".st-key-plan_compared_0")).to_contain_text("±")
            assert hand.count - before <= MAX_COMPARED
            hand.on(page.get_by_text("A synthetic table"))
            hand.button("Add them to the plan")
            before = hand.count
            for name in ("Release it", "Register", "Test run, free"):
                hand.button(name)
            hand.on(page.get_by_role("button", name=CHARGE))
            expect(page.get_by_text(CHARGED)).to_be_visible()
            settled(page)
            hand.button("Publish, free")
            with page.expect_download() as download:
                hand.button("Download the release (zip)")
            assert hand.count - before <= MAX_RELEASED
            with zipfile.ZipFile(download.value.path()) as archive:
                files = {name: archive.read(name) for name in archive.namelist()}
            cards = "\n".join(page.get_by_test_id("stCode").all_inner_texts())
            epsilon = json.loads(files["certificate.json"])["guarantee"]["epsilon"]
            expect(page.get_by_text(f"Entry 1, charged ε {epsilon}")).to_be_visible()
            hand.button("Open report")
            report = page.frame_locator("iframe[title=Report]").locator("body").inner_text()
            page.keyboard.press("Escape")
            hand.on(page.get_by_text("Verify a release"))
            zipped = FilePayload(name="r.zip", mimeType="application/zip", buffer=download.value.path().read_bytes())
            hand.brings(page.get_by_test_id("stFileUploaderDropzone").last.locator("button"), zipped)
            expect(page.get_by_text("The certificate and its files are consistent.")).to_be_visible()
            assert hand.count <= MAX_WALK
        with watched_page(browser, viewport=PHONE) as page:
            page.goto(f"{server.url}/{OWN_FILE}")
            hand = Hand(bring(settled(page), survey))
            hand.on(page.get_by_text("Open a description of the columns"))
            schema = FilePayload(name="survey.json", mimeType="application/json", buffer=description)
            hand.brings(page.get_by_test_id("stFileUploaderDropzone").last.locator("button"), schema)
            assert hand.count <= MAX_OPENED
            expect(page.get_by_role("spinbutton", name="Maximum rows per person")).to_have_value("3")
            # Another visitor's plan of the same columns is empty; one mean with its margin is soon in it.
            page.set_viewport_size(DESKTOP)
            hand = Hand(settled(page))
            hand.on(in_menu(page, "plan"))
            expect(page.get_by_text("No statistic yet")).to_be_visible()
            hand.choose("Columns", "income", instead=True)
            hand.choose("By", "region", "sex")
            hand.choose("Statistic", "Mean")
            hand.button("Add")
            expect(page.get_by_text("1. Mean of income by region × sex").first).to_be_visible()
            expect(page.get_by_text(re.compile("^± [0-9,]+$"))).to_be_visible()
            assert hand.count <= MAX_MEAN
    check_files(files, cards, report, as_declared(frame, step=TOP / 1024))
