"""An analyst's walk in a browser: a messy private file, its mean by two columns, released and verified."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Browser, FilePayload, Locator, Page, expect

from pages.shell.server.access import PARAMETER
from run import HERE
from tests.browser.pages.test_grid import type_at
from tests.kit.browser import bring, go_to, no_traceback, running_server, watched_page
from tests.kit.ledgers import SPEND
from tests.kit.rest import settled

CODE = "Gq7-a-code-of-a-test"
KIND, LOW, LABELS, BINS = 2, 3, 5, 6
"""Columns of the grid of columns."""
MAX_CLICKS = 8
"""Clicks from the Plan page to a margin within its target."""
CHARGE, CHARGED = re.compile(f"{SPEND} .* of 2"), re.compile(r"Entry 1, charged ε .*\. Not published\.")
MEAN = "Mean of income by region × sex"


def messy_csv() -> bytes:
    """Return a file of regions, sexes and incomes: blanks, another label, missing and very large incomes."""
    draw = np.random.Generator(np.random.SFC64(4))
    incomes = [f"{each:.2f}" if place % 14 else "" for place, each in enumerate(draw.lognormal(10.3, 0.7, 2_000))]
    regions, sexes = draw.choice(["North", " South", "?"], 2_000), draw.choice(["f", "m"], 2_000)
    text: str = pd.DataFrame({"income": incomes, "region": regions, "sex": sexes}).to_csv(index=False)
    return text.encode()


class Clicks:
    """Presses controls of a page and counts the clicks."""

    def __init__(self, page: Page) -> None:
        self.page, self.count = page, 0

    def on(self, control: Locator) -> None:
        """Click, and wait until the page has come to rest."""
        control.click()
        self.count += 1
        settled(self.page)

    def button(self, name: str) -> None:
        """Press a button by its exact name."""
        self.on(self.page.get_by_role("button", name=name, exact=True))

    def choose(self, box: str, *options: str) -> None:
        """Choose options of a box by typing."""
        self.on(self.page.get_by_role("combobox", name=box, exact=True).last)
        for option in options:
            self.page.keyboard.type(option)
            self.page.keyboard.press("Enter")
        self.page.keyboard.press("Tab")  # leaves the list, which hides all other controls while it is open
        settled(self.page)


def declare(page: Page) -> None:
    """Declare the three columns of the file."""
    type_at(page, 0, LOW, "0", "60000")
    type_at(page, 0, BINS, "60")
    for row, labels in ((1, "North; South"), (2, "f; m")):
        type_at(page, row, KIND)
        page.keyboard.press("Enter")
        page.keyboard.type("category", delay=50)
        page.keyboard.press("Enter")
        settled(page)
        type_at(page, row, LABELS, labels)


@pytest.mark.harness
def test_an_analyst_plans_a_mean_by_two_columns_and_releases_it(browser: Browser, tmp_path: Path) -> None:
    with running_server(code=CODE) as server, no_traceback(server), watched_page(browser) as page:
        page.goto(f"{server.url}/data?way=My+own+file&{PARAMETER}={CODE}")
        bring(settled(page), FilePayload(name="people.csv", mimeType="text/csv", buffer=messy_csv()))
        declare(page)
        go_to(page, "plan")
        clicks = Clicks(page)
        clicks.choose("By", "region", "sex")
        clicks.choose("Statistic", "Mean")
        clicks.button("Add")
        clicks.on(page.get_by_role("button", name="⋯").last)
        clicks.on(page.get_by_role("textbox", name="± Target", exact=True))
        page.keyboard.type("2000")
        page.keyboard.press("Enter")
        page.keyboard.press("Escape")
        settled(page)
        clicks.button("Fit ±")
        expect(page.get_by_text(re.compile("met with the smallest ε"))).to_be_visible()
        expect(page.get_by_text(MEAN).first).to_be_visible()
        assert clicks.count <= MAX_CLICKS
        for name in ("Release it", "Start a ledger", "Register", "Test run, free"):
            clicks.button(name)
        page.get_by_role("button", name=CHARGE).click()
        expect(page.get_by_text(CHARGED)).to_be_visible()
        settled(page)
        clicks.button("Publish, free")
        with page.expect_download() as download:
            page.get_by_role("button", name="Download the release (zip)").click()
        with zipfile.ZipFile(download.value.path()) as archive:
            archive.extractall(tmp_path)
    [table] = [path for path in tmp_path.glob("*.csv") if "mean low" in path.read_text(encoding="utf-8")]
    groups = pd.read_csv(table)
    means = groups[groups["group region"].isin(["North", "South"]) & groups["group sex"].isin(["f", "m"])]
    assert len(means) == 4 and (means["mean low"] < means["mean"]).all() and (means["mean"] < means["mean high"]).all()
    [report] = tmp_path.glob("*.html")
    words = report.read_text(encoding="utf-8")
    assert "interval, 95%" in words and "North × f" in words
    files = sorted(path.name for path in tmp_path.glob("*.csv"))
    command = [sys.executable, "-m", "dprelease.commands", "verify", "certificate.json", *files]
    done = subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(HERE)}, capture_output=True, text=True)
    assert done.stdout.startswith("The certificate and its files are consistent.\n"), done.stderr
    assert done.returncode == 0
