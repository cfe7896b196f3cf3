"""Logs without the text of exceptions, which can quote a record: types and code lines are written instead.

Secrets are removed as well: session ids, cookies' values, the code of an address. At the level DEBUG libraries log
whole requests and frames.
"""

from __future__ import annotations

import asyncio
import logging
import re
import sys
import threading
import traceback
from typing import Any

from pages.shell.server.access import COOKIE, PARAMETER

WITHHELD = "Traceback without messages, which could quote a record:"
SESSION_ID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
"""As Streamlit makes them, and the ids of uploaded files."""
NAMED_SECRET = re.compile(rf"\b({COOKIE}-\d+|_streamlit_\w+|{PARAMETER})=[^\s;&,'\"]+")
STRUCK = "(withheld)"


def outline(error: BaseException | None) -> str:
    """Return the types and code lines of an exception and its causes, without their messages."""
    lines = [WITHHELD]
    visited: set[int] = set()
    while error is not None and id(error) not in visited:
        visited.add(id(error))
        lines.append(f"  {type(error).__module__}.{type(error).__qualname__}")
        # Places only: the line of a compiled text could be a reader's.
        for frame, line in traceback.walk_tb(error.__traceback__):
            lines.append(f"    {frame.f_code.co_filename}:{line} {frame.f_code.co_name}")
        error = error.__cause__ or error.__context__
    return "\n".join(lines)


def redacted(record: logging.LogRecord) -> logging.LogRecord:
    """Return the record with exceptions replaced and secrets removed from its message, arguments and attachments."""
    record.msg = _named(record.msg)
    if isinstance(record.args, tuple):
        record.args = tuple(map(_named, record.args))
    elif record.args:
        record.args = {name: _named(value) for name, value in record.args.items()}
    if record.exc_info:
        record.exc_text, record.exc_info = outline(record.exc_info[1]), None
    return record


def redact_logs() -> None:
    """Redact what any logger of this process writes, and what Python prints of uncaught exceptions."""
    make = logging.getLogRecordFactory()
    logging.setLogRecordFactory(lambda *parts, **named: redacted(make(*parts, **named)))
    sys.excepthook = lambda _, error, __: _write(error)
    sys.unraisablehook = lambda event: _write(event.exc_value)
    threading.excepthook = lambda event: _write(None if event.exc_type is SystemExit else event.exc_value)


def of_the_loop(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Write an exception that no task caught; the event loop would print the task, and with it the exception's text."""
    _write(context.get("exception"))


def strike(text: str) -> str:
    """Return the text without session ids, cookies' values and codes.

    >>> strike("PUT /upload_file/0c5e8f1e-9a3f-4a6b-8f0e-1d2c3b4a5968/1"), strike("dpscope-8501=abc; theme=dark")
    ('PUT /upload_file/(withheld)/1', 'dpscope-8501=(withheld); theme=dark')
    """
    return NAMED_SECRET.sub(rf"\1={STRUCK}", SESSION_ID.sub(STRUCK, text))


def _named(value: Any) -> Any:
    if isinstance(value, BaseException) or type(value).__module__.startswith("websockets."):  # a frame holds records
        return type(value).__qualname__
    if value is None or isinstance(value, (int, float)):
        return value
    text = str(value)
    struck = strike(text)
    return value if struck == text else struck


def _write(error: BaseException | None) -> None:
    if error is not None:
        print(outline(error), file=sys.stderr, flush=True)
