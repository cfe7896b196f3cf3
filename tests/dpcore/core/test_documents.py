"""JSON that others wrote is one mapping, or one sentence before it takes memory."""

from __future__ import annotations

import pytest

from dpcore.core import ParameterError
from dpcore.core.documents import parse_document


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"a":1,"a":2}',
        '{"a":NaN}',
        '{"a":' + "[" * 100_000,
        b"\xff",
        '{"a":"\\ud800"}',
        '{"a":' + "9" * 10_000 + "}",
    ],
)
def test_what_is_no_document_is_refused_in_a_sentence(text: str | bytes) -> None:
    with pytest.raises(ParameterError, match=r"file (is not|may not|must|does not|contains|nests)"):
        parse_document(text, what="file")


@pytest.mark.parametrize("inside", ["[]," * 1_000_000, "1," * 1_000_001, ("[" * 30 + "]" * 30 + ",") * 40_000])
def test_a_document_of_too_many_values_is_refused_before_it_is_read(
    inside: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 16 million characters, such a text took a gigabyte and half a minute to read."""
    monkeypatch.setattr("json.loads", None)
    text = f'{{"a":[{inside}1]}}'
    for each in (text, text.encode()):
        with pytest.raises(ParameterError, match="more than 1,000,000 values"):
            parse_document(each, what="file")
