"""Formulas in the LaTeX of the lessons as MathML, which browsers draw without a script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

SYMBOLS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "varepsilon": "ε", "eta": "η", "theta": "θ", "lambda": "λ",
    "mu": "μ", "rho": "ρ", "sigma": "σ", "varsigma": "ς", "tau": "τ", "Delta": "Δ", "Omega": "Ω", "ell": "ℓ",
    "le": "≤", "ge": "≥", "ll": "≪", "gg": "≫", "ne": "≠", "approx": "≈", "sim": "∼", "in": "∈", "mid": "∣", "to": "→",
    "forall": "∀", "exists": "∃", "setminus": "∖", "triangle": "△", "cdot": "·", "times": "×", "infty": "∞",
    "Rightarrow": "⇒", "Longrightarrow": "⟹", "langle": "⟨", "rangle": "⟩", "lVert": "‖", "rVert": "‖", "sum": "∑",
    "prod": "∏", "lceil": "⌈", "rceil": "⌉", "lfloor": "⌊", "rfloor": "⌋", "cup": "∪", "cap": "∩",
    "ldots": "…", "pm": "±",
}  # fmt: skip
NAMES = {"Pr", "min", "max", "inf", "sup", "ln", "log", "exp", "deg", "Var"}
BELOW = {"sum", "prod", "min", "max", "inf", "sup"}
"""What has its subscript below it."""
SPACES = {",": "0.17em", ":": "0.22em", ";": "0.28em", " ": "0.3em", "!": "0em", "quad": "1em"}
SIZES = {f"{size}{side}" for size in ("big", "Big", "bigg") for side in ("", "l", "r")} | {"left", "right"}
MARKS = {"hat": ("mover", "^"), "overline": ("mover", "¯"), "underline": ("munder", "_"), "tilde": ("mover", "~")}
DOUBLE = {"E": "𝔼", "R": "ℝ", "N": "ℕ", "Z": "ℤ", "P": "ℙ"}
TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)


def mathml(latex: str, *, block: bool = False) -> str:
    r"""Return a formula as MathML; a formula with a command that is not known here stays LaTeX, as code.

    >>> mathml("e^2"), mathml(r"\nosuch")
    ('<math><mrow><msup><mi>e</mi><mn>2</mn></msup></mrow></math>', '<code>\\nosuch</code>')
    """
    try:
        content = _row(iter([*TOKEN.findall(latex), "}"]))
    except (LookupError, StopIteration):
        return f"<code>{escape(latex)}</code>"
    display = ' display="block"' if block else ""
    return f"<math{display}>{content}</math>"


def _row(tokens: Iterator[str]) -> str:
    """Return everything up to the closing brace."""
    parts, scripts, is_below = list[str](), dict[str, str](), False
    while True:
        token = _next(tokens)
        if token in ("_", "^"):
            scripts[token] = _atom(_next(tokens), tokens)
            continue
        if token == "'":
            scripts["^"] = _tag("mo", "′")
            continue
        if scripts:
            low, high = ("under", "over") if is_below else ("sub", "sup")
            name = f"m{low if '_' in scripts else ''}{high if '^' in scripts else ''}"
            parts.append(_tag(name, parts.pop() + scripts.pop("_", "") + scripts.pop("^", "")))
        if token == "}":
            return _tag("mrow", "".join(parts))
        parts.append(_atom(token, tokens))
        is_below = token[1:] in BELOW


def _atom(token: str, tokens: Iterator[str]) -> str:
    """Return one symbol, or a command with its arguments."""
    name = token[1:]
    if token == "{":
        return _row(tokens)
    if token[0] != "\\":
        return _tag("mi" if token.isalpha() else "mn" if token.isdigit() else "mo", escape(token.replace("-", "−")))
    if name in ("frac", "tfrac", "binom"):
        both = _atom(_next(tokens), tokens) + _atom(_next(tokens), tokens)
        return (
            f'<mo>(</mo><mfrac linethickness="0">{both}</mfrac><mo>)</mo>' if name == "binom" else _tag("mfrac", both)
        )
    if name == "sqrt":
        return _tag("msqrt", _atom(_next(tokens), tokens))
    if name in MARKS:
        return _tag(MARKS[name][0], f"{_atom(_next(tokens), tokens)}<mo>{MARKS[name][1]}</mo>")
    if name in ("text", "mathrm", "mathbb"):
        _next(tokens)
        text = "".join(iter(lambda: next(tokens), "}"))
        return _tag("mi", DOUBLE[text]) if name == "mathbb" else _tag("mtext", escape(text))
    if name in SPACES:
        return f'<mspace width="{SPACES[name]}"></mspace>'
    if name in SIZES:
        return ""
    if name in NAMES or name in "{}#%":
        return _tag("mi" if name in NAMES else "mo", name)
    return _tag("mi" if SYMBOLS[name].isalpha() else "mo", SYMBOLS[name])


def _next(tokens: Iterator[str]) -> str:
    """Return the next token that is not white space."""
    return next(each for each in tokens if not each.isspace())


def _tag(tag: str, content: str) -> str:
    return f"<{tag}>{content}</{tag}>"
