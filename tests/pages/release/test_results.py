"""Releases on their page once they are made: past ones are listed, and any is verified, from elsewhere or hostile."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Generator, Mapping
from concurrent.futures import wait
from pathlib import Path
from threading import Event

import pytest
from streamlit.testing.v1 import AppTest

from dprelease.downloads import CERTIFICATE, MAX_UNPACKED, TOO_LARGE, downloads_of, zip_files
from dprelease.downloads.archive import NO_ZIP
from dprelease.ledger.records import Stored
from dprelease.release import release
from dprelease.verification import CONSISTENT
from pages.release import verify
from pages.release.verify import NO_CERTIFICATE, VERIFIED
from pages.shell.tasks import jobs
from tests.kit.ledgers import STEWARD, few_rows, registered, request_of
from tests.pages.opening import opened, sound
from tests.pages.release.test_page_states import PAGE, came, released, the, token

__all__ = ["token"]

COUNTS = "counts.csv"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    ledger, dataset_id = registered(tmp_path_factory.mktemp("elsewhere"))
    stored = release(ledger, dataset_id, request_of(), few_rows(), STEWARD)
    assert isinstance(stored, Stored)
    return downloads_of(stored)


def verified(app: AppTest, **uploads: bytes) -> tuple[list[str], list[str]]:
    """Upload files, and return the sentences of success and of errors."""
    app.file_uploader(key="release_verify").set_value([(name, each, "") for name, each in uploads.items()])
    sound(app.run())
    if VERIFIED in app.session_state and (job := app.session_state[jobs.JOBS].get(VERIFIED)):
        wait([job.future], timeout=60)
        sound(app.run())
    return [each.value for each in app.success], [each.value.replace("\\", "") for each in app.error]


def archive(files: Mapping[str, bytes], *, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as opened_zip:
        for name, each in files.items():
            opened_zip.writestr(name, each)
    return buffer.getvalue()


def test_a_release_from_elsewhere_is_verified_without_a_code_and_a_change_is_told(files: dict[str, bytes]) -> None:
    app = sound(opened(PAGE))
    assert verified(app, **{"release-1.zip": zip_files(files)}) == ([CONSISTENT], [])
    assert any("These fields cannot be checked from files alone" in each.value for each in app.markdown)
    assert verified(app, **{name: files[name] for name in (CERTIFICATE, COUNTS)}) == ([CONSISTENT], [])
    changed = files | {COUNTS: files[COUNTS] + b"\n"}
    told = [f"The file {COUNTS} is not the one that was released."]
    assert verified(app, **{"release-1.zip": zip_files(changed)}) == ([], told)
    changed = files | {"report.html": files["report.html"].replace(b"0", b"1", 1)}
    told = ["The file report.html does not belong to this certificate."]
    assert verified(app, **{"release-1.zip": zip_files(changed)}) == ([], told)


def test_hostile_uploads_get_one_sentence(files: dict[str, bytes]) -> None:
    app = sound(opened(PAGE))
    huge = bytearray(archive({CERTIFICATE: b"{}"}))
    place = huge.rindex(b"PK\x01\x02") + 24
    huge[place : place + 4] = (2**32 - 2).to_bytes(4, "little")  # a size as its directory announces it
    half = archive({"a.csv": b"1" * (MAX_UNPACKED << 19)}), archive({"b.csv": b"1" * (MAX_UNPACKED << 19)})
    damaged = bytearray(zip_files(files))
    damaged[60:90] = b"?" * 30
    many = archive({f"{place}.csv": b"" for place in range(300)})
    for upload in (b"", b"PK\x05\x06", bytes(damaged), many, archive({CERTIFICATE: b"{}"}, method=zipfile.ZIP_LZMA)):
        assert verified(app, **{"a.zip": upload}) == ([], [NO_ZIP])
    assert verified(app, **{"a.zip": bytes(huge)})[1] == [TOO_LARGE]
    assert verified(app, **{"a.zip": half[0], "b.zip": half[1], CERTIFICATE: b"{}"})[1] == [TOO_LARGE]
    assert verified(app, **{"a.zip": zip_files(files), COUNTS: b""})[1] == [
        "Two files have the same name. Give each file of the certificate once."
    ]
    assert verified(app, **{COUNTS: files[COUNTS]})[1] == [NO_CERTIFICATE]
    for certificate in (b"", b"[" * 100_000, b'{"format": "<b>*x*</b>"}', files[CERTIFICATE][:-9], b"\xff"):
        succeeded, told = verified(app, **{CERTIFICATE: certificate, "x' onerror.csv": b"=1+1"})
        assert not succeeded and len(told) == 1 and told[0].endswith(".")


def quick() -> Generator[float, None, str]:
    yield 0.5
    return "planned"


def test_verifications_that_do_not_end_hold_up_no_plan(
    files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = Event()
    monkeypatch.setattr(verify, "faults_of_files", lambda *_: ended.wait(60))
    monkeypatch.setattr(jobs, "AT_ONCE", 0.0)
    app = sound(opened(PAGE))
    try:
        for place in range(4):  # as many as a plan's pool has threads: a replaced upload's work goes on
            app.file_uploader(key="release_verify").set_value([(CERTIFICATE, files[CERTIFICATE] + b" " * place, "")])
            sound(app.run())
        assert jobs.Job("plan", quick).future.result(timeout=5) == "planned"
    finally:
        ended.set()


def listed(app: AppTest) -> list[str]:
    """Labels of the expanders that list past releases, and their lines."""
    [expander] = [each for each in app.expander if each.label.startswith("Past releases")]
    return [expander.label, *(each.value.replace("\\", "") for each in expander.markdown)]


def test_the_data_owner_opens_a_past_release_of_other_data_without_its_file(no_ledger: Path) -> None:
    app = released()
    assert not app.expander or not any(each.label.startswith("Past") for each in app.expander), "it is shown already"
    ledger, dataset_id = the(no_ledger)
    [stored] = ledger.stored(dataset_id)
    rows = few_rows()
    folder_ledger, other = registered(no_ledger, rows=rows, name="a file that is gone")
    assert release(folder_ledger, other, request_of(), rows, STEWARD)
    app = came()
    title, line = listed(app)
    assert title == "Past releases: 1" and line.startswith("**a file that is gone** · ") and "· ε 0.5 · " in line
    assert line.endswith("1 statistic · not published") and str(stored.body["at"])[:4] in line
    assert not app.get("download_button")
    [toggle] = [each for each in app.toggle if each.label == "Show"]
    sound(toggle.set_value(True).run())
    [publish] = [each for each in app.button if each.key == f"release_publish-past-{other[:8]}-1"]
    sound(publish.click().run())
    assert listed(app)[1].endswith("1 statistic · published") and len(app.get("download_button")) == 2, "zip and CSV"
    assert [each.label for each in app.button].count("Open report") == 1
