"""Kinds that names of columns suggest."""

from __future__ import annotations

import pytest

from dpcore.data.dictionaries.names import identifying_column, suggest_from_name

KINDS = {
    "date": ("date", "admissionDate", "Datum", "exam day", "startdate"),
    "age from birth date": ("birth_date", "Date of birth", "dob", "birthday", "fecha de nacimiento"),
    "yes/no": ("is_member", "hasChildren", "smoker", "was admitted", "Flag", "married"),
    "whole number": ("age", "AGE", "age at entry", "ageAtEntry", "Alter", "visits", "n_visits", "doctorCount"),
    "category": ("sex", "Gender", "sex of the child"),
    "date: year": ("year", "Birth Year", "Jahr", "year_2"),
}
OF_PERSONS = (
    *("person_id", "personID", "patient", "Patient No", "id_person", "Versichertennummer", "kunden_nr", "student_id"),
    *("SSN", "PatientNumber", "Mitgliedsnummer", "subject key"),
)
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
    "name",
    [
        "id",
        "ID",
        "patient_id",
        "patientID",
        "Customer Id",
        "email",
        "uuid",
        "postcode",
        "zip code",
        *OF_PERSONS,
        "hh_nr",
    ],
)
def test_an_identifier_is_not_used(name: str) -> None:
    suggestion = suggest_from_name(name)
    assert suggestion is not None and not suggestion.used and not suggestion.kind


@pytest.mark.parametrize("name", OF_PERSONS)
def test_a_name_says_whose_row_it_is(name: str) -> None:
    assert identifying_column(["region", "household_id", name, "age"]) == name


def test_a_household_counts_where_no_column_is_of_a_person() -> None:
    assert identifying_column(["id", "Haushaltsnummer", "age"]) == "Haushaltsnummer"
    assert identifying_column(["household", "household size", "family"]) == ""


@pytest.mark.parametrize(
    "name",
    [
        *("patient_age", "persons", "num_persons", "is_member", "member", "student", "customer type", "user count"),
        *("personality", "patience", "nonperson", "id", "row_id", "email", ""),
    ],
)
def test_a_property_of_a_person_is_no_identifier(name: str) -> None:
    assert identifying_column([name]) == ""


@pytest.mark.parametrize("name", NOTHING)
def test_other_names_suggest_nothing(name: str) -> None:
    assert suggest_from_name(name) is None
