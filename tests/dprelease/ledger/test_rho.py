"""Budgets in rho: many Gaussian releases within one epsilon and delta."""

from __future__ import annotations

import copy
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dprelease.release as releases
from dpcore.core import Guarantee, Neighbours, ParameterError
from dpcore.data.twin import twin
from dpcore.privacy.concentrated import rho_of_gaussians
from dprelease.certificate import certificate, prices, unreleasable, verify
from dprelease.commands import main
from dprelease.downloads import REPORT, downloads_of
from dprelease.ledger.checks import check
from dprelease.ledger.records import RAISED, Failed, LedgerError, Refused, Registration, Stored
from dprelease.ledger.store import Ledger
from dprelease.ledger.units import BudgetMeasure, Price
from dprelease.release import cost, release
from dprelease.requests.parts import Request
from tests.dprelease.ledger.test_triggers import following
from tests.dprelease.test_catalogue_releases import ENTRIES, requested
from tests.dprelease.test_certificate import Certificate, change, rebooked, sealed
from tests.kit.ledgers import ANALYST, NOMINAL, STEWARD, few_rows, plan_of, request_of, stored_release

BUDGET = Price.allowed_in_rho(epsilon=1.0, delta=1e-6)


def opened(folder: Path, **changed: Any) -> tuple[Ledger, str]:
    """A ledger whose budget, in rho, is within epsilon 1 and delta 10⁻⁶."""
    ledger = Ledger.open(folder)
    usual: dict[str, Any] = {"name": "ages", "neighbours": Neighbours.ADD_REMOVE_ONE, "public_n": NOMINAL}
    made = ledger.register(Registration(**usual | changed), few_rows(), BUDGET, STEWARD)
    assert made.measure is BudgetMeasure.RHO
    return ledger, made.dataset_id


def asked(draw: int = 1, *, epsilon: float = 0.1) -> Request:
    """Return a request for Gaussian counts."""
    return request_of(draw=draw, key="gaussian", values={"epsilon": epsilon, "delta": 1e-7})


def drawn(ledger: Ledger, dataset_id: str, request: Request) -> Stored:
    """A release that is stored."""
    return stored_release(ledger, dataset_id, request)


@pytest.mark.slow
def test_more_gaussian_releases_fit_than_their_epsilons_would(tmp_path: Path) -> None:
    ledger, dataset_id = opened(tmp_path)
    for draw in range(1, 13):
        came = drawn(ledger, dataset_id, asked(draw))
    account = ledger.account(dataset_id)
    assert 12 * 0.1 > 1 and account.spent.epsilon_or_rho < account.budget.epsilon_or_rho / 4 and not account.spent.delta
    assert check(ledger, dataset_id) == [] == verify(certificate(came), came.files)
    assert came.body["guarantee"]["epsilon"] == "0.1" and came.chain[-1]["amount"]["delta"] == "0"
    assert str(account.left).startswith("ρ 0.0")


@pytest.mark.slow
def test_the_last_unit_fits_and_one_more_is_refused(tmp_path: Path) -> None:
    ledger, dataset_id = opened(tmp_path)
    spent = 0
    for draw, epsilon in enumerate((0.18, 0.05, 0.01), 1):  # of pure releases ρ is ε²/2
        drawn(ledger, dataset_id, request_of(draw=draw, epsilon=epsilon))
        spent += round(epsilon**2 / 2 * 10**9)
    assert ledger.account(dataset_id).spent == Price(epsilon_or_rho=spent, measure=BudgetMeasure.RHO)
    came = release(ledger, dataset_id, request_of(draw=9, epsilon=0.2), few_rows(), ANALYST)
    assert isinstance(came, Refused) and came.sentence.startswith("The release needs ρ 0.02, but only ρ 0.00")
    with closing(sqlite3.connect(ledger.path(dataset_id), isolation_level=None)) as plain:
        with pytest.raises(sqlite3.IntegrityError):
            plain.execute(following("attempt", first=BUDGET.epsilon_or_rho - spent + 1))
        plain.execute(following("attempt", first=BUDGET.epsilon_or_rho - spent))


def test_a_budget_in_rho_is_fixed(tmp_path: Path) -> None:
    ledger, dataset_id = opened(tmp_path)
    for budget in (BUDGET, Price.allowed(epsilon=5.0), Price.allowed_in_rho(epsilon=5.0, delta=1e-6)):
        with pytest.raises(LedgerError, match="cannot be changed: the composition theorem needs it fixed in advance"):
            ledger.set_budget(dataset_id, budget, "more", STEWARD)
    elsewhere = shutil.copytree(ledger.folder, tmp_path / "elsewhere")
    with closing(sqlite3.connect(Ledger(elsewhere).path(dataset_id), isolation_level=None)) as plain:
        plain.execute(following("budget", first=9000000000, delta=1000))
    assert any(
        "a budget in rho cannot be changed after registration" in each for each in check(Ledger(elsewhere), dataset_id)
    )
    for first, delta in ((0, 1), (1, 0)):
        with pytest.raises(LedgerError, match="needs ρ and δ above 0"):
            ledger.register(
                Registration(name="x", neighbours=Neighbours.ADD_REMOVE_ONE, public_n=3),
                few_rows((1.0,)), Price(epsilon_or_rho=first, delta=delta, measure=BudgetMeasure.RHO), STEWARD,
            )  # fmt: skip


def test_what_is_budgeted_is_together_within_what_was_said() -> None:
    for epsilon, delta in ((1.0, 1e-6), (0.1, 1e-9), (8.0, 1e-3)):
        private = Price.allowed_in_rho(epsilon=epsilon, delta=delta).private
        assert private.within(Price.allowed(epsilon=epsilon, delta=delta))
        assert private.epsilon_or_rho > 0.98 * epsilon * 10**9
    for epsilon, delta in ((1.0, 0.0), (1.0, 1e-18), (1e-9, 1e-6), (0.0, 0.1)):
        with pytest.raises(ParameterError):
            Price.allowed_in_rho(epsilon=epsilon, delta=delta)


def test_a_price_in_rho_is_exact_and_rounded_up_and_that_of_persons_grows_with_the_square() -> None:
    def price(epsilon: float, delta: float = 0.0, *, rows: int = 1) -> Price:
        promised = Guarantee(epsilon=epsilon, delta=delta, neighbours=Neighbours.ADD_REMOVE_ONE)
        return Price.concentrated(promised, rows_a_person=rows)

    assert price(0.1).epsilon_or_rho == 5_000_000 and price(0.00001).epsilon_or_rho == 1
    assert price(0.1, rows=3).epsilon_or_rho == 45_000_000
    assert price(0.1, 1e-6).delta == 10**12 < price(0.1, 1e-6, rows=2).delta
    [part] = asked().parts
    draws = part.mechanism.gaussians(part.problem)
    one, three = (
        prices(asked(), rows_a_person=rows, measure=BudgetMeasure.RHO, room=Fraction(1))[0] for rows in (1, 3)
    )
    exact = rho_of_gaussians(draws) * 10**9
    assert exact <= one.epsilon_or_rho < exact + 1 and 9 * exact <= three.epsilon_or_rho < 9 * exact + 1
    assert one.delta == three.delta == 0


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.key)
def test_the_gaussian_draws_that_are_promised_are_those_that_are_made(entry: Any) -> None:
    for neighbours in Neighbours:
        request = requested(entry, neighbours)
        [part] = request.parts
        if unreleasable(request) or not (told := part.mechanism.gaussians(part.problem)):
            continue
        guarantee = part.mechanism.guarantee(part.problem)
        assert rho_of_gaussians(told) < guarantee.epsilon**2 / 2
        dataset = twin(part.reading, n=part.n).dataset()
        assert releases.draw(part, part.problem, dataset).guarantee == guarantee


def test_a_certificate_holds_where_another_computer_finds_another_sigma(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, dataset_id = opened(tmp_path)
    came = drawn(ledger, dataset_id, asked())
    kind: Any = type(asked().parts[0].mechanism)
    usual = kind.sigma
    monkeypatch.setattr(kind, "sigma", lambda *arguments: usual(*arguments) * (1 - 4e-6))
    assert verify(certificate(came), came.files) == []
    monkeypatch.setattr(kind, "sigma", lambda *arguments: usual(*arguments) * (1 - 1e-4))
    assert verify(certificate(came), came.files) == ["Less was charged than is claimed."]
    monkeypatch.setattr(kind, "sigma", lambda *arguments: usual(*arguments) * (1 + 1e-4))
    assert verify(certificate(came), came.files) == ["More was charged than is claimed."]


def test_a_draw_with_less_noise_than_was_charged_is_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, dataset_id = opened(tmp_path)
    monkeypatch.setattr(type(asked().parts[0].mechanism), "gaussians", lambda *_: ((1000.0, 1, 1),))
    assert release(ledger, dataset_id, asked(), few_rows(), ANALYST) == Failed(sentence=RAISED)
    assert ledger.account(dataset_id).spent.epsilon_or_rho == 501 and check(ledger, dataset_id) == []


FORGERIES: dict[str, Callable[[Certificate], None]] = {
    "a more private budget": change("guarantee", "whole_data_set", "private", "epsilon", to="0.9"),
    "a budget without delta": change("guarantee", "whole_data_set", "private", "delta", to="0"),
    "another rule": change("guarantee", "whole_data_set", "rule", to="sums of rho"),
    "a cheaper charge": change("ledger", "chain", 3, "amount", "rho", to="0.000000001"),
    "a charge in epsilon": change("ledger", "chain", 3, "amount", to={"epsilon": "0.1", "delta": "0"}),
    "a budget in epsilon": change("ledger", "chain", 2, "amount", to={"epsilon": "1", "delta": "0.000001"}),
    "less spent": change("guarantee", "whole_data_set", "spent", "rho", to="0"),
    "a smaller epsilon": change("guarantee", "epsilon", to="0.05"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_certificate_is_caught_however_well_it_is_sealed(tmp_path: Path, name: str) -> None:
    ledger, dataset_id = opened(tmp_path)
    came = stored_release(ledger, dataset_id, asked())
    document = copy.deepcopy(certificate(came))
    assert verify(document, came.files) == []
    FORGERIES[name](document)
    assert verify(document, came.files) and verify(sealed(document), came.files)
    assert verify(rebooked(document), came.files)


@pytest.mark.slow
def test_a_plan_and_what_died_are_charged_in_rho_and_the_report_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, dataset_id = opened(tmp_path)
    fixed = ledger.registration(dataset_id)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(releases, "draw", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        release(ledger, dataset_id, asked(1), few_rows(), ANALYST)
    [attempt] = ledger.account(dataset_id).begun
    assert attempt.price == cost(asked(), fixed)
    ledger.machine_failed(dataset_id, attempt.number, STEWARD)
    assert not ledger.account(dataset_id).spent
    came = stored_release(ledger, dataset_id, asked(2))
    assert verify(certificate(came), came.files) == [] == check(ledger, dataset_id)
    assert "The budget is ρ = " in (told := downloads_of(came)[REPORT].decode())
    assert f"The whole budget guarantees ε = {BUDGET.private.amount}" in told
    refused = release(ledger, dataset_id, plan_of(pure=False).request(), few_rows(), ANALYST)
    assert isinstance(refused, Refused) and "ρ" in refused.sentence


@pytest.mark.slow
def test_the_command_opens_such_a_budget(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "data.csv").write_text("age\n" + "\n".join(map(str, range(30))))
    where = ["--ledger", str(tmp_path / "ledger")]
    rows = [str(tmp_path / "data.csv"), "--name", "ages", "--n", "30", "--header", "yes"]
    amounts = ["--epsilon", "1", "--delta", "1e-6", "--measure", "rho"]
    assert main(["ledger", "register", *where, *rows, *amounts]) == 0
    assert main(["ledger", "show", *where]) == 0
    output = capsys.readouterr().out
    assert f"Spent ρ 0 of {BUDGET}" in output and f"all releases stay within {BUDGET.private}" in output
