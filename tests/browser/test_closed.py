"""A closed tab takes its private file with it, though nobody else comes: in a real server, looking more often."""

from __future__ import annotations

import os
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

from dpcore.core import DataError
from dpcore.data.reading.scratch import PREFIX
from dpcore.data.reading.tables import read_table
from launch import LOCALHOST, stop, wait_for_health
from pages.shell import session
from run import HERE
from tests.kit.browser import OWN_FILE, bring, comes_true, csv_file, own_port, watched_page
from tests.kit.rest import PATIENCE, settled

pytestmark = pytest.mark.full

GRACE, LOOK_EVERY = 2.0, 0.2
IMPATIENT = f"""
import sys
from pages.shell import session
session.GRACE, session.CHECK_EVERY = {GRACE}, {LOOK_EVERY}
from streamlit.web.cli import main
main(sys.argv[1:])
"""


def test_a_closed_tab_takes_its_file_with_it(browser: Browser, tmp_path: Path) -> None:
    port = own_port()
    options = [f"--server.port={port}", f"--server.address={LOCALHOST}", "--server.headless=true"]
    process = subprocess.Popen(
        [sys.executable, "-c", IMPATIENT, "run", str(HERE / "app.py"), *options],
        cwd=HERE,
        env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(HERE)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def folders() -> list[Path]:
        return list(tmp_path.glob(f"{PREFIX}*"))

    try:
        assert wait_for_health(process, port=port, seconds=PATIENCE)
        with watched_page(browser) as page:
            page.goto(f"http://{LOCALHOST}:{port}/{OWN_FILE}")
            settled(page)
            bring(page, csv_file("people.csv", "age,pay\n41,1000\n17,0\n"))
            assert comes_true(lambda: len(folders()) == 1)  # its name is shown before it has arrived
            # An open tab keeps its file, however long nothing happens in it.
            assert not comes_true(lambda: not folders(), seconds=GRACE + 5 * LOOK_EVERY)
        assert comes_true(lambda: not folders())
    finally:
        stop(process)


class Server:
    """Stands for Streamlit's: which sessions have a browser, and which were closed."""

    def __init__(self) -> None:
        self.active: set[str] = set()
        self.closed: list[str] = []
        self.uploaded_file_mgr = MemoryUploadedFileManager("/files")

    def is_active_session(self, session_id: str) -> bool:
        return session_id in self.active

    def close_session(self, session_id: str) -> None:
        self.closed.append(session_id)


def test_a_lost_connection_has_time_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server()
    monkeypatch.setattr("streamlit.runtime.get_instance", lambda: server)
    table = read_table(b"age\n41\n", name="people.csv")
    other = read_table(b"age\n17\n", name="others.csv")
    held = {"open": (0.0, (weakref.ref(other),)), "closed": (0.0, (weakref.ref(table),))}
    monkeypatch.setattr(session, "_last_connected", held)
    server.active = {"open"}
    session.end_abandoned(session.GRACE)
    assert not server.closed
    server.active = {"open", "closed"}  # it came back just in time
    session.end_abandoned(session.GRACE + 1)
    server.active = {"open"}
    session.end_abandoned(2 * session.GRACE)
    assert not server.closed and table.numbers("age").tolist() == [41]
    session.end_abandoned(2 * session.GRACE + 2)
    with pytest.raises(DataError, match="the file was closed"):
        table.numbers("age")
    assert other.numbers("age").tolist() == [17]
    session.end_abandoned(9 * session.GRACE)
    assert server.closed == ["closed"] and session.GRACE + session.CHECK_EVERY <= 90
