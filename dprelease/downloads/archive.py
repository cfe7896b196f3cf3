"""One zip of a stored release: its files, its certificate, a report, and programs that verify, load and repeat it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

from dprelease.certificate import certificate
from dprelease.downloads.programs import ANALYSIS, notebook
from dprelease.downloads.report import report
from dprelease.downloads.with_opendp import with_opendp
from dprelease.ledger.canonical import canonical
from dprelease.ledger.records import Stored

CERTIFICATE, REPORT = "certificate.json", "report.html"
PROGRAM, NOTEBOOK, OPENDP = "analysis.py", "analysis.ipynb", "with_opendp.py"
DERIVED_FILES = (CERTIFICATE, REPORT, PROGRAM, NOTEBOOK, OPENDP)
"""Files that are derived from the released ones."""
EPOCH = (1980, 1, 1, 0, 0, 0)
"""Fixed time stamp of every file, which makes archives reproducible."""


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
