"""``demo``: all that it does, on a corpus that is a tenth as long."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from cached_embedder import CachedEmbedder
from forked_commands import ForkedCommands
from kept_vectors import CACHE

import a2m_gateway.cli.demo as demo
from a2m_gateway.cli.demo_corpus import Passage, passages
from a2m_gateway.embedding import build
from a2m_gateway.embedding.settings import Minilm
from a2m_gateway.errors import ConfigurationError
from a2m_gateway.store import StoreURL

TOPICS = {"calls", "exceptions", "format-spec", "formatstrings", "function", "numbers", "try"}
"""What holds the answers, and what could be taken for them."""

ANSWERS: tuple[tuple[str, str], ...] = (
    # What the reference says, and so where: a question that is changed needs its own here.
    ("function", "evaluated"),
    ("formatstrings", "thousands separator"),
    ("try", "BlockingIOError"),
)


def shortened() -> list[Passage]:
    chosen = [
        passage
        for passage in passages()
        if str(passage.metadata["source"]).removeprefix("reference/") in TOPICS
    ]
    assert len(chosen) > 30
    return chosen


@pytest.fixture
def run(
    needs_qdrant: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Callable[..., str]:
    """Runs the demo's own functions; gives what it printed."""
    monkeypatch.setattr(demo, "passages", shortened)
    model = CachedEmbedder(build(Minilm()), CACHE)
    monkeypatch.setattr(demo, "build", lambda settings: model)
    monkeypatch.setattr(demo, "configure", lambda level: None)  # the tests' logs stay theirs
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))

    def run(folder: Path | None = None) -> str:
        demo.demo_command(folder)
        printed = capsys.readouterr()
        assert printed.err == ""  # no terminal: no progress
        return printed.out

    return run


def test_it_serves_answers_and_says_how_to_go_on(
    run: Callable[..., str], tmp_path: Path, command: ForkedCommands
) -> None:
    printed = run()
    assert f"{len(shortened())} passages of Python's language reference" in printed
    assert re.search(r"a2m-gateway serve qdrant\+file:///\S+$", printed, re.M)
    assert re.search(r"http://127\.0\.0\.1:\d+/ declares core, embeddings$", printed, re.M)
    places = [printed.index(question) for question in demo.QUESTIONS]
    assert places == sorted(places)
    parts = [printed[start:end] for start, end in zip(places, [*places[1:], None], strict=True)]
    for part, (topic, words) in zip(parts, ANSWERS, strict=True):
        (source,) = re.findall(r'"source": "reference/([\w-]+)"', part)
        assert source == topic
        assert words in " ".join(part.partition("\n")[2].split())
    assert os.listdir(tmp_path / "temporary") == []  # nothing is left behind
    lines = printed.partition("Your own collection:")[2]
    hints = re.findall(r"^ +\S+ (\w+) +(qdrant:\S+)", lines, re.M)
    assert {verb for verb, _ in hints} == {"inspect", "serve"}
    for verb, url in hints:
        assert command(verb, "--help").code == 0
        StoreURL.parse(url)


def test_a_folder_is_kept_and_never_overwritten(
    run: Callable[..., str], tmp_path: Path, command: ForkedCommands
) -> None:
    folder = tmp_path / "kept here"
    printed = run(folder)
    (url,) = re.findall(r"^The demo's corpus:\s+\S+ serve (\S+)$", printed, re.M)
    report = command("inspect", url, "--json").answer
    assert "LangChain" in report["layout"]["writer"]
    assert report["records"] == len(shortened())
    assert report["ranking"]["embedder"] == "all-MiniLM-L6-v2"
    with pytest.raises(ConfigurationError, match="name a folder that is not there yet"):
        run(folder)
    again = command("demo", "--folder", str(folder))
    assert (again.code, again.out) == (3, "")
    assert command("inspect", url, "--json").answer == report


def test_a_demo_that_fails_leaves_nothing(
    run: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(url: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "_ask", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "mine")
    assert not (tmp_path / "mine").exists()
