"""The app as a process among others: ended, killed and started again, framed, knocked at, and failing in a page."""

from __future__ import annotations

import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, Page, expect

from dpcore.data.reading.scratch import PREFIX
from launch import LOCALHOST, stop, wait_for_health
from pages.shell.addresses import LESSONS, MOVED
from run import HERE
from tests.kit.browser import OWN_FILE, Server, asked_for, bring, comes_true, csv_file, own_port, visit, watched_by
from tests.kit.rest import PATIENCE, settled

RECORDS, LONG_NAME = (csv_file(name, "age,pay\n41,1000\n17,0\n") for name in ("people.csv", "people" * 800 + ".csv"))
KNOCK = (
    "GET /_stcore/stream HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
)
KNOCK += "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"


@contextmanager
def process_of(app: Path, *, port: int, log: Path, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    """The app in a process with variables of its own."""
    options = [f"--server.port={port}", f"--server.address={LOCALHOST}", "--server.headless=true"]
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", str(app), *options],
            cwd=app.parent,
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        assert wait_for_health(process, port=port, seconds=PATIENCE), log.read_text()
        yield process
    finally:
        stop(process)


def test_records_go_with_the_process_and_the_page_follows_its_server(browser: Browser, tmp_path: Path) -> None:
    port, log = own_port(), tmp_path / "server.log"

    def records() -> list[Path]:
        return list(tmp_path.glob(f"{PREFIX}*/records.parquet"))

    context = browser.new_context()
    page = context.new_page()
    with process_of(HERE / "app.py", port=port, log=log, TMPDIR=str(tmp_path)) as process:
        page.goto(f"http://{LOCALHOST}:{port}/{OWN_FILE}")
        bring(settled(page), RECORDS)
        assert len(records()) == 1
        process.kill()
        process.wait()
    assert len(records()) == 1  # nobody was left to delete them
    with process_of(HERE / "app.py", port=port, log=log, TMPDIR=str(tmp_path)) as process:
        assert not records()
        # Nobody clicks: the page notices that its file is gone, and can take another one.
        expect(page.get_by_text("Remove this file")).to_have_count(0, timeout=PATIENCE * 1000)
        settled(page)
        bring(page, LONG_NAME)
        assert len(records()) == 1
        with socket.create_connection((LOCALHOST, port)) as stalled:  # the server waits for a request under way
            stalled.sendall(b"PUT /_stcore/upload_file/a/b HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\nx")
            page.wait_for_timeout(500)
            process.send_signal(signal.SIGTERM)
            assert comes_true(lambda: not records(), page=page), "it waits for a request that never ends"
        assert process.wait(timeout=PATIENCE) is not None
    assert not list(tmp_path.glob(f"{PREFIX}*"))
    context.close()


@pytest.mark.slow
def test_foreign_sockets_are_refused_and_nobody_is_looked_up(tmp_path: Path) -> None:
    """That no page asks for anything beyond this machine is watched in all tests, by `running_server`."""
    port, name = own_port(), "app.example.org"
    variables = {**watched_by(tmp_path), "STREAMLIT_SERVER_ALLOWED_HOSTS": f"{name} {LOCALHOST}"}
    control = "import socket; socket.socket(type=socket.SOCK_DGRAM).connect(('192.0.2.1', 9))"  # sends nothing
    subprocess.run([sys.executable, "-c", control], env={**os.environ, **variables}, check=True)
    assert asked_for(tmp_path) == ["socket.connect ('192.0.2.1', 9)"]
    (tmp_path / "watched").write_text("")

    def knock(host: str, origin: str) -> bytes:
        with socket.create_connection((LOCALHOST, port), timeout=60) as foreign:
            foreign.sendall(KNOCK.format(host=host, origin=origin).encode())
            return foreign.recv(12)

    def answer_to(path: str, **headers: str) -> int:
        with closing(http.client.HTTPConnection(LOCALHOST, port, timeout=60)) as connection:
            connection.request("GET", path, headers=headers)
            return connection.getresponse().status

    own = f"{LOCALHOST}:{port}"
    knocks = [(own, "http://evil.example"), ("evil.example", "http://evil.example"), (own, "null")] * 17
    with process_of(HERE / "app.py", port=port, log=tmp_path / "server.log", **variables):
        with ThreadPoolExecutor(len(knocks)) as pool:
            answers = [pool.submit(knock, *each) for each in knocks]
            assert answer_to("/_stcore/health") == 200
            assert {answer.result() for answer in answers} == {b"HTTP/1.1 403"}
        assert knock(own, f"http://{own}") == knock(name, f"https://{name}") == b"HTTP/1.1 101"
        assert answer_to("/_stcore/host-config", Host=name, Origin=f"https://{name}") == 200, "the doors open"
        assert not asked_for(tmp_path), "a look-up would hold everybody up"


def copy_with(start: str, folder: Path) -> Path:
    """The app with another first page."""
    for name in ("pages", ".streamlit"):
        shutil.copytree(HERE / name, folder / name)
    for name in ("dpcore", "dplab", "dprelease", "assets"):
        (folder / name).symlink_to(HERE / name)
    (folder / "pages/play/page.py").write_text(start)
    return Path(shutil.copy(HERE / "app.py", folder))


EVERYTHING = """
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

edited = st.data_editor(pd.DataFrame({"chance": [1, 2]}), key="table")
st.write(f"Sum {edited['chance'].sum()}")
st.plotly_chart(go.Figure({"data": [{"type": "bar", "x": [1, 2], "y": [2, 1]}]}))
st.latex("x^2")
st.download_button("Save", data="a,b", file_name="saved.csv", on_click="ignore")
st.components.v2.component(
    "own", html="<p></p>", js="export default ({parentElement: e}) => { e.querySelector('p').innerText = 'Ran' }"
)()
if "fail" in st.query_params:
    try:
        raise KeyError('Ada, 41, 1000')
    except KeyError:
        raise ValueError('Ada' + ', 41, 1000')
"""


def test_the_policy_allows_what_pages_draw_with_and_an_exception_is_logged_without_its_text(
    page: Page, tmp_path: Path
) -> None:
    port, log = own_port(), tmp_path / "server.log"
    with process_of(copy_with(EVERYTHING, tmp_path), port=port, log=log):
        page.goto(f"http://{LOCALHOST}:{port}/")
        settled(page)
        expect(page.get_by_text("Ran", exact=True)).to_be_visible()
        expect(page.locator(".katex").first).to_be_visible()

        def edited() -> bool:
            table = page.locator('[data-testid="stDataFrame"] canvas').first.bounding_box()
            assert table is not None
            page.mouse.click(table["x"] + 300, table["y"] + table["height"] / 2)  # its first row
            page.wait_for_timeout(300)
            page.keyboard.type("40", delay=30)
            page.keyboard.press("Enter")
            return comes_true(lambda: page.get_by_text("Sum 42").count() == 1, page=page, seconds=5)

        assert any(edited() for _ in range(20))  # the grid does not hear the first click while it loads its editor
        with page.expect_download() as download:
            page.get_by_role("button", name="Save").click()
        assert download.value.path().read_text() == "a,b"
        page.locator(".js-plotly-plot").hover()
        with page.expect_download() as download:  # a picture, made in the browser
            page.locator('[data-title^="Download plot"]').first.click()
        assert download.value.path().stat().st_size > 1000
        expect(page.locator('[data-testid="stException"]')).to_have_count(0)
        page.goto(f"http://{LOCALHOST}:{port}/?fail=1")
        settled(page)
        expect(page.locator('[data-testid="stException"]')).to_have_count(1)
        assert "Ada" not in page.content()
    logged, line = log.read_text(), EVERYTHING[: EVERYTHING.index("raise ValueError")].count("\n") + 1
    assert "builtins.ValueError" in logged and "builtins.KeyError" in logged and f"page.py:{line} <module>" in logged
    assert "Ada" not in logged


def test_no_other_page_frames_the_app(browser: Browser, server: Server) -> None:
    page = browser.new_page()
    page.set_content(f"<iframe src='{server.url}/_stcore/health'></iframe><iframe src='data:text/html,x'></iframe>")
    shown = ["chrome-error://chromewebdata/", "data:text/html,x"]
    assert comes_true(lambda: [frame.url for frame in page.frames[1:]] == shown, page=page)
    page.close()


PLANTS = """() => {
    document.head.append(Object.assign(document.createElement('script'), {textContent: 'planted = 1'}));
    setTimeout('timed = 1');
    const button = Object.assign(document.createElement('button'), {id: 'b'});
    document.body.append(button);
    button.setAttribute('onclick', 'pressed = 1');
    button.click();
}"""
PLANTED = "[typeof planted, typeof timed, typeof pressed].join()"


def test_no_code_is_made_from_text(browser: Browser, server: Server) -> None:
    page = browser.new_page()
    page.goto("about:blank")  # has no policy
    page.evaluate(PLANTS)
    assert comes_true(lambda: page.evaluate(PLANTED) == "number,number,number", page=page)
    page.goto(server.url)
    page.evaluate(PLANTS)
    page.evaluate("new Promise(done => setTimeout(done, 200))")
    assert page.evaluate(PLANTED) == "undefined,undefined,undefined"
    page.close()


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_old_addresses_lead_to_their_pages(server: Server, old: str, new: str) -> None:
    with urlopen(f"{server.url}/{old}?seed=3&label=a%20b") as answer:
        joined = "&" if "?" in new else "?"
        assert answer.status == 200 and answer.url == f"{server.url}/{new}{joined}seed=3&label=a%20b"
    with urlopen(f"{server.url}/{old}") as answer:
        lesson = f"learn?lesson={LESSONS[old]}" if old in LESSONS else new
        assert answer.status == 200 and answer.url == f"{server.url}/{lesson}"


def test_an_old_link_opens_with_its_controls(page: Page, server: Server) -> None:
    visit(page, server, "robust?data=bimodal&robust=subsample_median&epsilon=2")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page).to_have_title("One number · dpscope")
    expect(page.get_by_role("spinbutton", name="Exact ε")).to_have_value("2")
