"""Every hostile file is really uploaded, as private: nothing of a record is on screen, socket, log or loose on disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, FilePayload, Page, WebSocket, expect

from dpcore.core import DataError
from dpcore.data.reading.scratch import PREFIX
from dpcore.data.reading.tables import read_table
from tests.kit.browser import OWN_FILE, no_traceback, running_server, visit, watched_page
from tests.kit.hostile import LONGEST_SENT, SECRET, Outcome, hostile_files
from tests.kit.rest import PATIENCE, settled


def sent(outcome: Outcome) -> list[tuple[str, FilePayload]]:
    """The files that a browser can send, with what is wrong with each."""
    return [
        (what, FilePayload(name=name, mimeType="application/octet-stream", buffer=contents))
        for what, (name, contents, found) in hostile_files().items()
        if found == outcome and len(name) < LONGEST_SENT
    ]


def arrived(page: Page, turn: int) -> None:
    """Wait until the file of this turn was read, refused or asked about, and all of that is on the screen."""
    page.locator(f".st-key-file-{turn + 1}").wait_for(state="attached", timeout=PATIENCE * 1000)
    settled(page, idle=0.1)


def refused(file: FilePayload) -> bool:
    """Whether the reader refuses a file even when told that its first row is data."""
    try:
        read_table(file["buffer"], name=file["name"], header=False).forget()
    except DataError:
        return True
    return False


@pytest.mark.harness
@pytest.mark.parametrize("outcome", ["refused", "asked", "read"])
def test_no_record_of_a_hostile_file_is_seen(browser: Browser, tmp_path: Path, outcome: Outcome) -> None:
    frames = list[bytes]()

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: frames.append(frame if isinstance(frame, bytes) else frame.encode()))

    with running_server(tmp_path) as server, no_traceback(server), watched_page(browser) as page:
        page.on("websocket", listen)
        visit(page, server, OWN_FILE)
        turn = 0
        for what, file in sent(outcome):
            page.locator('input[type="file"]').first.set_input_files(file)
            arrived(page, turn)
            turn += 1
            # Of private text it is always asked what the first row holds; some is refused before that.
            asked = page.get_by_text("Does the first row hold column names or data?").count()
            assert asked or outcome != "asked", what
            if asked:
                answer = "Data, like all rows" if outcome == "asked" else "Names of the columns"
                page.get_by_role("button", name=answer).click()
                arrived(page, turn)
                turn += 1
            wrong = refused(file) if outcome == "asked" else outcome == "refused"
            expect(page.get_by_test_id("stAlertContentError"), what).to_have_count(int(wrong))
            assert SECRET not in page.content(), what
            assert not [frame for frame in frames if SECRET.encode() in frame], what
            assert any(file["name"][:3].encode() in frame for frame in frames) or outcome != "refused", what
            frames.clear()
            loose = [path for path in tmp_path.rglob("*") if path.is_file() and PREFIX not in str(path)]
            assert not loose, what
            assert len(list(tmp_path.glob(f"{PREFIX}*"))) <= 1, what
        assert turn >= len(sent(outcome)) > 0
        assert SECRET.encode() not in server.log.read_bytes()
