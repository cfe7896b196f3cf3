"""The floors of the house: imports point down; pages and launcher alone know Streamlit, plots for notebooks Plotly."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import ROOT

# From the ground up: the packages and their rooms. Those of one floor import each other only as the table allows.
FLOORS = (
    {"dpcore.core"},
    {"dpcore.data", "dpcore.queries", "dpcore.privacy", "dpcore.randomness"},
    {"dpcore.mechanisms", "dpcore.limits"},
    {"dpcore.__main__"},
    {"dplab"},
    {"dprelease.sizes"},
    {"dprelease.engines"},
    {"dprelease.ledger"},
    {"dprelease.requests"},
    {"dprelease.verification"},
    {"dprelease.plan", "dprelease.certificate"},
    {"dprelease.release"},
    {"dprelease.downloads"},
    {"dprelease.commands"},
)
SAME_FLOOR = {
    "dpcore.queries": {"dpcore.data"},
    "dpcore.randomness": {"dpcore.privacy"},
}
PACKAGES = {"dpcore", "dplab", "dprelease"}

# Rooms within a room import no other of the same room, except as the table allows: whoever needs what is beside them.
INNER_ROOMS = {"mechanisms", "limits"}
INNER_ALSO = {
    "mechanisms.grouped": {"mechanisms.ranges", "mechanisms.tables"},  # statistics by group are composed of theirs
    "mechanisms.marginals": {"mechanisms.histograms"},  # tails of noise
    "mechanisms.online": {"mechanisms.net"},  # small databases
    "mechanisms.ranges": {"mechanisms.histograms"},  # tails of noise
}

# Rooms of the pages that all others may use; and what some may use besides.
OPEN_ROOMS = {"shell", "charts", "data"}
ALSO = {"plan": {"play"}}

# Folders whose code is judged; tests and the virtual environments are not.
JUDGED = ("app.py", "launch.py", "run.py", *sorted(PACKAGES), "pages", "benchmarks")
PLOTS = Path("dpcore", "core", "plots.py")
"""Draws for notebooks; the tests validate pictures with Plotly's classes, and the app sends plain dictionaries."""
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


def room_of(name: str) -> str:
    """The room that a full name is in: dplab is one, the other packages have several."""
    parts = name.split(".")
    return parts[0] if parts[0] == "dplab" else ".".join(parts[:2])


def floor_of(room: str) -> int | None:
    """How high a room stands; None if it was given no floor."""
    return next((height for height, rooms in enumerate(FLOORS) if room in rooms), None)


def wrong_in_packages(room: str, name: str) -> str | None:
    """What is wrong with a module of a package importing a name, if anything."""
    package = name.partition(".")[0]
    if package in {"pages", "app", "run", "tests", "benchmarks"}:
        return f"{room.partition('.')[0]} imports {name}"
    if package not in PACKAGES:
        return None
    mine, other = floor_of(room), room_of(name)
    theirs = floor_of(other)
    if theirs is None:
        return f"{name} stands on no floor: import it from the module that has it"
    if mine is None or theirs < mine or other == room or other in SAME_FLOOR.get(room, set()):
        return None
    return f"{room} may not import {other}, which does not stand below it"


def faults_in_connection(root: Path, where: tuple[str, ...], name: str) -> str | None:
    """What is wrong with a module of a room within a room of dpcore importing a name, if anything."""
    theirs = name.split(".")
    room = where[1]
    if len(where) < 4 or room not in INNER_ROOMS or theirs[:2] != ["dpcore", room]:
        return None
    mine, other = f"{room}.{where[2]}", f"{room}.{theirs[2]}"
    if other == mine or other in INNER_ALSO.get(mine, set()) or not (root / "dpcore" / room / theirs[2]).is_dir():
        return None
    return f"{mine} may not import {other}"


def wrong_in_pages(room: str, name: str, siblings: set[str]) -> str | None:
    """What is wrong with a module of a room importing a name, if anything."""
    package, _, rest = name.partition(".")
    if package in siblings:
        return f"{name} is loaded twice unless it is written pages.{name}"
    other = rest.partition(".")[0]
    if package == "pages" and other not in OPEN_ROOMS | {room} | ALSO.get(room, set()):
        return f"{room} may not import the room {other}"
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
        judged = inside in PACKAGES and noun != "__init__"
        room = room_of(f"{inside}.{noun}")
        if judged and floor_of(room) is None:
            found.append(f"{where}: {room} stands on no floor: give it one in FLOORS")
        for line, name in names:
            package = name.partition(".")[0]
            wrong = None
            plotted = package == "plotly" and where != PLOTS
            if plotted or (package == "streamlit" and inside not in {"app.py", "pages", "benchmarks"}):
                wrong = f"imports {package}"
            elif judged:
                wrong = wrong_in_packages(room, name) or faults_in_connection(root, where.parts, name)
            elif inside == "pages":
                wrong = wrong_in_pages(noun, name, siblings)
            if wrong:
                found.append(f"{where}:{line}: {wrong}")
    return found


@pytest.mark.slow
def test_imports_point_down() -> None:
    assert violations(ROOT) == []


HOUSE = {
    "app.py": "import streamlit",
    "dpcore/__init__.py": "from dpcore.core import Number",
    "dpcore/core/__init__.py": "import numpy",
    "dpcore/core/problem.py": "def f():\n    import numpy",
    "dpcore/data/columns.py": "from dpcore.core import param",
    "dpcore/data/reading/tables.py": "from dpcore.data import columns\nfrom dpcore.data.reading.intake import receive",
    "dpcore/queries/ranges.py": "from dpcore.data.columns import Number",
    "dpcore/privacy/composition.py": "from .. import core",
    "dpcore/randomness/__init__.py": "from dpcore.randomness.preview import Preview",
    "dpcore/randomness/preview.py": "from ..privacy.composition import compose",
    "dpcore/mechanisms/__init__.py": "",
    "dpcore/mechanisms/net/choice.py": "from dpcore.mechanisms.net.tree import tree\nfrom dpcore.queries import ranges",
    "dpcore/mechanisms/net/tree.py": "def f():\n    from dpcore.core import Mechanism",
    "dpcore/mechanisms/online/median.py": "from dpcore.mechanisms.net.tree import tree",
    "dpcore/limits/chance.py": "",
    "dpcore/limits/attacks/vc.py": "",
    "dpcore/limits/bounds/walk.py": "from dpcore.limits.chance import interval",
    "dplab/__init__.py": "",
    "dplab/audit/exact.py": "from dplab import sweep",
    "dplab/sweep.py": "from dpcore.mechanisms.net.choice import Net",
    "dprelease/__init__.py": "",
    "dprelease/engines/postgres.py": "from dpcore.data.columns import Number",
    "dprelease/ledger/store.py": "from dprelease.engines.postgres import Postgres",
    "dprelease/release.py": "import dpcore.mechanisms.net.choice\nfrom dplab.sweep import sweep",
    "pages/main.py": "import streamlit",
    "pages/play/view.py": "import dpcore\nfrom pages.shell import badge",
    "pages/shell/__init__.py": "from pages.shell.badges import badge",
    "pages/shell/badges.py": "import streamlit",
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
        ("dpcore/core/problem.py", "from dpcore.data.columns import Number"),  # up
        ("dpcore/core/problem.py", "from ..data import columns"),  # up, relative
        ("dpcore/core/release.py", "from dpcore.data.frames import cells"),  # not the one import that may
        ("dpcore/data/columns.py", "from dpcore.queries.ranges import Thresholds"),  # same floor, wrong way
        ("dpcore/privacy/composition.py", "import dpcore.randomness.preview"),
        ("dpcore/queries/ranges.py", "from dpcore.randomness import Preview"),  # same floor, no exception
        ("dpcore/randomness/preview.py", "from dpcore.mechanisms.net.tree import tree"),
        ("dpcore/mechanisms/net/choice.py", "from ...limits.attacks import vc"),
        ("dpcore/mechanisms/net/choice.py", "from dpcore.mechanisms.online.median import ask"),  # another family
        ("dpcore/limits/bounds/walk.py", "from dpcore.mechanisms.net.choice import Net"),
        ("dpcore/limits/bounds/walk.py", "from dpcore.limits.attacks.vc import half"),
        ("dpcore/mechanisms/net/choice.py", "def f():\n    from dplab import sweep"),  # in a function
        ("dpcore/data/columns.py", "from dpcore import Number"),  # by way of the package
        ("dprelease/release.py", "import dpcore"),
        ("dpcore/mechanisms/net/choice.py", "from dprelease.ledger.store import Ledger"),
        ("dplab/sweep.py", "from dprelease.plan.questions import Plan"),
        ("dprelease/ledger/store.py", "from dprelease.release import release"),
        ("dprelease/ledger/store.py", "from pages.shell import badge"),
        ("dpcore/utils.py", ""),  # no floor
        ("dplab/sweep.py", "import plotly.graph_objects"),
        ("dplab/sweep.py", "from pages.shell import badge"),
        ("dpcore/data/columns.py", "import streamlit.testing"),
        ("benchmarks/__main__.py", "import plotly"),
        ("pages/play/view.py", "import plotly"),
        ("pages/play/view.py", "from pages.one_number import view"),  # another room
        ("pages/play/view.py", "from shell import badge"),  # the other spelling
        ("pages/play/view.py", "import shell.badges"),
    ],
)
def test_a_planted_violation_is_found(tmp_path: Path, file: str, text: str) -> None:
    build(tmp_path, HOUSE | {file: text})
    found = violations(tmp_path)
    assert found
    assert all(violation.startswith(file) for violation in found)


INTERNALS = "pages/shell/server/streamlit_internals.py"
MAX_INTERNAL_IMPORTS = 4
INTERNAL_MODULES = {"config", "delta_generator", "file_util", "proto", "runtime", "source_util", "web"}
MODULE = re.compile(r"streamlit(\.\w+)+")
DOCUMENTED = ("streamlit", "streamlit.delta_generator.DeltaGenerator")
"""What the documentation of Streamlit names: its one module, and the type of what its containers return."""


def is_internal(file: Path, name: str) -> bool:
    """Return whether a name that a file imports belongs to Streamlit's internals."""
    if name in DOCUMENTED or name.partition(".")[0] != "streamlit":
        return False
    # Benchmarks are clients of the server and speak its protocol, as a browser does.
    return not ("benchmarks" in file.parts and name.startswith("streamlit.proto."))


def internal_imports(root: Path) -> dict[str, list[str]]:
    """Return the names of Streamlit's internals that files import or reach by attribute, by file."""
    found = {}
    for file in python_files(root):
        names = [name for _, name in imported(file, root)]
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                if node.value.id in ("st", "streamlit") and node.attr in INTERNAL_MODULES:
                    names.append(f"streamlit.{node.attr}")
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and MODULE.fullmatch(node.value):
                names.append(node.value)
        internal = [name for name in names if is_internal(file.relative_to(root), name)]
        if internal:
            found[file.relative_to(root).as_posix()] = internal
    return found


def test_one_file_knows_the_internals_of_streamlit() -> None:
    found = internal_imports(ROOT)
    assert list(found) == [INTERNALS]
    assert len(found[INTERNALS]) <= MAX_INTERNAL_IMPORTS


@pytest.mark.parametrize(
    "text",
    [
        "from streamlit import runtime",
        "def f():\n    import streamlit.runtime",
        "from streamlit.file_util import get_static_dir",
        "from streamlit.proto.BackMsg_pb2 import BackMsg",
        "import streamlit as st\nst.runtime.exists()",
        "import importlib\nimportlib.import_module('streamlit.runtime')",
    ],
)
def test_a_planted_use_of_an_internal_is_found(tmp_path: Path, text: str) -> None:
    build(tmp_path, HOUSE | {"pages/play/view.py": text, "pages/play/bar.py": "import streamlit as st\nst.rerun()"})
    assert set(internal_imports(tmp_path)) == {"pages/play/view.py"}


RAW_STATE = {"pages/shell/state.py", "pages/shell/private/clearing.py", "pages/shell/controls.py"}
"""Files of the pages that read the session's state by any key; all others have keys that are declared once."""


def reads_raw_state(text: str) -> bool:
    """Return whether code uses `st.session_state`."""
    uses = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute))
    return any(ast.unparse(node) == "st.session_state" for node in uses)


def test_pages_declare_the_keys_of_the_state() -> None:
    files = [file for file in python_files(ROOT) if file.is_relative_to(ROOT / "pages")]
    raw = {file.relative_to(ROOT).as_posix() for file in files if reads_raw_state(file.read_text(encoding="utf-8"))}
    assert raw == RAW_STATE
    assert reads_raw_state("st.session_state['data'] = 1") and not reads_raw_state("st.rerun()")


MAX_FILES = 15
SHAPED = (*sorted(PACKAGES), "pages", "tests", "benchmarks")


def misshapen(root: Path) -> list[str]:
    """Folders that hold too many Python files, and files that say their folder's name again."""
    told = []
    for folder in sorted(path for top in SHAPED for path in [root / top, *(root / top).rglob("*/")] if path.is_dir()):
        files = sorted(folder.glob("*.py"))
        where = folder.relative_to(root)
        if len(files) > MAX_FILES:
            told.append(f"{where} holds {len(files)} Python files")
        told += [f"{where}/{file.name}" for file in files if file.stem.removeprefix("test_") == folder.name]
    return told


def exported_twice(root: Path) -> dict[str, list[str]]:
    """Public classes of the packages whose name another module has too."""
    homes: dict[str, list[str]] = {}
    for file in sorted(path for package in PACKAGES for path in (root / package).rglob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(str(file.relative_to(root)))
    return {name: files for name, files in homes.items() if len(files) > 1}


def test_folders_are_small_and_names_say_something_new() -> None:
    assert misshapen(ROOT) == []


DOMAINS = {"Column", "Number", "Ages", "Dates", "Labels", "LabelAndRest", "Product", "Sphere", "DecisionLists", "Texts"}


def told_apart(text: str) -> int:
    """How often code asks whether something is of a class of domains, or matches on one."""
    found = 0
    for node in ast.walk(ast.parse(text)):
        asked: ast.expr | None = node.cls if isinstance(node, ast.MatchClass) else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            asked = node.args[1]
        names = {each.id for each in ast.walk(asked) if isinstance(each, ast.Name)} if asked else set()
        found += not names.isdisjoint(DOMAINS)
    return found


@pytest.mark.slow
def test_what_a_domain_is_is_asked_of_the_domain() -> None:
    """By ``kinds`` and the words for them (``is_number``, ``is_map``, …), which dpcore.data alone defines."""
    found = {file.relative_to(ROOT).as_posix(): told_apart(file.read_text()) for file in python_files(ROOT)}
    assert {name for name, times in found.items() if times and not name.startswith("dpcore/data/")} == set()
    assert sum(found.values()) <= 14
    assert told_apart("isinstance(x, int | Number)\nmatch x:\n    case Product():\n        pass") == 2


SIZES = {"dpcore": "dpcore/core/sizes.py", "dprelease": "dprelease/sizes.py"}
"""Modules with all that input may be at most. How far one method reaches stands with the method."""
METHODS = ("dpcore/mechanisms/", "dpcore/limits/")


def limits_refused(text: str) -> set[str]:
    """Names of a module's own maxima that it refuses something for: in the refusal's words or in its condition."""
    tree = ast.parse(text)
    own = {each.id for node in tree.body if isinstance(node, ast.Assign) for each in ast.walk(node.targets[0])
           if isinstance(each, ast.Name) and each.id.startswith("MAX_")}  # fmt: skip
    refusals: list[ast.AST] = [node for node in ast.walk(tree) if isinstance(node, ast.Raise)]
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and any(isinstance(each, ast.Raise) for each in node.body):
            refusals.append(node.test)
    return own & {each.id for node in refusals for each in ast.walk(node) if isinstance(each, ast.Name)}


@pytest.mark.slow
def test_what_input_may_be_at_most_stands_in_one_module_a_package() -> None:
    for package, module in SIZES.items():
        files = [file for file in python_files(ROOT / package) if file != ROOT / module]
        names = {file.relative_to(ROOT).as_posix(): limits_refused(file.read_text()) for file in files}
        assert {file: found for file, found in names.items() if found and not file.startswith(METHODS)} == {}
    assert limits_refused("MAX_N = 3\nif n > MAX_N:\n    raise ValueError") == {"MAX_N"}
    assert limits_refused("MAX_N = 3\nraise ValueError(f'{MAX_N}')") == {"MAX_N"}
    assert limits_refused("from a import MAX_N\nif n > MAX_N:\n    raise ValueError") == set()


@pytest.mark.slow
def test_a_name_of_the_packages_is_one_class() -> None:
    assert exported_twice(ROOT) == {}


def test_what_is_misshapen_is_told(tmp_path: Path) -> None:
    build(tmp_path, HOUSE | {f"pages/shell/part{place}.py": "" for place in range(MAX_FILES)})
    build(tmp_path, {"tests/pages/test_pages.py": "", "dpcore/data/samples.py": "class Number: ..."})
    build(tmp_path, {"dpcore/data/columns.py": "class Number: ...\nclass _Number: ..."})
    assert misshapen(tmp_path) == [f"pages/shell holds {MAX_FILES + 2} Python files", "tests/pages/test_pages.py"]
    assert exported_twice(tmp_path) == {"Number": ["dpcore/data/columns.py", "dpcore/data/samples.py"]}


OPTIONAL = "dprelease.engines.queries"
"""Imported where an engine is asked: it needs an extra."""


def loaded_by(statements: str) -> set[str]:
    """The modules a fresh interpreter has loaded after some statements."""
    script = f"{statements}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.slow
def test_importing_dpcore_is_light() -> None:
    loaded = loaded_by("import dpcore")
    assert "dpcore" in loaded
    assert not HEAVY & loaded


@pytest.mark.slow
def test_importing_every_module_of_the_packages_is_light() -> None:
    names = [
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for file in sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    ]
    names.remove(OPTIONAL)
    loaded = loaded_by("\n".join(f"import {name}" for name in names))
    assert set(names) <= loaded
    assert not {*HEAVY, OPTIONAL, "ibis", "sqlglot", "psycopg", "pyspark"} & loaded
