"""The manifest, the specification and the tests agree, in both directions.

The markers are read from the sources, so the answer does not depend on which tests were selected.
"""

from __future__ import annotations

import ast
import hashlib
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
MANIFEST = tomllib.loads(Path(__file__).with_name("manifest.toml").read_text(encoding="utf-8"))
ROWS: list[dict[str, str]] = MANIFEST["requirement"]
INFORMATIVE: list[dict[str, str]] = MANIFEST["informative"]
SPECIFICATION = TESTS.parents[1] / "shared" / "spec"
SOURCES = {"text": "a2m-0.1.txt", "tables": "tables.md"}

LEVELS = {"MUST", "MUST NOT", "REQUIRED", "SHOULD", "MAY", "RULE"}
BINDS = {"server", "client", "implementation", "caller"}
REASONED = {"later", "deviation", "outside"}
STATUSES = {"proven"} | REASONED

KEYWORD = re.compile(r"\b(?:MUST|SHALL|REQUIRED|SHOULD|RECOMMENDED)\b")


# ---- what the tests claim


@dataclass(frozen=True)
class Marker:
    """One requirement id that one place in the tests names."""

    id: str
    place: str
    trouble: str = ""


def _is_mark(node: ast.AST, name: str) -> bool:
    """Whether ``node`` is ``pytest.mark.<name>``."""
    return (
        isinstance(node, ast.Attribute)
        and node.attr == name
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "mark"
    )


def _named(node: ast.AST, place: str, trouble: str = "") -> Iterator[Marker]:
    """What ``node`` and the nodes in it name."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and _is_mark(part.func, "requirement"):
            for argument in part.args:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield Marker(argument.value, place, trouble)
                else:
                    yield Marker(ast.unparse(argument), place, "the id is no string literal")


def _trouble(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    """Why a marker on ``node`` would prove nothing."""
    if not node.name.startswith("Test" if isinstance(node, ast.ClassDef) else "test_"):
        return "pytest does not collect it"
    marks = [part for decorator in node.decorator_list for part in ast.walk(decorator)]
    if any(_is_mark(part, name) for part in marks for name in ("skip", "xfail")):
        return "it is skipped, or expected to fail"
    return ""


def markers_in(source: str, place: str) -> Iterator[Marker]:
    """Every ``pytest.mark.requirement``: of the module, of a class, a test, a parameter."""
    tree = ast.parse(source)
    on_definitions = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for decorator in node.decorator_list:
                on_definitions |= {id(part) for part in ast.walk(decorator)}
                yield from _named(decorator, f"{place}:{node.lineno} {node.name}", _trouble(node))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or id(node) in on_definitions:
            continue
        if _is_mark(node.func, "requirement"):
            yield from _named(node, f"{place}:{node.lineno}")


@cache
def markers() -> list[Marker]:
    """Those of all tests."""
    return [
        marker
        for path in sorted(TESTS.rglob("test_*.py"))
        for marker in markers_in(path.read_text(encoding="utf-8"), str(path.relative_to(TESTS)))
    ]


def test_ids_are_unique() -> None:
    assert [name for name, n in Counter(row["id"] for row in ROWS).items() if n > 1] == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_row_is_complete(row: dict[str, str]) -> None:
    assert row["level"] in LEVELS
    assert row["binds"] in BINDS
    assert row["status"] in STATUSES
    assert row["text"].endswith(".")
    assert row["id"].startswith(row["clause"] + "-") or row["clause"] == "B"
    assert row.get("source", "text") in SOURCES
    assert re.fullmatch("[0-9a-f]{64}", row["sentence_sha256"])
    assert bool(row.get("reason")) == (row["status"] in REASONED), (
        "a reason exactly where one is due"
    )
    assert (row["status"] == "outside") <= (row["binds"] == "caller")


def test_every_marker_proves_something() -> None:
    assert [f"{m.place}: {m.id}: {m.trouble}" for m in markers() if m.trouble] == []


def test_every_marker_names_a_row() -> None:
    known = {row["id"] for row in ROWS}
    assert [f"{m.place}: {m.id}" for m in markers() if m.id not in known] == []


def test_a_row_is_proven_exactly_when_a_test_names_it() -> None:
    named = {marker.id for marker in markers()}
    proven = {row["id"] for row in ROWS if row["status"] == "proven"}
    assert proven - named == set(), "marked proven, and no test names them"
    assert named - proven == set(), "named by a test: mark them proven"


# ---- what the specification says


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text outside its headings, whitespace normalised.

    A bullet, a table row and a paragraph stand alone; the lines of a paragraph belong together.
    """
    blocks: list[list[str]] = [[]]
    for line in text.splitlines():
        words = " ".join(line.split())
        heading = words.startswith("#")
        if not words or heading or words[0] in "•|":
            blocks.append([])
        if words and not heading:
            blocks[-1].append(words)
    for block in blocks:
        whole = " ".join(block).removeprefix("•").strip()
        yield from filter(None, re.split(r"(?<=[.!?])\s+(?=[A-Z`*]|memory/)", whole))


def digest(sentence: str) -> str:
    return hashlib.sha256(sentence.encode()).hexdigest()


@pytest.fixture(scope="module")
def specification() -> dict[str, list[str]]:
    if not SPECIFICATION.is_dir():
        pytest.skip("the specification does not lie beside this checkout")
    return {
        source: list(sentences((SPECIFICATION / name).read_text(encoding="utf-8")))
        for source, name in SOURCES.items()
    }


def test_every_binding_sentence_has_a_row(specification: dict[str, list[str]]) -> None:
    covered = {row["sentence_sha256"] for row in ROWS + INFORMATIVE}
    binding = [s for s in specification["text"] if KEYWORD.search(s)]
    binding += [s for s in specification["tables"] if re.search(r"\bmust\b", s)]
    assert len(binding) > 100, "the sentences were not read"
    assert [s for s in binding if digest(s) not in covered] == []


def test_every_row_has_its_sentence(specification: dict[str, list[str]]) -> None:
    known = {source: {digest(s) for s in there} for source, there in specification.items()}
    lost = [r["id"] for r in ROWS if r["sentence_sha256"] not in known[r.get("source", "text")]]
    assert lost == []
    assert {r["sentence_sha256"] for r in INFORMATIVE} <= known["text"]


def test_levels_are_those_of_the_sentences(specification: dict[str, list[str]]) -> None:
    """A row never says MUST of a sentence without the word, nor RULE where the word stands."""
    by_digest = {digest(s): s for s in specification["text"]}
    for row in ROWS:
        if row.get("source", "text") != "text":
            continue
        sentence = by_digest[row["sentence_sha256"]]
        if row["level"] == "RULE":
            assert not KEYWORD.search(sentence), row["id"]
        elif row["level"] == "SHOULD":
            assert re.search(r"\b(?:SHOULD|RECOMMENDED)\b", sentence), row["id"]
        else:
            assert row["level"].partition(" ")[0] in sentence, row["id"]


# ---- the readers themselves


def test_sentences_are_split_at_blocks_and_full_stops() -> None:
    text = (
        "#1. A heading\n\nOne goes\nover two lines. Two MUST.\n• three, e.g. this\n| four | x |\n"
    )
    assert list(sentences(text)) == [
        "One goes over two lines.",
        "Two MUST.",
        "three, e.g. this",
        "| four | x |",
    ]


def test_markers_are_found_wherever_they_stand() -> None:
    source = """
import pytest
pytestmark = pytest.mark.requirement("module")
@pytest.mark.requirement("function")
@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.requirement("parameter"))])
async def test_it(x): ...
@pytest.mark.requirement("class")
class TestIt:
    @pytest.mark.requirement("method")
    def test_it(self): ...
@pytest.mark.requirement("uncollected")
def check_it(): ...
@pytest.mark.skip
@pytest.mark.requirement("skipped")
def test_that(): ...
"""
    found = {marker.id: bool(marker.trouble) for marker in markers_in(source, "here")}
    good = ("module", "function", "parameter", "class", "method")
    assert found == dict.fromkeys(good, False) | {"uncollected": True, "skipped": True}
