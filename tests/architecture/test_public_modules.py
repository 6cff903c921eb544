"""Every public module says what is public in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = [
    path
    for start in ("a2m_gateway", "adapters")
    for path in sorted((ROOT / start).rglob("*.py"))
    if path.name == "__init__.py" or not path.name.startswith("_")
]


def exported(tree: ast.Module) -> list[str] | None:
    """The names in ``__all__``, or None where a module has none."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else ()
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            assert isinstance(node, ast.Assign)
            names: list[str] = ast.literal_eval(node.value)
            return names
    return None


def defines_nothing(tree: ast.Module) -> bool:
    """Nothing in it but its docstring."""
    return all(isinstance(node, ast.Expr) for node in tree.body)


def bound_names(tree: ast.Module) -> Iterator[str]:
    """Every name that the module defines, imports or assigns, at whatever depth."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Name):
            yield node.id


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_all_is_there_and_true(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    names = exported(tree)
    if names is None:
        assert defines_nothing(tree), "no __all__"
        return
    assert set(names) - set(bound_names(tree)) == set()


def test_every_package_is_typed() -> None:
    packages = [
        ROOT / "a2m_gateway",
        *(p.parent for p in (ROOT / "adapters").glob("*/__init__.py")),
    ]
    assert [p.name for p in packages if not (p / "py.typed").is_file()] == []
