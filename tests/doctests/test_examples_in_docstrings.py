"""The examples in docstrings are so."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = {"a2m_gateway": ROOT, "adapters": ROOT / "adapters"}


def _modules() -> list[str]:
    """Every module with an example; the others are not imported."""
    return sorted(
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        for folder, root in FOLDERS.items()
        for path in (ROOT / folder).rglob("*.py")
        if ">>>" in path.read_text(encoding="utf-8")
    )


@pytest.mark.parametrize("name", _modules())
def test_examples(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith(("a2m_", "adapters")):
            raise
        pytest.skip(f"needs {error.name}")
    failed, tried = doctest.testmod(module)
    assert tried, "it has a >>> and no example"
    assert failed == 0


def test_examples_are_found() -> None:
    assert "a2m_gateway.store.filter" in _modules()
