"""Whether a number stands in what was shown: digits within digests, salts and identifiers are no numbers."""

from __future__ import annotations

import re
import zlib
from base64 import b64decode

# A letter or digit before the first digit makes it a part of a word, as do a decimal point and a hyphen of a name
# ("0a500", "1.500", "run-500"). What str() of a message escapes, "\n" and bytes beyond ASCII, is no letter.
BEFORE = r"(?:(?<![\w.])(?<!\w-)|(?<=\\n)|(?<=\\[0-7]{3}))"
AFTER = r"(?:\.0+)?(?!\w|\.\d|-\w)"


def has_number(text: str | bytes, number: float) -> bool:
    """Whether a text has this number, with or without commas for thousands, as a number of its own.

    Random hexadecimal holds any three digits in one of a few hundred texts: a plain ``in`` fails by chance.
    """
    words = text if isinstance(text, str) else text.decode("utf-8", errors="replace")
    spelled = "|".join(re.escape(each) for each in {f"{number}", f"{number:,}"})
    return re.search(f"{BEFORE}(?:{spelled}){AFTER}", words) is not None


def inflated(text: str) -> str:
    """A text with everything that was sent deflated as it reads in the browser."""
    return re.sub(r'(deflated\\?": \\?")([\w+/=]+)', lambda found: found[1] + _inflate(found[2]), text)


def _inflate(text: str) -> str:
    return zlib.decompress(b64decode(text)).decode()
