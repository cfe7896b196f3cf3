"""Past releases on the Release page: of all data sets, for the data owner, without their file."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest

from dprelease.release import release
from tests.kit import ledgers
from tests.pages.opening import sound
from tests.pages.release.test_page_states import came, released, the, token

__all__ = ["token"]


def listed(app: AppTest) -> list[str]:
    """Labels of the expanders that list past releases, and their lines."""
    [expander] = [each for each in app.expander if each.label.startswith("Past releases")]
    return [expander.label, *(each.value.replace("\\", "") for each in expander.markdown)]


def test_the_data_owner_opens_a_past_release_of_other_data_without_its_file(no_ledger: Path) -> None:
    app = released()
    assert not app.expander or not any(each.label.startswith("Past") for each in app.expander), "it is shown already"
    ledger, dataset_id = the(no_ledger)
    [stored] = ledger.stored(dataset_id)
    rows = ledgers.few_rows()
    folder_ledger, other = ledgers.registered(no_ledger, rows=rows, name="a file that is gone")
    assert release(folder_ledger, other, ledgers.request_of(), rows, ledgers.STEWARD)
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
