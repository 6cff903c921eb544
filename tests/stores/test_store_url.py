"""Store URLs, the careless and the hostile ones."""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from a2m_gateway.errors import ConfigurationError
from a2m_gateway.store import StoreURL, registry


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        # The examples of the design.
        ("qdrant://host:6333/docs", ("qdrant", "host", 6333, False, "", "docs", {})),
        ("qdrant+file:///var/q/docs", ("qdrant+file", None, None, False, "/var/q", "docs", {})),
        ("chroma://host:8000/docs", ("chroma", "host", 8000, False, "", "docs", {})),
        ("chroma+file:///var/c/docs", ("chroma+file", None, None, False, "/var/c", "docs", {})),
        ("milvus+file:///m.db/docs", ("milvus+file", None, None, False, "/m.db", "docs", {})),
        ("redis://host:6379/0/idx", ("redis", "host", 6379, False, "/0", "idx", {})),
        ("memory:///docs", ("memory", None, None, False, "", "docs", {})),
        # TLS, said in two ways.
        ("qdrants://host/docs", ("qdrant", "host", None, True, "", "docs", {})),
        ("chromas://host/docs", ("chroma", "host", None, True, "", "docs", {})),
        ("chroma://host/docs?tls=true", ("chroma", "host", None, True, "", "docs", {})),
        ("chroma://host/docs?tls=0", ("chroma", "host", None, False, "", "docs", {})),
        ("chromas://host/docs?tls=true", ("chroma", "host", None, True, "", "docs", {})),
        # Names that need care.
        ("memory:///my%20docs", ("memory", None, None, False, "", "my docs", {})),
        ("memory:///a%2Fb", ("memory", None, None, False, "", "a/b", {})),
        ("memory:///a%23b%3Fc%25", ("memory", None, None, False, "", "a#b?c%", {})),
        ("memory:///d%C3%B6cs", ("memory", None, None, False, "", "döcs", {})),
        ("memory:///döcs", ("memory", None, None, False, "", "döcs", {})),
        ("qdrant://[::1]:6333/docs", ("qdrant", "::1", 6333, False, "", "docs", {})),
        ("qdrant://host:6333", ("qdrant", "host", 6333, False, "", "", {})),
        ("qdrant://host:6333/", ("qdrant", "host", 6333, False, "", "", {})),
        ("QDRANT://HOST/Docs", ("qdrant", "host", None, False, "", "Docs", {})),
        # Options.
        ("memory:///d?a=1&b=", ("memory", None, None, False, "", "d", {"a": "1", "b": ""})),
        ("memory:///d?c", ("memory", None, None, False, "", "d", {"c": ""})),
        ("memory:///d?a=x%26y%3D1", ("memory", None, None, False, "", "d", {"a": "x&y=1"})),
        ("memory:///d?A=1&a=2", ("memory", None, None, False, "", "d", {"A": "1", "a": "2"})),
    ],
)  # fmt: skip
def test_what_a_url_says(text: str, wanted: tuple[Any, ...]) -> None:
    url = StoreURL.parse(text)
    parts = (url.scheme, url.host, url.port, url.tls, url.path, url.collection, dict(url.options))
    assert parts == wanted


@pytest.mark.parametrize(
    "text",
    [
        "",
        "docs",
        "/var/c/docs",
        "chroma",
        "chroma:docs",
        "chroma:/docs",
        "://host/docs",
        "localhost:8000/docs",
        "chroma://host:port/docs",
        "chroma://host:99999/docs",
        "chroma://host:-1/docs",
        "chroma://[::1/docs",
        "chroma+file://var/c/docs",
        "chroma+file://host:1/docs",
        "chroma://host/docs?a=1&a=2",
        "chroma://host/docs?tls=maybe",
        "chroma://host/docs?tls=",
        "chroma://host/docs?tls=true&tls=true",
        "chromas://host/docs?tls=false",
        "chroma://host/do#cs",
        "chroma://host/docs#",
        "chroma://host/do\ncs",
        "chroma://host/do\tcs",
        "chroma://host/docs\r\n",
        " chroma://host/docs",
        "chroma://host/docs\x00",
        "chroma://host/%FF",
        "chroma://host/docs?a=%FF",
    ],
)
def test_what_is_no_store_url_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError):
        StoreURL.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "redis://user:hunter2@host/0/idx",
        "redis://:hunter2@host/0/idx",
        "redis://hunter2@host/0/idx",
        "redis://user:hunter2/x@host/0/idx",
        "redis://user:hunter2#x@host/0/idx",
        "redis://user:hunter2?x@host/0/idx",
        "redis://user:hun[ter2@host/0/idx",
        "qdrant+file://user:hunter2@/q/docs",
    ],
)
def test_a_secret_in_a_url_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        StoreURL.parse(text)
    assert "hunter2" not in str(caught.value)
    assert "hun[ter2" not in str(caught.value)


NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=8
)


OPTIONS = st.dictionaries(NAMES.filter(lambda name: name != "tls"), NAMES, max_size=3)


@given(NAMES, st.booleans(), st.booleans(), OPTIONS)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_a_url_that_is_shown_says_the_same_when_it_is_read(
    name: str, embedded: bool, tls: bool, options: dict[str, str]
) -> None:
    scheme, host = ("chroma+file", None) if embedded else ("chroma", "::1")
    folder = "/a b/ü" if embedded else ""
    port = None if embedded else 8000
    url = StoreURL(scheme, host, port, tls and not embedded, folder, name, options)
    assert StoreURL.parse(str(url)) == url


@pytest.mark.parametrize(
    ("text", "scheme", "tls"),
    [
        ("redis://host/docs", "redis", False),
        ("rediss://host/docs", "redis", True),
        ("foos://host/docs", "foo", True),
        ("bars://host/docs", "bars", False),  # an adapter's own
        ("barss://host/docs", "bars", True),
        ("foosy://host/docs", "foosy", False),
        ("others://host/docs", "others", False),
        ("foo+files:///a/docs", "foo+files", False),  # a folder has no TLS
    ],
)
def test_an_s_says_tls_for_whatever_adapter_is_installed(
    monkeypatch: pytest.MonkeyPatch, text: str, scheme: str, tls: bool
) -> None:
    names = ["redis", "foo", "bar", "bars", "foo+file"]
    points = [EntryPoint(name, "nowhere:adapter", registry.GROUP) for name in names]
    monkeypatch.setattr(registry, "entry_points", lambda *, group: points)
    url = StoreURL.parse(text)
    assert (url.scheme, url.tls) == (scheme, tls)
    if tls:
        assert str(url) == text


@pytest.mark.parametrize(("given", "wanted"), [("?x=TRUE", True), ("?x=0", False), ("", True)])
def test_a_flag(given: str, wanted: bool) -> None:
    assert StoreURL.parse(f"chroma://host/docs{given}").flag("x", True) is wanted
    with pytest.raises(ConfigurationError, match="x: must be true or false"):
        StoreURL.parse("chroma://host/docs?x=").flag("x")


def test_an_option_that_the_adapter_does_not_know_is_refused() -> None:
    url = StoreURL.parse("chroma://localhost/docs?databse=x")
    with pytest.raises(ConfigurationError, match=r"databse: .*there are database"):
        url.check_options("database")
    StoreURL.parse("chroma://localhost/docs?database=x").check_options("database")


def test_a_folder_without_its_slash_is_told_how_to_be_named(tmp_path: Path) -> None:
    folder = tmp_path / "my store"
    folder.mkdir()
    (folder / "marker").touch()
    url = StoreURL.parse(f"chroma+file://{tmp_path}/my%20store")
    with pytest.raises(ConfigurationError) as caught:
        url.check_collection("marker")
    named = re.search(r"(\S+/my%20store/) names it", str(caught.value))
    assert named is not None
    StoreURL.parse(named.group(1)).check_collection("marker")
    assert StoreURL.parse(named.group(1)).path == str(folder)
    StoreURL.parse(f"chroma+file://{folder}/docs").check_collection("marker")
