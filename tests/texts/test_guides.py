"""The guides: every block of code runs, in order, in an empty folder; commands are the program's own."""

from __future__ import annotations

import glob
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT

GUIDES = sorted((ROOT / "docs" / "guide").glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PROGRAM = "import sys; sys.argv[0] = 'dpscope'; from launch import main; sys.exit(main())"
"""What the command `dpscope` of an installed package does."""


def blocks(text: str) -> list[tuple[str, str]]:
    """Language and code of each block."""
    return [(language, code) for language, code in BLOCK.findall(text)]


def run_block(language: str, code: str, names: dict[str, Any]) -> None:
    """Run Python in a namespace, or each line as a command."""
    if language == "python":
        exec(compile(code, "guide", "exec"), names)
        return
    assert language == "sh", language
    for line in code.splitlines():
        program, *words = shlex.split(line, comments=True)
        assert program == "dpscope", line
        arguments = [file for word in words for file in (sorted(glob.glob(word)) if "*" in word else [word])]
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *arguments], env={"PYTHONPATH": str(ROOT), "HOME": str(Path.cwd())},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_every_block_of_a_guide_runs(guide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = dict[str, Any]()
    for language, code in blocks(guide.read_text(encoding="utf-8")):
        run_block(language, code, names)


def test_a_block_that_fails_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (_, wrong), (_, command) = blocks("```python\nprint(unknown)\n```\n\n```sh\ndpscope verify nowhere.json\n```\n")
    with pytest.raises(NameError):
        run_block("python", wrong, {})
    with pytest.raises(AssertionError, match=r"nowhere\.json"):
        run_block("sh", command, {})
    assert {language for guide in GUIDES for language, _ in blocks(guide.read_text(encoding="utf-8"))} == {
        "python",
        "sh",
    }
