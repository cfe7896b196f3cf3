"""A child process gets no secret, is ended when it takes too long or is not wanted any more, and may say anything."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from dpcore.core import cancellable
from dpcore.data.reading import child_process
from dpcore.data.reading.child_process import OUT_OF_TIME, read_answer, run_limited
from dpcore.data.reading.conversion_process import MEMORY
from tests.kit.hostile import SECRET

SLEEPS = "import time; time.sleep(60)"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The child processes that are started."""
    all_started = list[subprocess.Popen[bytes]]()

    class Popen(subprocess.Popen[bytes]):
        def __enter__(self) -> Popen:
            all_started.append(self)
            return self

    monkeypatch.setattr(child_process, "Popen", Popen)
    return all_started


def program(folder: Path, text: str) -> str:
    path = folder / "program.py"
    path.write_text(text)
    return str(path)


def test_the_child_gets_no_secret_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSCOPE_TOKEN", SECRET)
    text = "import json, os; json.dump(dict(os.environ), open('answer.json', 'w'))"
    assert run_limited(program(tmp_path, text), folder=tmp_path, seconds=20) == 0
    said = read_answer(tmp_path / "answer.json")
    assert said["OPENBLAS_NUM_THREADS"] == "1" and SECRET not in said.values()
    assert not (tmp_path / "answer.json").exists()


def test_what_takes_too_long_is_ended(tmp_path: Path, started: list[subprocess.Popen[bytes]]) -> None:
    start = time.monotonic()
    assert run_limited(program(tmp_path, SLEEPS), folder=tmp_path, seconds=0.2) == OUT_OF_TIME
    assert time.monotonic() - start < 5
    assert [each.returncode for each in started] == [-signal.SIGKILL]


def test_cancelled_work_ends_its_child(tmp_path: Path, started: list[subprocess.Popen[bytes]]) -> None:
    class Stopped(Exception):
        pass

    def stop() -> None:
        raise Stopped

    with pytest.raises(Stopped), cancellable(stop, every=0.0):
        run_limited(program(tmp_path, SLEEPS), folder=tmp_path, seconds=60)
    assert [each.returncode for each in started] == [-signal.SIGKILL]


def test_the_end_of_the_app_which_removes_the_folder_ends_the_child(
    tmp_path: Path, started: list[subprocess.Popen[bytes]]
) -> None:
    folder = tmp_path / "private"
    folder.mkdir()
    text = f"import os, time; os.rmdir({str(folder)!r}); time.sleep(60)"
    start = time.monotonic()
    assert run_limited(program(tmp_path, text), folder=folder, seconds=60) == OUT_OF_TIME
    assert time.monotonic() - start < 20
    assert [each.returncode for each in started] == [-signal.SIGKILL]


@pytest.mark.parametrize(("name", "status"), [("SIGXCPU", OUT_OF_TIME), ("SIGABRT", MEMORY), ("SIGSEGV", MEMORY)])
def test_a_signal_is_the_limit_that_it_stands_for(tmp_path: Path, name: str, status: int) -> None:
    no_dump = "import os, resource, signal; resource.setrlimit(resource.RLIMIT_CORE, (0, 0))"
    text = f"{no_dump}; os.kill(os.getpid(), signal.{name})"
    assert run_limited(program(tmp_path, text), folder=tmp_path, seconds=20) == status


@pytest.mark.parametrize("said", ["", "[1]", "[" * 100_000, "\ud800", '{"a": 1'])
def test_an_answer_that_is_none_is_empty(tmp_path: Path, said: str) -> None:
    (tmp_path / "answer.json").write_bytes(said.encode(errors="surrogatepass"))
    assert read_answer(tmp_path / "answer.json") == {}
