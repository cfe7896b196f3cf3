from __future__ import annotations

import json
import secrets
import zlib
from base64 import b64encode

import pytest

from tests.kit.chance.numbers import has_number, inflated


@pytest.mark.parametrize(
    "text",
    [
        "7919", "of 7919 rows", "of 7,919 rows.", "7919, and more", "rows=7919", '{"rows":[1,7919,2]}', "x,7919\n1",
        "False,0,2.5,7919.0", "-7919 rows", "(7919)", "7919%", "“7919”", "5–7919", r"a\n7919", r"\303\2277919",
        b"False,7919.0\n", b"\xff 7919",
    ],
)  # fmt: skip
def test_a_planted_number_is_found(text: str | bytes) -> None:
    assert has_number(text, 7919)


@pytest.mark.parametrize(
    "text",
    [
        "", "7918", "79190", "17919", "17,919", "a7919", "7919f", "0x7919", "0.7919", "7919.5", "7919_", "run-7919/0",
        "2f4c8a-7919-4d", b"\x007919e4", "79,19",
    ],
)  # fmt: skip
def test_digits_within_a_word_or_another_number_are_not(text: str | bytes) -> None:
    assert not has_number(text, 7919)


def test_random_hexadecimal_holds_digits_and_no_number() -> None:
    tokens = [secrets.token_hex(16) for _ in range(20_000)]  # hardly one in 10^60 such lists is without these digits
    assert "500" in "\n".join(tokens) and not has_number("\n".join(tokens), 500)
    assert has_number("\n".join([*tokens, "500"]), 500)


def test_a_number_with_decimals_is_found() -> None:
    assert has_number("at most 73,421.75.", 73421.75) and has_number('{"x":73421.75}', 73421.75)
    assert not has_number("73421.755 173421.75 73421", 73421.75)


def test_what_was_sent_deflated_is_read() -> None:
    sent = json.dumps({"deflated": b64encode(zlib.compress(b"of 7919 rows")).decode()})
    for text in (sent, json.dumps(sent)):  # str() of a message escapes its quotes
        assert not has_number(text, 7919) and has_number(inflated(text), 7919)
