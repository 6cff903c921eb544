"""What the command says of itself, and to command lines that mean nothing."""

from __future__ import annotations

import random
import re

import pytest
from forked_commands import ForkedCommands

from a2m_gateway import __version__

COMMANDS = ("serve", "inspect", "describe", "recall", "timeline", "demo", "config")
STORE = "memory:///plain"


def test_version(command: ForkedCommands) -> None:
    done = command("--version")
    assert (done.code, done.out, done.err) == (0, f"a2m-gateway {__version__}\n", "")


def test_help_names_every_command(command: ForkedCommands) -> None:
    done = command("--help")
    assert (done.code, done.err) == (0, "")
    listed = re.findall(r"^  ([a-z]+) {2,}\S.*[^.…]{3}\.$", done.out, re.MULTILINE)
    assert sorted(listed) == sorted(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_each_command(command: ForkedCommands, name: str) -> None:
    done = command(name, "--help")
    assert (done.code, done.err) == (0, "")
    assert "--help" in done.out


def test_nothing_at_all_prints_the_help_as_an_error(command: ForkedCommands) -> None:
    done = command()
    assert (done.code, done.out) == (2, "")
    assert "Commands:" in done.err


WRONG: dict[str, tuple[tuple[str | bytes, ...], str]] = {
    "no such command": (("sarve",), "No such command 'sarve'"),
    "no such option": (("serve", STORE, "--prot"), "No such option: --prot"),
    "no store": (("serve",), "name a collection, such as chroma://"),
    "empty store": (("inspect", ""), "name a collection, such as chroma://"),
    "second store": (("serve", STORE, "memory:///b"), "there is another, 'memory:///b'"),
    "writing": (("serve", STORE, "--no-read-only"), "this version takes no writes"),
    "log level": (("serve", STORE, "--log-level", "loud"), "--log-level"),
    "limit 0": (("recall", STORE, "--limit", "0"), "--limit"),
    "limit of letters": (("timeline", STORE, "-n", "ten"), "--limit"),
    "third argument": (("recall", STORE, "a", "b"), "unexpected extra argument"),
    "where without =": (("recall", STORE, "-w", "page"), "'page' is not NAME=VALUE"),
    "where without name": (("timeline", STORE, "-w", "=1"), "'=1' is not NAME=VALUE"),
    "where twice": (("recall", STORE, "-w", "a=1", "-w", "a=2"), "a=[1,2]"),
    "where out of range": (("recall", STORE, "-w", "a=1e999"), "can't be kept exactly"),
    "where too deep": (("recall", STORE, "-w", "a=" + "[" * 5000 + "]" * 5000), "nested deeper"),
    "where not UTF-8": (("recall", STORE, "-w", b"a=\xff"), "--where: is not valid UTF-8"),
    "query not UTF-8": (("recall", STORE, b"\xff\xfe"), "QUERY: is not valid UTF-8"),
    "vector of NaN": (("recall", STORE, "--embedding", "[NaN]"), "JSON array of numbers"),
    "vector of booleans": (("recall", STORE, "--embedding", "[true]"), "JSON array of numbers"),
    "vector not UTF-8": (("recall", STORE, "--embedding", b"\xff"), "JSON array of numbers"),
    "score of NaN": (("recall", STORE, "--min-score", "nan"), "must be a finite number"),
    "score infinite": (("recall", STORE, "--min-score", "inf"), "must be a finite number"),
    "socket without path": (("describe", "unix:"), "unix: takes the path of a socket"),
    "layout for a server": (("recall", "http://127.0.0.1:1/", "--text-field", "a"), "--text-field"),
    "embedder for a server": (("describe", "unix:/x", "--embedder", "none"), "--embedder"),
    "token for a store": (("describe", STORE, "--token-env", "HOME"), "--token-env"),
    "token without name": (("config", "token"), "Missing argument 'NAME'"),
    "token of two lines": (("config", "token", "a\nb"), "must be one line of text"),
    "empty token": (("config", "token", "a", "--stdin"), "no bearer token"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_command_line_that_means_nothing(command: ForkedCommands, wrong: str) -> None:
    args, said = WRONG[wrong]
    done = command(*args)
    assert (done.code, done.out) == (2, "")
    assert said in " ".join(done.err.split())


def test_read_only_may_be_said(command: ForkedCommands) -> None:
    """It is the only mode; the collection that is not there ends the command."""
    done = command("serve", "memory:///nothing", "--read-only")
    assert (done.code, "no collection 'nothing'" in done.err) == (3, True)


TARGETS = (
    "memory:///plain", "memory:///plain", "memory:///vectors", "memory:///vectors", "memory:///",
    "memory:///named?text_field=text", "memory:///nope", "memory:///%zz", "memory:///plain?a=b",
    "memory://", "qdrant+file:///nope/x", "chroma+file:relative/x", "chroma+file:////etc/x",
    "qdrant://[::1/x", "chroma://h:p/x", "http://[", "http://127.0.0.1:1/%zz", "http://a b/",
    "unix:/dev/null", "unix:" + "/x" * 200, "://", "", " ", "-", b"\xff\xfe:///x", "\x1b[31m://",
)  # fmt: skip
TEXTS = ("", "E4211", "-", "\x1b[31m", "\n", "é烏\U0001f600", b"\xff\xfe", "'\"\\", "x" * 50_000)
NUMBERS = ("0.5", "1", "2", "0", "-1", "1e400", "nan", "99999999999999999999", "", "x")
FIELDS = ("page_content", "metadata", "*", "metadata.page", '"a.b"', "a..b", "", '"', "é", b"\xff")
OPTIONS: dict[str, tuple[str | bytes, ...]] = {
    "--text-field": FIELDS,
    "--metadata-field": FIELDS,
    "--id-field": FIELDS,
    "--created-at-field": FIELDS,
    "--created-at-default": ("2026-07-28T10:15:30Z", "99999-01-01", "0", "now", ""),
    "--vector-name": ("", "x", "*", b"\xff"),
    "--tenant": ("metadata.topic=ops", "ops", "=", "metadata.page=1", "a..b=c", ""),
    "--embedder": (
        "none", "minilm", "minilm:x", "openai:", "openai:m@http://u:p@h", "onnx:/dev/null",
        "onnx:/", "openai:m@http://127.0.0.1:1/v1", "gpt", "", "\x1b", b"\xff",
    ),
    "--config": ("/dev/null", "/", "/nope", "/bin/sh", "", b"/\xff"),
    "--log-level": ("debug", "DEBUG", "loud"),
    "--where": (
        "page=1", "page=[1,2]", 'page={"a":1}', "page=[[1]]", "page=" + "9" * 5000, "page=1e999",
        "topic=ops", "=", "a", 'a="\\ud800"', b"a=\xff", "final=true", "reviewer=null", "page=[]",
    ),
    "--limit": NUMBERS,
    "--min-score": NUMBERS,
    "--embedding": (
        "[]", "[1]", "[1,0,0,0,0,0,0,0]", "[1e39,0,0,0,0,0,0,0]", "[1e400]", "{}", "[[1]]",
        "[" * 200, f"[{'9' * 400},0,0,0,0,0,0,0]", "[0,0,0,0,0,0,0,0]", b"\xff",
    ),
    "--token-env": ("HOME", "A=B", "", "NOPE"),
}  # fmt: skip
FLAGS = ("--json", "--embeddings", "--", "--help", "-c", "-w")
OF_ALL = ("--text-field", "--metadata-field", "--id-field", "--created-at-field",
    "--created-at-default", "--vector-name", "--tenant", "--embedder", "--config", "--log-level",
)  # fmt: skip
TAKES = {
    "inspect": OF_ALL,
    "describe": (*OF_ALL, "--token-env"),
    "timeline": (*OF_ALL, "--token-env", "--where", "--limit"),
    "recall": tuple(OPTIONS),
}


@pytest.mark.parametrize("seed", range(80))
def test_no_command_line_ends_in_a_traceback(command: ForkedCommands, seed: int) -> None:
    """Each is nearly right, so that it comes as far as it can."""
    chance = random.Random(seed)
    name = chance.choice(("recall", "recall", *TAKES))
    args: list[str | bytes] = [name, chance.choice(TARGETS[: 4 if chance.random() < 0.6 else None])]
    if name == "recall" and chance.random() < 0.5:
        args.append(chance.choice(TEXTS))
    for option in chance.sample(TAKES[name], chance.randint(0, 2)):
        args += [option, chance.choice(OPTIONS[option])]
    if chance.random() < 0.2:
        args.append(chance.choice(FLAGS))
    done = command(*args)
    assert "Traceback" not in done.err, (args, done)
    assert done.code in {0, 2, 3, 4, 5}, (args, done)
    assert (done.code == 0) == (done.out != ""), (args, done)
    assert ("error: " in done.err.lower()) == (done.code != 0), (args, done)
