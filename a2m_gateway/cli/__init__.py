"""The command line: ``a2m-gateway``."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command that ``sys.argv`` names, and exit with its code."""
    from a2m_gateway.cli.app import run_app

    run_app()
