"""The Release page, state by state: its sentences, and what is charged by each button."""

from __future__ import annotations

import sqlite3
from concurrent.futures import wait
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.data.bundled import bundled
from dplab.recipe import Recipe
from dprelease.ledger.checks import check
from dprelease.ledger.copies import backup, restore
from dprelease.ledger.records import DRAW_IN_PROGRESS, RAISED, UNWRITABLE, LedgerError
from dprelease.ledger.store import Ledger
from dprelease.ledger.units import Price
from dprelease.release import release
from pages.release import worker
from pages.release.draw import DRAWING
from pages.release.register import COUNT_IS_PRIVATE
from pages.shell.ledger.roles import ADMITTED, CLOSED, DEMONSTRATION, NO_TOKEN, TYPE_TOKEN, VARIABLE, WRONG
from pages.shell.ledger.spent import spent_sentence
from pages.shell.server.access import PARAMETER, STEWARD_KEYS, USER
from tests.kit import ledgers
from tests.kit.chance.numbers import has_number
from tests.kit.ledgers import SPEND, SPEND_OFF, of_an_older_schema, spend
from tests.pages.opening import STEWARD, as_steward, file_of, opened, run_with, sound, texts, visitor
from tests.pages.uploads import uploaded

PAGE, KEY = "release/page.py", "a token of a test"
DIGEST = "digest-of-this-file"
"""Of no letters that an identifier may hold by chance."""


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, KEY)


def came(**state: object) -> AppTest:
    """The steward, at the page."""
    app = as_steward(visitor(PAGE))
    app.query_params["data"] = "penguins.body_mass_g"
    for key, value in state.items():
        app.session_state[key] = value
    return sound(app.run())


def press(app: AppTest, label: str) -> AppTest:
    """A button by its words; then what is drawn is waited for, as the page does."""
    sound(next(each for each in app.button if each.label.startswith(label)).click().run())
    wait(list(worker._under_way.values()), timeout=60)
    return sound(app.run())


def said(app: AppTest) -> str:
    return "\n".join([texts(app), *(each.value for each in [*app.header, *app.success])])


def steps(app: AppTest) -> str:
    """The line of the four steps."""
    [line] = [each.value for each in app.markdown if " → " in each.value]
    return line.replace("\u00a0", " ")


def registered() -> AppTest:
    return press(came(), "Register")


def released() -> AppTest:
    return press(press(registered(), "Test run, free"), SPEND)


def the(folder: Path) -> tuple[Ledger, str]:
    ledger = Ledger(folder)
    (dataset_id,) = ledger.dataset_ids()
    return ledger, dataset_id


def typed(token: str) -> AppTest:
    """A session of another browser, in which a token is typed."""
    app = sound(opened(PAGE))
    [field] = app.text_input
    assert field.proto.type == field.proto.PASSWORD
    return sound(field.set_value(token).run())


def test_without_the_token_there_is_a_sentence_and_no_ledger(monkeypatch: pytest.MonkeyPatch, no_ledger: Path) -> None:
    Ledger.open(no_ledger)
    app = sound(opened(PAGE))
    assert TYPE_TOKEN in said(app) and WRONG not in said(app) and not app.button
    for wrong in (f"{KEY} ", KEY[:-1], KEY.upper(), "ключ"):
        app = typed(wrong)
        assert WRONG in said(app) and not app.session_state[ADMITTED] and not app.button
    for name in ("token", PARAMETER):  # nothing in an address is a token
        app = sound(opened(PAGE, **{name: KEY}))
        assert TYPE_TOKEN in said(app) and not app.button
    monkeypatch.delenv(VARIABLE)
    app = sound(opened(PAGE))
    assert NO_TOKEN in said(app) and not app.button and not app.text_input
    monkeypatch.setattr(STEWARD_KEYS, "has_code", True)
    app = sound(opened(PAGE))
    assert CLOSED in said(app) and not app.button and not app.text_input


def test_the_token_that_is_typed_opens_the_ledger_of_this_session_and_stays_nowhere(no_ledger: Path) -> None:
    app = typed(KEY)
    assert [each.label for each in app.button] == ["Register"]
    assert app.session_state[ADMITTED]
    assert KEY not in repr(app.session_state) and KEY not in repr(app.query_params)
    assert not sound(opened(PAGE)).button, "another session of the same browser types it again"


def test_only_the_steward_s_browser_is_let_in_without_a_token() -> None:
    for user in ({}, {USER: ""}, {USER: "0" * 64}, {USER: STEWARD[USER][:-1]}):
        app = visitor(PAGE)
        app.user = dict(user)
        assert not sound(app.run()).button
    assert sound(as_steward(visitor(PAGE)).run()).button


def test_a_public_demonstration_keeps_no_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSCOPE_PUBLIC_DEMO", "1")
    app = came()
    assert DEMONSTRATION in said(app) and not app.button and not app.text_input


def test_from_no_ledger_to_a_release_and_once_more(no_ledger: Path) -> None:
    app = came()
    assert "There is no ledger on this machine yet. Every release needs one." in said(app)
    assert steps(app) == "✓ Plan → **2 Budget** → 3 Rehearse → 4 Spend"
    assert str(no_ledger) in said(app) and not no_ledger.exists()
    assert "You cannot change the unit of privacy and the neighbouring relation later." in said(app)
    app = press(app, "Register")
    assert "**3 Rehearse**" in steps(app)
    assert "These rows are public: a release of them is a demonstration." in said(app)
    assert f"The ledger is in `{no_ledger}`." in said(app)
    ledger, dataset_id = the(no_ledger)
    assert "Spent ε 0 of 2, left 2" in said(app) and "together are (2, 10⁻⁶)-private" in said(app)
    app = press(app, "Test run, free")
    assert "On mock data: " in said(app) and "257 numbers" in said(app) and "Nothing was charged." in said(app)
    assert "This spends ε 1 and releases once. Budget left afterwards: ε 1 and δ 10⁻⁶. This cannot be undone." in said(
        app
    )
    assert (
        "Until the data owner publishes it, the release is a private preview. "
        "It is charged at once. To see it again is free."
    ) in said(app)
    assert not ledger.outcomes(dataset_id) and "✓ Rehearse → **4 Spend**" in steps(app)
    app = press(app, spend("1"))
    assert steps(app) == "✓ Plan → ✓ Budget → ✓ Rehearse → ✓ Spend"
    assert "Entry 1, charged ε 1. Not published." in said(app) and "Spent ε 1 of 2, left 1" in said(app)
    assert not app.get("download_button"), "what nobody published is served to nobody"
    assert "as entry 1. To see it again is free." in said(came()) and len(ledger.outcomes(dataset_id)) == 1
    app = press(app, "Publish, free")
    assert "Entry 1, charged ε 1. Published." in said(app) and len(app.get("download_button")) == 2, "zip and CSV"
    (stored,) = ledger.stored(dataset_id)
    assert stored.published
    # Another session sees it again, free; another draw has its price, and is another entry.
    app = came()
    assert " as entry 1. To see it again is free." in said(app) and "Released on " in said(app)
    app = press(press(app, "Release again, ε 1"), "Test run, free")
    app = press(app, spend("1"))
    assert "Entry 2, charged ε 1. Not published." in said(app) and len(ledger.outcomes(dataset_id)) == 2
    assert ledger.stored(dataset_id)[0].files != ledger.stored(dataset_id)[1].files
    app = press(app, "Release again, ε 1")
    assert "needs ε 1, but only ε 0 is left. Nothing was released." in said(app)
    assert next(each for each in app.button if each.label == SPEND_OFF).disabled


def test_pressed_twice_it_is_drawn_and_charged_once(no_ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In two tabs, while the first draw is held up; and a slider is moved."""
    app, gate, drawn = press(registered(), "Test run, free"), Event(), list[int]()
    other = press(came(), "Test run, free")

    def held_up(*parts: Any, **named: Any) -> Any:
        drawn.append(1)
        gate.wait(60)
        return release(*parts, **named)

    monkeypatch.setattr(worker, "release", held_up)
    for each in (app, other):
        next(button for button in each.button if button.label.startswith(SPEND)).click()
        sound(each.run())
        assert DRAWING in said(each)
    sound(app.number_input(key="epsilon").set_value(0.5).run())
    assert "Sampling …" in said(app)
    assert "Sampling …" in said(came())  # and a third that only looks
    gate.set()
    worker._worker.submit(int).result(timeout=60)  # last in the queue: all that was asked for is drawn
    ledger, dataset_id = the(no_ledger)
    assert drawn == [1] and [line["amount"]["epsilon"] for line in ledger.outcomes(dataset_id)] == ["1"]
    app, other = sound(app.run()), sound(other.run())
    assert "Spent ε 1 of 2" in said(app) and "Entry 1, charged ε 1. Not published." in said(other)
    assert app.number_input(key="epsilon").value == 0.5, "what was moved meanwhile stays moved"


def test_the_page_says_that_a_copy_was_put_back_beside_every_total(no_ledger: Path, tmp_path: Path) -> None:
    assert "put back" not in said(released())
    ledger, dataset_id = the(no_ledger)
    copy = backup(ledger, dataset_id, tmp_path / "copy")
    ledger.path(dataset_id).unlink()
    restore(ledger, copy, ledgers.STEWARD)
    app = came()
    assert "A copy of the ledger was restored once. Charges made after the copy are not in the total" in said(app)
    assert "Spent at least ε 1 of 2, left" in said(app)
    assert "All releases of these data together are (2, 10⁻⁶)-private. A copy of the ledger" in said(app)
    account = ledger.account(dataset_id)
    assert spent_sentence(account) == "Spent **at least ε 1 of 2**. "
    assert spent_sentence(replace(account, copies_put_back=0)) == "Spent **ε 1 of 2**. "


def test_a_draw_that_raises_keeps_its_charge_and_says_so(no_ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise ValueError("row 7919 is too long")

    monkeypatch.setattr("dprelease.release._dataset", broken)
    app = released()
    assert RAISED in said(app) and not has_number(said(app), 7919) and "Spent ε 1 of 2" in said(app)
    assert any(each.label == "Release again, ε 1" for each in app.button)
    assert not check(*the(no_ledger))


def test_what_died_is_told_and_its_steward_may_say_that_the_machine_failed(
    no_ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = press(registered(), "Test run, free")
    with monkeypatch.context() as patch:
        patch.setattr("dprelease.release.book", killed)
        app = press(app, SPEND)
    ledger, dataset_id = the(no_ledger)
    died = "the release did not finish, and no result was shown. The cause may depend on the rows, so the charge stays."
    assert died in said(app) and "Spent ε 1 of 2" in said(app) and len(ledger.account(dataset_id).begun) == 1
    with ledger.turn(dataset_id):  # somebody else draws: nothing is known of that attempt yet
        app = sound(app.run())
        assert DRAW_IN_PROGRESS in said(app) and "did not finish" not in said(app)
    app = press(sound(app.run()), "Machine failure: remove the charge")
    assert "Spent ε 0 of 2" in said(app) and "The data owner declared 1 machine failure." in said(app)
    app = press(app, spend("1"))
    assert "Entry 2, charged ε 1. Not published." in said(app) and not check(ledger, dataset_id)


def killed(*_: Any, **__: Any) -> Any:
    """As a process that ends leaves its transaction: without a word."""
    raise SystemExit


def test_busy_and_unwritable_ledgers_charge_nothing(no_ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = press(registered(), "Test run, free")
    ledger, dataset_id = the(no_ledger)
    monkeypatch.setattr(worker, "release", partial(release, patience=0))
    with ledger.turn(dataset_id):
        app = press(app, SPEND)
        assert DRAW_IN_PROGRESS in said(app) and "Spent ε 0 of 2" in said(app)

    def full(*_: Any, **__: Any) -> Any:
        raise LedgerError(UNWRITABLE)

    monkeypatch.setattr(Ledger, "begin", full)
    app = press(app, SPEND)
    assert UNWRITABLE in said(app) and "Spent ε 0 of 2" in said(app)


def test_a_damaged_chain_closes_the_page(no_ledger: Path) -> None:
    app = released()
    ledger, dataset_id = the(no_ledger)
    with closing(sqlite3.connect(ledger.path(dataset_id))) as connection:
        connection.execute("DROP TRIGGER entries_never_change")
        connection.execute("UPDATE entries SET body = replace(body, 'identity', 'gaussian')")
        connection.commit()
    app = sound(app.run())
    assert "Restore a backup." in said(app) and not any(each.label.startswith(SPEND) for each in app.button)
    assert "pent **ε" not in said(app) and "Budget spent" not in said(app) and "Spent ε" not in said(app)


def test_what_is_not_releasable_has_its_sentence_and_no_button() -> None:
    app = came()
    next(each for each in app.radio if each.label == "Neighbouring data sets").set_value("add_remove_one")
    app = press(sound(app.run()), "Register")
    recipe = Recipe(
        source=bundled("penguins", "body_mass_g"), queries="intervals", entry_key="sparse_histogram",
        values=(("epsilon", 0.5),),
    )  # fmt: skip
    run_with(app, {"shown": recipe})
    assert "Random differential privacy is proved here only for replacing one of n rows" in said(app)
    assert next(each for each in app.button if each.label == SPEND_OFF).disabled


@pytest.mark.parametrize(("each", "default"), [(0.5, 2.0), (1.7, 3.4)])
def test_a_new_budget_covers_the_plan(no_ledger: Path, each: float, default: float) -> None:
    app = came()
    app.switch_page("plan/page.py")
    app = sound(app.run())
    app.selectbox(key="table").set_value("penguins")
    app = press(sound(app.run()), "Load an example")
    key, plan = app.session_state["plan_shown"]
    priced = replace(plan, questions=tuple(replace(question, epsilon=each) for question in plan.questions))
    app = press(app, "Release it")
    app.session_state["plan_shown"] = (key, priced)
    app.switch_page(PAGE)
    app = sound(app.run())
    [budget] = [field for field in app.number_input if field.label == "Budget ε"]
    assert budget.value == pytest.approx(default) and budget.value >= priced.cost.epsilon


def test_other_data_of_the_same_people_share_a_budget(no_ledger: Path) -> None:
    app = released()
    sound(app.selectbox(key="data").set_value("pets.species").run())
    assert next(each for each in app.button if each.label == "Register").disabled, "the question is not answered"
    radio = next(each for each in app.radio if "same people" in each.label)
    assert radio.value is None and "Palmer penguins" in radio.options[1] and "ε 1 of 2" in radio.options[1]
    radio.set_value(the(no_ledger)[1])
    app = press(sound(app.run()), "Register")
    assert "Spent ε 1 of 2" in said(app) and len(Ledger(no_ledger).dataset_ids()) == 1


@pytest.mark.full
def test_the_line_on_top_tells_what_the_ledger_says_and_only_to_its_steward(no_ledger: Path) -> None:
    app = registered()
    app.number_input(key="epsilon").set_value(0.5)
    app = press(press(sound(app.run()), "Test run, free"), spend("0.5"))
    for page in ("play/page.py", "plan/page.py"):
        app.switch_page(page)
        app = sound(app.run())
        assert "Spent **ε 0.5 of 2**." in said(app)
    app.selectbox(key="table").set_value("cities")
    app = sound(sound(app.run()).run())  # the line stands above the choice
    assert "of 2**" not in said(app), "the plan is about another table"
    app = sound(opened("play/page.py", data="penguins.body_mass_g"))
    assert "of 2**" not in said(app) and "Budget spent: **ε = 0**." in said(app)


def test_a_private_file_names_its_n_and_leaves_nothing_of_its_rows(no_ledger: Path) -> None:
    source = uploaded(private=True, digest=DIGEST)
    held = file_of(source, turn=3)
    app = came(upload=source, file=held, data="my-file")
    assert next(each for each in app.number_input if each.label == "Public n").value == 10_000
    sound(next(each for each in app.radio if each.label == "Neighbouring data sets").set_value("replace_one").run())
    assert COUNT_IS_PRIVATE in said(app) and next(each for each in app.button if each.label == "Register").disabled
    next(each for each in app.radio if each.label == "Neighbouring data sets").set_value("add_remove_one")
    app = press(sound(app.run()), "Register")
    app = press(press(app, "Test run, free"), SPEND)
    shown = said(app).replace(str(no_ledger), "")  # a folder of temporary files may have any number
    assert "Entry 1, charged ε 1. Not published." in shown and not has_number(shown, 500)
    keys = [each.key for kind in (app.button, app.number_input, app.radio, app.text_input) for each in kind]
    assert keys and not [key for key in keys if DIGEST in str(key)], "the digest of a file is in no key"
    (stored,) = the(no_ledger)[0].stored(the(no_ledger)[1])
    assert not stored.body["guarantee"]["steward_saw_true_values"]
    # Whoever looks at true values has the next certificate say so.
    app.toggle(key="steward_choice").set_value(True)
    app.switch_page("play/page.py")
    app = sound(app.run())
    app.switch_page(PAGE)
    app = press(sound(app.run()), "Release again, ε 1")
    app = press(app, "Test run, free") if any(each.label == "Test run, free" for each in app.button) else app
    app = press(app, SPEND)
    assert the(no_ledger)[0].stored(the(no_ledger)[1])[-1].body["guarantee"]["steward_saw_true_values"]


BUDGET = Price.allowed_in_rho(epsilon=2.0, delta=1e-6)


def test_a_budget_in_rho_is_shown_as_what_it_is(monkeypatch: pytest.MonkeyPatch, no_ledger: Path) -> None:
    monkeypatch.setattr(Price, "allowed", lambda **_: BUDGET)
    app = registered()
    ledger, dataset_id = the(no_ledger)
    budget = ledger.account(dataset_id).budget
    assert budget == BUDGET
    assert f"Spent ρ 0 of {budget.amount}, left {budget.amount}" in said(app)
    assert f"together are ({budget.private.amount}, 10⁻⁶)-private" in said(app)
    assert f"The release needs ρ 0.5, but only ρ {budget.amount} is left" in said(app)


def test_a_ledger_of_an_older_program_is_named(no_ledger: Path) -> None:
    ledger, dataset_id = ledgers.registered(no_ledger)
    of_an_older_schema(ledger.path(dataset_id))
    assert "Only an older program reads" in (told := said(came())), told
