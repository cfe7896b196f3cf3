"""The document that a browser gets first: Streamlit's, with what the first picture needs begun beside it.

Streamlit's own document names the scripts of an empty page. What its controls and our charts need, a browser would
hear of only when they are to be drawn, one after the other; and the chart library would be run only then, although the
browser has nothing to do while it waits for the scripts before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.file_util import get_static_dir

from pages.charts.script import LIBRARY, LIVE, MODULE

DRAWN_FIRST = ("BidiComponent", "Checkbox", "Html", "NumberInput", "PageLink", "Selectbox", "Slider", "TextInput")
"""Streamlit's scripts for what nearly every page shows at first."""
NAMED = re.compile(r"static/js/([\w.-]+\.js)")
IMPORTED = re.compile(r"""(?:from|import)\s*["']\./([\w.-]+\.js)["']""")


def scripts_of(names: tuple[str, ...], folder: Path, *, without: set[str]) -> list[str]:
    """The files of some of Streamlit's scripts, and those that they import, without some.

    Args:
        names: of the scripts, without the digest in their files' names. One that is not there is left out.
        folder: where Streamlit keeps its scripts.
        without: files that are named already.
    """
    found: list[str] = []

    def follow(file: str) -> None:
        if file in without or file in found:
            return
        found.append(file)
        for other in IMPORTED.findall((folder / file).read_text(encoding="utf-8")):
            follow(other)

    for name in names:
        for path in sorted(folder.glob(f"{name}.*.js")):
            follow(path.name)
    return found


def begun(html: str, folder: Path) -> str:
    """Streamlit's document with a script for the chart library, and links to what is needed soon after."""

    def lines() -> Iterator[str]:
        yield f'<script async src="./{LIBRARY}"></script>'
        for address in (MODULE, LIVE):
            yield f'<link rel="modulepreload" href="./{address}">'
        for file in scripts_of(DRAWN_FIRST, folder, without=set(NAMED.findall(html))):
            yield f'<link rel="modulepreload" crossorigin href="./static/js/{file}">'

    return html.replace("</head>", "\n".join([*lines(), "</head>"]), 1)


class Opening:
    """The middleware that gives it instead of Streamlit's."""

    def __init__(self, app: ASGIApp) -> None:
        static = Path(get_static_dir())
        html = (static / "index.html").read_text(encoding="utf-8")
        self.app = app
        self.theirs = html.encode()
        self.ours = begun(html, static / "static" / "js").encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on every answer; one that is Streamlit's document, byte for byte, is ours instead."""
        if scope["type"] != "http" or "." in scope["path"].rpartition("/")[2]:
            await self.app(scope, receive, send)
            return
        start: Message | None = None

        async def send_ours(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            if start is not None:
                if message.get("body") == self.theirs:
                    headers = MutableHeaders(scope=start)
                    headers["Content-Length"] = str(len(self.ours))
                    for known in ("ETag", "Last-Modified"):  # they tell a browser that it has the document already
                        del headers[known]
                    message["body"] = self.ours
                await send(start)
                start = None
            await send(message)

        # Compressed, it could not be told from another answer.
        plain = [header for header in scope["headers"] if header[0] != b"accept-encoding"]
        await self.app({**scope, "headers": plain}, receive, send_ours)
