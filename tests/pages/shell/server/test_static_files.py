"""Streamlit's files come from memory after the first time, as they came from disk; nothing else is kept."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send
from streamlit.file_util import get_static_dir

from pages.shell.server.static_files import SLICE, StaticFilesMiddleware
from tests.kit import ran

FOLDER = Path(get_static_dir())
FILE = "/" + next((FOLDER / "static" / "js").glob("index.*.js")).relative_to(FOLDER).as_posix()


SIZE = (FOLDER / FILE[1:]).stat().st_size


class App:
    """Answers in pieces with the number of the request, or with another status; `asked` counts."""

    def __init__(self, status: int = 200, *, breaks: bool = False, header: bytes = b"etag", size: int = SIZE) -> None:
        self.asked, self.status, self.breaks, self.header, self.size = 0, status, breaks, header, size

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked += 1
        await send({"type": "http.response.start", "status": self.status, "headers": [(self.header, b"e")]})
        await send({"type": "http.response.body", "body": b"%d " % self.asked, "more_body": True})
        if not self.breaks:
            await send({"type": "http.response.body", "body": scope["path"].encode().ljust(self.size - 2)})


def messages(
    app: StaticFilesMiddleware, path: str = FILE, *, method: str = "GET", header: bytes = b"accept"
) -> list[Message]:
    """What is sent; whoever sends may add to the headers of its own answer."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        if "headers" in message:
            message["headers"].append((b"added", b"by another"))
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    ran(app({"type": "http", "method": method, "path": path, "headers": [(header, b"*/*")]}, receive, send))
    assert sent[0]["headers"][1:] == [(b"added", b"by another")]
    return sent


def answer(
    app: StaticFilesMiddleware, path: str = FILE, *, method: str = "GET", header: bytes = b"accept"
) -> tuple[int, bytes]:
    """Status and body, without the blanks that make it as long as the file."""
    start, *pieces = messages(app, path, method=method, header=header)
    return start["status"], b"".join(each.get("body", b"") for each in pieces).rstrip()


def test_a_large_file_is_sent_in_pieces() -> None:
    app = StaticFilesMiddleware(App())
    assert answer(app)[1] == b"1 " + FILE.encode()
    _, *pieces = messages(app)
    assert len(pieces) > 1 and [len(each["body"]) for each in pieces[:-1]] == [SLICE] * (len(pieces) - 1)
    assert [each["more_body"] for each in pieces] == [True] * (len(pieces) - 1) + [False]
    assert sum(len(each["body"]) for each in pieces) == SIZE


def test_a_file_is_read_once_and_answered_alike() -> None:
    app = StaticFilesMiddleware(inner := App())
    assert [answer(app) for _ in range(3)] == 3 * [(200, b"1 " + FILE.encode())]
    assert inner.asked == 1


@pytest.mark.parametrize(
    "path",
    [
        "/", "/static/", "/static/js/none.js", "/static/js/../js/" + Path(FILE).name, "/static/js//" + Path(FILE).name,
        "/media/some", "/index.html", "/_stcore/health",
    ],
)  # fmt: skip
def test_what_is_no_file_of_streamlits_is_never_kept(path: str) -> None:
    app = StaticFilesMiddleware(inner := App())
    assert [answer(app, path)[1] for _ in range(2)] == [b"%d " % each + path.encode() for each in (1, 2)]
    assert inner.asked == 2 and not app.answers


@pytest.mark.parametrize(
    ("method", "header"),
    [("HEAD", b"accept"), ("GET", b"range"), ("GET", b"if-none-match"), ("GET", b"if-modified-since")],
)
def test_who_asks_for_less_than_the_whole_asks_the_server(method: str, header: bytes) -> None:
    app = StaticFilesMiddleware(inner := App())
    for before in range(2):
        assert answer(app, method=method, header=header)[1] == b"%d " % (2 * before + 1) + FILE.encode()
        answer(app, "/")
    assert inner.asked == 4 and not app.answers


@pytest.mark.parametrize(
    "app",
    [
        App(304),
        App(404),
        App(breaks=True),
        App(header=b"content-encoding"),
        App(header=b"set-cookie"),
        App(size=SIZE - 1),
    ],
)
def test_half_an_answer_or_another_than_the_file_is_not_kept(app: App) -> None:
    kept = StaticFilesMiddleware(app)
    assert answer(kept)[1] != answer(kept)[1] and not kept.answers


def test_every_file_of_the_page_is_known() -> None:
    names = re.findall(r'(?:src|href)="\./(static/[^"]+)"', (FOLDER / "index.html").read_text(encoding="utf-8"))
    assert names and {f"/{name}" for name in names} <= set(StaticFilesMiddleware(PlainTextResponse("")).sizes)
