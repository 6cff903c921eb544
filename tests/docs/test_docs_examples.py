"""The examples in docs/ run, and what the pages list is what there is."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from gateway import Gateway, command_line
from typer.main import get_command

from a2m_gateway import Client
from a2m_gateway.cli.app import app
from a2m_gateway.cli.checks import read_settings
from a2m_gateway.cli.settings import LayoutTable, Settings
from a2m_gateway.embedding import EmbedderSettings, embedder_settings
from a2m_gateway.embedding.settings import Minilm
from a2m_gateway.shapes import LayoutOptions

DOCS = Path(__file__).resolve().parents[2] / "docs"
EXAMPLE = "memory:///example"
FENCE = r"^```{}\n(.*?)^```$"


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(FENCE.format(language), page.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def uncommented(block: str) -> str:
    """The block with the settings that are commented out in force."""
    return re.sub(r"^# (?=\w+ = |\[)", "", block, flags=re.MULTILINE)


TOML = [
    pytest.param(block, id=f"{page.name}-{number}")
    for page in sorted(DOCS.glob("*.md"))
    for number, block in enumerate(blocks(page, "toml"))
]


@pytest.mark.parametrize("block", TOML)
def test_toml_is_a_configuration_file(block: str, tmp_path: Path) -> None:
    for number, text in enumerate((block, uncommented(block))):
        file = tmp_path / f"{number}.toml"
        file.write_text(text, "utf-8")
        read_settings(file)


def leaves(value: object, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every setting of a struct or of what TOML gives for one, by its path."""
    if isinstance(value, msgspec.Struct):
        value = {name: getattr(value, name) for name in value.__struct_fields__}
    if not isinstance(value, dict):
        yield path, value
        return
    for name, inner in value.items():
        yield from leaves(inner, f"{path}.{name}" if path else name)


def test_the_page_lists_every_setting_with_its_default() -> None:
    (block,) = blocks(DOCS / "configuration.md", "toml")
    shown = dict(leaves(msgspec.toml.decode(block)))
    everything = dict(leaves(msgspec.toml.decode(uncommented(block))))
    defaults = dict(leaves(Settings()))
    given = {name: value for name, value in defaults.items() if value not in (None, ())}
    lists = {"http.allowed_origins", "http.allowed_hosts"}
    assert {name: value for name, value in shown.items() if name not in lists} == given
    assert all(shown[name] == [] for name in lists)
    assert set(everything) == set(defaults)
    (token,) = everything["http.tokens"]
    assert set(token) == {"name", "sha256"}


def test_the_layout_table_takes_what_layouts_have() -> None:
    assert set(LayoutTable.__struct_fields__) == set(LayoutOptions.__dataclass_fields__)


def test_the_page_lists_every_setting_of_an_embedder() -> None:
    page = (DOCS / "embedders.md").read_text("utf-8")
    table = page.partition("| setting | of |")[2].partition("\n\n")[0]
    listed = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE))))
    kinds = get_args(EmbedderSettings)
    assert listed == {name for kind in kinds for name in kind.__struct_fields__}
    assert f"| {Minilm().max_tokens};" in table
    for kind in kinds:
        tag = kind.__struct_config__.tag
        assert re.search(rf"^\|.*`{tag}[:`]", page, re.MULTILINE), tag


def test_the_short_forms_of_embedders_are_read() -> None:
    page = (DOCS / "embedders.md").read_text("utf-8")
    rows = re.findall(r"^\| (`[^|]*`) \| ", page.partition("| setting")[0], re.MULTILINE)
    forms = [form for row in rows for form in re.findall(r"`([^`]+)`", row) if "--" not in form]
    assert len(forms) > 8
    for form in forms:
        embedder_settings(form.replace("[@URL]", "@http://localhost:1/v1"))
        embedder_settings(form.replace("[@URL]", ""))


def commands() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        inner = getattr(command, "commands", None)
        if inner is None:
            found[name] = command
        else:
            found |= {f"{name} {below}": one for below, one in inner.items()}
    return found


def test_the_page_lists_every_command() -> None:
    page = (DOCS / "commands.md").read_text("utf-8")
    rows = re.findall(r"^\| `([a-z ]+?)(?: [\[A-Z][^`]*)?` \| ", page, re.MULTILINE)
    assert set(rows) == set(commands())


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_options_exist(page: Path) -> None:
    options = {option for one in commands().values() for p in one.params for option in p.opts}
    named = set(re.findall(r"(?<![\w-])(--[a-z][a-z-]+)", page.read_text("utf-8")))
    # Options of the commands around ours: pip's, uvicorn's, docker's would be named here.
    assert named - options - {"--help"} == set()


PYTHON = [
    pytest.param(block, id=str(number))
    for number, block in enumerate(blocks(DOCS / "python.md", "python"))
]


@pytest.mark.parametrize("block", PYTHON)
def test_python_runs(block: str, start_gateway: Callable[..., Gateway]) -> None:
    code = block
    if "http://127.0.0.1:8778/" in code:
        question = "how often does the deploy key change?"
        assert question in code
        code = code.replace("http://127.0.0.1:8778/", start_gateway(EXAMPLE).http)
        code = code.replace(question, "deploy key")  # words are all that this collection has
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "docs/python.md", "exec"), {"__name__": "__main__"})
    told = "E4211" if "E4211" in code else "deploy key"
    assert told in printed.getvalue()


async def test_the_client_that_starts_a_server_of_its_own() -> None:
    page = (DOCS / "python.md").read_text("utf-8")
    (call,) = re.findall(r"`Client\.stdio\((\[.*?\])\)`", page)
    name, verb, store, *rest = msgspec.json.decode(call)
    assert (name, verb, store.partition(":")[0]) == ("a2m-gateway", "serve", "chroma")
    async with Client.stdio([*command_line(), verb, EXAMPLE, *rest]) as memory:
        assert (await memory.describe()).capabilities == {"core"}
