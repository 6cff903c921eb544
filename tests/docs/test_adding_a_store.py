"""CONTRIBUTING's "Adding a store", followed to the letter by somebody with nothing else."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from a2m_gateway.errors import CollectionNotFound, ConfigurationError
from a2m_gateway.memory import Endpoint
from a2m_gateway.memory.opening import MemorySettings, open_memory
from a2m_gateway.store import StoreURL
from a2m_gateway.store.registry import adapter_for
from a2m_gateway.testing import StoreBehaviour

PAGE = (Path(__file__).resolve().parents[2] / "CONTRIBUTING.md").read_text("utf-8")


def block(language: str, holding: str) -> str:
    """The one fenced block of the page that holds a text."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    (found,) = [text for text in blocks if holding in text]
    return str(found)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example as pip would leave it: the package, and a .dist-info with its entry points."""
    project = tomllib.loads(block("toml", "entry-points"))["project"]
    site = tmp_path / "site"
    package = site / "a2m_jsonl"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(block("python", "class JsonlAdapter"), "utf-8")
    (package / "py.typed").touch()
    metadata = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    points = project["entry-points"]["a2m_gateway.adapters"]
    lines = [f"{name} = {value}" for name, value in points.items()]
    (metadata / "entry_points.txt").write_text("\n".join(["[a2m_gateway.adapters]", *lines]))
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.delitem(sys.modules, "a2m_jsonl", raising=False)
    return site


@pytest.fixture
def corpus(tmp_path: Path) -> StoreURL:
    """Three records as LangChain would lay them out, with U+2028 where lines must not break."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    records = [
        {
            "id": f"r{number}",
            "vector": [1.0, float(number)],
            "page_content": f"Passage\u2028number {number} is about {topic}.",
            "metadata": {"topic": topic, "page": number},
        }
        for number, topic in enumerate(("keys", "errors", "invoices"))
    ]
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    (folder / "docs.jsonl").write_text("\n".join(lines), "utf-8")
    return StoreURL.parse(f"jsonl+file://{folder}/docs")


async def test_the_registry_finds_it(installed: Path, corpus: StoreURL) -> None:
    adapter = adapter_for("jsonl+file")
    connection = await adapter.connect(corpus)
    assert [one.name for one in await connection.collections()] == ["docs"]
    described = await connection.describe("docs")
    assert (described.count, described.vectors[0].width) == (3, 2)
    with pytest.raises(CollectionNotFound, match="docs"):
        await connection.describe("../docs")
    with pytest.raises(ConfigurationError):
        await adapter.connect(StoreURL.parse("jsonl+file:///nowhere/at/all/docs"))


async def test_its_collection_is_served(installed: Path, corpus: StoreURL) -> None:
    opened = await open_memory(MemorySettings(url=corpus))
    endpoint = Endpoint(opened.memory)
    answers = [
        await endpoint.answer(json.dumps({"jsonrpc": "2.0", "id": 1, **call}).encode())
        for call in (
            {"method": "memory/recall", "params": {"embedding": [1, 2], "limit": 1}},
            {"method": "memory/recall", "params": {"query": "invoices", "limit": 1}},
            {"method": "memory/timeline", "params": {"where": {"page": 1}}},
        )
    ]
    await opened.aclose()
    found = [json.loads(answer or b"")["result"]["records"] for answer in answers]
    assert [[record["id"] for record in records] for records in found] == [["r2"], ["r2"], ["r1"]]
    assert found[2][0]["content"] == "Passage\u2028number 1 is about errors."
    assert found[2][0]["metadata"] == {"topic": "errors", "page": 1}


def test_its_test_file_passes_the_suite(installed: Path, tmp_path: Path) -> None:
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "test_jsonl.py").write_text(block("python", "class TestJsonl"), "utf-8")
    (tests / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tests)],
        env={**os.environ, "PYTHONPATH": str(installed)},
        cwd=tests,
        capture_output=True,
        text=True,
        timeout=60,
    )
    suite = [name for name in dir(StoreBehaviour) if name.startswith("test_")]
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(suite)} passed" in done.stdout


def test_it_is_typed(installed: Path) -> None:
    """Also that it is an ``Adapter``: every protocol is followed down from that assignment."""
    (installed / "claim.py").write_text(
        "from a2m_gateway.store import Adapter\nfrom a2m_jsonl import adapter\n\n"
        "claimed: Adapter = adapter\n"
    )
    assert "Success" in mypy(installed)
    source = (installed / "a2m_jsonl" / "__init__.py").read_text("utf-8")
    wrong = source.replace("-> JsonlStore:", "-> JsonlConnection:", 1)
    (installed / "a2m_jsonl" / "__init__.py").write_text(wrong, "utf-8")
    assert "claim.py:4: error" in mypy(installed)


def mypy(folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", "cache", "a2m_jsonl", "claim.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    return done.stdout
