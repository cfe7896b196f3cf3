"""Numbers in print, and labels fit to be drawn."""

from __future__ import annotations

import math

import numpy as np

from dpcore.data.columns import Labels
from pages.charts.words import (
    LONGEST_LABEL,
    as_code,
    group_cells,
    percent,
    percent_down,
    percent_up,
    printable_labels,
    rows,
    short_numbers,
    significant,
)
from tests.pages.reports import HOSTILE


def test_labels_that_look_alike_keep_their_own_bars() -> None:
    shown = printable_labels(HOSTILE)
    assert len(set(shown)) == len(HOSTILE) and max(map(len, shown)) <= LONGEST_LABEL + len(" (2)")
    assert all(label.isprintable() and label for label in shown)


def test_grouped_labels_keep_every_row() -> None:
    counts = np.arange(101.0)[None, :]
    assert group_cells(counts, Labels(labels=tuple(map(str, range(100)))), np.array([3, 1])).sum() == counts.sum()


def test_numbers_are_written_with_three_digits() -> None:
    said = {0.0: "0", 1234.5: "1,230", 0.00012345: "0.000123", -0.5: "−0.5", 999.9: "1,000", 12.0: "12"}
    assert {value: significant(value) for value in said} == said
    assert significant(math.nan) == "no value" and significant(math.inf) == "∞"
    assert significant(-1e-20) == "−1.00e−20" and significant(-math.inf) == "−∞"
    shares = {-0.209: "−20.9%", 0.5: "50%", 1.0: "100%", -0.0: "0%", 2.5: "2.5·n", -2.5: "−2.5·n"}
    assert {value: percent(value) for value in shares} == shares
    counts = {-0.2: "−200 of 1,000 rows", -1e-9: "0 of 1,000 rows", 1.0: "1,000 of 1,000 rows", 2.5: "2,500 rows"}
    assert {value: rows(value, 1000) for value in counts} == counts


def test_bounds_are_rounded_to_their_side_as_they_are_written() -> None:
    """100 · 0.0041 is 0.41000000000000003 in binary, and 100 · 0.57 is 56.99999999999999."""
    assert [percent_up(each) for each in (0.0041, 0.57, 0.12341, 1e-5, 0.0, 1.2341)] == [
        *("0.41%", "57%", "12.4%", "0.001%", "0%", "1.24·n"),
    ]
    assert [percent_down(each) for each in (0.0041, 0.57, 0.12349, 1e-5, 0.0)] == [
        "0.41%",
        "57%",
        "12.3%",
        "0.001%",
        "0%",
    ]


def test_numbers_in_tables_keep_four_digits_and_counts_all() -> None:
    values = [0.1, 1 / 3, 12345.6, -2e-9, 0.0, math.nan, math.inf, 2.0**60]
    assert short_numbers(values) == [0.1, 0.3333, 12350.0, -2e-9, 0.0, None, None, 1.153e18]
    assert short_numbers([123456, -98765, 20269, 0.29 * 123456 / 0.29]) == [123456, -98765, 20269, 123456]
    random = np.random.Generator(np.random.SFC64(5)).lognormal(0, 8, 2000)
    assert short_numbers(random) == [float(f"{value:.4g}") for value in random]


def test_places_far_from_zero_are_told_apart() -> None:
    places = 1000 + np.arange(9) / 8
    assert short_numbers(places)[:3] == [1000, 1000, 1000]
    assert short_numbers(places, step=1e-3) == places.tolist()


def test_somebody_s_words_are_no_markdown() -> None:
    assert as_code("[log in](https://evil.example)`**x**") == "`[log in](https://evil.example)'**x**`"
