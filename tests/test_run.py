"""The parts of run.py: what is installed when, which browser is found, which port is taken."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import launch
import run
from dprelease.commands import default_folder
from tests.mutants.__main__ import listed
from tests.sharing import share


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with requirements in which making environments and installing only leaves a trace."""
    pyproject, constraints, trace = tmp_path / "pyproject.toml", tmp_path / "constraints.txt", tmp_path / "trace"
    pyproject.write_text(
        '[project]\ndependencies = ["a"]\n[project.optional-dependencies]\ntest = ["b"]\nbench = ["c"]'
    )
    constraints.write_text("a==1\nb==1\nc==1\n")
    trace.touch()

    def record(command: list[str | Path]) -> int:
        words = [str(word) for word in command]
        with trace.open("a") as lines:
            lines.write(("venv" if "venv" in words else " ".join(words[words.index("--no-input") + 1 :])) + "\n")
        if "venv" in words:
            python = run.python_of(Path(words[-1]))
            python.parent.mkdir(parents=True)
            python.touch()
        return 0

    monkeypatch.setattr(run, "CONSTRAINTS", constraints)
    monkeypatch.setattr(run, "PYPROJECT", pyproject)
    monkeypatch.setattr(run, "run", record)
    monkeypatch.setattr(run, "works", lambda python: python.exists())
    return tmp_path


def done(project: Path) -> list[str]:
    """What was done since the last call."""
    trace = project / "trace"
    lines = [line.removeprefix(f"-c {project / 'constraints.txt'} ") for line in trace.read_text().splitlines()]
    trace.write_text("")
    return lines


def test_an_environment_is_made_once(project: Path) -> None:
    assert run.ensure_environment(project / "env", groups=set()) == run.python_of(project / "env")
    assert done(project) == ["venv", "--upgrade pip", "a"]
    run.ensure_environment(project / "env", groups=set())
    assert done(project) == []


def test_the_oldest_versions_are_those_of_the_project(project: Path) -> None:
    (project / "pyproject.toml").write_text('[project]\ndependencies = ["a>=1.2,<2", "b[c]>=3"]')
    run.ensure_environment(project / "env", groups=set(), oldest=True)
    assert done(project) == ["venv", "--upgrade pip", "a==1.2 b[c]==3"]


def test_every_library_of_the_app_has_an_oldest_version() -> None:
    assert all(
        re.fullmatch(r"[\w.\[\]-]+==[\d.]+", run.oldest_of(each)) for each in run.requirements(["test", "engines"])
    )


def test_what_is_installed_is_said_in_a_sentence(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run.ensure_environment(project / "env", groups=set())
    assert "Installing what the app needs (" in capsys.readouterr().out
    run.ensure_environment(project / "env", groups={"test"})
    assert "Installing what the app and test need (" in capsys.readouterr().out


def test_a_new_group_is_added_and_remembered(project: Path) -> None:
    run.ensure_environment(project / "env", groups=set())
    done(project)
    run.ensure_environment(project / "env", groups={"test"})
    assert done(project) == ["--upgrade pip", "a b"]
    run.ensure_environment(project / "env", groups=set())
    assert done(project) == []


@pytest.mark.parametrize("file", ["constraints.txt", "pyproject.toml"])
def test_changed_requirements_are_installed_with_all_groups(project: Path, file: str) -> None:
    run.ensure_environment(project / "env", groups={"test"})
    done(project)
    with (project / file).open("a") as text:
        text.write("\n# changed\n")
    run.ensure_environment(project / "env", groups=set())
    assert done(project) == ["--upgrade pip", "a b"]


def test_an_interrupted_installation_is_taken_up_again(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    succeed = run.run
    monkeypatch.setattr(run, "run", lambda command: succeed(command) if "venv" in command else 1)
    with pytest.raises(SystemExit, match="pip"):
        run.ensure_environment(project / "env", groups=set())
    monkeypatch.setattr(run, "run", succeed)
    done(project)
    run.ensure_environment(project / "env", groups=set())
    assert done(project) == ["--upgrade pip", "a"]


def test_an_environment_whose_interpreter_is_gone_is_made_again(project: Path) -> None:
    run.ensure_environment(project / "env", groups=set())
    done(project)
    run.python_of(project / "env").unlink()
    run.python_of(project / "env").parent.rmdir()
    (project / "env" / "dpscope.stamp").unlink()  # as venv --clear does
    run.ensure_environment(project / "env", groups=set())
    assert done(project) == ["venv", "--upgrade pip", "a"]


@pytest.mark.parametrize("missing", ["venv", "ensurepip"])
def test_without_ensurepip_one_sentence(project: Path, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == missing else name)
    with pytest.raises(SystemExit, match="python3-venv"):
        run.ensure_environment(project / "env", groups=set())


def test_the_requirements_are_those_of_the_project() -> None:
    names = {requirement.split(">")[0].split("<")[0] for requirement in run.requirements(["test", "bench"])}
    assert {"streamlit", "opendp", "pytest", "playwright", "diffprivlib"} <= names


def test_every_requirement_is_pinned() -> None:
    pinned = {line.split("==")[0].lower() for line in run.CONSTRAINTS.read_text().splitlines() if "==" in line}
    named = {requirement.split(">")[0].split("<")[0] for requirement in run.requirements(["test", "bench"])}
    assert named | {"pip"} <= pinned, "pip too: what installs all others"


def test_the_digest_tells_files_apart(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_text("xy")
    second.write_text("z")
    before = run.digest([first, second])
    assert before == run.digest([first, second])
    first.write_text("x")
    second.write_text("yz")
    assert before != run.digest([first, second])


def test_an_interpreter_that_is_missing_or_broken_does_not_work(tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    assert not run.works(tmp_path / "missing")
    assert not run.works(broken)
    assert run.works(Path(sys.executable))


def executable(path: Path) -> Path:
    """A program that does nothing."""
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_the_variable_wins(tmp_path: Path) -> None:
    executable(tmp_path / "chromium")
    mine = executable(tmp_path / "mine")
    assert run.find_chromium({"CHROMIUM": str(mine), "PATH": str(tmp_path)}) == str(mine)


def test_a_variable_that_names_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "text").touch()
    for name in ("none", "text"):
        with pytest.raises(SystemExit, match=f"CHROMIUM names .*{name}, which cannot be run"):
            run.find_chromium({"CHROMIUM": str(tmp_path / name), "PATH": str(tmp_path)})


@pytest.mark.parametrize("name", ["chromium", "chromium-browser", "google-chrome"])
def test_a_browser_on_the_path_is_found(tmp_path: Path, name: str) -> None:
    assert run.find_chromium({"PATH": str(tmp_path)}) in {None, *run.CHROMIUM_NAMES}  # at most one at a fixed place
    program = executable(tmp_path / name)
    assert run.find_chromium({"PATH": str(tmp_path)}) == str(program)


def test_without_a_browser_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "find_chromium", lambda: None)
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(SystemExit, match="apt-get install chromium"):
        run.ensure_chromium()


def test_a_missing_browser_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(run, "find_chromium", lambda: "/usr/bin/chromium" if len(commands) == 2 else None)
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(run, "run", commands.append)
    assert run.ensure_chromium() == "/usr/bin/chromium"
    assert [command[-1] for command in commands] == ["update", "chromium"]
    assert commands[0][0] == "env"


def test_a_user_who_needs_a_password_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []

    def refuse(command: list[str]) -> int:
        commands.append(command)
        return 1

    monkeypatch.setattr(run, "find_chromium", lambda: None)
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr(run, "run", refuse)
    with pytest.raises(SystemExit, match="apt-get install chromium"):
        run.ensure_chromium()
    assert commands == [["sudo", "-n", "true"]]


def test_a_free_port_is_kept_and_a_taken_one_replaced() -> None:
    with socket.socket() as taken:
        taken.bind((launch.LOCALHOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        other = launch.free_port(preferred=port)
        assert other != port
    assert launch.free_port(preferred=other) == other


def test_without_a_free_port_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    def bind(_: socket.socket, address: tuple[str, int]) -> None:
        tried.append(address[1])
        raise OSError

    monkeypatch.setattr(socket.socket, "bind", bind)
    with pytest.raises(SystemExit, match="no free port"):
        launch.free_port(preferred=8501)
    assert tried == [8501, 0], "0: any port"


def test_an_older_python_is_told_which_one_is_needed(
    commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = ".".join(map(str, run.OLDEST_PYTHON))
    assert f'requires-python = ">={needed}"' in run.PYPROJECT.read_text(encoding="utf-8")
    monkeypatch.setattr(sys, "version_info", (*run.OLDEST_PYTHON, 0))
    run.main(["test", "-k", "median"])
    assert commands
    commands.clear()
    monkeypatch.setattr(sys, "version_info", (3, 10, 99))
    with pytest.raises(SystemExit, match=f"needs Python {needed} or later; this is {sys.version.split()[0]}"):
        run.main(["test", "-k", "median"])
    assert commands == []


def test_a_process_that_ends_is_not_waited_for() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    assert not launch.wait_for_health(process, port=launch.free_port(preferred=0), seconds=30)
    assert process.wait() == 0


def test_stop_insists() -> None:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    launch.stop(process)
    assert process.poll() is not None


@pytest.mark.parametrize(("java", "server"), [(None, "/usr/lib/postgresql/15/bin"), ("java", None)])
def test_engines_that_cannot_be_installed_get_a_sentence(
    monkeypatch: pytest.MonkeyPatch, java: str | None, server: str | None
) -> None:
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr("shutil.which", lambda program, path=None: java)
    monkeypatch.setattr(run, "find_server_programs", lambda: server)
    monkeypatch.setattr(run, "install", lambda *packages: asked.append(packages))
    with pytest.raises(SystemExit, match="apt-get install postgresql default-jre-headless"):
        run.ensure_engines()
    assert asked == [("postgresql", "default-jre-headless")]


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What is run, in a run.py that runs nothing."""
    commands: list[list[str]] = []

    def record(command: list[str | Path], variables: object = None) -> int:
        commands.append([str(word) for word in command[2:]])
        return 0

    monkeypatch.setattr(run, "ensure_environment", lambda environment, **_: Path("python"))
    monkeypatch.setattr(run, "ensure_chromium", lambda: "chromium")
    monkeypatch.setattr(run, "ensure_engines", lambda: {})
    monkeypatch.setattr(run, "run", record)
    monkeypatch.setattr(run, "run_silently", lambda command: (record(command), ""))
    return commands


@pytest.mark.parametrize("failing", ["", "ruff", "mypy", "pytest"])
def test_every_check_runs_and_any_failure_counts(
    monkeypatch: pytest.MonkeyPatch, commands: list[list[str]], failing: str
) -> None:
    succeed, beside = run.run, run.run_silently
    monkeypatch.setattr(run, "run", lambda command, *rest: succeed(command, *rest) or int(command[2] == failing))
    monkeypatch.setattr(run, "run_silently", lambda command: (beside(command)[0] or int(command[2] == failing), ""))
    assert run.main(["test", "quick"]) == int(bool(failing))
    assert sorted(command[0] for command in commands) == ["mypy", "pytest", "ruff", "ruff"]
    [types] = [command for command in commands if command[0] == "mypy"]
    assert {"dpcore", "dplab", "dprelease", "pages", "tests", "benchmarks", "app.py", "run.py"} <= set(types)


def test_every_test_is_in_the_readmes_command_or_in_a_long_one(
    commands: list[list[str]], request: pytest.FixtureRequest
) -> None:
    for suite in ("", "full", "harness", "engines", "oldest"):
        run.main(["test", *filter(None, [suite])])
    *chosen, oldest = [command[command.index("-m") + 1] for command in commands if command[0] == "pytest"]
    assert chosen == ["not full and not harness and not engines", "full", "harness", "engines"]
    assert oldest == run.SUITES["quick"]
    assert {"full", "harness", "engines"} <= {line.split(":")[0] for line in request.config.getini("markers")}


def test_every_suite_installs_what_its_tests_are_else_skipped_without(
    commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[set[str]] = []

    def record(environment: Path, groups: set[str], oldest: bool) -> Path:
        asked.append(groups)
        assert oldest is environment.name.endswith("oldest")
        return environment

    monkeypatch.setattr(run, "ensure_environment", record)
    for suite in ("", "quick", "full", "harness", "engines", "mutants", "oldest"):
        run.main(["test", *filter(None, [suite])])
    assert len(asked) == 7 and all({"test", "engines"} <= groups for groups in asked)
    assert "spark" in asked[4] and "login" in asked[0]
    assert any(each.startswith("ibis-framework") for each in run.requirements(["engines"]))


@pytest.mark.parametrize(
    ("names", "codes", "tries", "ended"),
    [
        (["tests/browser/a.py::t"], [1, 0], 2, 0),
        (["tests/browser/a.py::t"], [1, 1], 2, 1),
        (["tests/browser/a.py::t", "tests/pages/b.py::t"], [1], 1, 1),
        ([f"tests/browser/a.py::t{number}" for number in range(4)], [1], 1, 1),
        (["tests/browser/a.py::t"], [2], 1, 2),  # interrupted
        ([], [0], 1, 0),
    ],
)
def test_a_few_browser_tests_alone_get_one_more_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: list[str], codes: list[int], tries: int, ended: int
) -> None:
    cache, commands = tmp_path / "lastfailed", []
    cache.write_text(json.dumps({"tests/browser/of_an_earlier_run.py::t": True}))

    def record(command: list[str | Path], variables: object) -> int:
        commands.append(command)
        if names:
            cache.write_text(json.dumps(dict.fromkeys(names, True)))
        return codes[len(commands) - 1]

    monkeypatch.setattr(run, "LAST_FAILED", cache)
    monkeypatch.setattr(run, "run", record)
    assert run.run_tests(["python", "-m", "pytest", "-n", "2"], {}) == ended
    assert len(commands) == tries
    assert tries == 1 or commands[1] == ["python", "-m", "pytest", *names]


def test_quick_needs_no_browser(commands: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "ensure_chromium", lambda: sys.exit(run.NO_CHROMIUM))
    run.main(["test", "quick"])
    assert commands[-1][0] == "pytest"
    for asked in (["test"], ["test", "full"], ["bench"], ["pictures"]):
        with pytest.raises(SystemExit, match="The tests need Chromium"):
            run.main(asked)


def test_what_is_no_suite_goes_to_pytest(commands: list[list[str]]) -> None:
    run.main(["test", "-k", "median"])
    run.main(["test", "quick", "tests/test_run.py"])
    run.main(["test", "mutants", "noise"])
    first, second = (command for command in commands if command[0] == "pytest")
    assert first[-2:] == ["-k", "median"] and first[2] == run.SUITES[""]
    assert second[-1] == "tests/test_run.py" and second[2] == run.SUITES["quick"]
    assert commands[-1] == ["tests.mutants", "noise"]


def test_every_fault_can_be_planted_and_has_its_test() -> None:
    """A list that fell behind the code is seen at once, not in the next long run."""
    for fault in listed():
        fault.planted((run.HERE / fault.file).read_text(encoding="utf-8"))
        file, _, name = fault.test.partition("::")
        assert f"def {name.partition('[')[0]}(" in (run.HERE / file).read_text(encoding="utf-8"), fault.test


@pytest.mark.parametrize("variables", [{}, {"XDG_DATA_HOME": "/tmp/data"}, {"DPSCOPE_LEDGER": "/tmp/own"}])
def test_it_says_where_the_app_keeps_its_ledger(variables: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_DATA_HOME", "DPSCOPE_LEDGER"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert launch.ledger_folder() == default_folder()


def test_the_benchmarks_need_nothing_that_their_environment_has_not() -> None:
    project = tomllib.loads((run.HERE / "pyproject.toml").read_text())["project"]
    extras = {
        group: {re.split(r"[\[><=]", requirement)[0] for requirement in requirements}
        for group, requirements in project["optional-dependencies"].items()
    }
    elsewhere = set.union(*extras.values()) - extras["bench"]
    lacking = [module for module, names in packages_distributions().items() if set(names) & elsewhere]
    assert "pytest" in lacking
    code = f"""import pkgutil, sys
sys.modules.update(dict.fromkeys({lacking!r}))
import benchmarks
for module in pkgutil.iter_modules(benchmarks.__path__):
    if module.name != "__main__":
        __import__(f"benchmarks.{{module.name}}")"""
    subprocess.run([sys.executable, "-c", code], cwd=run.HERE, check=True)


@pytest.mark.parametrize("text", ["9_000", "65536", "-1", "", "port"])
def test_a_port_is_a_plain_number(
    text: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_environment(*_: object, **__: object) -> Path:
        raise AssertionError("the app would start")

    monkeypatch.setattr(run, "ensure_environment", no_environment)
    with pytest.raises(SystemExit):
        run.start([f"--port={text}"])
    assert "argument --port: invalid port" in capsys.readouterr().err
    assert launch.port_number("9000") == 9000


def test_walks_are_shared_one_by_one_and_one_worker_has_the_browser() -> None:
    walk, seen = "tests/test_sizes.py::test_a[x]", "tests/browser/test_b.py::test_b"
    for one_browser in (False, True):
        assert share(walk, file="tests/test_sizes.py", one_browser=one_browser) == walk
        assert share("tests/c.py::test_c", file="tests/c.py", one_browser=one_browser) == "tests/c.py"
    assert share(seen, file="tests/browser/test_b.py", one_browser=False) == "tests/browser/test_b.py"
    assert share(seen, file="tests/browser/test_b.py", one_browser=True) == "tests/browser/"
