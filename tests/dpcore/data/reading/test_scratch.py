"""Folders of private records, in real processes: gone when asked, swept after a kill, never taken from the living."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from threading import Thread

import pytest

from dpcore.data.reading.scratch import PREFIX, private_folder, sweep_leftovers
from run import HERE

RECORDS = "from dpcore.data.reading.tables import read_table; table = read_table(b'age\\n41\\n', name='people.csv')"
SWEEP = "from dpcore.data.reading.scratch import sweep_leftovers; sweep_leftovers()"
REMOVE = "from dpcore.data.reading.scratch import remove_all\nremove_all()"
HOLD = f"{RECORDS}; print('held', flush=True); input()"


def holder(folder: Path, script: str = HOLD) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script],
        env={"TMPDIR": str(folder), "PYTHONPATH": str(HERE)},
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def held(process: subprocess.Popen[str]) -> bool:
    assert process.stdout is not None
    return process.stdout.readline() == "held\n"


def folders(folder: Path) -> set[Path]:
    return {each.parent for each in folder.glob(f"{PREFIX}*/records.parquet")}


@pytest.mark.slow
def test_what_a_killed_process_left_is_swept_and_what_a_living_one_holds_is_not(tmp_path: Path) -> None:
    with holder(tmp_path) as killed:
        assert held(killed)
        theirs = folders(tmp_path)
        with holder(tmp_path) as living:
            assert held(living)
            both = folders(tmp_path)
            assert theirs < both and len(both) == 2
            killed.kill()
            killed.wait()
            assert folders(tmp_path) == both
            with holder(tmp_path, SWEEP) as sweeper:
                assert sweeper.wait() == 0
            assert folders(tmp_path) == both - theirs
            living.communicate("\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    "later", ["", "\ntry: read_table(b'age\\n17\\n', name='late.csv')\nexcept DataError as e: print(e)"]
)
def test_nothing_is_left_or_made_once_all_were_removed(tmp_path: Path, later: str) -> None:
    script = f"from dpcore.core import DataError\nimport os\n{RECORDS}\n{REMOVE}"
    with holder(tmp_path, f"{script}{later}\nprint('held', flush=True); input(); os._exit(0)") as process:
        assert process.stdout is not None
        said = "late.csv: it was not read: the app is closing.\n" if later else ""
        assert process.stdout.readline() == (said or "held\n")
        assert not list(tmp_path.glob(f"{PREFIX}*"))
        process.kill()


def test_a_table_may_end_while_the_folder_of_another_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The garbage collector may end a table anywhere, in the same thread; uploads must still work after it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    first, second, made = ExitStack(), ExitStack(), list[Path]()
    ended = private_folder(first)
    make = tempfile.mkdtemp

    def collecting(prefix: str) -> str:
        first.close()
        return make(prefix=prefix)

    monkeypatch.setattr(tempfile, "mkdtemp", collecting)
    thread = Thread(target=lambda: made.append(private_folder(second)), daemon=True)
    thread.start()
    thread.join(60)
    assert made and not ended.exists() and made[0].exists()
    second.close()
    assert not [*tmp_path.iterdir()]


def test_what_cannot_be_emptied_keeps_its_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the next sweep finds it: records whose lock went first stayed for ever."""
    folder = tmp_path / f"{PREFIX}cut-short"
    folder.mkdir()
    for name in ("lock", "records.parquet"):
        (folder / name).write_bytes(b"")
    gone: list[str] = []
    unlink = Path.unlink

    def seen(path: Path, *, missing_ok: bool = False) -> None:
        gone.append(path.name)
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", seen)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    sweep_leftovers()
    assert not folder.exists() and gone == ["records.parquet"], "the records, and only then the folder with its lock"
