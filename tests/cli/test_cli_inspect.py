"""``inspect``: every item that it owes, for people and as JSON."""

from __future__ import annotations

from forked_commands import ForkedCommands

KEYS = {
    "store", "engine", "version", "records", "layout", "vectors", "metrics", "ranking",
    "capabilities", "read_only", "timeline", "filters", "limits", "consistency", "durability",
    "notes", "sample",
}  # fmt: skip
OF_LAYOUT = {
    "name", "writer", "confidence", "text_field", "metadata_field", "id_field", "created_at_field",
    "vector_name", "times_known", "times", "evidence", "candidates",
}  # fmt: skip
CAPABILITIES = (  # spec 2, in its order
    "core", "tiers", "salience", "scopes", "sessions", "keys", "embeddings", "external", "events",
    "summarize", "prompt",
)  # fmt: skip


def test_as_json(command: ForkedCommands) -> None:
    done = command("inspect", "memory:///vectors", "--json")
    assert (done.code, done.err) == (0, "")
    report = done.answer
    assert set(report) == KEYS
    assert set(report["layout"]) == OF_LAYOUT
    assert (report["store"], report["records"]) == ("memory:///vectors", 4)
    layout = report["layout"]
    assert "LangChain" in layout["writer"]
    assert (layout["text_field"], layout["metadata_field"]) == ("page_content", "metadata")
    assert layout["confidence"] == 1.0
    assert layout["times_known"] is False
    assert layout["evidence"]
    assert [(one["name"], one["dimensions"], one["metric"]) for one in report["vectors"]] == [
        ("", 8, "cosine")
    ]
    assert [record["id"] for record in report["sample"]] == ["r-0", "r-1", "r-2"]
    assert set(report["ranking"]) == {
        "embedder", "embedder_remote", "embedder_reason",
        "words", "words_reason", "words_weight", "words_left_out",
    }  # fmt: skip
    assert report["ranking"]["embedder"] is None
    assert "384" in report["ranking"]["embedder_reason"]
    assert set(report["timeline"]) == {"native", "reason", "cost"}
    assert report["timeline"]["native"] is True


def test_every_capability_has_a_verdict_and_a_reason(command: ForkedCommands) -> None:
    described = command("describe", "memory:///vectors").answer["capabilities"]
    verdicts = command("inspect", "memory:///vectors", "--json").answer["capabilities"]
    assert tuple(one["capability"] for one in verdicts) == CAPABILITIES
    assert [one["capability"] for one in verdicts if one["declared"]] == described
    assert described == ["core", "embeddings"]
    assert all(one["reason"] for one in verdicts)


def test_for_people_it_says_the_same(command: ForkedCommands) -> None:
    report = command("inspect", "memory:///vectors", "--json").answer
    done = command("inspect", "memory:///vectors")
    assert (done.code, done.err) == (0, "")
    owed = [
        report["store"],
        report["layout"]["writer"],
        "how sure     100%",
        report["layout"]["times"],
        *report["layout"]["evidence"],
        report["ranking"]["embedder_reason"],
        report["ranking"]["words_reason"],
        report["timeline"]["reason"],
        *(one["reason"] for one in report["capabilities"]),
        *(record["content"] for record in report["sample"]),
    ]
    assert [text for text in owed if text not in done.out] == []
    assert not done.out.startswith("\n")


def test_it_says_who_made_the_vectors(command: ForkedCommands) -> None:
    reason = command("inspect", "memory:///named", "--json").answer["ranking"]["embedder_reason"]
    assert "nomic-embed-text" in reason
    assert "all-MiniLM-L6-v2" in reason


def test_without_a_collection_it_lists_what_there_is(command: ForkedCommands) -> None:
    done = command("inspect", "memory:///", "--json")
    assert (done.code, done.err) == (0, "")
    entries = {entry["collection"]: entry for entry in done.answer["collections"]}
    kinds = {name: entry["kind"] for name, entry in entries.items()}
    assert kinds == {
        "ambiguous": "unsure",
        "empty": "unsure",
        "escapes": "corpus",
        "example": "corpus",
        "named": "corpus",
        "plain": "corpus",
        "vectors": "corpus",
    }
    assert set(entries["plain"]) == {"url", "collection", "records", "kind", "detail"}
    assert command("inspect", entries["plain"]["url"]).code == 0
    listed = command("inspect", "memory:///").out
    for name in kinds:
        (line,) = [line for line in listed.splitlines() if line.startswith(name)]
        assert kinds[name] in line
        assert entries[name]["detail"] in line  # no line is folded where nobody reads a screen
    assert "a2m-gateway serve 'memory:///escapes'" in listed
