"""Who may ask: the app's own names and its own origin, nobody else; and what no log says."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send
from websockets.frames import Frame, Opcode

from pages.shell.server.headers import content_policy
from pages.shell.server.host_origin import FOREIGN_HOST, FOREIGN_ORIGIN, HostOriginMiddleware, refusal
from pages.shell.server.redaction import STRUCK, redacted
from run import HERE
from tests.pages.asgi import messages

ALLOWED = ["app.example.org", "*.example.net"]
OWN = "127.0.0.1:8501"


@pytest.mark.parametrize(
    "host",
    [OWN, "localhost", "LOCALHOST:1", "[::1]:8501", "app.example.org", "app.example.org.:443", "a.b.example.net"],
)
def test_own_hosts_are_let_in_from_their_own_pages(host: str) -> None:
    assert refusal([host], [], ALLOWED) is None
    assert refusal([host], [f"http://{host}"], ALLOWED) is refusal([host], [f"https://{host}"], ALLOWED) is None


@pytest.mark.parametrize(
    "host",
    [
        "", "evil.example", "example.net", "evilexample.net", "app.example.org.evil.example", "127.0.0.1.evil.example",
        "evil.example@localhost", "localhost@evil.example", "localhost/x", "localhost?", "localhost#a", "localhost:x",
        "[::1", "localhost:123456", "192.168.0.1", "[::ffff:127.0.0.1]", "0.0.0.0", "127.0.0.1\\@evil.example",
    ],
)  # fmt: skip
def test_foreign_hosts_are_not(host: str) -> None:
    assert refusal([host], [], ALLOWED) == FOREIGN_HOST


def test_one_host_is_named() -> None:
    assert refusal([], [], ALLOWED) == refusal([OWN, "localhost"], [], ALLOWED) == FOREIGN_HOST


@pytest.mark.parametrize(
    "origin",
    ["null", "", "http://evil.example", f"http://{OWN}.evil.example", f"ftp://{OWN}", f"http://x@{OWN}",
     "http://127.0.0.1:8502", "http://localhost:8501", "https://app.streamlit.app", "http://app.example.org"],
)  # fmt: skip
def test_other_origins_are_refused_another_port_of_this_machine_too(origin: str) -> None:
    assert refusal([OWN], [origin], ALLOWED) == FOREIGN_ORIGIN
    assert refusal([OWN], [f"http://{OWN}", origin], ALLOWED) == FOREIGN_ORIGIN


@pytest.mark.parametrize("path", ["/_stcore/metrics", "/below/_stcore/metrics", "/_stcore/metrics/", "/_stcore/health"])
def test_sizes_of_sessions_are_told_to_nobody(path: str) -> None:
    """Streamlit answers with the exact bytes of every upload, by which a stranger measures somebody's file."""
    reached = list[str]()

    async def inside(scope: Scope, _: Receive, __: Send) -> None:
        reached.append(scope["path"])

    answer = messages(HostOriginMiddleware(inside), path, headers=[(b"host", OWN.encode())])
    assert (reached == [path]) == (path == "/_stcore/health") == (403 not in [each.get("status") for each in answer])


def test_the_policy_lets_nothing_in_from_elsewhere() -> None:
    policy = dict(each.split(" ", 1) for each in content_policy("<script>one()</script>").split("; "))
    assert policy["default-src"] == policy["frame-ancestors"] == "'none'"
    assert {source for sources in policy.values() for source in sources.split() if not source.startswith("'sha")} == {
        "'none'",
        "'self'",
        "data:",
        "blob:",
        "'unsafe-inline'",
        "'wasm-unsafe-eval'",
    }
    assert "unsafe-inline" not in policy["script-src"] and "data:" not in policy["script-src"]


FAILING = """
import asyncio, gc, logging, os, sys, threading
sys.path.insert(0, {here!r})
from pages.shell.server.redaction import of_the_loop, redact_logs
redact_logs()

def fail():
    try:
        raise KeyError("Ada, 41")
    except KeyError as error:
        raise ValueError("Ada, 42") from error

class Unlucky:
    def __del__(self):
        fail()

def caught(log):
    try:
        fail()
    except ValueError as error:
        log(error)

async def tasks():
    asyncio.get_running_loop().set_exception_handler(of_the_loop)
    task = asyncio.create_task(asyncio.to_thread(fail))
    await asyncio.wait([task])
    del task
    gc.collect()

logger = logging.getLogger("any")
from streamlit.error_util import handle_uncaught_app_exception

for place, way in enumerate({ways!r}):
    if not os.fork():
        said = os.open(f"{folder}/{place}", os.O_WRONLY | os.O_CREAT)
        os.dup2(said, 1), os.dup2(said, 2)
        break
    os.wait()
else:
    way = "None"
eval(way)
"""
WAYS = (
    "caught(lambda error: logger.error('It failed', exc_info=error))",
    "caught(lambda error: logger.exception(error))",
    "caught(lambda error: logger.error('It failed: %s', error, exc_info=True))",
    "caught(lambda error: logger.error('It failed: %(why)r', {'why': error}, exc_info=True))",
    "caught(handle_uncaught_app_exception)",
    "asyncio.run(tasks())",
    "threading.Thread(target=fail).start()",
    "Unlucky()",
    "fail()",
)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What a process says that fails in each way; they share what is imported, which takes most of their time."""
    folder = tmp_path_factory.mktemp("ways")
    script = FAILING.replace("{here!r}", repr(str(HERE))).replace("{ways!r}", repr(WAYS))
    subprocess.run([sys.executable, "-c", script.replace("{folder}", str(folder))], check=True)
    return {way: (folder / str(place)).read_text(encoding="utf-8") for place, way in enumerate(WAYS)}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_no_log_quotes_an_exception(way: str, told: dict[str, str]) -> None:
    assert "Ada" not in told[way]
    assert "Traceback" in told[way] and "builtins.KeyError" in told[way] and "<string>:11 fail" in told[way]


SESSION, SECRET = "0c5e8f1e-9a3f-4a6b-8f0e-1d2c3b4a5968", "k" * 43


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("Session with id %s is already connected! Reconnecting to existing session.", (SESSION,)),
        (f"Session {SESSION}", ()),
        ("%(id)s", ({"id": SESSION},)),
        ("%r of %s", ([SESSION], {SESSION: SESSION.upper()})),
        ("< %s: %s", ("Sec-WebSocket-Protocol", f"streamlit, 2|a|b|1, {SESSION}")),
        ("< %s: %s", ("Cookie", f"theme=dark; dpscope-8501={SECRET}; _streamlit_user={SECRET}")),
        ("> %s: %s", ("set-cookie", f"dpscope-8501={SECRET}; Path=/")),
        ('%s - "%s %s HTTP/%s" %d', ("1.2.3.4:1", "PUT", f"/_stcore/upload_file/{SESSION}/1", "1.1", 204)),
        ('%s - "%s %s HTTP/%s" %d', ("1.2.3.4:1", "GET", f"/?data=a&access_code={SECRET}&x=1", "1.1", 403)),
        ("headers: %s", ([(b"cookie", f"dpscope-8501={SECRET}".encode())],)),
        ("> %s", (Frame(Opcode.BINARY, SESSION.encode()),)),
        ("> %s", (Frame(Opcode.TEXT, b"Ada, 41"),)),
    ],
)
@pytest.mark.parametrize("level", [logging.DEBUG, logging.WARNING])
def test_no_log_holds_what_gives_a_right(message: str, arguments: tuple[Any, ...], level: int) -> None:
    record = logging.LogRecord("uvicorn.access", level, "file.py", 1, message, arguments, None)
    before, told = record.getMessage(), redacted(record).getMessage()
    for secret in (SESSION, SESSION.upper(), SECRET, "Ada", SESSION[:8].encode().hex(" ")):
        assert secret not in told
    assert told != before and (STRUCK in told or told == "> Frame")
    assert len(record.args or ()) == len(arguments), "a formatter may ask for its arguments"


def test_a_log_without_secrets_is_as_it_was() -> None:
    arguments = (1, 2.5, None, "data=a", Path("x"), "v2-0c5e8f1e-9a3f")
    record = logging.LogRecord("any", logging.INFO, "file.py", 1, "%d %.2f %s %s %s %s", arguments, None)
    assert redacted(record).args == arguments
