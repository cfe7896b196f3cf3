"""Sessions without a browser: what links carry, what forgetting leaves, what goes with the steward's switch."""

from __future__ import annotations

import ast
import gc
import re
import tempfile
import time
import weakref
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.testing.v1 import AppTest

from pages.shell import session
from pages.shell.server import streamlit_internals
from tests import ROOT
from tests.pages.data.test_page import (
    OWN,
    SECRET_NUMBER,
    declared_pay,
    elements,
    everything,
    give,
    grid_of,
    labels,
    opened,
    press,
    shows_number,
    source_of,
    steward,
    type_in,
    upload_of,
    with_file,
)
from tests.pages.drawn_charts import drawn
from tests.pages.opening import RANDOM_PRIVACY, sound, switch_page

PAGES = ROOT / "pages"
PRIVATE_KEYS = (
    "file",
    "memory",
    "upload",
    "talk",
    "steward_choice",
    "filled",
    "declare-0-0-from",
    "linked",
    "carried",
)
TRADES = ("Perlmuttknopfmacher", "Rosshaarzupfer", "Lumpensammler")
"""Labels of private rows that stand nowhere else."""
TRADE_FILE = "trade,years\n" + "".join(f"{trade},7\n" * (60 - 20 * place) for place, trade in enumerate(TRADES))
SHOWS = ("play/page.py", "one_number/page.py", RANDOM_PRIVACY, "data/page.py")
"""Pages that draw a column of one's own file."""
TRUE_VALUES = "You see true values of private data"


def calls(name: str) -> dict[str, list[ast.Call]]:
    """Calls in each module of the pages that are given an argument of this name."""
    return {
        str(path.relative_to(PAGES)): [
            node
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Call) and any(each.arg == name for each in node.keywords)
        ]
        for path in PAGES.rglob("*.py")
    }


ASKS = {"is_steward", "hide_toolbars"}


def names(path: Path) -> set[str]:
    """Names that a module uses, besides importing or defining them."""
    return {node.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name)}


def test_every_control_bound_to_the_link_is_registered_as_one() -> None:
    bound = [(path, call) for path, found in calls("bind").items() for call in found]
    assert len(bound) > 15
    for path, call in bound:
        [key] = [each.value for each in call.keywords if each.arg == "key"]
        assert isinstance(key, ast.Call) and ast.unparse(key.func) == "in_link", f"{path}:{call.lineno}"


def test_private_data_stand_behind_one_gate() -> None:
    asking = {str(path.relative_to(PAGES)) for path in PAGES.rglob("*.py") if ASKS & names(path)}
    # What clears private state, the gate, and the offer to read a domain, which shows nothing yet.
    assert asking == {"shell/private/clearing.py", "shell/status.py", "data/suggestions.py"}


def test_a_link_carries_controls_and_nothing_else() -> None:
    app = opened(way=OWN, **dict.fromkeys(PRIVATE_KEYS, "x"))
    give(app, "age\n41\n")
    carried = app.session_state["carried"]
    assert carried["way"] == OWN, "controls are carried"
    assert not set(carried) & set(PRIVATE_KEYS)
    assert not app.warning


def test_a_file_whose_reading_was_left_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaving a page ends its run wherever it is: here, while the file is read."""
    kept = MemoryUploadedFileManager("/upload")
    monkeypatch.setattr("streamlit.testing.v1.local_script_runner.MemoryUploadedFileManager", lambda _: kept)
    app = opened(way=OWN)
    with monkeypatch.context() as patch:
        patch.setattr("pages.data.upload.read_table", lambda *_, **__: st.stop())
        sound(app.file_uploader[0].upload("people.csv", b"age\n41\n").run())
    assert [each.data for files in kept.file_storage.values() for each in files.values()] == [b"age\n41\n"]
    sound(app.switch_page("learn/page.py").run())
    assert not any(kept.file_storage.values())
    assert "file" not in app.session_state and "file_waiting" not in app.session_state


def test_forgetting_outlives_a_link_that_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    app = declared_pay(give(opened(way=OWN, **dict.fromkeys(PRIVATE_KEYS, "x")), "pay\n41\n"))
    table = weakref.ref(app.session_state["file"].table)
    assert list(tmp_path.rglob("*.parquet"))
    press(app, "Remove this file")
    assert app.radio(key="whose").value == "private" and "declare-1" not in repr(app.session_state)
    for page in ("play/page.py", "data/page.py"):
        sound(switch_page(app, page).run())
    assert not app.session_state.get("file") and upload_of(app) is None
    gc.collect()
    assert table() is None and not list(tmp_path.iterdir())


@pytest.mark.full
def test_a_conversation_about_a_stand_in_ends_when_its_file_is_forgotten() -> None:
    app = declared_pay(with_file(public=True))
    app.session_state["data"] = "my-file"
    sound(app.switch_page("conversation/page.py").run())
    talk = weakref.ref(app.session_state["talk"])
    table = weakref.ref(app.session_state["file"].table)
    sound(app.switch_page("data/page.py").run())
    press(app, "Remove this file")
    gc.collect()
    assert talk() is None and table() is None


def test_records_leave_the_disk_though_somebody_still_holds_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    app = with_file()
    held = app.session_state["file"]
    assert list(tmp_path.iterdir())
    press(app, "Remove this file")
    assert held.table.row_count == 1001 and not list(tmp_path.iterdir())


def told(app: AppTest) -> set[str]:
    """Labels of the private rows that this run sent."""
    sent = everything(app)
    return {trade for trade in TRADES if trade in sent}


def chosen(app: AppTest, **values: str) -> None:
    """Set controls of a page before it is opened."""
    for key, value in values.items():
        app.session_state[key] = value


def hides_toolbars(app: AppTest) -> bool:
    """Whether the page's style takes away the buttons that offer pictures and tables as files."""
    hidden = re.compile(r"stElementToolbar.{1,4}\] \{ display: none; \}")
    return any(hidden.search(str(element.proto)) for element in elements(app._tree))


def kept(app: AppTest) -> set[str]:
    """Labels of the private rows that the session's own values hold, in whatever depth one can read."""
    held = repr({key: app.session_state[key] for key in app.session_state})
    return {trade for trade in TRADES if trade in held}


@pytest.mark.parametrize("page", SHOWS)
def test_labels_read_by_the_steward_go_with_the_switch_on_every_page(page: str) -> None:
    app = steward(give(opened(way=OWN), TRADE_FILE), on=True)
    press(press(app, "Fill in from the data"), "Use this column")
    assert told(app) == set(TRADES)
    chosen(app, data="my-file", robust="subsample_larger", sparse="data")
    sound(switch_page(app, page).run())
    assert TRUE_VALUES in everything(app) and bool(told(app)) == (page != RANDOM_PRIVACY), "there, cells have no names"
    steward(app, on=False)
    assert not told(app) and not kept(app) and upload_of(app) is None
    for after in ("data/page.py", page):
        assert not told(sound(switch_page(app, after).run()))


def test_a_list_of_labels_that_was_edited_is_still_the_data_s() -> None:
    app = press(steward(give(opened(way=OWN), TRADE_FILE), on=True), "Fill in from the data")
    type_in(app, trade={"labels": f"{TRADES[1]}; something else"})
    assert source_of(press(app, "Use this column")).bounds_from_data
    steward(app, on=False)
    assert not told(app) and not kept(app) and upload_of(app) is None
    assert grid_of(app, "trade")["kind"] == "number", "its kind was read, too"


def test_labels_somebody_typed_stay_theirs() -> None:
    app = give(opened(way=OWN), TRADE_FILE)
    type_in(app, trade={"kind": "category", "labels": "one; two"})
    press(app, "Use this column")
    steward(steward(app, on=True), on=False)
    assert not source_of(app).bounds_from_data


def test_groups_are_named_no_earlier_than_figures_are_shown() -> None:
    app = give(opened(way=OWN), TRADE_FILE)
    type_in(app, trade={"kind": "category", "labels": "; ".join(TRADES[:2])})
    press(app, "Use this column")
    chosen(app, data="my-file", robust="subsample_larger")
    sound(app.switch_page("one_number/page.py").run())
    assert not told(app) and any("**No values of your rows are shown" in each.value for each in app.markdown)
    assert told(steward(app, on=True)) == set(TRADES[:2])


@pytest.mark.full
def test_remembered_private_values_go_with_the_switch() -> None:
    app = steward(declared_pay(with_file()), on=True)
    app.session_state["data"] = "my-file"
    sound(app.switch_page("play/page.py").run())
    assert "upload:" in repr(list(app.session_state["memory"]))
    steward(app, on=False)
    assert "upload:" not in repr(list(app.session_state.get("memory", ())))


def test_nothing_of_private_rows_can_be_downloaded_on_the_data_page() -> None:
    app = declared_pay(with_file())
    assert not hides_toolbars(app)
    steward(app, on=True)
    (chart,) = drawn(app).values()
    assert not chart["download"]
    assert hides_toolbars(app)
    assert [button.proto.label for button in app.get("download_button")] == ["Save this description"], "the words typed"


@pytest.mark.full
def test_the_line_on_top_speaks_of_what_is_drawn() -> None:
    app = steward(declared_pay(with_file()), on=True)
    assert TRUE_VALUES in everything(app)
    app.session_state["data"] = "bimodal"
    app.query_params["bits"] = "3"
    sound(app.switch_page("play/page.py").run())
    assert TRUE_VALUES not in everything(app) and not hides_toolbars(app)
    assert "Nothing private is shown" in everything(app)
    sound(app.selectbox(key="data").set_value("my-file").run())
    assert TRUE_VALUES in everything(app)
    steward(app, on=False)
    assert TRUE_VALUES not in everything(app) and not shows_number(everything(app))


def test_a_private_file_that_is_merely_loaded_is_not_called_seen() -> None:
    app = steward(with_file(), on=True)
    assert TRUE_VALUES not in everything(app)
    press(app, "Fill in from the data")
    assert TRUE_VALUES in everything(app) and grid_of(app, "pay")["to"] == str(SECRET_NUMBER)


def test_the_steward_of_one_file_is_not_that_of_the_next() -> None:
    """Also where the switch was turned while the next file waited for an answer about its first row."""
    app = give(opened(way=OWN), TRADE_FILE)
    give(app, "Ada,London\nBob,Paris\n", name="next.csv", answered=False)
    steward(app, on=True)
    press(app, "Data, like all rows")
    assert app.session_state["file"].table.name == "next.csv"
    assert not app.session_state["steward_choice"] and "Fill in from the data" not in labels(app)


def served(
    monkeypatch: pytest.MonkeyPatch, *active: str, uploads: MemoryUploadedFileManager | None = None
) -> list[str]:
    """A server of which these sessions are active; the list of those that it closes."""
    closed, files = list[str](), uploads or MemoryUploadedFileManager("/files")
    has = active.__contains__
    server = SimpleNamespace(is_active_session=has, close_session=closed.append, uploaded_file_mgr=files)
    monkeypatch.setattr("streamlit.runtime.get_instance", lambda: server)
    return closed


def test_every_file_of_a_session_goes_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Held:
        forgotten = False

        def forget(self) -> None:
            self.forgotten = True

    one, two = Held(), Held()
    closed = served(monkeypatch)
    monkeypatch.setattr(streamlit_internals, "get_script_run_ctx", lambda: SimpleNamespace(session_id="tab"))
    monkeypatch.setattr(session, "_last_connected", {})
    session.has_file(one)
    session.has_file(two)  # waits while the first is held
    session.end_abandoned(time.monotonic() + 2 * session.GRACE)
    assert closed == ["tab"] and one.forgotten and two.forgotten


def test_bytes_that_no_page_read_go_with_their_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit would keep those of a closed tab until somebody else's visit."""
    uploads = MemoryUploadedFileManager("/files")
    closed = served(monkeypatch, "open", uploads=uploads)
    for name in ("open", "closed"):
        uploads.add_file(name, UploadedFileRec(file_id="1", name="people.csv", type="text/csv", data=b"age\n41\n"))
    monkeypatch.setattr(session, "_last_connected", {})
    session.end_abandoned(0.0)
    session.end_abandoned(session.GRACE)
    assert set(uploads.file_storage) == {"open", "closed"} and not closed
    session.end_abandoned(session.GRACE + 1)
    assert set(uploads.file_storage) == {"open"} and closed == ["closed"]


def test_a_file_stays_while_something_is_drawn_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = served(monkeypatch)
    monkeypatch.setattr(streamlit_internals, "get_script_run_ctx", lambda: SimpleNamespace(session_id="tab"))
    monkeypatch.setattr(session, "_last_connected", {"tab": (0.0, ())})
    draw: Future[None] = Future()
    session.wait_for(draw)
    session.end_abandoned(2 * session.GRACE)
    assert not closed
    draw.set_result(None)
    session.end_abandoned(4 * session.GRACE)
    assert closed == ["tab"]


@pytest.mark.full
def test_weights_over_a_private_domain_are_offered_as_no_file() -> None:
    app = press(steward(give(opened(way=OWN), "pay,place\n1,2\n3,4\n"), on=True), "Fill in from the data")
    press(app, "Use this column")
    app.session_state["data"] = "my-file"
    app.session_state["queries"] = "linear"
    app.session_state["weight_queries"] = 3
    sound(app.switch_page("play/page.py").run())
    assert drawn(app)["weights_chart"] and not any(chart["download"] for chart in drawn(app).values())


def test_random_privacy_opens_after_plan() -> None:
    """What Plan keeps in the session and the number of planned releases once had one key."""
    app = opened("plan/page.py")
    assert not sound(switch_page(app, RANDOM_PRIVACY).run()).error
