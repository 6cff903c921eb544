"""``describe``, ``recall`` and ``timeline`` of a store, of a server, of a socket."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_corpora import ESCAPES, SENTENCES, vector
from forked_commands import Done, ForkedCommands
from gateway import Gateway

STORE = "memory:///plain"
PAGES: dict[str, tuple[tuple[str, ...], list[int]]] = {
    "integer": (("page=2",), [2]),
    "string": (("topic=ops",), [0, 1]),
    "string that looks like a number": (('code="3"',), [3]),
    "number that looks like the string": (("code=3",), []),
    "any of several": (("page=[0, 3, 9]",), [0, 3]),
    "boolean": (("final=true",), [3]),
    "string that looks like a boolean": (('final="true"',), []),
    "float": (("weight=1.5",), [1]),
    "float of a whole number": (("page=2.0",), [2]),
    "null": (("reviewer=null",), [0, 1, 2, 3]),
    "no JSON": (("topic=NaN",), []),
    "half of a JSON value": (("topic=[ops",), []),
    "with = in it": (("topic=a=b",), []),
    "empty": (("topic=",), []),
    "none of": (("page=[]",), []),
    "two at once": (("topic=ops", "page=1"), [1]),
    "a field of the record": (("id=r-2",), [2]),
}


def pages(done: Done) -> list[int]:
    assert (done.code, done.err) == (0, "")
    return [record["metadata"]["page"] for record in done.answer["records"]]


@pytest.mark.parametrize("what", PAGES)
def test_where(command: ForkedCommands, what: str) -> None:
    conditions, expected = PAGES[what]
    options = [option for one in conditions for option in ("--where", one)]
    assert pages(command("timeline", STORE, "--json", *options)) == expected
    found = pages(command("recall", STORE, "--json", *options))
    assert sorted(found) == expected


def test_recall_by_words(command: ForkedCommands) -> None:
    assert pages(command("recall", STORE, "e4211", "--json")) == [1]


def test_recall_by_vector(command: ForkedCommands) -> None:
    given = json.dumps(vector(2))
    done = command("recall", "memory:///vectors", "--embedding", given, "-n", "1", "--embeddings")
    assert pages(done) == [2]  # and --embeddings implies JSON
    assert done.answer["records"][0]["embedding"] == pytest.approx(vector(2))


def test_min_score(command: ForkedCommands) -> None:
    everything = command("recall", STORE, "--json").answer["records"]
    floor = everything[1]["score"]
    done = command("recall", STORE, "--json", "--min-score", str(floor))
    assert done.answer["records"] == everything[:2]


def test_limits(command: ForkedCommands) -> None:
    assert pages(command("timeline", STORE, "--json", "-n", "2")) == [2, 3]
    assert pages(command("recall", STORE, "--json", "-n", "2")) == [3, 2]  # the newest first


def test_for_people(command: ForkedCommands) -> None:
    done = command("timeline", STORE, "-w", "page=1")
    assert (done.code, done.err) == (0, "")
    head, content, metadata, *_ = done.out.split("\n")
    assert head == "r-1  1970-01-01T00:00:00.000Z"
    assert content == SENTENCES[1]
    assert json.loads(metadata)["code"] == "1"
    scored = command("recall", STORE, "E4211").out
    assert scored == f"1.000  {done.out}"
    assert command("recall", STORE, "-w", "page=77").out == "no records\n"


def test_records_have_no_power_over_the_terminal(command: ForkedCommands) -> None:
    """For people escape sequences are shown, everything else is as it was; JSON has it exactly."""
    shown = command("timeline", "memory:///escapes").out
    assert not {character for character in shown if not character.isprintable()} - {"\n", "\t"}
    assert (
        "Coloured \\x1b[31mred\\x1b[0m, renamed \\x1b]0;title\\x07, erased \\x0d\\x9b2K, "
        "kept \tété 烏龍茶." in shown
    )
    (record,) = command("timeline", "memory:///escapes", "--json").answer["records"]
    assert (record["content"], record["metadata"]) == (ESCAPES, {"\x1b[2J": ESCAPES})
    report = command("inspect", "memory:///escapes").out
    assert "\x1b" not in report
    assert "\\x1b[31mred" in report


def test_a_server_and_a_store_answer_alike(
    command: ForkedCommands, start_gateway: Callable[..., Gateway]
) -> None:
    gateway = start_gateway("memory:///example")
    for args in (
        ("describe",),
        ("recall", "E4211", "--json"),
        ("recall", "replica", "-n", "1"),
        ("timeline", "-w", "page=[1, 2]"),
        ("recall", "-n", "5000"),
    ):
        ours = command(args[0], "memory:///example", *args[1:])
        theirs = command(args[0], gateway.http, *args[1:])
        assert theirs == ours
        assert ours.code in (0, 4)


@pytest.fixture
def guarded(settings_file: Path, start_gateway: Callable[..., Gateway]) -> Gateway:
    """A server that asks for the token ``right``."""
    digest = hashlib.sha256(b"right").hexdigest()
    settings_file.write_text(f'[[http.tokens]]\nname = "a"\nsha256 = "{digest}"\n')
    return start_gateway("memory:///example", config=settings_file)


def test_a_server_with_tokens(command: ForkedCommands, guarded: Gateway) -> None:
    def ask(*options: str, **env: str) -> Done:
        return command("recall", guarded.http, "E4211", *options, env=env)

    assert ask(A2M_TOKEN="right").code == 0
    assert ask("--token-env", "MINE", MINE="right").code == 0
    without, wrong = ask(), ask(A2M_TOKEN="wr0ng")
    assert (without.code, without.out, wrong.code, wrong.out) == (4, "", 4, "")
    assert f"{guarded.http} asks for a bearer token" in without.err
    assert "taken from A2M_TOKEN, which is not set" in without.err
    assert "taken from A2M_TOKEN, which it does not accept" in wrong.err
    broken = ask("--token-env", "MINE", MINE="wr0ng\n")
    assert (broken.code, broken.out) == (3, "")
    assert broken.err.startswith("error: MINE: holds a line end")
    assert not any("wr0ng" in done.err for done in (wrong, broken))


def test_the_files_collection_is_the_default(command: ForkedCommands, settings_file: Path) -> None:
    settings_file.write_text(f'[store]\nurl = "{STORE}"\n')
    file = ("-c", str(settings_file), "--json")
    assert pages(command("recall", *file, "E4211")) == [1]
    assert pages(command("recall", *file)) == [3, 2, 1, 0]
    assert pages(command("timeline", *file, "-n", "1")) == [3]
    named = command("recall", *file, "memory:///vectors", "invoices")
    assert named.answer["records"][0]["id"] == "r-2"
    alone = command("recall", "E4211", "--json")
    assert (alone.code, "this has no scheme" in alone.err) == (3, True)


def test_the_command_line_goes_before_the_url_and_both_before_the_file(
    command: ForkedCommands, settings_file: Path
) -> None:
    settings_file.write_text(
        '[store]\nurl = "memory:///ambiguous"\n[store.layout]\ntext_field = "body"\n'
        'metadata_field = "*"\n'
    )

    def text(*args: str) -> Any:
        done = command("inspect", "--json", "-c", str(settings_file), *args)
        assert done.code == 0, done.err
        return done.answer["layout"]["text_field"]

    assert text() == "body"
    assert text("memory:///ambiguous?text_field=summary") == "summary"
    assert text("memory:///ambiguous?text_field=body", "--text-field", "summary") == "summary"
    assert text("--text-field", "summary") == "summary"


def test_a_tenant_brings_its_own_field(command: ForkedCommands, settings_file: Path) -> None:
    settings_file.write_text(
        '[store.layout]\ntenant_field = "metadata.topic"\ntenant = "finance"\n'
    )
    file = ("-c", str(settings_file), "--json")
    assert pages(command("timeline", STORE, *file)) == [2, 3]
    assert pages(command("timeline", STORE, *file, "--tenant", "ops")) == [0, 1]
    assert pages(command("timeline", STORE, *file, "--tenant", "metadata.code=2")) == [2]
    url = f"{STORE}?tenant=metadata.code=1"
    assert pages(command("timeline", url, *file)) == [1]
    assert pages(command("timeline", url, *file, "--tenant", "metadata.code=3")) == [3]


def test_the_embedder_of_the_command_line_goes_before_the_files(
    command: ForkedCommands, settings_file: Path
) -> None:
    settings_file.write_text('embedder = "minilm"\n')
    args = ("inspect", "memory:///vectors", "-c", str(settings_file))
    assert command(*args).code == 3  # it does not fit
    assert command(*args, "--embedder", "none").code == 0
    bad = command(*args, "--embedder", "gpt")
    assert bad.err.startswith("error: --embedder: the kind before the colon is one of")
