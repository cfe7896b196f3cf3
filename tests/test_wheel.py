"""What is built from the project holds what it needs, puts four names into an environment, and starts the app."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from run import LOCALHOST, stop, wait_for_health
from tests import ROOT
from tests.kit.browser import own_port

LARGEST = 8_000_000
"""Bytes."""
PACKAGES = {"dpscope", "dpcore", "dplab", "dprelease"}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what a wheel puts into an environment."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    assert wheel.stat().st_size <= LARGEST
    zipfile.ZipFile(wheel).extractall(folder / "installed")
    return folder / "installed"


def run_python(statements: str, *, path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run statements in a folder, with one place to import from beside the environment's own."""
    variables = os.environ | {"PYTHONPATH": str(path)}
    command = [sys.executable, "-P", "-c", statements]
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_wheel_puts_four_names_into_an_environment(installed: Path) -> None:
    names = {each.name for each in installed.iterdir() if each.suffix != ".dist-info"}
    assert names == PACKAGES
    assert {each.name for each in (installed / "dpscope").iterdir()} == {"app.py", "pages", "assets", ".streamlit"}
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
def test_the_app_of_a_wheel_starts(installed: Path, tmp_path: Path) -> None:
    port = own_port()
    command = [sys.executable, "-P", "-m", "streamlit", "run", str(installed / "dpscope" / "app.py")]
    command += [f"--server.port={port}", f"--server.address={LOCALHOST}", "--server.headless=true"]
    variables = os.environ | {"PYTHONPATH": str(installed), "DPSCOPE_CACHE": "0", "HOME": str(tmp_path)}
    log = tmp_path / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=tmp_path, env=variables, stdout=output, stderr=output)
    try:
        assert wait_for_health(process, port=port, seconds=120), log.read_text(errors="replace")
    finally:
        stop(process)
    assert "Traceback" not in log.read_text(errors="replace")


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
        "\n".join([alone, *(f"import {name}" for name in names), example]), path=tmp_path, folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
