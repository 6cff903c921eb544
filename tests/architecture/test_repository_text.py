"""What is in version control speaks of no machine in particular."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATH_OF_A_MACHINE = re.compile(r"(?:^|[^A-Za-z0-9_.])/(?:work|farm|root)/", re.MULTILINE)


@pytest.fixture(scope="module")
def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    names = [name for name in listed.stdout.decode().split("\0") if name]
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def test_no_path_of_a_machine(tracked: list[Path]) -> None:
    named = []
    for path in tracked:
        text = path.read_bytes().decode("utf-8", errors="replace")
        named += [f"{path.name}: {m.group()}" for m in PATH_OF_A_MACHINE.finditer(text)]
    assert named == []


def test_such_a_path_would_be_seen() -> None:
    folder = "farm"
    assert PATH_OF_A_MACHINE.search(f"see '/{folder}/notes'")
    assert not PATH_OF_A_MACHINE.search(f"https://example.org/{folder}/notes")
