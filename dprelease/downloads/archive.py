"""One zip of a stored release: its files, its certificate, a report, and programs that verify, load and repeat it.

What comes back, from anywhere, is weighed before it is read, and verified.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

from dpcore.core import ParameterError
from dpcore.core.documents import parse_document
from dprelease.certificate import certificate, stored_of, verify
from dprelease.downloads.programs import ANALYSIS, notebook
from dprelease.downloads.report import report
from dprelease.downloads.with_opendp import with_opendp
from dprelease.ledger.canonical import canonical
from dprelease.ledger.records import Stored
from dprelease.sizes import MAX_FILES, MAX_UNPACKED

CERTIFICATE, REPORT = "certificate.json", "report.html"
PROGRAM, NOTEBOOK, OPENDP = "analysis.py", "analysis.ipynb", "with_opendp.py"
DERIVED_FILES = (CERTIFICATE, REPORT, PROGRAM, NOTEBOOK, OPENDP)
"""Files that are derived from the released ones."""
EPOCH = (1980, 1, 1, 0, 0, 0)
"""Fixed time stamp of every file, which makes archives reproducible."""

ENTRY = b"PK\x01\x02"
"""Signature before each file's line in a zip's directory."""
NO_ZIP = "This zip is not one of a release."
TOO_LARGE = f"These files have more than {MAX_UNPACKED} MB. Verify them with the command line: run.py verify."


def downloads_of(stored: Stored) -> dict[str, bytes]:
    """Return the contents of all files of the download, by name."""
    repeated = with_opendp(stored)
    return {
        **stored.files,
        CERTIFICATE: canonical(certificate(stored)),
        REPORT: report(stored),
        PROGRAM: ANALYSIS.encode(),
        NOTEBOOK: notebook(),
        **({OPENDP: repeated} if repeated else {}),
    }


def zip_files(files: Mapping[str, bytes]) -> bytes:
    """Return the files as a zip archive; the same bytes for the same files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, each in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(name, EPOCH), each, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def unzip_files(archive: bytes, *, max_bytes: int = MAX_UNPACKED << 20) -> dict[str, bytes]:
    """Return the files of an untrusted zip by name.

    Raises:
        ParameterError: it is no zip as ``zip_files`` writes it, or its files have more bytes together.
    """
    if archive.count(ENTRY) > MAX_FILES:  # before the directory is read
        raise ParameterError(NO_ZIP)
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            entries = opened.infolist()
            if sum(entry.file_size for entry in entries) > max_bytes:
                raise ParameterError(TOO_LARGE)
            known = all(entry.compress_type == zipfile.ZIP_DEFLATED for entry in entries)
            files = {entry.filename: _unzip_file(opened, entry) for entry in entries} if known else {}
    except (ParameterError, MemoryError):
        raise
    except Exception:  # a damaged zip may fail anywhere
        raise ParameterError(NO_ZIP) from None
    if len(files) < len(entries) or not files:
        raise ParameterError(NO_ZIP)
    return files


def _unzip_file(opened: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Return one file. No more is unpacked than its announced size: ``read`` without a size unpacks all there is."""
    with opened.open(entry) as packed:
        contents = packed.read(entry.file_size)
    if len(contents) < entry.file_size:
        raise zipfile.BadZipFile
    return contents


def faults_of_files(certified: bytes, files: Mapping[str, bytes]) -> list[str]:
    """Return the faults of a certificate with its files, one sentence each; empty if all are consistent.

    Files that are derived from a certificate are not named in it: they are derived again and compared.
    """
    released = {name: contents for name, contents in files.items() if name not in DERIVED_FILES}
    if (faults := verify(certified, released)) or len(released) == len(files):
        return faults
    derived = downloads_of(stored_of(parse_document(certified, what="certificate"), released))
    others = files.keys() - released.keys()
    return [
        f"The file {name} does not belong to this certificate."
        for name in sorted(others)
        if files[name] != derived.get(name)
    ]
