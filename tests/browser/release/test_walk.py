"""The Release page in a browser: a newcomer's walk from a private file to a verified zip."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from pages.shell.server.access import PARAMETER
from run import HERE
from tests.browser.pages.test_grid import type_at
from tests.browser.test_private_table import FILE, FROM, SECRETS, picked
from tests.browser.test_session import as_bytes
from tests.kit.browser import go_to, no_traceback, running_server, sound, visible_words, watched_page
from tests.kit.ledgers import spend
from tests.kit.rest import settled

CODE = "Xk3-a-code-of-a-test"
MOST = 250
"""Words on a page."""


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()
    settled(page)


@pytest.mark.harness
def test_a_newcomer_walks_from_a_private_file_by_a_plan_to_a_verified_release(browser: Browser, tmp_path: Path) -> None:
    frames = list[bytes]()
    with running_server(code=CODE) as server, no_traceback(server), watched_page(browser) as page:
        page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(as_bytes(frame))))
        page.goto(f"{server.url}/data?way=My+own+file&{PARAMETER}={CODE}")
        settled(page)
        payload = FilePayload(name="people.csv", mimeType="text/csv", buffer=FILE.encode())
        page.locator('input[type="file"]').set_input_files(payload)
        press(page, "Data, like all rows")
        type_at(page, 0, FROM, "0", "100")
        press(page, "Use this column")
        go_to(page, "plan")
        picked(page, "Table", "Your table")
        press(page, "Load an example")
        expect(page.get_by_role("heading", name="1 statistic of your table · ε = 0.5")).to_be_visible()
        press(page, "Release it")
        assert len(visible_words(page)) <= MOST
        sound(page)
        press(page, "Register")
        expect(page.get_by_text("The plan: 1 statistic")).to_be_visible()
        press(page, "Test run, free")
        expect(page.get_by_text("On mock data:")).to_be_visible()
        assert len(visible_words(page)) <= MOST
        sound(page)
        page.get_by_role("button", name=spend("0.5")).click()
        expect(page.get_by_text("Entry 1, charged ε 0.5. Not published.")).to_be_visible()
        settled(page)
        press(page, "Publish, free")
        expect(page.get_by_text("Entry 1, charged ε 0.5. Published.")).to_be_visible()
        expect(page.locator(".st-key-status_bar")).to_contain_text("Spent ε 0.5 of 2")
        with page.expect_download() as download:
            page.get_by_role("button", name="Download the release (zip)").click()
        assert download.value.suggested_filename == "release-1.zip"
        page.mouse.move(0, 0)
        settled(page)
        assert len(visible_words(page)) <= MOST
        download.value.save_as(zipped := tmp_path / download.value.suggested_filename)
        press(page, "Open report")
        expect(page.frame_locator("iframe[title=Report]").get_by_role("heading", level=1)).to_contain_text(
            "Releases from"
        )
        assert page.locator("iframe[title=Report]").get_attribute("sandbox") == ""
        page.keyboard.press("Escape")
        page.get_by_text("Verify a release").click()
        page.locator('input[type="file"]').last.set_input_files(zipped)
        expect(page.get_by_text("The certificate and its files are consistent.")).to_be_visible()
        go_to(page, "ranges-and-cells")
        expect(page.locator(".st-key-status_bar")).to_contain_text("Spent ε 0.5 of 2")
        assert not any(secret.encode() in frame for secret in SECRETS for frame in frames)
        assert not any(secret.encode() in server.log.read_bytes() for secret in SECRETS)
        with zipfile.ZipFile(zipped) as archive:
            archive.extractall(tmp_path)
    zipped.unlink()
    files = sorted(path.name for path in tmp_path.iterdir())
    contents = b"".join((tmp_path / name).read_bytes() for name in files)
    assert not any(secret.encode() in contents for secret in SECRETS) and b"people.csv" not in contents
    [counts] = tmp_path.glob("*counts.csv")
    command = [sys.executable, "-m", "dprelease.commands", "verify", "certificate.json", counts.name]
    done = subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(HERE)}, capture_output=True, text=True)
    assert done.stdout.startswith("The certificate and its files are consistent.\n") and not done.returncode, (
        done.stderr
    )
    for notebook in tmp_path.glob("*.ipynb"):
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        notebook.with_suffix(".cells.py").write_text("\n".join(code), encoding="utf-8")
    programs = sorted(tmp_path.glob("analysis*.py"))
    assert [program.name for program in programs] == ["analysis.cells.py", "analysis.py"]
    for program in programs:
        done = subprocess.run([sys.executable, "-I", program], cwd=tmp_path, capture_output=True, text=True)
        assert "epsilon 0.5, delta 0" in done.stdout and done.returncode == 0, done.stderr
    counts.write_bytes(counts.read_bytes() + b"\n")
    assert subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(HERE)}, capture_output=True).returncode == 1
