"""How run.py starts the app and lets a browser in, and how it, the server and the commands end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import launch
import run
from dpcore.data.reading.scratch import PREFIX
from pages.shell.server.access import CODE_VARIABLE, PARAMETER
from pages.shell.server.host_origin import DEMONSTRATION, is_public_demo


def test_the_code_is_no_argument_of_a_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("webbrowser.open", asked.append)
    with launch.opened_in_browser("http://127.0.0.1:1/?access_code=secret"):
        (address,) = asked
        door = Path(address.removeprefix("file://"))
        assert "secret" not in address and "?access_code=secret" in door.read_text()
        assert door.parent.stat().st_mode & 0o077 == 0
    assert not door.exists()


def test_the_address_that_is_opened_has_the_code_that_the_server_was_given(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given: list[str] = []
    ended = subprocess.Popen([sys.executable, "-c", ""])

    def started(*, python: Path, port: int, code: str) -> subprocess.Popen[bytes]:
        given.append(code)
        return ended

    monkeypatch.setattr(run, "ensure_environment", lambda *_, **__: Path(sys.executable))
    monkeypatch.setattr(launch, "start_app", started)
    monkeypatch.setattr(launch, "wait_for_health", lambda *_, **__: True)
    for _ in range(2):
        assert run.start(["--no-browser"]) == 0
    told = capsys.readouterr().out
    assert len(set(given)) == 2 and all(len(code) == 43 for code in given)
    assert all(f"/?{PARAMETER}={code} " in told for code in given)


def test_a_demonstration_has_no_code_and_its_server_knows_what_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    begun: list[dict[str, str]] = []
    ended = subprocess.Popen([sys.executable, "-c", ""])
    monkeypatch.setattr(run, "ensure_environment", lambda *_, **__: Path(sys.executable))
    monkeypatch.setattr(launch, "wait_for_health", lambda *_, **__: True)
    monkeypatch.setenv(launch.DEMONSTRATION, "0")

    def started(*_: object, env: dict[str, str], **__: object) -> subprocess.Popen[bytes]:
        begun.append(env)
        return ended

    monkeypatch.setattr(subprocess, "Popen", started)
    assert run.main(["demo", "--no-browser"]) == 0
    assert is_public_demo(begun[0]) and CODE_VARIABLE not in begun[0] and launch.DEMONSTRATION == DEMONSTRATION
    told = capsys.readouterr().out
    assert "public demonstration" in told and PARAMETER not in told and "ledger of releases" not in told
    with pytest.raises(SystemExit):
        run.main(["demos"])


def test_a_server_is_given_its_code_in_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: dict[str, Any] = {}
    monkeypatch.setattr(subprocess, "Popen", lambda command, **rest: begun.update(rest, command=command))
    launch.start_app(python=Path("python"), port=1, code="secret")
    assert begun["env"][CODE_VARIABLE] == "secret" and "secret" not in " ".join(begun["command"])


DISPOSITIONS = """
for each in (signal.SIGTERM, signal.SIGQUIT):
    signal.signal(each, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.{before})
"""
"""Of a process of its own terminal, whatever nohup or a shell's background job made these tests inherit."""
ENDED = """
import signal, sys, time
{dispositions}
import launch
launch.end_with_the_app()
try:
    print("ready", flush=True)
    time.sleep(1 if {ignored} else 60)
    print("slept", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize(
    ("number", "before", "told"),
    [
        ("SIGTERM", "SIG_DFL", "interrupted"),
        ("SIGHUP", "SIG_DFL", "interrupted"),
        ("SIGQUIT", "SIG_DFL", "interrupted"),
        ("SIGHUP", "SIG_IGN", "slept"),  # as nohup has it
    ],
)
def test_a_closed_terminal_is_an_interruption(number: str, before: str, told: str) -> None:
    script = ENDED.format(dispositions=DISPOSITIONS.format(before=before), ignored=before == "SIG_IGN")
    with subprocess.Popen([sys.executable, "-c", script], cwd=run.HERE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        process.send_signal(getattr(signal, number))
        assert process.stdout.read() == f"{told}\n"


def test_a_command_of_the_ledger_is_asked_to_end_and_not_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or it leaves the rows that it reads on the disk."""

    class Child:
        def wait(self) -> int:
            raise KeyboardInterrupt

    stopped: list[object] = []
    monkeypatch.setattr(run, "ensure_environment", lambda *_, **__: Path(sys.executable))
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: Child())
    monkeypatch.setattr(run, "stop", stopped.append)
    assert run.main(["ledger", "show"]) == 130
    assert [type(each) for each in stopped] == [Child]


SERVED = """
import asyncio, os, signal, sys
from contextlib import ExitStack
{dispositions}
import app
from dpcore.data.reading import scratch

def end(number, frame):
    print("ends", flush=True)
    loop.call_later(0.5, sys.exit, 0)

async def serve():
    signal.signal(signal.SIGTERM, end)  # as the server does
    app.before_ending(scratch.remove_all)
    (scratch.private_folder(ExitStack()) / "records.parquet").write_bytes(b"rows")
    print("ready", flush=True)
    await asyncio.sleep(1 if {ignored} else 60)
    print("slept", flush=True)
    os._exit(0)

loop = asyncio.new_event_loop()
loop.run_until_complete(serve())
"""
COMMANDED = """
import os, signal, sys, time, types
from contextlib import ExitStack
{dispositions}
import launch
from dpcore.data.reading import scratch

def release(arguments, program):
    (scratch.private_folder(ExitStack()) / "records.parquet").write_bytes(b"rows")
    print("ready", flush=True)
    time.sleep(1 if {ignored} else 60)
    print("slept", flush=True)
    os._exit(0)

sys.modules["dprelease.commands"] = types.SimpleNamespace(main=release)
sys.argv = ["dpscope", "release"]
launch.main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", ["SIGTERM", "SIGHUP", "SIGQUIT"])
@pytest.mark.parametrize(("program", "said"), [(SERVED, "ends\n"), (COMMANDED, "")])
def test_a_closed_terminal_leaves_no_rows_on_the_disk(number: str, program: str, said: str, tmp_path: Path) -> None:
    with ended_by(number, program, tmp_path, ignored=False) as process:
        assert process.stdout is not None and process.stdout.read() == said
    assert not list(tmp_path.glob(f"{PREFIX}*"))


@pytest.mark.slow
@pytest.mark.parametrize("program", [SERVED, COMMANDED])
def test_under_nohup_a_closed_terminal_ends_nothing(program: str, tmp_path: Path) -> None:
    with ended_by("SIGHUP", program, tmp_path, ignored=True) as process:
        assert process.stdout is not None and process.stdout.read() == "slept\n"
    assert list(tmp_path.glob(f"{PREFIX}*")), "the control: killed without a word, it leaves them"


@contextmanager
def ended_by(number: str, program: str, folder: Path, *, ignored: bool) -> Iterator[subprocess.Popen[str]]:
    """A process that holds rows in a folder, and was sent a signal."""
    dispositions = DISPOSITIONS.format(before="SIG_IGN" if ignored else "SIG_DFL")
    script = program.format(dispositions=dispositions, ignored=ignored)
    variables = {**os.environ, "TMPDIR": str(folder)}
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, cwd=run.HERE, env=variables, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        assert list(folder.glob(f"{PREFIX}*"))
        process.send_signal(getattr(signal, number))
        yield process
