"""What a browser may load and run, sent with every answer: this origin, and no code made from text.

A page's answer also names what draws charts, so that it is fetched while the page is being worked out.
"""

from __future__ import annotations

import base64
import hashlib
import re

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.charts.script import LIBRARY, LIVE, MODULE
from pages.shell.doors import is_public_demo
from pages.shell.server.streamlit_internals import STATIC_FOLDER

PRELOAD = f"</{LIBRARY}>; rel=preload; as=script, </{MODULE}>; rel=modulepreload, </{LIVE}>; rel=modulepreload"
INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def inline_hashes(html: str) -> list[str]:
    """The source expressions that allow a page's inline scripts and no others.

    >>> inline_hashes("<script></script>")
    ["'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"]
    """
    digests = [hashlib.sha256(script.encode()).digest() for script in INLINE_SCRIPT.findall(html)]
    return [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]


def content_policy(html: str) -> str:
    """The Content-Security-Policy for Streamlit's page."""
    directives = {
        "default-src": ["'none'"],
        # blob: is where the code of our own components comes from; WebAssembly reads Arrow tables.
        "script-src": ["'self'", "blob:", "'wasm-unsafe-eval'", *inline_hashes(html)],
        "style-src": ["'self'", "'unsafe-inline'"],  # Streamlit writes its styles into the page
        "img-src": ["'self'", "data:", "blob:"],  # pictures to be saved are made in the browser
        "font-src": ["'self'", "data:"],
        "connect-src": ["'self'"],
        "worker-src": ["'none'"],
        "manifest-src": ["'self'"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
        # A hosting service may frame an app under the app's own name.
        "frame-ancestors": ["'self'" if is_public_demo() else "'none'"],
    }
    return "; ".join(" ".join([name, *sources]) for name, sources in directives.items())


class Headers:
    """The middleware that adds them."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.policy = content_policy((STATIC_FOLDER / "index.html").read_text(encoding="utf-8"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on the answer with the headers."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = self.policy
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "no-referrer"
                if headers.get("content-type", "").startswith("text/html"):
                    headers["Link"] = PRELOAD
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)
