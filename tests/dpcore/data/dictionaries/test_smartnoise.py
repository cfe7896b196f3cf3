"""SmartNoise's metadata, and YAML in general: read in the form of its public files, refused where it is hostile."""

from __future__ import annotations

import pytest

from dpcore.core import DataError
from dpcore.core.sizes import MAX_YAML_CHARACTERS
from dpcore.data.columns import Number
from dpcore.data.dictionaries.opening import open_dictionary
from tests.dpcore.data.dictionaries.test_hostile import SECRET, refusal
from tests.dpcore.data.dictionaries.test_public_dictionaries import summary

PUMS = """
"":
  PUMS:
    PUMS:
      max_ids: 3
      rows: 1000
      age:
        type: int
        lower: 0
        upper: 100
      sex: {type: string}
      pid:
        type: int
        private_id: True
"""
IRIS = """
engine: csv
iris:
  iris:
    iris:
      clamp_columns: true
      max_ids: 1
      petal length (cm): {lower: 1, type: float, upper: 7}
      row_privacy: false
      rows: 150
"""
DEVICES = """
Devices:
  Telemetry:
    Crashes:
      rows: 103000
      Refurbished: {type: boolean}
      Temperature: {type: float, lower: 25.0, upper: 65.0}
      Building: {cardinality: 12, type: string}
    Rollouts:
      DeviceID: {type: int, private_id: true}
      StartTrial: {type: datetime}
      Note: {type: unknown}
"""
COUNTRY = """
fields:
  - name: id
    type: integer
  - name: population
    type: integer
    constraints:
      minimum: 0
      maximum: 100
foreignKeys: []
"""
PUBLIC = {
    "smartnoise datasets/PUMS_dup_twotable.yaml": (
        PUMS,
        "age whole number 0..100|sex category labels|pid whole number bounds",
    ),
    "smartnoise datasets/iris.yaml": (IRIS, "petal length (cm) number 1..7"),
    "smartnoise sql/tests/query/TestDB.yaml": (
        DEVICES,
        "Refurbished yes/no|Temperature number 25..65|Building category labels",
    ),
    "frictionless data/country.resource-cleaned.yaml": (
        "name: country\npath: country.csv\nschema:\n  fields:\n    - name: id\n      type: integer\n",
        "id whole number bounds",
    ),
    "frictionless data/country.schema-full.yaml": (COUNTRY, "id whole number bounds|population whole number 0..100"),
}


@pytest.mark.parametrize("name", PUBLIC)
def test_public_metadata_are_read_as_they_stand(name: str) -> None:
    text, stated = PUBLIC[name]
    assert summary(open_dictionary(text.encode(), name="x.yaml")) == stated


def test_the_unit_of_privacy_and_the_table_are_those_that_are_stated() -> None:
    read = open_dictionary(PUMS.encode(), name="PUMS.yml")
    assert (read.person, read.person_rows) == ("pid", 3)
    assert read.declared().columns[0].on == Number(low=-0.5, high=100.5, bins=101, missing=True)
    assert read.gaps() == ["1 column has no labels: declare it."], "the person's column needs none"
    rows = open_dictionary(PUMS.replace("rows: 1000", "row_privacy: True").encode(), name="PUMS.yml")
    assert (rows.person, rows.person_rows) == ("", 1)
    other = open_dictionary(DEVICES.encode(), name="x.yaml", columns=["StartTrial", "Note"])
    assert (
        summary(other) == "DeviceID whole number bounds|StartTrial date bounds|Note - unused"
        and other.person == "DeviceID"
    )


BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"
TWICE = "The keys of a description must be texts, each named once."
ALIASES = "The description has aliases or tags of YAML, which are not read."
HOSTILE = {
    "a bomb of aliases": (BOMB, ALIASES),
    "a program": (f"a: !!python/object/apply:os.system ['{SECRET}']", ALIASES),
    "a tag": ("a: !!binary aGk=", ALIASES),
    "too deep": ("[" * 65, "The description nests lists or mappings more than 64 deep."),
    "a key twice": ("a: 1\na: 2\n", TWICE),
    "a key that is a list": ("? [a]\n: 1\n", TWICE),
    "no YAML": (f"a: [{SECRET}", "The description is not YAML."),
    "a zero escape": ('a: "\\0"\n', "The YAML describes no table: SmartNoise names a collection, a schema and tables."),
    "two documents": ("a: 1\n---\nb: 1\n", "The description must be one YAML mapping."),
    "a list": ("- a\n", "The description must be one YAML mapping."),
    "empty": ("", "The description must be one YAML mapping."),
    "an unknown type": (f"a: {{b: {{c: {{pay: {{type: {SECRET}}}}}}}}}", "pay: The type is none of SmartNoise's."),
    "no bound": (
        "a: {b: {c: {pay: {type: int, lower: .nan}}}}",
        "pay: From and to must be numbers. If the column holds words, its kind is “category”.",
    ),
    "NaN": ("a: {b: {c: {pay: {type: int, lower: nan}}}}", "pay: The bounds must be finite numbers."),
    "half a character": ('a: "\\ud800"\n', "The description is no UTF-8 text."),
    "rows in words": (
        f"a: {{b: {{c: {{max_ids: {SECRET}, pid: {{type: int, private_id: true}}}}}}}}",
        "The maximum rows per person must be between 1 and 1,000.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", HOSTILE)
def test_yaml_is_refused_in_a_sentence(what: str) -> None:
    text, sentence = HOSTILE[what]
    assert refusal(text.encode(), "x.yaml") == sentence


def test_long_yaml_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(DataError, match="at most 262,144 characters"):
        open_dictionary(b"#" * (MAX_YAML_CHARACTERS + 1), name="x.yaml")
