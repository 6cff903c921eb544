"""What the pages name is there: files, modules, make targets."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
by_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def code(page: Path) -> Iterator[str]:
    """The inline code of a page."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    yield from re.findall(r"`([^`\n]+)`", text)


def resolves(dotted: str) -> bool:
    """Whether a dotted name is a module, or an attribute of one."""
    module, _, attribute = dotted.rpartition(".")
    try:
        importlib.import_module(dotted)
    except ModuleNotFoundError:
        return bool(module) and hasattr(importlib.import_module(module), attribute)
    return True


@by_page
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)\s#]+)[^)]*\)", page.read_text("utf-8"))
    local = [link for link in links if "://" not in link and not link.startswith("mailto:")]
    assert [link for link in local if not (page.parent / link).exists()] == []


@by_page
def test_modules_exist(page: Path) -> None:
    named = {m for text in code(page) for m in re.findall(r"\ba2m_gateway(?:\.\w+)+", text)}
    named -= {"a2m_gateway.adapters"}  # the entry-point group
    assert [name for name in sorted(named) if not resolves(name)] == []


@by_page
def test_files_exist(page: Path) -> None:
    roots = ("a2m_gateway/", "adapters/", "tests/", "docs/", "benchmarks/", ".ci/")
    named = [text for text in code(page) if text.startswith(roots) and " " not in text]
    assert [name for name in named if not list(ROOT.glob(name.rstrip("/")))] == []


@by_page
def test_make_targets_exist(page: Path) -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    named = re.findall(r"(?:^|`)make ([a-z]+)\b", page.read_text("utf-8"), re.MULTILINE)
    assert [name for name in named if name not in targets] == []
