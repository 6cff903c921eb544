"""``config check`` and ``config token``, and that every command reads the file alike."""

from __future__ import annotations

import hashlib
import subprocess
import tomllib
from pathlib import Path

import pytest
from forked_commands import ForkedCommands
from gateway import command_line

from a2m_gateway.cli.checks import read_settings

HASH = "0" * 64

WRONG: dict[str, tuple[str | bytes, str]] = {
    "unknown table": ("[shop]", "shop: no such setting; there are store, embedder, server"),
    "unknown key": ("[store]\nport = 1", "store.port: no such setting; there are url, secret_env"),
    "unknown limit": ("[limits]\nmax = 1", "limits.max: no such setting; there are max_recall"),
    "key of a token": (
        f'[[http.tokens]]\nname = "a"\nsha256 = "{HASH}"\ntoken = "s3cret"',
        "http.tokens[0].token: no such setting; there are name, sha256",
    ),
    "wrong type": ("[store]\ndeadline = '5'", "store.deadline: Expected `float`, got `str`"),
    "boolean for a number": ("[store]\ndeadline = true", "store.deadline: "),
    "table for a string": ("[store.url]", "store.url: "),
    "string for a table": ("store = 'chroma://h/x'", "store: "),
    "not a list": ("[http]\nallowed_hosts = 'a'", "http.allowed_hosts: "),
    "bad hash": ("[[http.tokens]]\nname = 'a'\nsha256 = 's3cret'", "http.tokens[0].sha256: "),
    "no hash": ("[[http.tokens]]\nname = 'a'", "http.tokens[0]: "),
    "token twice": (
        f"[[http.tokens]]\nname = 'a'\nsha256 = '{HASH}'\n" * 2,
        "http.tokens: two tokens are named 'a'",
    ),
    "bad origin": ("[http]\nallowed_origins = ['app.example']", "http.allowed_origins[0]: "),
    "bad host": ("[http]\nallowed_hosts = ['a', 'b c']", "http.allowed_hosts[1]: "),
    "bad address": ("[http]\nlisten = '8778'", "http.listen: '8778' is not HOST:PORT"),
    "bad port": ("[http]\nlisten = '127.0.0.1:70000'", "http.listen: 70000 is not in 0..65535"),
    "bad url": ("[store]\nurl = 'docs'", "store.url: a store is a URL"),
    "password in the url": ("[store]\nurl = 'chroma://a:s3cret@h/x'", "store.url: credentials"),
    "no such adapter": ("[store]\nurl = 'oracle://h/x'", "store.url: no adapter serves oracle://"),
    "bad option in the url": (
        "[store]\nurl = 'memory:///x?text_field=a..b'",
        "store.url?text_field: not a field name",
    ),
    "secret itself": ("[store]\nsecret_env = 's3cret!'", "store.secret_env: must be the name of"),
    "unknown layout option": ("[store.layout]\ntext = 'a'", "store.layout.text: no such setting"),
    "bad layout option": ("[store.layout]\ntext_field = 'a..b'", "store.layout.text_field: not a"),
    "layout of another type": ("[store.layout]\ntenant = 3", "store.layout.tenant: Expected"),
    "bad default time": (
        "[store.layout]\ncreated_at_default = 'now'",
        "store.layout.created_at_default: must be a time such as",
    ),
    "tenant of no field": ("[store.layout]\ntenant_field = 'a'", "store.layout.tenant_field: "),
    "unknown embedder": ("embedder = 'gpt'", "embedder: the kind before the colon is one of"),
    "embedder without model": ("embedder = 'openai:'", "embedder: openai needs its model"),
    "embedder of no kind": ("[embedder]\nmodel = 'a'", "embedder: `kind` is one of minilm"),
    "key of an embedder": ("[embedder]\nkind = 'minilm'\nmodel = 'a'", "embedder: "),
    "embedder out of range": (
        "[embedder]\nkind = 'openai'\nmodel = 'a'\ntimeout = 0",
        "embedder.timeout: Expected `float` > 0.0",
    ),
    "zero": ("[store]\ndeadline = 0", "store.deadline: must be above 0"),
    "negative": ("[limits]\nmax_timeline_limit = -1", "limits.max_timeline_limit: must be above 0"),
    "not a number": ("[server]\ndeadline = nan", "server.deadline: must be above 0 and finite"),
    "infinite": ("[http]\nshutdown_grace = inf", "http.shutdown_grace: must be above 0 and finite"),
    "more than all": ("[ranking]\nwords_weight = 1.5", "ranking.words_weight: must lie between"),
    "less than nothing": ("[ranking]\nwords_weight = nan", "ranking.words_weight: must lie"),
    "open to strangers": ("[http]\nlisten = '0.0.0.0:1'", "http.host: '0.0.0.0' (0.0.0.0) can be"),
    "no TOML": ("store = ", "not valid TOML: "),
    "a table twice": ("[store]\n[store]", "not valid TOML: "),
    "not UTF-8": (b"\xff", "not valid TOML: "),
    "too deep": ("a = " + "[" * 20_000 + "]" * 20_000, ""),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_a_mistake_is_named_by_file_table_and_key(
    command: ForkedCommands, mistake: str, settings_file: Path
) -> None:
    text, said = WRONG[mistake]
    settings_file.write_bytes(text.encode() if isinstance(text, str) else text)
    done = command("config", "check", str(settings_file))
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith(f"error: {settings_file}: {said}")
    assert "s3cret" not in done.err


@pytest.mark.parametrize("path", ["/nope.toml", "/"])
def test_a_file_that_is_none(command: ForkedCommands, path: str) -> None:
    done = command("config", "check", path)
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith(f"error: {path}: can't be read: ")


def test_every_command_names_it_in_the_same_way(
    command: ForkedCommands, settings_file: Path
) -> None:
    settings_file.write_text("[store.layout]\ntext_field = 'a..b'")
    of_check = command("config", "check", str(settings_file))
    for name in ("serve", "inspect", "describe", "recall", "timeline"):
        done = command(name, "memory:///plain", "--config", str(settings_file))
        assert (done.code, done.out, done.err) == (3, "", of_check.err), name


def test_a_right_file_is_ok(command: ForkedCommands, settings_file: Path) -> None:
    settings_file.write_text("[store]\nurl = 'chroma://127.0.0.1:1/x'\n")  # nobody is asked
    done = command("config", "check", str(settings_file))
    assert (done.code, done.out, done.err) == (0, f"{settings_file}: ok\n", "")


@pytest.mark.parametrize("name", ["alice", 'Ann "A" O\'Neill \\ ann', "烏龍茶 \U0001f600"])
def test_a_token_goes_into_the_file_as_it_is_printed(
    command: ForkedCommands, name: str, settings_file: Path
) -> None:
    done = command("config", "token", name)
    assert done.code == 0
    settings_file.write_text(done.out, "utf-8")
    (token,) = read_settings(settings_file).http.tokens
    assert token.name == name == tomllib.loads(done.out)["http"]["tokens"][0]["name"]
    printed = done.err.split()[-1]
    assert len(printed) >= 32
    assert printed not in done.out
    assert token.sha256 == hashlib.sha256(printed.encode()).hexdigest()


def test_a_token_of_ones_own(settings_file: Path) -> None:
    done = subprocess.run(
        [*command_line(), "config", "token", "alice", "--stdin"],
        input=b"my.own-token==\r\n",
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    settings_file.write_bytes(done.stdout)
    (token,) = read_settings(settings_file).http.tokens
    assert token.sha256 == hashlib.sha256(b"my.own-token==").hexdigest()
