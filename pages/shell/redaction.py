"""No exception's text reaches a log: it can quote a record. Its type and the places it passed are written instead."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import traceback
from typing import Any

WITHHELD = "Traceback without messages, which could quote a record:"


def outline(error: BaseException | None) -> str:
    """Type and places of an exception and of those behind it, without a word of their messages."""
    lines = [WITHHELD]
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        lines.append(f"  {type(error).__module__}.{type(error).__qualname__}")
        # Places only: the line of a compiled text could be a reader's.
        for frame, line in traceback.walk_tb(error.__traceback__):
            lines.append(f"    {frame.f_code.co_filename}:{line} {frame.f_code.co_name}")
        error = error.__cause__ or error.__context__
    return "\n".join(lines)


def redacted(record: logging.LogRecord) -> logging.LogRecord:
    """The record with every exception in it replaced: as its message, among its arguments, or attached."""
    record.msg = _named(record.msg)
    if isinstance(record.args, tuple):
        record.args = tuple(map(_named, record.args))
    elif record.args:
        record.args = {name: _named(value) for name, value in record.args.items()}
    if record.exc_info:
        record.exc_text, record.exc_info = outline(record.exc_info[1]), None
    return record


def redact_logs() -> None:
    """Redact what any logger of this process writes, and what Python itself prints of an exception nobody caught."""
    make = logging.getLogRecordFactory()
    logging.setLogRecordFactory(lambda *parts, **named: redacted(make(*parts, **named)))
    sys.excepthook = lambda _, error, __: _write(error)
    sys.unraisablehook = lambda found: _write(found.exc_value)
    threading.excepthook = lambda found: _write(None if found.exc_type is SystemExit else found.exc_value)


def of_the_loop(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Handles what no task caught; the loop itself would print the task, and with it the exception."""
    _write(context.get("exception"))


def _named(value: Any) -> Any:
    return type(value).__qualname__ if isinstance(value, BaseException) else value


def _write(error: BaseException | None) -> None:
    if error is not None:
        print(outline(error), file=sys.stderr, flush=True)
