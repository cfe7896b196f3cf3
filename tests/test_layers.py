"""The floors of the house: imports point down, only what is above dpcore knows Streamlit, nothing knows plotly."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# From the ground up. Modules of one floor do not import each other, except as the table below allows.
FLOORS = (
    {"core"},
    {
        "domains",
        "cube",
        "attributes",
        "queries",
        "linear_queries",
        "sphere",
        "privacy",
        "gaussian_vectors",
        "randomness",
    },
    {
        "concentration",
        "marginals",
        "projection",
        "votes",
        "subsampling",
        "nets",
        "residual",
        "halfspaces",
        "online",
    },  # mathematics that several mechanisms share
    {
        "intake",
        "duck",
        "scratch",
        "tables",
        "generators",
        "samples",
        "sources",
        "two_columns",
        "pairs",
        "vectors",
        "cubes",
        "surveys",
        "synthetic",
    }
    | {"mechanisms", "limits"},
    {"experiment", "sweep", "audit", "ledger", "release", "recipe", "halfspace_parts"},
    {"figures"},
)
SAME_FLOOR = {
    "marginals": {"concentration", "residual"},
    "online": {"nets"},
    "queries": {"domains"},
    "attributes": {"domains"},
    "linear_queries": {"domains"},
    "gaussian_vectors": {"privacy"},
    "randomness": {"privacy", "gaussian_vectors"},
    "subsampling": {"votes"},
    "duck": {"intake"},
    "tables": {"intake", "duck", "scratch"},
    "samples": {"tables"},
    "sources": {"generators", "samples", "tables"},
    "two_columns": {"samples", "sources"},
    "pairs": {"generators", "samples", "sources", "tables"},
    "cubes": {"samples", "sources", "tables"},
    "surveys": {"cubes", "samples", "sources"},
    "vectors": {"samples", "sources", "tables"},
    "recipe": {"experiment"},
    "sweep": {"experiment"},
}

# Folders whose code is judged; tests and the virtual environments are not.
JUDGED = ("app.py", "run.py", "dpcore", "pages", "benchmarks")
HEAVY = {"streamlit", "plotly", "pandas", "opendp", "scipy.stats"}


def python_files(root: Path) -> Iterator[Path]:
    """Every judged file below a root, in order."""
    for name in JUDGED:
        path = root / name
        yield from [path] if path.is_file() else sorted(path.rglob("*.py"))


def imported(file: Path, root: Path) -> Iterator[tuple[int, str]]:
    """Line and full name of everything a file imports, wherever in it; `from a import b` gives a.b."""
    package = file.relative_to(root).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), filename=str(file))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)


def floor_of(noun: str) -> int | None:
    """How high a module or package of dpcore stands; None if it was given no floor."""
    return next((height for height, nouns in enumerate(FLOORS) if noun in nouns), None)


def wrong_in_dpcore(noun: str, name: str) -> str | None:
    """What is wrong with a module of dpcore importing a name, if anything."""
    package, _, rest = name.partition(".")
    if package in {"pages", "app", "run", "tests", "benchmarks"}:
        return f"dpcore imports {name}"
    if package != "dpcore":
        return None
    other = rest.partition(".")[0]
    mine, theirs = floor_of(noun), floor_of(other)
    if theirs is None:
        return f"{name} stands on no floor: import it from the module that has it"
    if mine is None or theirs < mine or other == noun or other in SAME_FLOOR.get(noun, set()):
        return None
    return f"{noun} may not import {other}, which does not stand below it"


def wrong_in_pages(name: str, siblings: set[str]) -> str | None:
    """What is wrong with a page importing a name, if anything."""
    if name.partition(".")[0] in siblings:
        return f"{name} is loaded twice unless it is written pages.{name}"
    return None


def violations(root: Path) -> list[str]:
    """Every import below a root that breaks a rule, as "file:line: why"."""
    found = []
    siblings = {path.stem for path in (root / "pages").glob("*") if path.suffix == ".py" or path.is_dir()} - {
        "__init__"
    }
    for file in python_files(root):
        where = file.relative_to(root)
        inside, noun = where.parts[0], where.with_suffix("").parts[1] if len(where.parts) > 1 else ""
        names = list(imported(file, root))
        if inside == "dpcore" and noun != "__init__" and floor_of(noun) is None:
            found.append(f"{where}: {noun} stands on no floor: give it one in FLOORS")
        is_page = inside == "pages" and len(where.parts) == 2 and noun not in {"__init__", "main"}
        if is_page and not any(name.startswith("pages.ui.") for _, name in names):
            found.append(f"{where}: a page imports from pages.ui")
        for line, name in names:
            package = name.partition(".")[0]
            wrong = None
            if package == "plotly" or (package == "streamlit" and inside not in {"app.py", "pages", "benchmarks"}):
                wrong = f"imports {package}"
            elif inside == "dpcore" and noun != "__init__":
                wrong = wrong_in_dpcore(noun, name)
            elif inside == "pages":
                wrong = wrong_in_pages(name, siblings)
            if wrong:
                found.append(f"{where}:{line}: {wrong}")
    return found


def test_imports_point_down() -> None:
    assert violations(ROOT) == []


HOUSE = {
    "app.py": "import streamlit",
    "dpcore/__init__.py": "from dpcore.core import Line",
    "dpcore/core/__init__.py": "import numpy",
    "dpcore/domains.py": "from dpcore.core import param",
    "dpcore/queries.py": "from dpcore.domains import Line",
    "dpcore/privacy.py": "from . import core",
    "dpcore/randomness/__init__.py": "from dpcore.randomness.preview import Preview",
    "dpcore/randomness/preview.py": "from ..privacy import Guarantee",
    "dpcore/tables.py": "from dpcore import domains\nfrom dpcore.intake import receive",
    "dpcore/mechanisms/__init__.py": "",
    "dpcore/mechanisms/net.py": "from dpcore.mechanisms.tree import noisy_tree\nfrom dpcore.queries import Thresholds",
    "dpcore/mechanisms/tree.py": "def f():\n    from dpcore.core import Mechanism",
    "dpcore/release.py": "import dpcore.mechanisms.net",
    "dpcore/figures/bars.py": "from dpcore.experiment import ErrorReport",
    "pages/main.py": "import streamlit",
    "pages/explore.py": "import dpcore\nfrom pages.ui import badge",
    "pages/ui/__init__.py": "from pages.ui.badges import badge",
    "pages/ui/badges.py": "import streamlit",
}


def build(root: Path, files: dict[str, str]) -> None:
    """Write files below a root."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def test_a_sound_house_passes(tmp_path: Path) -> None:
    build(tmp_path, HOUSE)
    assert violations(tmp_path) == []


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("dpcore/core/problem.py", "from dpcore.domains import Line"),  # up
        ("dpcore/core/problem.py", "from .. import domains"),  # up, relative
        ("dpcore/domains.py", "from dpcore.queries import Thresholds"),  # same floor, wrong way
        ("dpcore/privacy.py", "import dpcore.randomness.preview"),
        ("dpcore/queries.py", "from dpcore.randomness import Preview"),  # same floor, no exception
        ("dpcore/mechanisms/net.py", "from dpcore.tables import Table"),
        ("dpcore/mechanisms/net.py", "from ..limits import vc"),
        ("dpcore/limits/vc.py", "from dpcore.mechanisms.net import Net"),
        ("dpcore/experiment.py", "def f():\n    from dpcore.figures import bars"),  # hidden in a function
        ("dpcore/tables.py", "from dpcore import Line"),  # by way of the package
        ("dpcore/release.py", "import dpcore"),
        ("dpcore/utils.py", ""),  # no floor
        ("dpcore/figures/bars.py", "import plotly.graph_objects"),
        ("dpcore/figures/bars.py", "from pages.ui import badge"),
        ("dpcore/tables.py", "import streamlit.testing"),
        ("benchmarks/__main__.py", "import plotly"),
        ("pages/explore.py", "from pages.ui import badge\nimport plotly"),
        ("pages/explore.py", "import streamlit"),  # nothing from pages.ui
        ("pages/explore.py", "from ui import badge"),  # the other spelling
        ("pages/explore.py", "from pages.ui import badge\nimport ui.badges"),
    ],
)
def test_a_planted_violation_is_found(tmp_path: Path, file: str, text: str) -> None:
    build(tmp_path, HOUSE | {file: text})
    found = violations(tmp_path)
    assert found
    assert all(violation.startswith(file) for violation in found)


def loaded_by(statements: str) -> set[str]:
    """The modules a fresh interpreter has loaded after some statements."""
    script = f"{statements}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return set(done.stdout.split())


def test_importing_dpcore_is_light() -> None:
    loaded = loaded_by("import dpcore")
    assert "dpcore" in loaded
    assert not HEAVY & loaded


def test_importing_every_module_of_dpcore_is_light() -> None:
    names = [
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for file in sorted((ROOT / "dpcore").rglob("*.py"))
    ]
    loaded = loaded_by("\n".join(f"import {name}" for name in names))
    assert set(names) <= loaded
    assert not HEAVY & loaded
