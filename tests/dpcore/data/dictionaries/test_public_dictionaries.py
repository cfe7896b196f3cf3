"""Dictionaries in the form of files that public packages ship are read as what they state.

Each is written here in the form of the file that it names: of frictionless' ``data``, of csvw's ``tests/fixtures``, and
of codebooks that other programs write.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from dpcore.data.columns import Labels, Number
from dpcore.data.dates import Dates
from dpcore.data.dictionaries.description import DataDictionary
from dpcore.data.dictionaries.opening import open_dictionary


def field(name: str, kind: str, **rules: Any) -> dict[str, Any]:
    """A field of a Table Schema."""
    return {"name": name, "type": kind, "constraints": rules}


def package(*fields: dict[str, Any], **schema: Any) -> dict[str, Any]:
    """A data package of one table."""
    return {"name": "p", "resources": [{"name": "t", "path": "t.csv", "schema": {"fields": list(fields), **schema}}]}


def metadata(*columns: dict[str, Any], **table: Any) -> dict[str, Any]:
    """CSVW metadata of one table."""
    return {"@context": ["http://www.w3.org/ns/csvw"], "url": "t.csv", "tableSchema": {"columns": columns}, **table}


JSON = {
    "frictionless data/schema.json": (
        {"fields": [{"name": "id", "type": "integer"}, {"name": "name", "type": "string"}]},
        "id whole number bounds|name category labels",
    ),
    "frictionless data/resource-schema.json": (
        {"name": "t", "path": "t.csv", "schema": {"fields": [{"name": "id", "type": "integer"}, {"name": "any"}]}},
        "id whole number bounds|any - kind",
    ),
    "frictionless data/number/datapackage.json": (
        package(
            {**field("number", "number", required=True), "format": "default"},
            field("minimum", "number", minimum="-99.99"),
            field("maximum", "number", maximum="1000"),
            field("enum", "number", enum=["0.95", "1", "0", "4", "4E4"]),
            missingValues=[""],
        ),
        "number number bounds|minimum number bounds -99.99..|maximum number bounds ..1000|enum category 0.95;1;0;4;4E4",
    ),
    "frictionless data/geopoint/datapackage.json": (
        package(field("Office", "string", unique=True), {"name": "Location", "type": "geopoint", "format": "object"}),
        "Office category labels|Location - unused",
    ),
    "frictionless data/issue-1478/resource.json": (
        {
            "path": "t.csv",
            "schema": {
                "fields": [
                    {"name": "SAISONBEGINN", "type": "date", "format": "%d.%m.%Y"},
                    field("GESCHLOSSEN", "string", enum=["Ja", "Nein", ""]),
                ]
            },
        },
        "SAISONBEGINN date bounds|GESCHLOSSEN category Ja;Nein;",
    ),
    "frictionless data/schema-valid-full.json": (
        {
            "fields": [
                field("age", "integer"), field("period_employed", "number"), field("employment_start", "date"),
                field("daily_start", "time"), field("is_management", "boolean"),
            ]
        },
        "age whole number bounds|period_employed number bounds|employment_start date bounds|daily_start - unused"
        "|is_management yes/no",
    ),
    "Data Package v2: categories, exclusive bounds, years and months": (
        package(
            {"name": "size", "type": "integer", "categories": [{"value": 0, "label": "S"}, {"value": 1, "label": "L"}]},
            field("age", "integer", minimum=0, exclusiveMaximum=120),
            field("born", "year", minimum=1900, maximum=2020),
            field("paid", "yearmonth", minimum="2020-01", maximum="2024-12"),
            field("seen", "datetime", minimum="2020-01-01T00:00:00Z", maximum="2024-12-31T23:59:59Z"),
        ),
        "size category 0;1|age whole number 0..120|born date 1900..2020|paid date 2020-01..2024-12"
        "|seen date 2020-01-01..2024-12-31",
    ),
    "csvw tests/fixtures/datapackage.json": (
        package(
            {"name": "Year", "type": "integer", "rdfType": "http://example.com"},
            {"name": "boolean", "type": "boolean", "trueValues": ["ja"], "falseValues": ["nein"]},
            {"name": "array", "type": "array"},
            {"name": "email", "type": "string", "format": "email"},
        ),
        "Year whole number bounds|boolean category nein;ja|array - unused|email category labels",
    ),
    "csvw tests/fixtures/multitable/metadata.json": (
        {
            "@context": ["http://www.w3.org/ns/csvw", {"@language": "en"}],
            "tables": [
                metadata(
                    {"name": "ID", "datatype": {"base": "string", "minLength": 3}},
                    {"datatype": "string", "separator": ";"},
                    {"name": "int", "datatype": {"base": "integer", "minimum": 3, "maximum": 5}},
                    {"name": "choice", "datatype": {"base": "string", "format": "a|b|c"}},
                    {"name": "regex", "datatype": {"base": "string", "format": "[0-9]+"}},
                    {"name": "FK"},
                ),
                metadata({"name": "other"}),
            ],
        },
        "ID category labels|column 2 - unused|int whole number 3..5|choice category a;b;c|regex category labels"
        "|FK category labels",
    ),
    "csvw tests/fixtures/csv.txt-table-metadata.json": (
        metadata({"name": "ID", "propertyUrl": "dc:identifier", "datatype": "string"}, {"datatype": "string"}),
        "ID category labels|column 2 category labels",
    ),
    "csvw tests/fixtures/test.tsv-metadata.json": (
        {"@context": "http://www.w3.org/ns/csvw", "tables": [{"tableSchema": {"columns": [{"name": "province"}]}}]},
        "province category labels",
    ),
    "W3C's tests: titles, booleans, bounds of decimals, years, virtual columns": (
        metadata(
            {"titles": {"en": ["Pay"]}, "datatype": {"base": "decimal", "minInclusive": "0", "maxExclusive": "9.5"}},
            {"name": "left", "titles": "Left", "datatype": "boolean"},
            {"name": "since", "datatype": {"base": "gYear", "minimum": "1990", "maximum": "2020"}},
            {"name": "made", "virtual": True},
        ),
        "Pay number 0..9.5|Left yes/no|since date 1990..2020",
    ),
}  # fmt: skip
BOOKS = {
    "the codebook of the house": (
        "name,type,min,max,labels,unit,missing\nage,integer,0,120,,years,-9\nsex,category,,,f; m,,-9 NA\n"
        "seen,month,2024-01,2024-12,,,\n",
        "age whole number 0..120|sex category f;m|seen date 2024-01..2024-12",
    ),
    "REDCap's data dictionary": (
        '"Variable / Field Name","Form Name","Field Type","Field Label","Choices, Calculations, OR Slider Labels",'
        '"Text Validation Min","Text Validation Max"\nsex,base,radio,Sex,"0, Female | 1, Male",,\n'
        "height,base,text,Height (cm),,130,215\nsmoker,base,yesno,Smokes?,,,\n",
        "sex category 0;1|height category labels|smoker yes/no",
    ),
    "value labels between semicolons, columns between tabs": (
        "Variable\tType\tValues\tFrom\tTo\nregion\tfactor\t1 = North; 2=South\t\t\npay\tdouble\t\t0\t1e5\n",
        "region category 1;2|pay number 0..100000",
    ),
}


def summary(dictionary: DataDictionary) -> str:
    """Name, kind, bounds or labels of each column, and what it lacks."""
    lines = []
    for each in dictionary.columns:
        values = f"{each.low}..{each.high}" if each.low or each.high else ";".join(each.labels)
        lines.append(" ".join(filter(None, (each.name, each.kind or "-", each.lacking * each.used, values)))
                     + " unused" * (not each.used))  # fmt: skip
    return "|".join(lines)


@pytest.mark.parametrize("name", JSON)
def test_a_dictionary_of_json_is_read_as_it_stands(name: str) -> None:
    document, stated = JSON[name]
    assert summary(open_dictionary(json.dumps(document).encode("utf-8-sig"), name="x.json")) == stated


@pytest.mark.parametrize("name", BOOKS)
def test_a_codebook_is_read_as_it_stands(name: str) -> None:
    text, stated = BOOKS[name]
    assert summary(open_dictionary(text.replace("\n", "\r\n").encode(), name="codebook.csv")) == stated


def test_what_is_fully_stated_is_declared_and_the_rest_is_said() -> None:
    document, _ = JSON["Data Package v2: categories, exclusive bounds, years and months"]
    table = open_dictionary(json.dumps(document).encode(), name="x.json").declared()
    domains = {each.name: each.on for each in table.columns}
    assert domains["size"] == Labels(labels=("0", "1"))
    assert domains["age"] == Number(low=-0.5, high=120.5, bins=121, missing=True), "a whole number is its cell's middle"
    assert domains["born"] == Dates(step="year", first="1900", last="2020", missing=True)
    assert domains["seen"] == Dates(step="day", first="2020-01-01", last="2024-12-31", missing=True)
    gaps = {name: open_dictionary(json.dumps(each).encode(), name="x.json").gaps() for name, (each, _) in JSON.items()}
    assert gaps["frictionless data/schema-valid-full.json"] == [
        "3 columns have no bounds: declare them.", "1 column is not used."
    ]  # fmt: skip
    assert gaps["frictionless data/resource-schema.json"] == [
        "1 column has no bounds: declare it.", "1 column has no kind: declare it."
    ]  # fmt: skip


def test_of_several_tables_the_one_with_most_of_the_columns_is_taken() -> None:
    tables = [{"path": "a.csv", "schema": {"fields": [field("id", "integer"), field("x", "string")]}},
              {"path": "b.csv", "schema": {"fields": [field("id", "string"), field("y", "string")]}}]  # fmt: skip
    content = json.dumps({"resources": tables}).encode()
    names = [
        [each.name for each in open_dictionary(content, name="x.json", columns=columns).columns]
        for columns in ((), ["id", "y"], ["nothing"])
    ]
    assert names == [["id", "x"], ["id", "y"], ["id", "x"]]


def test_codes_for_missing_values_are_those_that_a_format_can_hold() -> None:
    schema = {
        "fields": [],
        "missingValues": ["", "NA", "-99", "NA", {"value": "?", "label": "unknown"}, "not known", -9],
    }
    assert open_dictionary(json.dumps(schema).encode(), name="x.json").missing_codes == ("NA", "-99", "?", "-9")
    document = metadata({"name": "a"}, null=["x", "y"])
    assert open_dictionary(json.dumps(document).encode(), name="x.json").missing_codes == ("x", "y")
    assert open_dictionary(BOOKS["the codebook of the house"][0].encode(), name="x.csv").missing_codes == ("-9", "NA")
