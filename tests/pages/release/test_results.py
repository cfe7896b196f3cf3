"""Releases on their page once they are made: past ones are listed, and any is verified, from elsewhere or hostile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import wait
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.core import checkpoint
from dprelease.downloads import CERTIFICATE, TOO_LARGE, faults_of_uploads, zip_files
from dprelease.downloads.statistics import ReleasedStatistic
from dprelease.downloads.uploads import NO_CERTIFICATE
from dprelease.release import release
from dprelease.verification import CONSISTENT
from pages.release import cards
from pages.release.verify import VERIFIED
from pages.shell.tasks import jobs
from tests.dprelease.downloads.test_uploads import files
from tests.kit.ledgers import STEWARD, few_rows, registered, request_of
from tests.pages.opening import opened, sound
from tests.pages.release.test_page_states import PAGE, came, released, the, token

__all__ = ["files", "token"]

COUNTS = "counts.csv"
FAULTS = "pages.release.verify.faults_of_uploads"


def verified(app: AppTest, **uploads: bytes) -> tuple[list[str], list[str]]:
    """Upload files, and return the sentences of success and of errors."""
    sound(app.file_uploader(key="release_verify").set_value([(name, each, "") for name, each in uploads.items()]).run())
    if VERIFIED in app.session_state and (job := app.session_state[jobs.JOBS].get(VERIFIED)):
        wait([job.future], timeout=60)
        sound(app.run())
    return [each.value for each in app.success], [each.value.replace("\\", "") for each in app.error]


def test_a_release_from_elsewhere_is_verified_without_a_code_and_a_change_is_told(files: dict[str, bytes]) -> None:
    app = sound(opened(PAGE))
    assert verified(app, **{"release-1.zip": zip_files(files)}) == ([CONSISTENT], [])
    assert any("These fields cannot be checked from files alone" in each.value for each in app.markdown)
    changed = files | {"report.html": files["report.html"].replace(b"0", b"1", 1)}
    told = ["The file report.html does not belong to this certificate."]
    assert verified(app, **{"release-1.zip": zip_files(changed)}) == ([], told)


def test_files_that_are_too_large_or_find_the_queue_full_get_one_sentence(
    files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    zipped = zip_files(files)
    with monkeypatch.context() as patch:
        patch.setattr("pages.release.verify.MAX_UNPACKED", 1)
        patch.setattr(FAULTS, lambda _: pytest.fail("it was queued"))
        assert verified(sound(opened(PAGE)), **{"release-1.zip": zipped, "b.csv": b"1" * (1 << 20)}) == (
            [],
            [TOO_LARGE],
        )
    with monkeypatch.context() as patch:
        patch.setattr("pages.release.verify.MAX_WAITING", 0)
        told = f"{jobs.BUSY} The command line has no queue: run.py verify."
        assert verified(sound(opened(PAGE)), **{"release-1.zip": zipped}) == ([], [told])
    assert verified(sound(opened(PAGE)), **{"release-1.zip": zipped}) == ([CONSISTENT], []), "the control"


def test_a_chosen_statistic_is_called_as_its_column_is(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = list[str]()

    def selectbox(_: str, options: range, first: int, *, format_func: Callable[[int], str], **__: object) -> int:
        shown.extend(map(format_func, options))
        return first

    monkeypatch.setattr("streamlit.selectbox", selectbox)
    both = np.zeros(2)
    titles = [f"{name} of income (EUR)" for name in ("Mean", "Sum")]
    statistics = [
        ReleasedStatistic(title=f"{title} by region", labels=("a", "b"), values=both, low=both, high=both)
        for title in titles
    ]
    assert cards._chosen(statistics, "1") is statistics[0] and shown == titles


def test_hostile_uploads_get_one_sentence(files: dict[str, bytes]) -> None:
    app = sound(opened(PAGE))
    assert verified(app, **{COUNTS: files[COUNTS]})[1] == [NO_CERTIFICATE]
    for certificate in (b'{"format": "<b>*x*</b>"}', files[CERTIFICATE][:-9]):
        succeeded, told = verified(app, **{CERTIFICATE: certificate, "x' onerror.csv": b"=1+1"})
        assert not succeeded and len(told) == 1 and told[0].endswith(".")


def test_verifications_that_do_not_end_hold_up_no_other(
    files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One person replaces an upload as often as there are threads: what was replaced is ended, the last one goes on."""
    ended, last_begun = Event(), Event()
    at_once = jobs.AT_ONCE

    def slow(uploads: Sequence[tuple[str, bytes]]) -> list[str]:
        if uploads[0][1].endswith(b" " * 4):
            last_begun.set()
        while not ended.wait(0.02):
            checkpoint()
        return []

    monkeypatch.setattr(FAULTS, slow)
    monkeypatch.setattr(jobs, "AT_ONCE", 0.0)
    app = sound(opened(PAGE))
    try:
        for place in range(5):
            app.file_uploader(key="release_verify").set_value([(CERTIFICATE, files[CERTIFICATE] + b" " * place, "")])
            sound(app.run())
        assert last_begun.wait(60), "those before it left a thread free"
        monkeypatch.setattr(FAULTS, faults_of_uploads)
        monkeypatch.setattr(jobs, "AT_ONCE", at_once)
        assert verified(sound(opened(PAGE)), **{"release-1.zip": zip_files(files)}) == ([CONSISTENT], [])
        [stop] = [each for each in app.button if each.label == "Stop"]
        job = app.session_state[jobs.JOBS][VERIFIED]
        sound(stop.click().run())
        assert job.future.result(timeout=60) is None
        assert "Continue" in [each.label for each in app.button]
        monkeypatch.setattr(FAULTS, slow)
        monkeypatch.setattr(jobs, "AT_ONCE", 0.0)
        app.file_uploader(key="release_verify").set_value([(CERTIFICATE, b"another", "")])
        job = sound(app.run()).session_state[jobs.JOBS][VERIFIED]
        sound(app.file_uploader(key="release_verify").set_value([]).run())
        assert job.future.result(timeout=60) is None, "a file that was removed is not kept for its verification"
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
