from __future__ import annotations

import io
import subprocess
import sys
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import pytest

from dprelease.certificate import verify
from dprelease.downloads import CERTIFICATE, PROGRAM, downloads_of, unzip_files, zip_files
from tests.kit.ledgers import plan_of, released_in


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    """The zip of a release, on another place."""
    stored = released_in(tmp_path / "ledger")
    packed = zip_files(downloads_of(stored))
    assert packed == zip_files(downloads_of(stored)), "equal releases have equal bytes"
    zipfile.ZipFile(io.BytesIO(packed)).extractall(tmp_path / "else")
    return tmp_path / "else"


def test_a_zip_that_unpacks_to_more_than_it_announces_is_not_unpacked() -> None:
    """``read`` without a size unpacked two gigabytes of a megabyte, and only then compared."""
    packed = bytearray(zip_files({CERTIFICATE: b"\0" * (64 << 20)}))
    entry = packed.rindex(b"PK\x01\x02")
    for place, number in ((entry + 16, zlib.crc32(b"\0" * 10)), (entry + 24, 10)):
        packed[place : place + 4] = number.to_bytes(4, "little")
    tracemalloc.start()
    try:
        assert unzip_files(bytes(packed)) == {CERTIFICATE: b"\0" * 10}
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def ran(folder: Path) -> tuple[int, str]:
    """Run the program in a folder away from this project, and return its exit code and output."""
    command = [sys.executable, "-P", str(folder / PROGRAM)]
    done = subprocess.run(command, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


@pytest.mark.slow
def test_the_zip_verifies_and_its_program_runs_elsewhere(unpacked: Path) -> None:
    certified = (unpacked / CERTIFICATE).read_bytes()
    assert verify(certified, {"counts.csv": (unpacked / "counts.csv").read_bytes()}) == []
    code, output = ran(unpacked)
    assert code == 0 and "epsilon 0.5, delta 0: add_remove_one, per row" in output and "counts.csv: 4 rows" in output


@pytest.mark.slow
def test_the_program_of_a_plan_names_every_file(tmp_path: Path) -> None:
    stored = released_in(tmp_path / "ledger", plan_of().request())
    zipfile.ZipFile(io.BytesIO(zip_files(downloads_of(stored)))).extractall(tmp_path / "else")
    code, output = ran(tmp_path / "else")
    assert code == 0 and "01-counts.csv: 4 rows" in output and "02-counts.csv: 4 rows" in output


@pytest.mark.slow
@pytest.mark.parametrize("name", ["counts.csv", CERTIFICATE])
def test_the_program_notices_a_changed_file(unpacked: Path, name: str) -> None:
    (unpacked / name).write_bytes((unpacked / name).read_bytes().replace(b"5", b"6"))
    code, output = ran(unpacked)
    assert code == 1 and ("not the file that was released" in output or "was changed" in output)
