"""Which collection a command is about, from the command line, the URL and the file together."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from a2m_gateway.cli.checks import read_settings
from a2m_gateway.cli.logging import LogLevel, configure
from a2m_gateway.cli.settings import Settings

__all__ = ["Choice", "takes_a_store"]

_LAYOUT = "Layout of the records, where detection is unsure"


@dataclass(frozen=True, slots=True)
class Choice:
    """What the user said; ``assembly`` puts it together.

    Attributes:
        target: The URL, or None where neither the command line nor the file has one.
        settings: The file's.
        embedder: The command line's, or None.
        layout: The command line's layout options by name.
    """

    target: str | None
    settings: Settings
    embedder: str | None
    layout: Mapping[str, str]

    @property
    def required_target(self) -> str:
        """The URL.

        Raises:
            typer.BadParameter: There is none.
        """
        if self.target is None:
            raise typer.BadParameter(
                "none is given: name a collection, such as chroma://localhost:8000/docs, or set "
                "store.url in the file that --config names",
                param_hint="STORE",
            )
        return self.target


def _option(name: str, metavar: str, text: str, panel: str | None = None) -> Any:
    return typer.Option(name, metavar=metavar, help=text, rich_help_panel=panel)


_STORE_HELP = "URL of a collection, such as chroma://localhost:8000/docs."
_TARGET_HELP = "A collection's URL, or an A2M server: http://HOST:PORT or unix:PATH."
_EMBEDDER_HELP = (
    "What turns queries into vectors: minilm, none, openai:MODEL@URL, onnx:PATH, … "
    "Without it, the bundled all-MiniLM-L6-v2 if it fits the collection."
)
_LAYOUT_OPTIONS = {
    "text_field": ("FIELD", "The text."),
    "metadata_field": ("FIELD", "The object that holds the metadata; * is all but the text."),
    "id_field": ("FIELD", "The field that records are known by."),
    "created_at_field": ("FIELD", "The time of creation."),
    "created_at_default": ("TIME", "The time of records that have none."),
    "vector_name": ("NAME", "The vector to search, where records carry several."),
    "tenant": ("FIELD=VALUE", "The one tenant whose records are served."),
}


def _parameters(argument: str, text: str) -> list[inspect.Parameter]:
    config = typer.Option("--config", "-c", metavar="FILE", help="Configuration file (TOML).")
    level = typer.Option("--log-level", help="What is logged on standard error.")
    annotations: dict[str, tuple[Any, object]] = {
        "target": (Annotated[str | None, typer.Argument(metavar=argument, help=text)], None),
        "config": (Annotated[Path | None, config], None),
        "embedder": (
            Annotated[str | None, _option("--embedder", "KIND[:MODEL[@URL]]", _EMBEDDER_HELP)],
            None,
        ),
        "log_level": (Annotated[LogLevel, level], LogLevel.WARNING),
    }
    for name, (metavar, meaning) in _LAYOUT_OPTIONS.items():
        flag = "--" + name.replace("_", "-")
        annotations[name] = (Annotated[str | None, _option(flag, metavar, meaning, _LAYOUT)], None)
    kind = inspect.Parameter.KEYWORD_ONLY
    return [
        inspect.Parameter(name, kind, default=default, annotation=annotation)
        for name, (annotation, default) in annotations.items()
    ]


def takes_a_store(argument: str = "STORE") -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Gives a command the options that say which collection; it gets them as one ``Choice``.

    Args:
        argument: ``STORE``, or ``TARGET`` for a command that also talks to a server.
    """
    shared = _parameters(argument, _STORE_HELP if argument == "STORE" else _TARGET_HELP)
    names = [parameter.name for parameter in shared]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        _, *own = inspect.signature(command, eval_str=True).parameters.values()

        @functools.wraps(command)
        def with_choice(**given: Any) -> None:
            command(_choice(**{name: given.pop(name) for name in names}), **given)

        own = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
        signature = inspect.Signature([*shared, *own])
        with_choice.__signature__ = signature  # type: ignore[attr-defined]
        with_choice.__annotations__ = {
            name: parameter.annotation for name, parameter in signature.parameters.items()
        }
        return with_choice

    return decorate


def _choice(
    target: str | None,
    config: Path | None,
    embedder: str | None,
    log_level: LogLevel,
    **layout: str | None,
) -> Choice:
    configure(log_level)
    settings = read_settings(config)
    named = {name: value for name, value in layout.items() if value is not None}
    return Choice(target or settings.store.url, settings, embedder, named)
