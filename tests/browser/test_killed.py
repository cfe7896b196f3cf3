"""What a killed server leaves on the disk is removed by the next."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from dpcore.data.reading.scratch import PREFIX
from tests.kit.browser import OWN_FILE, bring, csv_file, running_server, visit

pytestmark = pytest.mark.harness


def test_what_a_killed_server_leaves_is_swept_up_by_the_next(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # the servers' alone: ours is known already
    left: set[Path] = set()
    for name in ("first.csv", "second.csv"):
        with running_server() as server, browser.new_context() as context:  # the watch would tell of the killed one
            page = visit(context.new_page(), server, OWN_FILE)
            bring(page, csv_file(name, "age,pay\n41,1000\n17,0\n"))
            expect(page.get_by_test_id("stMarkdown").get_by_text(name).first).to_be_visible()
            folders = set(tmp_path.glob(f"{PREFIX}*"))
            assert len(folders) == 1 and not folders & left
            server.process.kill()
            server.process.wait()
            assert set(tmp_path.glob(f"{PREFIX}*")) == folders, "it had no time to tidy up"
            left = folders
