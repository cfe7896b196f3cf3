"""The launcher: `streamlit run app.py` serves the pages; `python3 run.py` installs what it needs and calls it.

The router is `pages/main.py`. Were it this file, Streamlit would serve the scripts in `pages/` by their address
before this file had ever run, and so before any gate in it. As the script of an `App`, the router runs first on
every visit.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import os
import pkgutil
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import streamlit as st
from starlette.middleware import Middleware

from pages import SCRIPTS
from pages.shell import addresses
from pages.shell.server.access import BrowserKeys
from pages.shell.server.headers import Headers
from pages.shell.server.host_origin import HostOriginMiddleware
from pages.shell.server.redaction import of_the_loop, redact_logs
from pages.shell.server.rehearsal import ActivityMiddleware, LastActivity, rehearse
from pages.shell.server.static_files import StaticFilesMiddleware
from pages.shell.server.streamlit_internals import share_session_locks
from pages.shell.server.upload_limits import UploadLimits
from pages.shell.server.upload_names import UploadNames

HERE = Path(__file__).resolve().parent

# `import dpcore` and `from pages.shell import …` resolve whatever the working directory.
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))

# One thread for each product of matrices: many people share the machine, and threads that wait for a busy core spin.
# It is read when numpy is imported, which nothing above does.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

LIBRARIES = ("duckdb", "numpy", "pandas", "pyarrow", "scipy.special")
ENDING = ("SIGHUP", "SIGQUIT")
"""Signals that a terminal sends besides SIGINT."""
COLLECT_EVERY = 5.0
"""Seconds."""
TURN = 0.001
"""Seconds a thread computes before another has its turn. An answer waits for dozens of turns: at Python's 5 ms each,
long work of one session would hold up every other."""


def import_all(package_name: str) -> None:
    """Import a package and every module below it, except those that Streamlit runs as scripts.

    Raises:
        ImportError: if the package or one of its modules cannot be imported.
    """
    package = importlib.import_module(package_name)
    for module in pkgutil.walk_packages(package.__path__, prefix=f"{package_name}."):
        if module.name.rpartition(".")[2] not in SCRIPTS:
            importlib.import_module(module.name)


def before_ending(do: Callable[[], None]) -> None:
    """Have something done as soon as the process is told to end: the server first waits for requests under way."""
    loop = asyncio.get_running_loop()
    if threading.current_thread() is not threading.main_thread():
        return  # a server that runs in another thread gets no signals

    def chain(number: signal.Signals) -> None:
        then = signal.getsignal(number)

        def handle(received: int, frame: FrameType | None) -> None:
            loop.call_soon_threadsafe(do)
            if callable(then):
                then(received, frame)

        signal.signal(number, handle)

    end_on_hangup()
    for number in (signal.SIGTERM, signal.SIGINT):
        chain(number)


def end_on_hangup() -> None:
    """Treat a closed terminal, or SIGQUIT from it, as SIGTERM: by default they end a process where it stands.

    What is ignored stays ignored, as under nohup.
    """
    for name in ENDING:
        number = getattr(signal, name, None)  # Windows has neither
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, lambda *_: signal.raise_signal(signal.SIGTERM))


def send_at_once() -> None:
    """Have each answer and message leave when it is written, not when the browser has confirmed the one before.

    asyncio sees to that for sockets of its own making. Streamlit makes the server's itself, and asyncio takes it for
    one of another protocol: a browser that delays its confirmations would wait 40 ms for each of a page's files.
    """
    loop = asyncio.get_running_loop()
    create_server = loop.create_server

    async def create(*what: Any, sock: socket.socket | None = None, **more: Any) -> asyncio.Server:
        if sock is not None and sock.family in (socket.AF_INET, socket.AF_INET6):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # what it accepts has it too
        return await create_server(*what, sock=sock, **more)

    vars(loop)["create_server"] = create


async def collect_garbage() -> None:
    """For ever."""
    while True:
        await asyncio.sleep(COLLECT_EVERY)
        gc.collect()


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Import what the pages need before the server answers, and see to private files while it runs and when it ends.

    Streamlit would collect garbage after every run of a page, which takes as long as a move of a slider does; here it
    is collected every few seconds, without the libraries' objects.
    """
    redact_logs()
    asyncio.get_running_loop().set_exception_handler(of_the_loop)
    sys.setswitchinterval(TURN)
    send_at_once()
    for library in LIBRARIES:
        importlib.import_module(library)
    for package_name in ("dpcore", "dplab", "dprelease", "pages"):
        import_all(package_name)
    session = importlib.import_module("pages.shell.session")
    scratch = importlib.import_module("dpcore.data.reading.scratch")
    gc.collect()
    gc.freeze()
    scratch.sweep_leftovers()
    before_ending(scratch.remove_all)
    to_do = (session.end_abandoned_sessions(), collect_garbage(), rehearse(ACTIVITY))
    chores = [asyncio.create_task(chore) for chore in to_do]
    try:
        yield
    finally:
        for chore in chores:
            chore.cancel()
        scratch.remove_all()


# Not an import statement: what this file imports above must be found before the path is set.
CHARTS = importlib.import_module("pages.charts.script")
ACTIVITY = LastActivity()

share_session_locks()

app = st.App(
    HERE / "pages" / "main.py",
    lifespan=lifespan,
    routes=[*addresses.routes(f"/{st.get_option('server.baseUrlPath').strip('/')}"), *CHARTS.ROUTES],
    middleware=[
        Middleware(Headers),
        Middleware(HostOriginMiddleware),
        Middleware(UploadNames),
        Middleware(BrowserKeys),
        Middleware(ActivityMiddleware, activity=ACTIVITY),
        Middleware(StaticFilesMiddleware),
        Middleware(UploadLimits),  # the last: what it raises while a file arrives is answered further inside
    ],
)
