"""Roles where persons log in: what stewards, analysts and viewers see, and what is refused to them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import dprelease.release as releases
from dpcore.core import Neighbours
from dpcore.data.reading.tables import read_table
from dpcore.data.sources import Source, Uploaded
from dprelease.ledger.checks import check
from dprelease.ledger.records import LedgerError, Registration, Role
from dprelease.release import TOO_WIDE
from pages.data.upload import SessionFile
from pages.release import login, shared_rows
from pages.release.draw import ANOTHER, CLOSED
from pages.release.login import LOG_IN, NOTHING
from pages.release.register import NO_LEDGER
from pages.release.results import NOT_YET
from pages.release.view import NONE_OPEN
from pages.shell.ledger import roles
from pages.shell.ledger.accounts import CACHED_ACCOUNT, HALTED, PRINTS
from pages.shell.ledger.reading_progress import STOPPED
from tests.kit.ledgers import ANALYST, SPEND, FewRows
from tests.pages.drawn_charts import drawn
from tests.pages.opening import STEWARD, run_with, sound, visitor
from tests.pages.release.test_page_states import PAGE, press, said, the, token
from tests.pages.shell.test_page_private import opened as with_private_file
from tests.pages.uploads import uploaded

__all__ = ["token"]
SECRETS: dict[str, dict[str, Any]] = {
    "auth": {"cookie_secret": "x"},
    "roles": {"stewards": ["Ada@example.org"], "analysts": ["grace@example.org"]},
}
ADA, GRACE, EVE = "ada@example.org", "grace@example.org", "eve@example.org"


def came(who: str, *, file: Source | None = None, **claims: Any) -> AppTest:
    """Somebody logged in, or nobody, in the steward's browser, which counts for nothing here; and maybe a file."""
    app = visitor(PAGE)
    app.secrets = SECRETS
    app.user = {"is_logged_in": bool(who)} | ({"email": who, "email_verified": True} if who else {}) | claims | STEWARD
    if file is None:
        app.query_params["data"] = "penguins.body_mass_g"
    else:
        assert isinstance(file.origin, Uploaded)
        told = {"upload": file, "file": SessionFile(origin=file.origin, turn=3), "data": "my-file"}
        for key, value in told.items():
            app.session_state[key] = value
    return sound(app.run())


def made_up() -> Source:
    """The same question, of made-up rows: whoever asks brings columns and bounds alone."""
    rows = read_table(b"income\n1\n2\n", name="made up.csv")
    return replace(uploaded(private=True), origin=Uploaded(table=rows, private=False, digest="d2"))


def labels(app: AppTest) -> list[str]:
    return [each.label for each in app.button]


def released() -> AppTest:
    app = press(came(ADA), "Register")
    return press(press(app, "Test run, free"), SPEND)


def test_a_steward_registers_releases_and_publishes_by_name(no_ledger: Path) -> None:
    app = released()
    assert "Entry 1, charged ε 1. Not published." in said(app) and f"{ADA}, data owner" in said(app).replace("\\", "")
    ledger, dataset_id = the(no_ledger)
    assert ledger.registration(dataset_id).by == ADA
    assert "Published." in said(press(app, "Publish, free"))


@pytest.mark.parametrize(("who", "analyst"), [(GRACE, True), (EVE, False)])
def test_others_see_what_is_published_and_nothing_else(no_ledger: Path, who: str, analyst: bool) -> None:
    assert (NO_LEDGER if analyst else NOTHING) in said(came(who))
    app = released()
    seen = came(who)
    assert NOTHING in said(seen) and "Entry 1" not in said(seen) and not seen.get("download_button")
    assert not [each.label for each in seen.expander if each.label.startswith("Past")]
    assert ("ε 1 of 2" in said(seen)) == analyst == ("of 2**." in said(seen))
    press(app, "Publish, free")
    seen = came(who)
    assert "Entry 1, charged ε 1. Published." in said(seen) and "steward" not in said(seen)
    assert ("Release again, ε 1" in labels(seen)) == analyst
    assert set(labels(seen)) <= {"Log out", "Release again, ε 1", "Open report", "Present", "Copy link"}
    # A release of other data has the same number.
    sound(app.selectbox(key="data").set_value("pets.species").run())
    next(each for each in app.radio if "same people" in each.label).set_value("")
    app = press(press(sound(app.run()), "Register"), "Test run, free")
    press(press(app, SPEND), "Publish, free")
    seen = came(who)
    for toggle in seen.toggle:
        toggle.set_value(True)
    seen = sound(seen.run())
    assert len(seen.get("download_button")) == 2 * (2 + analyst), "of each a zip and a CSV"
    assert ("Budget spent" in said(seen)) != analyst, "what is spent is for those who may spend it"


def test_only_the_data_owner_reads_where_a_folder_is_that_others_may_enter(no_ledger: Path) -> None:
    press(came(ADA), "Register")
    no_ledger.chmod(0o755)
    for who, named in ((ADA, True), (GRACE, False), (EVE, False)):
        words = said(came(who))
        assert ("Other accounts can enter or change the ledger's folder." in words) and (
            str(no_ledger) in words
        ) == named


def test_nobody_sees_a_button_to_log_in_whatever_token_they_bring(no_ledger: Path) -> None:
    press(released(), "Publish, free")
    app = came("")
    assert LOG_IN in said(app) and labels(app) == ["Log in"] and "Entry 1" not in said(app)
    app = came(ADA, email_verified=False)
    assert LOG_IN in said(app), "an address that nobody verified is nobody's"


def test_what_a_role_may_not_do_is_refused_and_not_only_hidden(no_ledger: Path) -> None:
    """A press that was under way when the role was taken away."""
    app = came(ADA)
    app.user = {"is_logged_in": True, "email": GRACE, "email_verified": True}
    sound(next(each for each in app.button if each.label == "Register").click().run())
    assert not no_ledger.exists()
    app = press(press(came(ADA), "Register"), "Test run, free")
    app = clicked(in_as(app, GRACE), SPEND)
    ledger, dataset_id = the(no_ledger)
    assert ANOTHER in said(app), "an analyst may release, by their own button"
    assert not ledger.outcomes(dataset_id) and not ledger.account(dataset_id).begun
    press(press(came(ADA), "Test run, free"), SPEND)
    with pytest.raises(LedgerError, match="Only the data owner may publish"):
        ledger.publish(dataset_id, 1, ANALYST)


def test_true_values_are_for_stewards_where_persons_log_in(no_ledger: Path) -> None:
    for who, role in ((ADA, Role.STEWARD), (GRACE, Role.ANALYST), (EVE, None)):
        app = with_private_file("play/page.py")
        app.secrets, app.user = SECRETS, {"is_logged_in": True, "email": who, "email_verified": True}
        run_with(app, {"steward_choice": True})
        steward = role is Role.STEWARD
        assert bool([each for each in app.toggle if each.key == "steward_choice"]) == steward
        assert ("You see true values of private data" in said(app)) == steward


def clicked(app: AppTest, label: str) -> AppTest:
    """One run after a button: what it says is said once."""
    return sound(next(each for each in app.button if each.label.startswith(label)).click().run())


def in_as(app: AppTest, who: str) -> AppTest:
    """From the next run on somebody else is logged in, or nobody."""
    app.user = {"is_logged_in": bool(who), "email": who, "email_verified": True}
    return app


def test_an_analyst_who_stopped_a_comparison_goes_on(no_ledger: Path) -> None:
    press(came(ADA), "Register")
    app = came(GRACE)
    [name] = app.session_state[PRINTS]
    app.session_state[PRINTS], app.session_state[CACHED_ACCOUNT], app.session_state[HALTED] = {}, None, name
    assert STOPPED in said(sound(app.run())) and NONE_OPEN not in said(app)
    assert "Test run, free" in labels(press(app, "Continue"))


def test_an_analyst_releases_what_a_steward_opened_and_sees_none_of_it(
    no_ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steward = press(came(ADA, file=uploaded(private=True)), "Register")
    ledger, dataset_id = the(no_ledger)
    # A file is never compared for an analyst: whether it is the registered one is not told.
    app = came(GRACE, file=uploaded(private=True))
    assert NONE_OPEN in said(app) and "Test run, free" not in labels(app) and "Register" not in labels(app)
    assert NONE_OPEN in said(came(GRACE, file=uploaded(private=False))), "nor where it is called public"
    with monkeypatch.context() as patch:
        patch.setattr(shared_rows, "max_rows", lambda _: 1)
        steward = sound(steward.run())
        assert "Let analysts release from these rows" not in labels(steward)
        assert "files of at most 1 rows" in said(steward)
    steward = press(sound(steward.run()), "Let analysts release from these rows")
    app = press(came(GRACE, file=made_up()), "Test run, free")
    assert "This spends ε 1 and releases once." in said(app) and "incomes.csv" not in said(app)
    with monkeypatch.context() as patch:
        patch.setattr(releases, "BYTES_TO_READ", 2 << 30)
        assert TOO_WIDE in said(sound(app.run()))
    app = sound(app.run())
    app = press(app, SPEND)
    assert "Entry 1, charged ε 1. Not published." in said(app) and NOT_YET in said(app)
    assert not app.get("download_button") and not drawn(app) and not app.dataframe and str(no_ledger) not in said(app)
    assert not {"Publish, free", "Register", "Let analysts release from these rows"} & set(labels(app))
    (stored,) = ledger.stored(dataset_id)
    assert stored.body["by"] == GRACE and b"1" in stored.files["counts.csv"]
    press(sound(steward.run()), "Publish, free")
    app = sound(app.run())
    assert len(app.get("download_button")) == 2 and "Release again, ε 1" in labels(app), "a zip and a CSV"
    # Over the budget nothing is drawn, whoever asks.
    app = press(press(app, "Release again, ε 1"), SPEND)
    assert "Spent ε 2 of 2" in said(app)
    app = press(app, "Release again, ε 1")
    assert "needs ε 1, but only ε 0 is left. Nothing was released." in said(app) and not check(ledger, dataset_id)


def test_rows_are_closed_when_who_opened_them_logs_out_or_is_no_steward(monkeypatch: pytest.MonkeyPatch) -> None:
    """In whichever of their tabs they do: each has a state of its own, and who is logged in is the same."""
    rows = read_table(b"income\n1\n2\n", name="payroll.csv")
    told = {"is_logged_in": True, "email": ADA, "email_verified": True}
    monkeypatch.setattr(roles, "has_login", lambda: True)
    monkeypatch.setattr("streamlit.user", SimpleNamespace(to_dict=lambda: told))
    monkeypatch.setattr("streamlit.logout", lambda: None)
    monkeypatch.setattr("streamlit.secrets", SECRETS)
    first, second = dict[str, Any](), dict[str, Any]()
    monkeypatch.setattr("streamlit.session_state", first)
    shared_rows._share("dataset", rows)
    assert shared_rows.shared_rows("dataset") is rows
    less = SECRETS | {"roles": {"stewards": [], "analysts": [ADA]}}
    monkeypatch.setattr("streamlit.secrets", less)
    assert shared_rows.shared_rows("dataset") is None, "no steward any more"
    monkeypatch.setattr("streamlit.secrets", SECRETS)
    assert shared_rows.shared_rows("dataset") is rows
    monkeypatch.setattr("streamlit.session_state", second)
    told["email"] = EVE
    login._log_out()
    assert shared_rows.shared_rows("dataset") is rows, "somebody else's log-out closes nothing"
    told["email"] = ADA
    login._log_out()
    assert shared_rows.shared_rows("dataset") is None and shared_rows.SHARED in first


@pytest.mark.parametrize("then", [ADA, "", EVE])
def test_a_button_charges_for_whom_it_was_shown_to_and_while_the_rows_are_open(no_ledger: Path, then: str) -> None:
    steward = press(came(ADA, file=uploaded(private=True)), "Register")
    steward = press(steward, "Let analysts release from these rows")
    app = press(came(GRACE, file=made_up()), "Test run, free")
    app = clicked(in_as(app, then), SPEND)
    assert ANOTHER in said(app)
    ledger, dataset_id = the(no_ledger)
    app = sound(in_as(app, GRACE).run())
    press(steward, "Stop analysts from releasing from these rows")
    app = clicked(app, SPEND)
    assert CLOSED in said(app) and NONE_OPEN in said(app)
    assert not ledger.outcomes(dataset_id) and not ledger.account(dataset_id).begun


@pytest.mark.parametrize(
    ("claims", "said", "trusted"),
    [
        ({}, {}, False),
        ({"email_verified": None}, {}, False),
        ({"email_verified": "false"}, {}, False),
        ({"email_verified": True}, {}, True),
        ({}, {roles.UNVERIFIED: True}, True),
        ({}, {roles.UNVERIFIED: "yes"}, False),
        ({"email_verified": False}, {roles.UNVERIFIED: True}, False),
    ],
)
def test_an_address_counts_only_if_the_provider_says_it_is_verified(
    monkeypatch: pytest.MonkeyPatch, claims: dict[str, Any], said: dict[str, Any], trusted: bool
) -> None:
    """Or if the secrets say that this provider's addresses are; one that it calls unverified never counts."""
    monkeypatch.setattr(roles, "has_login", lambda: True)
    monkeypatch.setattr("streamlit.secrets", SECRETS | {"roles": {**SECRETS["roles"], **said}})
    told = {"is_logged_in": True, "email": ADA} | claims
    monkeypatch.setattr("streamlit.user", SimpleNamespace(to_dict=lambda: told))
    assert roles.role() is (Role.STEWARD if trusted else None) and roles.person() == (ADA if trusted else "")


def test_who_has_no_role_is_no_analyst(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamlit.session_state", {})
    assert roles.actor().role is None


def test_without_a_section_of_secrets_the_token_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamlit.session_state", {roles.ADMITTED: True})
    assert not roles.has_login() and roles.role() is Role.STEWARD and roles.person() == ""


def test_a_file_of_more_rows_than_a_public_number_allows_is_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    captions, buttons = list[str](), list[str]()
    monkeypatch.setattr("streamlit.caption", captions.append)
    monkeypatch.setattr("streamlit.button", lambda label, **_: buttons.append(label))
    registration = Registration(name="n", neighbours=Neighbours.ADD_REMOVE_ONE, public_n=60_000)
    table: Any = FewRows()
    for rows in (120_000, 120_001):
        table.row_count = rows
        shared_rows.sharing_button(registration, table)
    assert len(buttons) == 1 and captions[-1].startswith(
        "With this public n you can share files of at most 120,000 rows "
        "with analysts. For larger files, memory use would "
    )
