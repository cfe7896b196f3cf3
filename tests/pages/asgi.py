"""Requests to applications and their layers, without a server."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.types import ASGIApp, Message

from tests.kit import ran


def messages(
    app: ASGIApp,
    path: str,
    *,
    method: str = "GET",
    kind: str = "http",
    query: str = "",
    headers: Iterable[tuple[bytes, bytes]] = (),
    body: Iterable[bytes] = (b"",),
) -> list[Message]:
    """All that is sent in answer to a request, whose body comes in these pieces."""
    sent, pieces = list[Message](), list(body)

    async def receive() -> Message:
        piece = pieces.pop(0) if pieces else b""
        return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

    async def send(message: Message) -> None:
        sent.append(message)

    async def ask() -> None:
        named = {"type": kind, "method": method, "path": path}
        await app(named | {"query_string": query.encode(), "headers": list(headers)}, receive, send)

    ran(ask())
    return sent
