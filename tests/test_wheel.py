"""What is built from the project holds what it needs, puts four names into an environment, and starts the app."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

from dpcore.mechanisms import catalogue
from launch import LOCALHOST, stop, wait_for_health
from tests import ROOT
from tests.kit.browser import own_port
from tests.kit.ledgers import request_of

LARGEST = 8_000_000
"""Bytes."""
PACKAGES = {"dpscope", "dpcore", "dplab", "dprelease"}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment outside the checkout that holds the wheel, and sees the libraries of this one."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    assert wheel.stat().st_size <= LARGEST
    made = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(made)], check=True)
    (site,) = made.glob("lib/python*/site-packages")
    (site / "libraries.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    pip = [sys.executable, "-m", "pip", "--python", str(made / "bin" / "python"), "install"]
    subprocess.run([*pip, "--no-deps", "--no-index", "--no-compile", str(wheel)], check=True, capture_output=True)
    return made


@pytest.fixture(scope="module")
def installed(environment: Path) -> Path:
    """The folder with what the wheel puts into an environment."""
    (site,) = environment.glob("lib/python*/site-packages")
    return site


def run_python(statements: str, *, path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run statements in a folder, with one place to import from beside the environment's own."""
    variables = os.environ | {"PYTHONPATH": str(path)}
    command = [sys.executable, "-P", "-c", statements]
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_wheel_puts_four_names_into_an_environment(installed: Path) -> None:
    names = {each.name for each in installed.iterdir() if each.suffix not in (".dist-info", ".pth")}
    assert names == PACKAGES
    apps = {each.name for each in (installed / "dpscope").iterdir()}
    assert apps == {"app.py", "launch.py", "pages", "assets", ".streamlit"}
    held = {each.relative_to(installed / "dpscope").as_posix() for each in (installed / "dpscope").rglob("*.*")}
    tracked = subprocess.run(
        ["git", "ls-files", "pages", "assets/data"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert set(tracked.stdout.split()) <= held
    assert not [each for each in held if each.endswith((".pyc", ".png", "secrets.toml"))]


@pytest.mark.slow
def test_the_packages_of_a_wheel_read_their_samples(installed: Path, tmp_path: Path) -> None:
    statements = (
        "import dplab.sweep, dprelease.commands, dpcore.data.samples as samples; samples.load_sample('penguins')"
    )
    done = run_python(statements, path=installed, folder=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_command_opens_the_app(environment: Path, tmp_path: Path) -> None:
    port = own_port()
    command = [str(environment / "bin" / "dpscope"), "--no-browser", "--port", str(port)]
    variables = os.environ | {"DPSCOPE_CACHE": "0", "HOME": str(tmp_path)}
    log = tmp_path / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=tmp_path, env=variables, stdout=output, stderr=output)
    try:
        assert wait_for_health(process, port=port, seconds=120), log.read_text(errors="replace")
        end = time.monotonic() + 30  # the command asks the server, too, and then says where it is
        while "data owner's" not in (told := log.read_text(errors="replace")) and time.monotonic() < end:
            time.sleep(0.1)
    finally:
        stop(process)
    assert f"dpscope is at http://{LOCALHOST}:{port}/?access_code=" in told
    assert "Traceback" not in log.read_text(errors="replace")


@pytest.mark.slow
def test_the_command_releases_and_verifies(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "request.json").write_bytes(request_of().text)
    (tmp_path / "people.csv").write_text("age\n" + "34\n41\n67\n" * 10, encoding="utf-8")

    def dpscope(line: str) -> str:
        command = [str(environment / "bin" / "dpscope"), *line.split()]
        variables = os.environ | {"DPSCOPE_LEDGER": str(tmp_path / "ledger")}
        done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    dpscope("ledger register people.csv --name people --n 30 --epsilon 2")
    dpscope("release request.json people.csv --out files")
    files = sorted(each.name for each in (tmp_path / "files").iterdir())
    tables = " ".join(f"files/{each}" for each in files if each.endswith(".csv"))
    assert "certificate.json" in files and tables
    assert dpscope(f"verify files/certificate.json {tables}")


@pytest.mark.slow
def test_dpcore_works_without_the_other_packages(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "dpcore", tmp_path / "dpcore", ignore=shutil.ignore_patterns("__pycache__"))
    example = (ROOT / "dpcore" / "README.md").read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    names = [
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for file in sorted((ROOT / "dpcore").rglob("*.py"))
    ]
    alone = "from importlib.util import find_spec\nassert not any(map(find_spec, ('dplab', 'dprelease', 'pages')))"
    done = run_python(
        "\n".join([alone, *(f"import {name}" for name in names if not name.endswith("__main__")), example]),
        path=tmp_path, folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    listed = run_python("import runpy; runpy.run_module('dpcore')", path=tmp_path, folder=tmp_path)
    assert {line.split()[0] for line in listed.stdout.splitlines()} == {each.key for each in catalogue()}
