"""The commands, and what their failures look like."""

from __future__ import annotations

import sys
from typing import Annotated, NoReturn

import typer

from a2m_gateway import __version__
from a2m_gateway.cli import config, demo, inspect, query, serve
from a2m_gateway.cli.console import STDERR, visible
from a2m_gateway.cli.exit_codes import ExitCode, exit_code
from a2m_gateway.cli.streams import OutputLost, guard_streams
from a2m_gateway.errors import A2MError, ClientError, SetupError

__all__ = ["app", "run_app"]

app = typer.Typer(
    name="a2m-gateway",
    help="Puts a collection in an existing vector database behind Agent-to-Memory (A2M 0.1).",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("serve", context_settings=serve.CONTEXT)(serve.serve_command)
app.command("inspect")(inspect.inspect_command)
app.command("describe")(query.describe_command)
app.command("recall")(query.recall_command)
app.command("timeline", short_help="Read in the order of creation (memory/timeline).")(
    query.timeline_command
)
app.command("demo", short_help="Build a small corpus, serve it, and ask it three questions.")(
    demo.demo_command
)
app.add_typer(config.app, name="config")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"a2m-gateway {__version__}")
        raise typer.Exit


@app.callback()
def _callback(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    pass


def run_app() -> NoReturn:
    """Run a command; no failure of a kind that is known ends in a traceback."""
    guard_streams()
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except (SetupError, ClientError) as error:
        _fail(str(error), exit_code(error))
    except A2MError as error:
        _fail(error.message, exit_code(error))
    except OutputLost as error:
        _fail(str(error), ExitCode.FAULT)
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
    sys.exit(ExitCode.OK)


def _fail(message: str, code: ExitCode) -> NoReturn:
    STDERR.print(f"error: {visible(message)}", style="red")
    sys.exit(code)
