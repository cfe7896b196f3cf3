"""Runs each page once while the server is idle, so that the first visitor does not wait for slow first steps.

That is what libraries import on first use, and what all sessions share of public data (pages/shell/tasks/shared.py). A
rehearsal is a session without a browser. It ends when a browser is active, and begins, or begins again, when none was
active for a while: a server is started for a user, whose browser needs the processor too.
"""

from __future__ import annotations

import asyncio
import os
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.shell.addresses import PAGES
from pages.shell.server.streamlit_internals import NullClient, begin_page, close_session

REHEARSED = tuple(page.address for page in PAGES if not page.reads_ledger)
"""Addresses of the pages that are run."""
HEALTH = "/_stcore/health"
VARIABLE = "DPSCOPE_REHEARSAL"
"""Variable of the server's environment: 0 for no rehearsal."""
IDLE, CHECK_EVERY = 3.0, 0.05
"""Seconds without a message from or to a browser after which the server is idle; and between checks."""


class LastActivity:
    """Time of the last message from or to a browser.

    Attributes:
        at: on the clock `time.monotonic`; minus infinity before the first.
    """

    def __init__(self) -> None:
        self.at = float("-inf")

    def is_idle(self) -> bool:
        """Return whether no browser is being served."""
        return time.monotonic() - self.at > IDLE


class ActivityMiddleware:
    """Middleware that notes each message of sockets and requests, except a proxy's requests for health."""

    def __init__(self, app: ASGIApp, activity: LastActivity) -> None:
        self.app, self.activity = app, activity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on."""

        async def received() -> Message:
            message = await receive()
            self.activity.at = time.monotonic()
            return message

        async def sent(message: Message) -> None:
            self.activity.at = time.monotonic()
            await send(message)

        if scope["type"] == "lifespan" or scope["path"].endswith(HEALTH):
            await self.app(scope, receive, send)
        else:
            await self.app(scope, received, sent)


async def rehearse(activity: LastActivity) -> None:
    """Run all pages, one after the other; a page that a visitor interrupts is begun again when the server is idle."""
    if os.environ.get(VARIABLE) == "0":
        return
    activity.at = time.monotonic()
    for page in REHEARSED:
        while not await _ran(page, activity):
            pass


async def _ran(page: str, activity: LastActivity) -> bool:
    """Wait until the server is idle, and run a page; return whether it finished before a browser was active."""
    while not activity.is_idle():
        await asyncio.sleep(CHECK_EVERY)
    client = NullClient()
    session = begin_page(client, page)
    try:
        while not client.finished and activity.is_idle():
            await asyncio.sleep(CHECK_EVERY)
    finally:
        close_session(session)
    return client.finished
