"""What a column's name alone suggests about its values; nothing of any row is looked at."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dpcore.data.dictionaries.description import AGE, CATEGORY, DATE, WHOLE, YES_NO, DescribedColumn

WORD = re.compile(r"[^\W\d_]?[^\WA-Z\d_]+|[A-Z]+(?![a-z])")
"""A word of a name: letters up to a sign, a digit or the next capital letter after a small one."""
DATES = {"date", "dates", "day", "datum", "tag", "jour", "fecha", "dia", "data", "dob", "birthday", "when"}
BIRTHS = {"birth", "birthdate", "birthday", "dob", "nacimiento", "naissance"}
"""Words of names of dates from which ages are counted: of an age there is a mean, of a date there is none."""
NO_DATES = {"candidate", "consolidate", "mandate", "update", "validate"}
"""Words that end as “startdate” does."""
IDS = {"id", "ids", "uuid", "guid", "ssn", "identifier", "passport", "email", "phone", "iban"}
PERSONS = {"person", "patient", "participant", "respondent", "customer", "client", "user"}
"""Names of columns that say whose row it is."""
ROLES = {
    *("subject", "member", "employee", "student", "pupil", "citizen", "policyholder", "personen", "patienten"),
    *("teilnehmer", "versicherten", "kunden", "mitarbeiter", "mitglieds", "personne", "persona", "paciente"),
}
"""Words that do so with one of NUMBERS; alone they may name a property."""
HOUSEHOLDS = {"household", "haushalt", "haushalts", "family", "hh", "hogar"}
NUMBERS = {*IDS, "nr", "no", "number", "nummer", "key", "pseudonym", "kennung", "identifiant", "numero"}
OWN_NUMBERS = {"ssn", "passport", "pid"}
"""Identifiers that only a person has."""
POSTCODES = {"postcode", "postal", "plz", "zip", "zipcode"}
"""Numbers of no quantity, and of more places than statistics can tell apart."""
QUESTIONS = {"is", "has", "was", "had", "did", "does", "are"}
"""First words of names of columns that answer yes or no."""
ANSWERS = {"smoker", "married", "deceased", "insured", "retired", "pregnant", "flag"}
SEXES = {"sex", "gender", "geschlecht", "sexe", "sexo", "genero"}
PLACES = {"region", "country", "county", "province", "district", "city", "land", "bundesland", "pays", "pais"}
YEARS = {"year", "jahr", "annee", "ano", "anno"}
AGES = {"age", "alter", "edad", "idade"}
COUNTS = {"count", "counts", "visits", "children", "anzahl", "nombre", "num", "nb"}
GROUPED = {"group", "groups", "class", "band", "range", "category", "code"}
"""Words after which a name is that of groups of numbers or dates, whose labels cannot be guessed."""
OLDEST = "120"
"""Years that no living person's age exceeds."""


def words_of(name: str) -> list[str]:
    """Return the words of a name in small letters.

    >>> words_of("patientID"), words_of("is_member")
    (['patient', 'id'], ['is', 'member'])
    """
    return [word.lower() for word in WORD.findall(name)]


def identifying_column(names: Sequence[str]) -> str:
    """Return the column that says whose row it is, by the names alone; empty where no name does.

    The number of a household is returned where no column is that of a person.

    >>> identifying_column(["region", "household_id", "personID"]), identifying_column(["Versichertennummer", "age"])
    ('personID', 'Versichertennummer')
    >>> identifying_column(["id", "patient_age", "num_persons", "is_member"])
    ''
    """
    return next((name for name in names if _is_person(name)), "") or next(
        (name for name in names if _is_numbered(name, HOUSEHOLDS)), ""
    )


def _is_person(name: str) -> bool:
    """Return whether a name is of a person or a person's number."""
    words = {*words_of(name)}
    alone = "".join(words_of(name)) in PERSONS or bool(words & OWN_NUMBERS and words <= OWN_NUMBERS | NUMBERS)
    return alone or _is_numbered(name, PERSONS | ROLES)


def _is_numbered(name: str, owners: set[str]) -> bool:
    """Return whether a name is one of these words and its number, in one word or in two."""
    words = words_of(name)
    joined = "".join([*words[1:], "id"] if words[:1] == ["id"] else words)
    return any(joined == owner + number for owner in owners for number in NUMBERS)


def is_date_name(name: str) -> bool:
    """Return whether a name says that a column holds dates.

    >>> [is_date_name(name) for name in ("Birth_Date", "startdate", "visitDay", "candidate", "holiday")]
    [True, True, True, False, False]
    """
    return any(word in DATES or (word.endswith("date") and word not in NO_DATES) for word in words_of(name))


def suggest_from_name(name: str) -> DescribedColumn | None:
    """Return what a name suggests: kind, and for an age bounds; an identifier is not used. None if it suggests nothing.

    >>> [suggest_from_name(name).kind
    ...     for name in ("exam_date", "hasChildren", "AGE", "n_visits", "Year", "birth_date", "Region")]
    ['date', 'yes/no', 'whole number', 'whole number', 'date', 'age from birth date', 'category']
    >>> suggest_from_name("patientID").used, suggest_from_name("age group"), suggest_from_name("villages")
    (False, None, None)
    """
    words = words_of(name)
    found = set(words)
    if found & (IDS | POSTCODES) or identifying_column([name]):
        return DescribedColumn(name=name, used=False)
    if found & GROUPED:
        return None
    if found & ANSWERS or (len(words) > 1 and words[0] in QUESTIONS):
        return DescribedColumn(name=name, kind=YES_NO)
    if found & (SEXES | PLACES):
        return DescribedColumn(name=name, kind=CATEGORY)
    if is_date_name(name):
        return DescribedColumn(name=name, kind=AGE if found & BIRTHS else DATE)
    if found & YEARS:
        return DescribedColumn(name=name, kind=DATE, step="year")
    if found & AGES:
        return DescribedColumn(name=name, kind=WHOLE, low="0", high=OLDEST, unit="years")
    if found & COUNTS:
        return DescribedColumn(name=name, kind=WHOLE, low="0")
    return None
