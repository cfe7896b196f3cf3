"""Verification of a certificate and its files, from here or elsewhere, as the command line does it."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import streamlit as st

from dpcore.core import ParameterError
from dpcore.core.documents import MAX_CHARACTERS
from dprelease.downloads import CERTIFICATE, MAX_UNPACKED, TOO_LARGE, faults_of_files, unzip_files
from dprelease.verification import CONSISTENT, unverifiable
from pages.shell.private.data_in_use import escaped
from pages.shell.server.host_origin import is_public_demo
from pages.shell.server.streamlit_internals import Received
from pages.shell.state import SessionKey
from pages.shell.tasks.jobs import in_background

TYPES = ["zip", "json", "csv", "html", "py", "ipynb"]
_pool = ThreadPoolExecutor(1, thread_name_prefix="verify")
"""One at a time, in a pool of its own: a certificate may name minutes of work, for which no plan has to wait."""
MAX_FAULTS = 5
"""Sentences that are shown."""
VERIFIED = SessionKey("release_verified", "")
"""Place of the verification on the page."""
NO_CERTIFICATE = f"Choose {CERTIFICATE} and the files that it names, or the downloaded zip."


def verify_uploads() -> None:
    """Draw the upload of a certificate and its files, and the result of their verification."""
    with st.expander("Verify a release"):
        uploads = st.file_uploader(
            "A downloaded zip, or a certificate and its files", type=TYPES, accept_multiple_files=True,
            key="release_verify", max_upload_size=MAX_UNPACKED, disabled=is_public_demo(),
            help="A release from here or from elsewhere.",
        )  # fmt: skip
        if not uploads:
            return
        try:
            faults = _faults(_read(uploads))
        except ParameterError as problem:
            faults = [str(problem)]
        if faults is None:  # under way
            return
        for fault in faults[:MAX_FAULTS]:
            st.error(escaped(fault))
        if not faults:
            st.success(CONSISTENT)
            st.popover("What files cannot show", type="tertiary").markdown("\n\n".join(map(escaped, unverifiable())))


def _read(uploads: Sequence[Received]) -> dict[str, bytes]:
    """Return the uploaded files by name, those of a zip among them; raises ParameterError for too large ones."""
    files, left = dict[str, bytes](), MAX_UNPACKED << 20
    for upload in uploads:
        zipped, contents = upload.name.lower().endswith(".zip"), upload.getvalue()
        named = unzip_files(contents, max_bytes=left) if zipped else {upload.name: contents}
        left -= sum(map(len, named.values()))
        if left < 0:
            raise ParameterError(TOO_LARGE)
        if named.keys() & files.keys():
            raise ParameterError("Two files have the same name. Give each file of the certificate once.")
        files |= named
    if CERTIFICATE not in files:
        raise ParameterError(NO_CERTIFICATE)
    if len(files[CERTIFICATE]) > 4 * MAX_CHARACTERS:  # of four bytes at most
        raise ParameterError("The certificate is too long.")
    return files


def _faults(files: Mapping[str, bytes]) -> list[str] | None:
    """Return the faults of these files; None while they are looked for."""
    digests = sorted((name, hashlib.sha256(contents).hexdigest()) for name, contents in files.items())
    key = hashlib.sha256(repr(digests).encode()).hexdigest()

    def work() -> Generator[float, None, list[str] | None]:
        yield 0.0
        others = {name: contents for name, contents in files.items() if name != CERTIFICATE}
        return faults_of_files(files[CERTIFICATE], others)

    return in_background(
        f"verified|{key}", work, so_far=lambda: None, label="Verifying the release.", place=VERIFIED, pool=_pool
    )
