"""Kinds that names of columns suggest."""

from __future__ import annotations

import pytest

from dpcore.data.dictionaries.names import suggest_from_name

KINDS = {
    "date": ("date", "admissionDate", "Datum", "exam day", "startdate"),
    "age from birth date": ("birth_date", "Date of birth", "dob", "birthday", "fecha de nacimiento"),
    "yes/no": ("is_member", "hasChildren", "smoker", "was admitted", "Flag", "married"),
    "whole number": ("age", "AGE", "age at entry", "ageAtEntry", "Alter", "visits", "n_visits", "doctorCount"),
    "category": ("sex", "Gender", "sex of the child"),
    "date: year": ("year", "Birth Year", "Jahr", "year_2"),
}
NOTHING = (
    *("village", "pay", "average", "holiday", "history", "this", "hash", "island", "column 1", "agegroup", "age group"),
    *(
        "yearly income",
        "years of education",
        "is",
        "Sussex",
        "stage",
        "identity",
        "candidate",
        "sex code",
        "",
        "年",
        "_",
    ),
)


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in KINDS.items() for name in names])
def test_a_name_suggests_its_kind(kind: str, name: str) -> None:
    suggestion = suggest_from_name(name)
    assert suggestion is not None and suggestion.used and not suggestion.fault
    assert kind == (f"date: {suggestion.step}" if kind == "date: year" else suggestion.kind)
    counted = "0" if suggestion.kind == "whole number" else ""
    assert (suggestion.low, suggestion.high) == (("0", "120") if suggestion.unit == "years" else (counted, ""))
    assert suggestion.labels == (), "how a file spells its labels is in no name"


@pytest.mark.parametrize(
    "name", ["id", "ID", "patient_id", "patientID", "Customer Id", "email", "uuid", "postcode", "zip code"]
)
def test_an_identifier_is_not_used(name: str) -> None:
    suggestion = suggest_from_name(name)
    assert suggestion is not None and not suggestion.used and not suggestion.kind


@pytest.mark.parametrize("name", NOTHING)
def test_other_names_suggest_nothing(name: str) -> None:
    assert suggest_from_name(name) is None
