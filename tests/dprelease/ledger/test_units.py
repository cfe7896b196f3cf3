from __future__ import annotations

import math

import pytest

from dpcore.core import Guarantee, Neighbours, ParameterError
from dprelease.ledger.canonical import canonical
from dprelease.ledger.records import Registration
from dprelease.ledger.units import ATTO_DIGITS, NANO_DIGITS, Price, format_units, parse_units, to_units

ROW = Neighbours.ADD_REMOVE_ONE


def price(epsilon: float, delta: float = 0.0, *, rows: int = 1) -> Price:
    return Price.of(Guarantee(epsilon=epsilon, delta=delta, neighbours=ROW), rows_a_person=rows)


def test_ten_tenths_are_one_and_a_unit_more_is_not() -> None:
    whole = Price.allowed(epsilon=1.0)
    ten = sum((price(0.1) for _ in range(10)), Price(epsilon_or_rho=0))
    assert ten == whole and ten.within(whole)
    assert not (ten + price(1e-9)).within(whole)
    assert 0.1 * 3 != 0.3  # what whole units are for


def test_a_price_is_rounded_up_and_a_budget_down() -> None:
    assert price(1e-10, 1e-19) == Price(epsilon_or_rho=1, delta=1)
    assert Price.allowed(epsilon=1 + 1e-10, delta=1.9e-18) == Price(epsilon_or_rho=10**9, delta=1)
    for odd in (0.1, 1 / 3, 2.5e-7, 19.999999999):
        assert to_units(odd, NANO_DIGITS) >= odd * 1e9 * (1 - 1e-15) > to_units(odd, NANO_DIGITS) - 1


def test_delta_counts_as_well_as_epsilon() -> None:
    assert not price(0.1, 2e-6).within(Price.allowed(epsilon=1.0, delta=1e-6))
    assert price(0.1, 1e-6).within(Price.allowed(epsilon=1.0, delta=1e-6))


def test_a_person_with_three_rows_pays_the_group_s_price() -> None:
    cost = price(0.5, 1e-6, rows=3)
    assert cost.epsilon_or_rho == 1_500_000_000
    delta = 1e-6 * (math.exp(1.5) - 1) / (math.exp(0.5) - 1)
    assert delta <= cost.delta * 1e-18 <= delta * (1 + 1e-6)
    assert price(0.5, 1e-6, rows=1) == price(0.5, 1e-6)
    with pytest.raises(ParameterError, match="1 or more"):
        price(20.0, 0.1, rows=1000)


@pytest.mark.parametrize("epsilon", [0.0, 1e-12, -1.0, math.inf, math.nan])
def test_what_is_no_budget_is_refused(epsilon: float) -> None:
    with pytest.raises(ParameterError):
        Price.allowed(epsilon=epsilon)


def test_a_decimal_has_one_spelling() -> None:
    for amount in (0, 1, 10**9, 123_456_789, 10**18 + 1):
        for digits in (NANO_DIGITS, ATTO_DIGITS):
            assert parse_units(format_units(amount, digits), digits) == amount
    for wrong in ("", "1.0", "01", ".5", "1.", "-1", "1e3", "0.0000000001", "१", "1" * 50):
        with pytest.raises(ParameterError):
            parse_units(wrong, NANO_DIGITS)


def test_delta_is_short_in_words_and_never_looks_better_than_it_is() -> None:
    odd = Price(epsilon_or_rho=5 * 10**8, delta=11_107_337_928)
    assert (str(odd), odd.left_words) == ("ε 0.5 and δ 1.12·10⁻⁸", "ε 0.5 and δ 1.11·10⁻⁸")
    assert odd.exact_words == "ε 0.5 and δ 0.000000011107337928" and odd.document["delta"] in odd.exact_words
    assert [price(1, delta).delta_words for delta in (1e-6, 5e-7, 0.01)] == ["10⁻⁶", "5·10⁻⁷", "0.01"]
    assert str(price(1)) == "ε 1"


@pytest.mark.parametrize("document", [{"a": 0.5}, {"a": [{"b": 1.0}]}, {1: "a"}, {"a": b"x"}])
def test_a_document_holds_no_float_and_nothing_unknown(document: object) -> None:
    with pytest.raises(ParameterError):
        canonical(document)


@pytest.mark.parametrize(("rows", "refused"), [(0, True), (1, False), (1000, False), (1001, True)])
def test_a_person_has_between_one_and_a_thousand_rows(rows: int, refused: bool) -> None:
    registration = Registration(name="x", neighbours=ROW, public_n=9, person_column="person", rows_a_person=rows)
    assert registration.refusal == ("The maximum rows per person must be between 1 and 1,000." if refused else "")
