"""Starts dpscope, or tests it. Needs nothing but Python 3.11 or later.

python3 run.py                     start the app and open it in a browser; Ctrl-C ends it
python3 run.py --port 9000 --no-browser
python3 run.py test                linters, types and tests; installs Chromium where it may and must
python3 run.py test quick          the same without the browser, the pages and what is slow
python3 run.py test full           the other draws, sizes, relations and themes, which `test` leaves out
python3 run.py test harness        hostile files by real upload, killed servers and releases
python3 run.py test engines        the same counts of Postgres and of Spark as of a file; installs both, and Java
python3 run.py test oldest         quick tests of data and releases with the oldest versions that pyproject.toml allows
python3 run.py test mutants        plants faults in a copy of the code; a test must catch each
python3 run.py test -k median      anything else goes to pytest
python3 run.py bench               the benchmarks
python3 run.py demo                start the app as a public demonstration: no ledger, nothing stored
python3 run.py plan codebook.csv statistics.txt --n 5000 --epsilon 1
                                   plan the statistics of a text, and show the error of each before any release
python3 run.py release request.json data.csv
                                   charge, draw and store one release; without data, only rehearse it
python3 run.py verify certificate.json counts.csv
                                   whether a certificate and its files hold together
python3 run.py ledger register     begin a ledger for a table; also show, version, budget, publish, machine-failed
python3 run.py ledger check        whether the ledger adds up, also --against certificate.json
python3 run.py ledger backup       a checked copy in another folder; also restore
python3 run.py docs                build the documentation in build/docs
python3 run.py pictures            take the pictures in assets/pictures again

The first start makes a virtual environment beside this file, with the versions in constraints.txt.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from launch import LEDGER_COMMANDS, end_with_the_app, options_of, say, serve, stop

HERE = Path(__file__).resolve().parent
PYPROJECT = HERE / "pyproject.toml"
CONSTRAINTS = HERE / "constraints.txt"
OLDEST_PYTHON = (3, 11)
PACKAGES = ("dpcore", "dplab", "dprelease", "pages", "tests", "benchmarks")
TYPED = (*PACKAGES, "app.py", "launch.py", "run.py", "docs/conf.py")
CHROMIUM_NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/usr/bin/chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
NO_CHROMIUM = (
    "The tests need Chromium, and there is none. Install it (on Debian: apt-get install chromium), or give "
    "its path in the variable CHROMIUM. `python3 run.py test quick` runs without it."
)
NO_ENGINES = (
    "The tests of engines need the Postgres server, and Java for Spark. Install both (on Debian: apt-get "
    "install postgresql default-jre-headless)."
)
WORKERS = ("-n", "2", "-p", "tests.sharing", "--no-loadscope-reorder")
"""Two processes share the tests by files, in the order that tests/conftest.py gives them."""
WITH_ONE_BROWSER = ("-n", "3", "-p", "tests.sharing", "--one-browser", "--no-loadscope-reorder")
"""One process has all browser tests, which mostly wait; two share the others by files."""
SUITES = {
    "": "not full and not harness and not engines",
    "quick": "not browser and not page and not slow and not full and not harness and not engines",
    "full": "full",
    "harness": "harness",
    "engines": "engines",
    "oldest": "not browser and not page and not slow and not full and not harness and not engines",
}
"""Which tests a named command runs, as pytest's -m has it; pyproject.toml says what the marks mean."""
OLDEST = ("tests/dpcore/data", "tests/dpcore/randomness", "tests/dprelease")
"""Tests of what libraries do for us: reading files, exact noise, the ledger, certificates."""


LAST_FAILED = HERE / ".pytest_cache" / "v" / "cache" / "lastfailed"
BROWSER_TESTS, FEW = "tests/browser/", 3
"""Two browsers, two servers and two tests share the cores: so few that fail there are tried once more alone."""


def run(command: Sequence[str | Path], variables: Mapping[str, str] = os.environ) -> int:
    """Run a program in this folder to its end and return its exit code."""
    return subprocess.run([str(word) for word in command], cwd=HERE, env=variables, check=False).returncode


def run_silently(command: Sequence[str | Path]) -> tuple[int, str]:
    """Run a program in this folder; returns its exit code and what it printed."""
    ended = subprocess.run(
        [str(word) for word in command],
        cwd=HERE,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    return ended.returncode, ended.stdout


# --- the virtual environment


def python_of(environment: Path) -> Path:
    """Where the interpreter of a virtual environment is, whether or not it exists."""
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def requirements(groups: Iterable[str]) -> list[str]:
    """What pyproject.toml says the app and some of its optional groups need."""
    import tomllib  # new in 3.11: an older Python must get as far as main() to be told

    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    needed = list(project["dependencies"])
    for group in groups:
        needed += project["optional-dependencies"][group]
    return needed


def oldest_of(requirement: str) -> str:
    """A requirement of the oldest version that it allows."""
    name, _, rest = requirement.partition(">=")
    return f"{name}=={rest.partition(',')[0]}"


def digest(files: Iterable[Path]) -> str:
    """One hash of several files' contents."""
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def read_stamp(stamp: Path) -> tuple[str, set[str]]:
    """The digest an environment was made from and the groups it holds; ("", empty set) if it was never finished."""
    if not stamp.is_file():
        return "", set()
    made_from, *groups = stamp.read_text(encoding="utf-8").split()
    return made_from, set(groups)


def works(python: Path) -> bool:
    """Whether an interpreter starts and is new enough."""
    if not python.exists():
        return False
    return run([python, "-c", f"import sys; sys.exit(sys.version_info < {OLDEST_PYTHON})"]) == 0


def ensure_environment(environment: Path, *, groups: set[str], oldest: bool = False) -> Path:
    """Make or bring up to date a virtual environment with the app's requirements and some groups.

    Of what pyproject.toml names it has the versions of constraints.txt, or the oldest ones.

    The stamp inside is written last, so that an interrupted installation is taken up again.

    Returns:
        The environment's interpreter.

    Raises:
        SystemExit: with one sentence, if this Python cannot make environments or pip fails.
    """
    python, stamp = python_of(environment), environment / "dpscope.stamp"
    wanted = digest([CONSTRAINTS, PYPROJECT])
    if not works(python):
        if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
            sys.exit("This Python cannot create virtual environments. On Debian: apt-get install python3-venv.")
        say(f"Creating {environment.name} …")
        if run([sys.executable, "-m", "venv", "--clear", environment]) != 0:
            sys.exit(f"The virtual environment {environment} could not be created; the reason is above.")
    made_from, installed = read_stamp(stamp)
    if made_from == wanted and groups <= installed:
        return python
    groups = groups | installed
    needed_by = " and ".join(["the app", *sorted(groups)]) + (" need" if groups else " needs")
    say(f"Installing what {needed_by} (a minute or two, once) …")
    pip_install, pinned = ("-m", "pip", "install", "-qq", "--no-input"), ("-c", CONSTRAINTS)
    needed = requirements(sorted(groups))
    # First pip itself, in the version of constraints.txt: the one that came with Python may be years old.
    steps = ((*pinned, "--upgrade", "pip"), map(oldest_of, needed) if oldest else (*pinned, *needed))
    if any(run([python, *pip_install, *what]) != 0 for what in steps):
        sys.exit("pip could not install the requirements; its reason is above.")
    stamp.write_text("\n".join([wanted, *sorted(groups)]) + "\n", encoding="utf-8")
    return python


# --- Chromium


def find_chromium(variables: Mapping[str, str] = os.environ) -> str | None:
    """The browser named by the variable CHROMIUM, else the first known one on the path.

    Raises:
        SystemExit: with one sentence, if CHROMIUM names a file that cannot be run.
    """
    named = variables.get("CHROMIUM")
    if named:
        found = shutil.which(named, path=variables.get("PATH"))
        return found or sys.exit(f"The variable CHROMIUM names {named}, which cannot be run.")
    return next(filter(None, (shutil.which(name, path=variables.get("PATH")) for name in CHROMIUM_NAMES)), None)


def install(*packages: str) -> None:
    """Install Debian's packages, where this is Debian and this user may without being asked for a password."""
    as_root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if shutil.which("apt-get") and (not as_root or (shutil.which("sudo") and run([*as_root, "true"]) == 0)):
        say(f"Installing Debian's {' and '.join(packages)} for the tests …")
        apt_get = [*as_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
        run([*apt_get, "update"])
        run([*apt_get, "install", "-y", *packages])


def ensure_chromium() -> str:
    """Find Chromium, or install Debian's where this user may without being asked for a password.

    Raises:
        SystemExit: with one sentence, if there is none and it cannot be installed.
    """
    found = find_chromium()
    if found is None:
        install("chromium")
        found = find_chromium()
    if found is None:
        sys.exit(NO_CHROMIUM)
    say(f"Browser: {found}")
    return found


# --- engines


def find_server_programs() -> str | None:
    """The folder of Postgres' server, which Debian keeps off the path; the newest."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"), key=lambda path: int(path.parts[4]))
    found = folders[-1] if folders else shutil.which("pg_ctl")
    return str(Path(found).parent) if found else None


def ensure_engines() -> dict[str, str]:
    """Find Postgres and Java, or install Debian's; returns variables that say where they are.

    Raises:
        SystemExit: with one sentence, if one is missing and cannot be installed.
    """
    if not (find_server_programs() and shutil.which("java")):
        install("postgresql", "default-jre-headless")
    programs = find_server_programs()
    if programs is None or not shutil.which("java"):
        sys.exit(NO_ENGINES)
    return {"POSTGRES_PROGRAMS": programs}


# --- the commands


def start(arguments: list[str]) -> int:
    """Serve the app until it is interrupted, with what it needs installed."""
    options = options_of(arguments, program="run.py", explanation=__doc__)
    return serve(options, python=ensure_environment(HERE / ".venv", groups=set()))


def lint(python: Path) -> list[str]:
    """Run ruff; returns what failed."""
    failed = []
    for check in (["ruff", "check"], ["ruff", "format", "--check"]):
        say(f"== {' '.join(check)}")
        if run([python, "-m", *check]) != 0:
            failed.append(" ".join(check))
    return failed


def run_tests(pytest: Sequence[str | Path], variables: Mapping[str, str]) -> int:
    """Run pytest; a few browser tests that fail beside all others get one more try, alone, and are named.

    A test that waits for something that never comes fails twice. Nothing else gets a second try.
    """
    LAST_FAILED.unlink(missing_ok=True)
    code = run(pytest, variables)
    failed = list(json.loads(LAST_FAILED.read_text(encoding="utf-8"))) if code == 1 and LAST_FAILED.is_file() else []
    if not 0 < len(failed) <= FEW or not all(name.startswith(BROWSER_TESTS) for name in failed):
        return code
    say(f"== failed together with other tests, now run once more alone: {', '.join(failed)}")
    return run([pytest[0], "-m", "pytest", *failed], variables)


def test(arguments: list[str]) -> int:
    """Run every check of a suite, even after one fails; types are checked beside the tests."""
    suite = arguments[0] if arguments and arguments[0] in (*SUITES, "mutants") else ""
    asked = arguments[1:] if suite else arguments
    oldest = suite == "oldest"
    groups = {"test", "engines"} | (set() if oldest else {"docs", "spark" if suite == "engines" else "login"})
    python = ensure_environment(HERE / (".venv-oldest" if oldest else ".venv"), groups=groups, oldest=oldest)
    # As the app has it: two processes share the cores, and threads that wait for a busy core spin.
    variables = {"OPENBLAS_NUM_THREADS": "1", **os.environ}
    # What is compiled is kept: without, every worker and every server they start compiles all of it anew.
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    if suite == "engines":
        variables |= ensure_engines()
    if suite not in {"quick", "oldest"}:
        variables["CHROMIUM"] = ensure_chromium()
    if suite == "mutants":
        return run([python, "-m", "tests.mutants", *asked], variables)
    workers = WORKERS if suite else WITH_ONE_BROWSER
    pytest: list[str | Path] = [python, "-m", "pytest", "-m", SUITES[suite], *workers, "--durations=12", *asked]
    if oldest and not asked:
        pytest += OLDEST
    if suite in {"full", "harness", "engines", "oldest"}:
        return run_tests(pytest, variables)
    failed = lint(python)
    with ThreadPoolExecutor(1) as beside:
        types = beside.submit(run_silently, [python, "-m", "mypy", *TYPED])
        say(f"== pytest {' '.join(map(str, pytest[3:]))}")
        failed += ["pytest"] if run_tests(pytest, variables) != 0 else []
    code, told = types.result()
    say(f"== mypy\n{told.strip()}")
    failed += ["mypy"] if code != 0 else []
    if failed:
        say(f"Failed: {', '.join(failed)}.")
    return int(bool(failed))


def bench(arguments: list[str]) -> int:
    """Run the benchmarks, in an environment of their own."""
    python = ensure_environment(HERE / ".venv-bench", groups={"bench"})
    variables = os.environ | {"CHROMIUM": ensure_chromium()}
    return run([python, "-m", "benchmarks", *arguments], variables)


def pictures(arguments: list[str]) -> int:
    """Take the pictures of the pages."""
    python = ensure_environment(HERE / ".venv", groups={"test"})
    variables = os.environ | {"CHROMIUM": ensure_chromium()}
    return run([python, "-m", "tests.browser.pictures", *arguments], variables)


def docs(arguments: list[str]) -> int:
    """Build the documentation; a warning is an error."""
    python = ensure_environment(HERE / ".venv", groups={"docs"})
    built = HERE / "build" / "docs"
    code = run([python, "-m", "sphinx", "-q", "-W", "--keep-going", *arguments, HERE / "docs", built])
    if code == 0:
        say(f"The documentation is in {built / 'index.html'}.")
    return code


def ledger(arguments: list[str]) -> int:
    """Register, release, verify, check: dpcore does it, in the folder where the command was given."""
    python = ensure_environment(HERE / ".venv", groups=set())
    command = [str(python), "-P", "-m", "dprelease.commands", *arguments]
    process = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(HERE)})
    try:
        return process.wait()
    finally:
        stop(process)  # subprocess.run would kill it after a moment, and it could not remove the rows it holds


def main(arguments: list[str]) -> int:
    """Do what the first word says; start the app without one."""
    if sys.version_info < OLDEST_PYTHON:
        sys.exit(f"dpscope needs Python 3.11 or later; this is {sys.version.split()[0]}.")
    commands = {"test": test, "bench": bench, "docs": docs, "pictures": pictures}
    try:
        if arguments and arguments[0] in LEDGER_COMMANDS:
            return ledger(arguments)
        if arguments and arguments[0] in commands:
            return commands[arguments[0]](arguments[1:])
        return start(arguments)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    end_with_the_app()
    sys.exit(main(sys.argv[1:]))
