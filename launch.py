"""Starts the app's server on this machine and opens it in a browser: the command ``dpscope``.

dpscope                     start the app and open it in a browser; Ctrl-C ends it
dpscope --port 9000 --no-browser
dpscope demo                the same for anybody: public and made-up data, no ledger, nothing stored
dpscope plan | release | verify | ledger …
                            statistics and their errors, a real release, its verification, the ledger; --help after
                            each says more

``run.py`` does the same from a checkout, before the libraries are there: importing this file needs none of them.
"""

from __future__ import annotations

import argparse
import http.client
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
import webbrowser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO

HERE = Path(__file__).resolve().parent
LOCALHOST = "127.0.0.1"
LEDGER_COMMANDS = ("plan", "release", "verify", "ledger")
DEMONSTRATION = "DPSCOPE_PUBLIC_DEMO"
"""Variable that makes the app a public demonstration, as pages/shell/server/host_origin.py reads it."""


def say(sentence: str) -> None:
    """Print at once, so that our lines stay in order with those of the programs we start."""
    print(sentence, flush=True)


def free_port(*, preferred: int) -> int:
    """The preferred port if nobody listens on it, else any free one."""
    for port in (preferred, 0):
        with socket.socket() as probe:
            if os.name == "posix":  # a port that was closed a moment ago counts as free
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((LOCALHOST, port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    sys.exit("This machine has no free port.")


def ledger_folder(variables: Mapping[str, str] = os.environ) -> Path:
    """Where the app keeps its ledger, as dprelease/commands.py has it, which needs libraries."""
    usual = Path(variables.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "dpscope" / "ledger"
    return Path(variables.get("DPSCOPE_LEDGER") or usual)


def start_app(*, python: Path, port: int, output: IO[bytes] | None = None, code: str = "") -> subprocess.Popen[bytes]:
    """Start the app's server on this machine only; its output goes to a file, or where ours goes.

    Args:
        python: the interpreter that has the libraries.
        port: to listen on.
        output: a file.
        code: admits the browser that first brings it; handed over in the environment, which no other account sees.
    """
    command = [str(python), "-m", "streamlit", "run", str(HERE / "app.py"), f"--server.port={port}"]
    command += [f"--server.address={LOCALHOST}", "--server.headless=true"]
    variables = os.environ | ({"DPSCOPE_CODE": code} if code else {})
    return subprocess.Popen(command, cwd=HERE, env=variables, stdin=subprocess.DEVNULL, stdout=output, stderr=output)


@contextmanager
def opened_in_browser(address: str) -> Iterator[None]:
    """Open an address by way of a file that only its user may read: other accounts see the arguments of a program."""
    with tempfile.TemporaryDirectory(prefix="dpscope-") as folder:
        door = Path(folder) / "open.html"
        door.write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={address}">', encoding="utf-8")
        webbrowser.open(door.as_uri())
        yield


def wait_for_health(process: subprocess.Popen[bytes], *, port: int, seconds: float = 60) -> bool:
    """Whether the server answers within the time; false at once if its process ends."""
    end = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < end:
        connection = http.client.HTTPConnection(LOCALHOST, port, timeout=2)
        try:
            connection.request("GET", "/_stcore/health")
            if connection.getresponse().status == 200:
                return True
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        time.sleep(0.1)
    return False


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process: ask, wait ten seconds, insist."""
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def end_with_the_app() -> None:
    """Treat signals that end this program as Ctrl-C, so that it ends the app too; under nohup SIGHUP stays ignored."""
    for name in ("SIGTERM", "SIGHUP", "SIGQUIT"):
        number = getattr(signal, name, None)  # Windows has not all of them
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


def has_screen() -> bool:
    """Whether a browser would open in a window, and not as text in this terminal."""
    return os.name == "nt" or sys.platform == "darwin" or bool({"DISPLAY", "WAYLAND_DISPLAY"} & set(os.environ))


def port_number(text: str) -> int:
    """The port that was written; refused where Python alone would read 9_000, or where no machine has such a port."""
    if text.isascii() and text.isdecimal() and int(text) < 2**16:
        return int(text)
    raise argparse.ArgumentTypeError(f"invalid port: {text!r}")


def options_of(arguments: list[str], *, program: str, explanation: str | None) -> argparse.Namespace:
    """Return what is asked of the app's server: its port, and whether a browser is opened.

    Raises:
        SystemExit: after the explanation or a sentence, as argparse has it.
    """
    parser = argparse.ArgumentParser(
        prog=program, description=explanation, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("demo", nargs="?", choices=["demo"], help="a public demonstration: no data of one's own")
    parser.add_argument(
        "--port", type=port_number, default=8501, help="another port is used if this one is taken (default: 8501)"
    )
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    return parser.parse_args(arguments)


def serve(options: argparse.Namespace, *, python: Path) -> int:
    """Serve the app until it is interrupted; returns what the server returns, or 1 if it does not start."""
    port = free_port(preferred=options.port)
    code = "" if options.demo else secrets.token_urlsafe(32)
    if options.demo:
        os.environ[DEMONSTRATION] = "1"
    process = start_app(python=python, port=port, code=code)
    address = f"http://{LOCALHOST}:{port}/" + (f"?access_code={code}" if code else "")
    try:
        if not wait_for_health(process, port=port):
            say("The app did not start; the reason is above.")
            return 1
        say(f"dpscope is at {address} (Ctrl-C ends it)")
        if code:
            say(f"The ledger of releases is in {ledger_folder()}.")
            say(
                "The browser that first opens this address becomes the data owner's and can spend the budget. The "
                "code in the address works once."
            )
        else:
            say("This is a public demonstration: without a ledger, and nothing is stored.")
        with opened_in_browser(address) if not options.no_browser and has_screen() else nullcontext():
            return process.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        stop(process)


def main() -> int:
    """Do what the first word of the command line says; open the app without one."""
    if sys.argv[1:2] and sys.argv[1] in LEDGER_COMMANDS:
        # They need the libraries, which whoever only imports this file may not have.
        from dpcore.data.reading.scratch import remove_all_when_ended
        from dprelease import commands

        remove_all_when_ended()
        try:
            return commands.main(sys.argv[1:], program="dpscope")
        except KeyboardInterrupt:
            return 130
    end_with_the_app()
    try:
        return serve(options_of(sys.argv[1:], program="dpscope", explanation=__doc__), python=Path(sys.executable))
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
