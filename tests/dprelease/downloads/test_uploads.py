"""Uploads are verified in a child process with limits: what exceeds them, or says nothing, is never consistent."""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from dpcore.core import ParameterError
from dpcore.core.sizes import MAX_DOCUMENT_CHARACTERS
from dpcore.data.reading.child_process import OUT_OF_TIME
from dpcore.data.reading.conversion_process import MEMORY
from dpcore.data.reading.scratch import PREFIX
from dprelease.downloads import (
    CERTIFICATE,
    MAX_UNPACKED,
    TOO_LARGE,
    downloads_of,
    faults_of_files,
    uploads,
    zip_files,
)
from dprelease.downloads.archive import NO_ZIP
from dprelease.downloads.uploads import MAX_FAULTS, NO_CERTIFICATE, NOT_VERIFIED, faults_of_uploads, read_uploads
from tests.kit.hostile import SECRET
from tests.kit.ledgers import STEWARD, released_in


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    stored = released_in(tmp_path_factory.mktemp("elsewhere"), by=STEWARD)
    return downloads_of(stored)


@pytest.fixture(scope="module")
def archive(files: dict[str, bytes]) -> bytes:
    return zip_files(files)


def zipped(files: Mapping[str, bytes], *, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as opened_zip:
        for name, each in files.items():
            opened_zip.writestr(name, each)
    return buffer.getvalue()


def refusal(**files: bytes) -> str:
    """The sentence for files that are not even verified."""
    with pytest.raises(ParameterError) as caught:
        read_uploads(list(files.items()))
    return str(caught.value)


def test_hostile_uploads_get_one_sentence(files: dict[str, bytes]) -> None:
    huge = bytearray(zipped({CERTIFICATE: b"{}"}))
    place = huge.rindex(b"PK\x01\x02") + 24
    huge[place : place + 4] = (2**32 - 2).to_bytes(4, "little")  # a size as its directory announces it
    half = zipped({"a.csv": b"1" * (MAX_UNPACKED << 19)}), zipped({"b.csv": b"1" * (MAX_UNPACKED << 19)})
    damaged = bytearray(zip_files(files))
    damaged[60:90] = b"?" * 30
    many = zipped({f"{place}.csv": b"" for place in range(300)})
    for upload in (b"", b"PK\x05\x06", bytes(damaged), many, zipped({CERTIFICATE: b"{}"}, method=zipfile.ZIP_LZMA)):
        assert refusal(**{"a.zip": upload}) == NO_ZIP
    assert refusal(**{"a.zip": bytes(huge)}) == TOO_LARGE
    assert refusal(**{"a.zip": half[0], "b.zip": half[1], CERTIFICATE: b"{}"}) == TOO_LARGE
    twice = {"a.zip": zip_files(files), CERTIFICATE: b""}
    assert refusal(**twice) == "Two files have the same name. Give each file of the certificate once."
    assert refusal(**{"counts.csv": b""}) == NO_CERTIFICATE
    for certificate in (b"", b"[" * 100_000, b"\xff", b" " * (4 * MAX_DOCUMENT_CHARACTERS + 1)):
        [told] = faults_of_files(certificate, {"x' onerror.csv": b"=1+1"})
        assert told.endswith(".")


def test_what_takes_too_much_is_ended_in_one_sentence_and_leaves_nothing(
    archive: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert faults_of_uploads([("r.zip", archive)]) == []
    with pytest.raises(ParameterError, match=r"^This certificate needs more than 1 MB of memory\. Verify it with"):
        faults_of_uploads([("r.zip", archive), ("long.csv", bytes(8 << 20))], memory=1 << 20)
    start = time.monotonic()
    with pytest.raises(ParameterError, match=r"^This certificate needs more than 0 seconds\. Verify it with"):
        faults_of_uploads([("r.zip", archive)], seconds=0)
    assert time.monotonic() - start < 5
    assert not [each for each in tmp_path.iterdir() if each.name.startswith(PREFIX)]


def test_what_is_uploaded_stands_in_no_argument_and_no_name_of_a_file(
    archive: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = list[str]()

    def run(*arguments: str, folder: Path, **_: Any) -> int:
        seen.extend([*arguments, *map(str, folder.iterdir())])
        assert json.loads((folder / uploads.NAMES).read_text()) == [f"{SECRET}.zip"]
        return OUT_OF_TIME

    monkeypatch.setattr(uploads, "run_limited", run)
    with pytest.raises(ParameterError):
        faults_of_uploads([(f"{SECRET}.zip", archive)])
    assert seen and not any(SECRET in each for each in seen)


@pytest.mark.parametrize(
    ("status", "said", "sentence"),
    [
        (0, None, NOT_VERIFIED),
        (0, "[]", NOT_VERIFIED),
        (0, '{"faults": ""}', NOT_VERIFIED),
        (uploads.DAMAGED, '{"faults": []}', NOT_VERIFIED),
        (-9, '{"faults": []}', NOT_VERIFIED),
        (MEMORY, '{"faults": []}', "memory"),
    ],
)
def test_a_child_that_failed_does_not_call_files_consistent(
    status: int, said: str | None, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: str, folder: Path, **__: Any) -> int:
        if said is not None:
            (folder / uploads.FAULTS).write_text(said)
        return status

    monkeypatch.setattr(uploads, "run_limited", run)
    with pytest.raises(ParameterError, match=sentence):
        faults_of_uploads([])


def test_sentences_of_a_child_are_few_and_of_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: str, folder: Path, **__: Any) -> int:
        (folder / uploads.FAULTS).write_text(json.dumps({"faults": ["a\nb", *map(str, range(99))]}))
        return 0

    monkeypatch.setattr(uploads, "run_limited", run)
    faults = faults_of_uploads([])
    assert len(faults) == MAX_FAULTS and "\n" not in faults[0]


def test_too_large_uploads_are_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_folder(_: object) -> Sequence[str]:
        raise AssertionError

    monkeypatch.setattr(uploads, "private_folder", no_folder)
    half = b"1" * (MAX_UNPACKED << 19)
    with pytest.raises(ParameterError, match=TOO_LARGE):
        faults_of_uploads([("a.csv", half), ("b.csv", half + b"1")])
