"""Strategies on disk: found again by the next process, trusted in nothing, and a trace of public sizes alone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpcore.mechanisms.ranges.strategy as searched
from dpcore import Intervals, Neighbours, Number, Preview, Problem, Thresholds
from dpcore.core import ParameterError
from dpcore.mechanisms.ranges import strategy_cache
from dpcore.mechanisms.ranges.strategy import Strategy, deserialise, strategy
from dpcore.mechanisms.ranges.tree_windows import TreeWindows
from dpcore.mechanisms.ranges.windows import Windows
from tests import ROOT
from tests.kit.problems import dataset_of

CELLS, STEPS = 64, 4096


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where strategies of 16 cells and more are kept, during the test."""
    monkeypatch.setenv(strategy_cache.VARIABLE, str(tmp_path))
    monkeypatch.setattr(searched, "MIN_CACHED_CELLS", 16)
    strategy.cache_clear()
    yield tmp_path / "strategies"
    strategy.cache_clear()


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Cells for which a strategy was searched for, one after the other."""
    calls: list[int] = []
    search = searched._build_strategy

    def counted(cells: int, *, prefixes: bool, known: bool, steps: int) -> Strategy:
        calls.append(cells)
        return search(cells, prefixes=prefixes, known=known, steps=steps)

    monkeypatch.setattr(searched, "_build_strategy", counted)
    return calls


def anew(cells: int = CELLS, *, prefixes: bool = False, known: bool = False, steps: int = STEPS) -> Strategy:
    """As a new process asks for it."""
    strategy.cache_clear()
    return strategy(cells, prefixes=prefixes, known=known, steps=steps)


def same(one: Strategy, other: Strategy) -> bool:
    return (
        one.steps == other.steps
        and type(one.windows) is type(other.windows)
        and np.array_equal(one.own, other.own)
        and one.windows.dtype == other.windows.dtype
        and (one.windows != other.windows).sum() == 0
    )


def only_file(folder: Path) -> Path:
    (file,) = folder.iterdir()
    return file


def put(folder: Path, content: bytes) -> None:
    """Something else in the only file, under a right seal: as any program of this user could write."""
    strategy_cache.write(only_file(folder).stem, content)


def numbers(*told: int) -> bytes:
    return np.array(told, dtype="<u4").tobytes()


def test_tests_keep_nothing(tmp_path: Path) -> None:
    strategy_cache.write("a", b"b")
    assert os.environ[strategy_cache.VARIABLE] == strategy_cache.OFF and strategy_cache.read("a") is None


@pytest.mark.slow
def test_the_next_process_finds_it(tmp_path: Path) -> None:
    script = (
        "import sys, hashlib, dpcore.mechanisms.ranges.strategy as s\n"
        "if 'blind' in sys.argv: s._build_strategy = None\n"
        "plan = s.strategy(256, prefixes=True, known=True, steps=4096)\n"
        "print(hashlib.sha256(plan.windows.tobytes() + plan.own.tobytes()).hexdigest())"
    )

    def told(*arguments: str) -> subprocess.CompletedProcess[str]:
        variables = os.environ | {"PYTHONPATH": str(ROOT), strategy_cache.VARIABLE: str(tmp_path)}
        return subprocess.run(
            [sys.executable, "-c", script, *arguments], env=variables, capture_output=True, text=True, check=False
        )

    assert told("blind").returncode  # nothing is there yet
    first = told()
    assert first.returncode == 0 and told("blind").stdout == first.stdout != ""


@pytest.mark.parametrize("sparse", [False, True])
def test_what_is_read_back_is_what_was_found(
    sparse: bool, folder: Path, searches: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searched, "MAX_DENSE", 32 if sparse else CELLS)
    plan = anew()
    assert same(anew(), plan) and searches == [CELLS]
    assert isinstance(plan.windows, np.ndarray) is not sparse
    assert not same(plan, anew(prefixes=True))  # the control


def test_on_few_cells_nothing_is_kept(folder: Path) -> None:
    anew(15)
    assert not folder.exists()
    anew(16)
    assert len(list(folder.iterdir())) == 1


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda told: b"",
    "cut": lambda told: told[:-1],
    "longer": lambda told: told + b"\0",
    "a byte of the seal": lambda told: bytes([told[0] ^ 1]) + told[1:],
    "a byte of a weight": lambda told: told[:-4] + bytes([told[-4] ^ 1]) + told[-3:],
    "unsealed": lambda told: told[strategy_cache.SEAL :],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_found_again_and_mended(damage: str, folder: Path, searches: list[int]) -> None:
    plan = anew()
    file = only_file(folder)
    whole = file.read_bytes()
    file.write_bytes(DAMAGES[damage](whole))
    assert same(anew(), plan) and searches == [CELLS] * 2
    assert file.read_bytes() == whole and same(anew(), plan) and searches == [CELLS] * 2


def test_a_file_under_anothers_name_is_not_read(folder: Path, searches: list[int]) -> None:
    plan = anew()
    file = only_file(folder)
    whole = file.read_bytes()
    anew(prefixes=True)
    (other,) = set(folder.iterdir()) - {file}
    file.write_bytes(other.read_bytes())
    assert same(anew(), plan) and len(searches) == 3 and file.read_bytes() == whole


# Count of windows, cells of each, those cells, their weights.
REFUSED = {
    "nothing": b"",
    "no whole number": b"\1\0\0",
    "too short": numbers(1, 2, 0, 1, 5),
    "too long": numbers(1, 1, 0, 5, 0),
    "no windows but weights": numbers(0, 0, 5),
    "more windows than cells": numbers(CELLS + 1, *[1] * (CELLS + 1), *[0] * (CELLS + 1), *[1] * (CELLS + 1)),
    "a count beyond all": numbers(2**32 - 1),
    "lengths beyond all": numbers(2, 2**32 - 1, 2**32 - 1),
    "a cell that is not there": numbers(1, 1, CELLS, 5),
    "a cell twice": numbers(1, 2, 3, 3, 5, 5),
    "cells out of order": numbers(1, 2, 4, 3, 5, 5),
    "a weight below 0": numbers(2, 1, 1, 0, 0, 2**32 - 5, 7),
    "weights that leave a cell nothing": numbers(1, 1, 0, STEPS),
    "weights beyond the steps": numbers(2, 1, 1, 0, 0, STEPS - 1, STEPS - 1),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", REFUSED)
def test_a_file_that_holds_no_windows_of_these_sizes_is_refused(what: str, folder: Path, searches: list[int]) -> None:
    """Noise of too small a scale would follow from the last three: columns of more than the steps."""
    plan = anew()
    whole = only_file(folder).read_bytes()
    put(folder, REFUSED[what])
    assert strategy_cache.read(only_file(folder).stem) == REFUSED[what]  # its seal is right
    assert same(anew(), plan) and searches == [CELLS] * 2
    assert only_file(folder).read_bytes() == whole


@pytest.mark.slow
@given(st.lists(st.one_of(st.integers(0, 3), st.integers(0, 2**32 - 1)), max_size=12))
def test_whatever_a_file_says_every_column_adds_up_to_the_steps(told: list[int]) -> None:
    try:
        plan = deserialise(numbers(*told), cells=3, steps=4)
    except ParameterError:
        return
    for own, *weights in np.vstack([plan.own, plan.windows]).T.tolist():
        assert own >= 1 and min([0, *weights]) == 0 and own + sum(weights) == 4


def test_weights_that_begin_again_at_0_are_refused() -> None:
    """2^63 - 1 twice, and 2 more, are 0 in 64 bits: as if the windows were not measured at all."""
    with pytest.raises(ParameterError, match="exceed"):
        Strategy(own=np.array([4]), windows=np.array([[2**63 - 1], [2**63 - 1], [2]]), steps=4)


class FromFile(Windows):
    """Windows as the file has them, without the choice of the cells alone where these have the smaller error."""

    def plan(self, problem: Problem) -> Strategy:
        return strategy(problem.domain.ordered, prefixes=False, known=False, steps=self.steps)


def test_another_sound_strategy_has_its_own_errors_and_the_same_noise(folder: Path) -> None:
    """A changed file can make answers worse, which the error shows; a row moves what is measured no further."""
    domain = Number(bits=6)
    problem = Problem(domain=domain, queries=Intervals(domain=domain), n=100, neighbours=Neighbours.ADD_REMOVE_ONE)
    anew()
    mechanism, batch = FromFile(epsilon=1.0), problem.queries.batch(50)
    best, promise = mechanism.variance(problem, batch), mechanism.accuracy(problem, 0.05).value
    put(folder, numbers(1, 1, 0, 1))
    strategy.cache_clear()
    assert (mechanism.plan(problem).windows.sum(), mechanism.plan(problem).own.sum()) == (1, CELLS * STEPS - 1)
    assert mechanism.variance(problem, batch).mean() > 1.3 * best.mean()
    assert mechanism.accuracy(problem, 0.05).value > promise
    moved = mechanism.solver(problem).measured(np.eye(CELLS, dtype=np.int64))
    assert (np.abs(moved).sum(axis=1) == STEPS).all()
    assert len(Windows(epsilon=1.0).plan(problem).windows) == 0, "cells alone are better than these windows"


def is_kept(name: str = "name") -> bool:
    strategy_cache.write(name, b"content")
    return strategy_cache.read(name) == b"content"


def test_a_folder_that_anybody_else_may_enter_or_owns_is_passed_over(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert is_kept() and folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o750)
    assert strategy_cache.read("name") is None and not is_kept("other")
    folder.chmod(0o700)
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
        assert strategy_cache.read("name") is None and not is_kept("other")
    assert only_file(folder).name == "name" + strategy_cache.ENDING and strategy_cache.read("name") == b"content"
    moved = folder.rename(folder.with_name("moved"))
    folder.symlink_to(moved)
    assert strategy_cache.read("name") is None and not is_kept("other")


def test_a_folder_that_others_could_replace_is_passed_over(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_kept()
    for mode in (0o720, 0o702, 0o1777):
        folder.parent.chmod(mode)
        assert strategy_cache.read("name") is None and not is_kept("other"), oct(mode)
    folder.parent.chmod(0o755)
    assert strategy_cache.read("name") == b"content", "the control: others may look, and change nothing"
    above, real = folder.parent.stat().st_ino, Path.stat

    def of_another(path: Path, **told: bool) -> os.stat_result:
        status = real(path, **told)
        return os.stat_result([*status[:4], status.st_uid + 1, *status[5:10]]) if status.st_ino == above else status

    monkeypatch.setattr(Path, "stat", of_another)
    assert strategy_cache.read("name") is None and not is_kept("other")


@pytest.mark.parametrize("place", ["/dev/null/cache", "a file"])
def test_where_nothing_can_be_written_all_goes_on(
    place: str, tmp_path: Path, folder: Path, searches: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a file").touch()
    plan = anew()
    monkeypatch.setenv(strategy_cache.VARIABLE, str(tmp_path / place))
    assert same(anew(), plan) and searches == [CELLS] * 2


@pytest.mark.parametrize("step", ["write_bytes", "replace"])
def test_a_disk_that_is_full_or_read_only_leaves_nothing_half_done(
    step: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert is_kept()

    def refused(*told: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, step, refused)
    strategy_cache.write("name", b"another")
    assert strategy_cache.read("name") == b"content" and len(list(folder.iterdir())) == 1


@pytest.mark.slow
def test_several_processes_write_at_once_and_each_reads_one_whole_file(folder: Path) -> None:
    script = (
        "import sys\nfrom dpcore.mechanisms.ranges import strategy_cache\n"
        "content = sys.argv[1].encode() * 50_000\n"
        "for turn in range(200):\n"
        "    strategy_cache.write('name', content)\n"
        "    told = strategy_cache.read('name')\n"
        "    assert told and len(told) == 50_000 and len(set(told)) == 1, told"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", script, letter], env=os.environ | {"PYTHONPATH": str(ROOT)})
        for letter in "abc"
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert only_file(folder).name == "name" + strategy_cache.ENDING


def test_each_public_number_and_each_program_has_a_file_of_its_own(
    folder: Path, searches: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    anew(16)
    anew(17)
    anew(16, prefixes=True)
    anew(16, known=True)
    anew(16, steps=STEPS - 1)
    for library in ("numpy", "scipy"):
        with monkeypatch.context() as patch:
            patch.setattr(searched, "version", lambda name, library=library: "next" if name == library else "")
            anew(16)
    monkeypatch.setattr(searched, "PROGRAM", searched.PROGRAM + b"#")
    anew(16)
    assert len(searches) == 8 == len(list(folder.iterdir()))
    anew(16)
    assert len(searches) == 8


def test_only_the_newest_stay_and_what_others_put_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategy_cache, "MAX_FILES", 3)
    for turn, name in enumerate("abcde"):
        if turn:
            (folder / "notes").touch()
            for file in folder.iterdir():
                os.utime(file, (file.stat().st_atime, file.stat().st_mtime - 100))
        assert is_kept(name)
    names = {"notes", *(name + strategy_cache.ENDING for name in "cde")}
    assert {file.name for file in folder.iterdir()} == names
    monkeypatch.setattr(strategy_cache, "MAX_IN_ALL", 2 * (strategy_cache.SEAL + len(b"content")))
    assert is_kept("f")
    assert {file.name for file in folder.iterdir()} == {
        "notes",
        "e" + strategy_cache.ENDING,
        "f" + strategy_cache.ENDING,
    }


def test_the_folder_is_the_users_own_unless_it_is_named_or_switched_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in (strategy_cache.VARIABLE, "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert is_kept() and (tmp_path / "home/.cache/dpscope/strategies").is_dir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert strategy_cache.read("name") is None and is_kept() and (tmp_path / "xdg/dpscope/strategies").is_dir()
    monkeypatch.setenv(strategy_cache.VARIABLE, str(tmp_path / "own"))
    assert strategy_cache.read("name") is None and is_kept() and (tmp_path / "own/strategies").is_dir()
    monkeypatch.setenv(strategy_cache.VARIABLE, "0")
    assert not is_kept() and not Path("0").exists()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Thresholds, Intervals])
def test_what_is_kept_follows_from_sizes_alone(kind: type[Thresholds | Intervals], folder: Path) -> None:
    """Rows in one cell, or in all: the private tree has few stretches, or many, and the same files are kept."""
    domain = Number(bits=6)
    problem = Problem(domain=domain, queries=kind(domain=domain), n=64_000, neighbours=Neighbours.REPLACE_ONE)
    mechanism, seen, stretches = TreeWindows(epsilon=2.0), [], []
    for rows in (np.zeros(64_000), np.arange(64_000) % CELLS):
        strategy.cache_clear()
        release = mechanism.run(mechanism.prepare(dataset_of(problem, rows), problem), Preview(seed=1), 2)
        release.histogram()
        stretches.append(int(release.starts.sum(axis=1).max()))
        seen.append({file.name: file.read_bytes() for file in folder.iterdir()})
        for file in folder.iterdir():
            file.unlink()
    assert stretches[0] < 32 < stretches[1]
    assert seen[0] == seen[1] and len(seen[0]) == 3  # of 16, 32 and 64 cells
