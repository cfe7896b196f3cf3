"""Opening a data dictionary that someone uploaded: its form is known by its content, its size is limited before."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from dpcore.core import DataError, ParameterError
from dpcore.core.documents import parse_document
from dpcore.core.sizes import MAX_DICTIONARY_BYTES
from dpcore.data.dictionaries.codebook import read_codebook
from dpcore.data.dictionaries.csvw import read_csvw
from dpcore.data.dictionaries.description import DataDictionary, mapping_of
from dpcore.data.dictionaries.smartnoise import read_smartnoise
from dpcore.data.dictionaries.table_schema import read_table_schema
from dpcore.data.dictionaries.yaml_text import parse_yaml

YAML = (".yaml", ".yml")
ENDINGS = (".json", *YAML, ".csv", ".tsv", ".txt")
"""Ends of the names of files that are read."""


def open_dictionary(content: bytes, *, name: str, columns: Sequence[str] = ()) -> DataDictionary:
    """Return the dictionary in a file: Table Schema, CSVW metadata, SmartNoise's metadata, or a codebook as CSV.

    Args:
        content: the file.
        name: its name, whose end says whether it is JSON, YAML or CSV.
        columns: of the table that is described; of several tables in the file that with most of them is taken.

    Raises:
        DataError: one sentence about what is wrong; of the file it quotes names of columns alone.
    """
    if len(content) > MAX_DICTIONARY_BYTES:
        raise DataError(f"The description is larger than {MAX_DICTIONARY_BYTES >> 20} MB.")
    ending = PurePath(name.lower()).suffix
    if ending not in ENDINGS:
        raise DataError(f"The name of a description must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}.")
    text = _decoded(content)
    if ending in YAML:
        stated = parse_yaml(text)
        known = "fields" in stated or "resources" in stated or "fields" in mapping_of(stated.get("schema"))
        return read_table_schema(stated, names=columns) if known else read_smartnoise(stated, names=columns)
    if ending != ".json":
        return read_codebook(text)
    problem = ""
    try:
        document = parse_document(text, what="description")
    except ParameterError as error:
        problem = str(error)
    if problem:
        raise DataError(problem)
    if "tables" in document or "tableSchema" in document:
        return read_csvw(document, names=columns)
    return read_table_schema(document, names=columns)


def _decoded(content: bytes) -> str:
    r"""Return the text of a file in UTF-8, every line ending turned into \n."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise DataError("The description is no UTF-8 text.")
    return text.replace("\r\n", "\n").replace("\r", "\n")
