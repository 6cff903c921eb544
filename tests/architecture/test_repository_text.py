"""What is in version control speaks of no machine in particular."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[2]

ON_EVERY_MACHINE = {
    PurePosixPath(path)
    for path in (
        "/", "/app", "/home", "/mnt", "/opt", "/private", "/private/tmp", "/srv", "/tmp",
        "/Users", "/usr", "/usr/src", "/var", "/var/tmp",
    )
}  # fmt: skip
"""Folders that say nothing of whose machine it is."""


def of_this_machine(checkout: PurePosixPath) -> set[PurePosixPath]:
    """The checkout and the folders around it, but for those that are everywhere."""
    return {checkout, *checkout.parents} - ON_EVERY_MACHINE


def pattern(folders: Iterable[PurePosixPath]) -> re.Pattern[str] | None:
    """What finds a folder of these, or a path beneath one, wherever it begins as a path does."""
    names = "|".join(re.escape(str(folder)) for folder in sorted(folders))
    return re.compile(rf"(?<![\w.~}}-])(?:{names})(?![\w-])") if names else None


@pytest.fixture(scope="module")
def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    names = [name for name in listed.stdout.decode().split("\0") if name]
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def test_no_path_of_this_machine(tracked: list[Path]) -> None:
    forbidden = pattern(of_this_machine(PurePosixPath(ROOT.as_posix())))
    if forbidden is None:
        pytest.skip("the checkout lies where a checkout on any machine may")
    named = []
    for path in tracked:
        text = path.read_bytes().decode("utf-8", errors="replace")
        named += [f"{path.name}: {found.group()}" for found in forbidden.finditer(text)]
    assert named == []


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("see '/home/ada/notes'", True),
        ("cd /home/ada", True),
        ("qdrant+file:///home/ada", True),
        ("DATA=/home/ada/src/gateway/data", True),
        ("/home/adalbert", False),
        ("/home", False),
        ("https://example.org/home/ada/notes", False),
        ("/tmp/x", False),
    ],
)
def test_such_a_path_would_be_seen(text: str, seen: bool) -> None:
    forbidden = pattern(of_this_machine(PurePosixPath("/home/ada/src/gateway")))
    assert forbidden is not None
    assert bool(forbidden.search(text)) is seen


@pytest.mark.parametrize("checkout", ["/app", "/usr/src"])
def test_a_checkout_on_any_machine(checkout: str) -> None:
    assert pattern(of_this_machine(PurePosixPath(checkout))) is None
