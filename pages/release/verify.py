"""Verification of a certificate and its files, from here or elsewhere, as the command line does it."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor

import streamlit as st

from dpcore.core import ParameterError
from dprelease.downloads import MAX_UNPACKED, TOO_LARGE, faults_of_uploads
from dprelease.verification import CONSISTENT, unverifiable
from pages.shell.private.data_in_use import escaped
from pages.shell.server.host_origin import is_public_demo
from pages.shell.server.streamlit_internals import Received
from pages.shell.state import SessionKey
from pages.shell.tasks.jobs import in_background, stop

TYPES = ["zip", "json", "csv", "html", "py", "ipynb"]
_pool = ThreadPoolExecutor(4, thread_name_prefix="verify")
"""Each of its threads waits for a child process, which may take minutes: no plan has to wait for that."""
MAX_WAITING = 8
"""Verifications that wait for a thread, of all sessions: each keeps up to MAX_UNPACKED MB."""
VERIFIED = SessionKey("release_verified", "")
"""Place of the verification on the page: of one session one runs at a time."""


def verify_uploads() -> None:
    """Draw the upload of a certificate and its files, and the result of their verification."""
    with st.expander("Verify a release"):
        uploads = st.file_uploader(
            "A downloaded zip, or a certificate and its files", type=TYPES, accept_multiple_files=True,
            key="release_verify", max_upload_size=MAX_UNPACKED, disabled=is_public_demo(),
            help="A release from here or from elsewhere.",
        )  # fmt: skip
        if not uploads:
            stop(VERIFIED)  # it would keep what was uploaded
            return
        faults = _faults(uploads)
        if faults is None:  # under way
            return
        for fault in faults:
            st.error(escaped(fault))
        if not faults:
            st.success(CONSISTENT)
            st.popover("What files cannot show", type="tertiary").markdown("\n\n".join(map(escaped, unverifiable())))


def _faults(uploads: Sequence[Received]) -> list[str] | None:
    """Return the faults of these files; None while they are looked for."""
    if sum(len(upload.getvalue()) for upload in uploads) > MAX_UNPACKED << 20:
        stop(VERIFIED)
        return [TOO_LARGE]  # it would wait for its refusal, and keep the files meanwhile
    digests = [(upload.name, hashlib.sha256(upload.getvalue()).hexdigest()) for upload in uploads]
    key = hashlib.sha256(repr(digests).encode()).hexdigest()

    def work() -> Generator[float, None, list[str] | None]:
        yield 0.0
        try:
            return faults_of_uploads([(upload.name, upload.getvalue()) for upload in uploads])
        except ParameterError as problem:  # remembered, so that what took too long is not tried again by a click
            return [str(problem)]

    try:
        return in_background(
            f"verified|{key}", work, so_far=lambda: None, label="Verifying the release.", place=VERIFIED, pool=_pool,
            max_waiting=MAX_WAITING,
        )  # fmt: skip
    except ParameterError as problem:
        return [f"{problem} The command line has no queue: run.py verify."]
