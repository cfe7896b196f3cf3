"""The document that a browser gets first names what the first picture needs; no other answer is touched."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route
from starlette.types import Message, Scope
from streamlit.file_util import get_static_dir

from pages.charts.script import LIBRARY, LIVE, MODULE
from pages.shell.server.opening import DRAWN_FIRST, NAMED, Opening, begun, scripts_of
from tests.kit import ran

INDEX = Path(get_static_dir()) / "index.html"
SCRIPTS = INDEX.parent / "static" / "js"


async def document(_: Request) -> Response:
    return FileResponse(INDEX)


async def kept(request: Request) -> Response:
    return HTMLResponse("<head></head> " + request.headers.get("accept-encoding", "none"))


ROUTES = [Route("/", document), Route("/plan", document), Route("/media/kept.html", kept), Route("/other", kept)]


def fetched(path: str, *, method: str = "GET", encoding: str = "br") -> tuple[int, Headers, bytes]:
    """Status, headers and body of what the app answers through the middleware."""
    told: list[Message] = []

    async def receive() -> Message:
        await asyncio.sleep(0)
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        told.append(message)

    headers = [(b"accept-encoding", encoding.encode()), (b"if-none-match", b"anything")]
    scope: Scope = {"type": "http", "method": method, "path": path, "headers": headers, "query_string": b""}
    ran(Opening(Starlette(routes=ROUTES))(scope, receive, send))
    start, *bodies = told
    return start["status"], Headers(raw=start["headers"]), b"".join(each.get("body", b"") for each in bodies)


@pytest.mark.parametrize("page", ["/", "/plan"])
def test_a_page_names_the_chart_library_its_modules_and_streamlits_own(page: str) -> None:
    status, headers, body = fetched(page)
    assert status == 200
    assert "etag" not in headers and "last-modified" not in headers
    assert int(headers["content-length"]) == len(body)
    before, after = INDEX.read_text().split("</head>")
    text = body.decode()
    assert text.startswith(before) and text.endswith(f"</head>{after}"), "nothing of Streamlit's is lost"
    told = text.removeprefix(before).removesuffix(f"</head>{after}")
    assert f'<script async src="./{LIBRARY}"></script>' in told
    for address in (MODULE, LIVE):
        assert f'<link rel="modulepreload" href="./{address}">' in told
    for name in DRAWN_FIRST:
        assert re.search(rf'<link rel="modulepreload" crossorigin href="\./static/js/{name}\.[^"]+\.js">', told)


def test_no_other_answer_is_touched() -> None:
    assert fetched("/media/kept.html")[2] == b"<head></head> br"
    assert fetched("/other")[2] == b"<head></head> none"
    assert fetched("/nothing")[::2] == (404, b"Not Found")
    status, headers, body = fetched("/", method="HEAD")
    assert (status, headers["content-length"], body) == (200, str(INDEX.stat().st_size), b"")


def test_every_script_that_is_named_is_there_once() -> None:
    html = begun(INDEX.read_text(), SCRIPTS)
    named = NAMED.findall(html)
    assert len(named) == len(set(named))
    assert all((SCRIPTS / file).is_file() for file in named)


def test_imports_are_followed_and_what_is_missing_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "One.aa.js").write_text('import{a}from"./two.bb.js";import"./known.js";import"https://elsewhere/x.js"')
    (tmp_path / "two.bb.js").write_text("export{b as default}from './One.aa.js'")
    found = scripts_of(("One", "Absent"), tmp_path, without={"known.js"})
    assert found == ["One.aa.js", "two.bb.js"]
