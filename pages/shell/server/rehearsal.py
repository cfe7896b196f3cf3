"""Runs each page once while nobody uses the server, so that what is slow the first time has been done for a visitor.

That is what libraries import on first use, and what all sessions share of public data (kept.py). A rehearsal is a
session without a browser. It ends when a browser is heard, and goes on when none was for a while; nor does it begin
before, for a server is started for somebody, whose browser needs the processor too.
"""

from __future__ import annotations

import asyncio
import os
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.shell.addresses import PAGES
from pages.shell.server.streamlit_internals import NullClient, begin_page, close_session

REHEARSED = tuple(page.address for page in PAGES if not page.looks_in_ledger)
"""By address."""
HEALTH = "/_stcore/health"
VARIABLE = "DPSCOPE_REHEARSAL"
"""Of the server's environment: 0 for none."""
QUIET, LOOK_EVERY = 3.0, 0.05
"""Seconds without a word from or to a browser after which nobody waits; and between looks."""


class LastActivity:
    """When a browser last said or was told something.

    Attributes:
        at: on the clock `time.monotonic`; as good as never before the first.
    """

    def __init__(self) -> None:
        self.at = float("-inf")

    def nobody(self) -> bool:
        """Whether nobody is being served."""
        return time.monotonic() - self.at > QUIET


class ActivityMiddleware:
    """The middleware that listens: to sockets and to whoever fetches a page, not to a proxy that asks for health."""

    def __init__(self, app: ASGIApp, heard: LastActivity) -> None:
        self.app, self.heard = app, heard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on."""

        async def received() -> Message:
            message = await receive()
            self.heard.at = time.monotonic()
            return message

        async def sent(message: Message) -> None:
            self.heard.at = time.monotonic()
            await send(message)

        if scope["type"] == "lifespan" or scope["path"].endswith(HEALTH):
            await self.app(scope, receive, send)
        else:
            await self.app(scope, received, sent)


async def rehearse(heard: LastActivity) -> None:
    """Run all pages, one after the other; what a visitor interrupts is begun again when it is quiet."""
    if os.environ.get(VARIABLE) == "0":
        return
    heard.at = time.monotonic()
    for page in REHEARSED:
        while not await _ran(page, heard):
            pass


async def _ran(page: str, heard: LastActivity) -> bool:
    """Wait until nobody is being served, and run a page; whether it came to its end before somebody was."""
    while not heard.nobody():
        await asyncio.sleep(LOOK_EVERY)
    client = NullClient()
    session = begin_page(client, page)
    try:
        while not client.finished and heard.nobody():
            await asyncio.sleep(LOOK_EVERY)
    finally:
        close_session(session)
    return client.finished
