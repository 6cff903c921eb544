"""The commands, and what their failures look like."""

from __future__ import annotations

import sys
from typing import Annotated, NoReturn

import typer

from a2m_gateway import __version__
from a2m_gateway.cli import config, demo, inspect, query, serve
from a2m_gateway.cli.console import STDERR
from a2m_gateway.cli.exit_codes import ExitCode, for_error
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
app.command("serve")(serve.serve_command)
app.command("inspect")(inspect.inspect_command)
app.command("describe")(query.describe_command)
app.command("recall")(query.recall_command)
app.command("timeline")(query.timeline_command)
app.command("demo")(demo.demo_command)
app.add_typer(config.app, name="config")


@app.callback()
def _callback(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)
    ] = False,
) -> None:
    if version:
        typer.echo(f"a2m-gateway {__version__}")
        raise typer.Exit


def run_app() -> NoReturn:
    """Run a command; no failure of a kind that is known ends in a traceback."""
    try:
        app(standalone_mode=True)
    except SetupError as error:
        _fail(str(error), ExitCode.SETUP)
    except A2MError as error:
        _fail(error.message, for_error(error))
    except ClientError as error:
        _fail(str(error), ExitCode.UNAVAILABLE)
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has seen enough (`| head`).
        sys.stderr.close()
        sys.exit(ExitCode.OK)
    sys.exit(ExitCode.OK)


def _fail(message: str, code: ExitCode) -> NoReturn:
    STDERR.print(f"error: {message}", style="red")
    sys.exit(code)
