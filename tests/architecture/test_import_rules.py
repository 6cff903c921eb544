"""Who may import whom (docs/adr/0002, CONTRIBUTING "Layout"), read from the sources.

The checker is given sources and so can be shown to fail; the last tests do that.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORE = "a2m_gateway"

_FOUNDATION = {"errors", "address", "protocol", "capability"}
_ENGINE = _FOUNDATION | {"store", "layers", "shapes", "embedding"}
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "address": set(),
    "protocol": {"errors"},
    "capability": {"errors", "protocol"},
    "store": _FOUNDATION,
    "layers": _FOUNDATION | {"store"},
    "shapes": _FOUNDATION | {"store"},
    "embedding": _FOUNDATION | {"store"},
    "memory": _ENGINE,
    "client": {"errors", "address", "protocol"},
    "testing": _ENGINE | {"memory"},
    "transports": _ENGINE | {"memory", "client"},
    "cli": _ENGINE | {"memory", "client", "transports"},
}
"""The folders of the core, lowest first, and what each may import beside itself."""

ADAPTER_MAY_IMPORT = {"store", "capability", "errors"}
THIRD_PARTY: dict[str, set[str]] = {
    "errors": set(),
    "protocol": {"msgspec"},
    "capability": {"msgspec"},
}
"""Folders for which less than the declared dependencies will do."""

OF_EXTRAS = {"a2m_gateway.cli.demo": {"qdrant_client"}}
"""Modules that need an extra: the demo plays the pipeline that wrote a corpus."""


@dataclass(frozen=True)
class Import:
    """One import statement's target."""

    importer: str
    target: str
    name: str | None = None


def sources(root: Path) -> dict[str, str]:
    """Module name → source of every Python file beneath ``root/a2m_gateway`` and ``adapters``."""
    found = {}
    for base, start in ((root, root / CORE), (root / "adapters", root / "adapters")):
        for path in sorted(start.rglob("*.py")):
            parts = path.relative_to(base).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name + (".__init__" if parts[-1] == "__init__" else "")] = path.read_text("utf-8")
    return found


def imports(modules: Mapping[str, str]) -> Iterator[Import]:
    """Every import in ``modules``, wherever it stands, relative ones resolved."""
    known = {name.removesuffix(".__init__") for name in modules}
    for importer, source in modules.items():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                yield from (Import(importer, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = node.module or ""
                if node.level:
                    package = importer.split(".")[: -node.level]
                    base = ".".join([*package, *([base] if base else [])])
                for alias in node.names:
                    submodule = f"{base}.{alias.name}"
                    target = submodule if submodule in known else base
                    yield Import(importer, target, alias.name)


def unit(module: str) -> str:
    """What the rules speak of: a folder of the core (``store``), or a top package (``a2m_qdrant``).

    The core's own ``__init__`` is the unit ``a2m_gateway``.
    """
    top, _, rest = module.partition(".")
    folder = rest.partition(".")[0]
    return folder if top == CORE and folder not in ("", "__init__") else top


def violations(modules: Mapping[str, str], third_party: Mapping[str, set[str]]) -> list[str]:
    """One line per import that breaks a rule.

    Args:
        modules: Module name → source.
        third_party: Unit → the top-level packages that its dependencies bring; ``a2m_gateway``
            stands for every folder of the core that ``THIRD_PARTY`` does not restrict.
    """
    adapters = {unit(name) for name in modules if not name.startswith(CORE)}
    found = []
    for statement in imports(modules):
        trouble = _trouble(statement, adapters, third_party)
        if trouble:
            found.append(f"{statement.importer} imports {statement.target}: {trouble}")
    return found


def _trouble(
    statement: Import, adapters: set[str], third_party: Mapping[str, set[str]]
) -> str | None:
    importer, target = unit(statement.importer), unit(statement.target)
    if importer == target or target in sys.stdlib_module_names:
        return None
    if statement.target.partition(".")[0] == CORE:
        if statement.name == "__version__" or importer == CORE:
            return None  # the version is no part of the core's behaviour; the root is the façade
        allowed = ADAPTER_MAY_IMPORT if importer in adapters else MAY_IMPORT.get(importer)
        if allowed is None:
            return f"the folder {importer} has no rule in MAY_IMPORT"
        return None if target in allowed else f"{importer} may import {sorted(allowed)}"
    if target in adapters:
        return "nothing imports an adapter: it is found by its entry point"
    ours = THIRD_PARTY.get(importer, third_party.get(importer, third_party[CORE]))
    ours = ours | OF_EXTRAS.get(statement.importer, set())
    return None if target in ours else "no declared dependency of this package brings it"


def cycles(modules: Mapping[str, str]) -> None:
    """Raise ``CycleError`` where units import one another in a circle."""
    graph: dict[str, set[str]] = {}
    for statement in imports(modules):
        importer, target = unit(statement.importer), unit(statement.target)
        if importer != target and statement.name != "__version__":
            graph.setdefault(importer, set()).add(target)
    TopologicalSorter(graph).prepare()


def declared_packages() -> dict[str, set[str]]:
    """Unit → the top-level packages of what ``pyproject.toml`` declares for it.

    An adapter ``a2m_x`` has the core's dependencies and those of the extras ``x`` and ``x-…``. What
    these need themselves does not count: they may stop needing it.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    core = _packages(project["dependencies"])
    found = {CORE: core}
    for path in (ROOT / "adapters").iterdir():
        own = path.name.removeprefix("a2m_")
        mine = [line for name in extras if name.partition("-")[0] == own for line in extras[name]]
        found[path.name] = core | _packages(mine)
    return found


def _packages(requirements: list[str]) -> set[str]:
    wanted = {_normal(_distribution(line)) for line in requirements}
    return {
        package
        for package, distributions in packages_distributions().items()
        if wanted & {_normal(name) for name in distributions}
    }


def _distribution(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", requirement)[0]


def _normal(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()


def test_imports_go_downwards_only() -> None:
    assert violations(sources(ROOT), declared_packages()) == []


def test_no_circles_between_folders() -> None:
    cycles(sources(ROOT))


def test_every_folder_has_a_rule() -> None:
    folders = {unit(name) for name in sources(ROOT) if name.startswith(f"{CORE}.")} - {CORE}
    assert folders == set(MAY_IMPORT)


def test_the_core_names_no_adapter() -> None:
    """Nor by a string that ``importlib`` could be given."""
    adapters = {path.name for path in (ROOT / "adapters").iterdir()}
    named = [
        f"{module}: {node.value}"
        for module, source in sources(ROOT).items()
        for node in ast.walk(ast.parse(source))
        if module.startswith(CORE)
        and isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value.partition(".")[0] in adapters
    ]
    assert adapters
    assert named == []


def test_what_a_client_library_needs_is_not_ours() -> None:
    """``yarl`` comes with aiohttp; aiohttp itself is declared."""
    declared = declared_packages()["a2m_chroma"]
    assert "aiohttp" in declared
    assert "yarl" not in declared


@pytest.mark.parametrize(
    ("importer", "source"),
    [
        ("a2m_gateway.store.x", "from a2m_gateway.memory import endpoint"),
        ("a2m_gateway.store.x", "import a2m_gateway.layers.exact"),
        ("a2m_gateway.store.x", "def f():\n    from ..layers import exact"),
        ("a2m_gateway.layers.x", "from a2m_gateway.shapes import detect"),
        ("a2m_gateway.client.x", "from a2m_gateway.store import Row"),
        ("a2m_gateway.protocol.x", "import httpx"),
        ("a2m_gateway.protocol.x", "from a2m_gateway import store"),
        ("a2m_gateway.memory.x", "import a2m_y"),
        ("a2m_gateway.memory.x", "import qdrant_client"),
        ("a2m_gateway.memory.x", "import undeclared"),
        ("a2m_gateway.novel.x", "from a2m_gateway.errors import A2MError"),
        ("a2m_x.x", "import a2m_y"),
        ("a2m_x.x", "from a2m_gateway.layers import ExactLayer"),
        ("a2m_x.x", "from a2m_gateway.protocol import json"),
    ],
)
def test_a_forbidden_import_is_seen(importer: str, source: str) -> None:
    modules = {
        importer: source,
        "a2m_y.__init__": "",
        "a2m_gateway.store.__init__": "",
        "a2m_gateway.layers.exact": "",
    }
    packages = {CORE: {"httpx", "msgspec"}, "a2m_x": {"httpx"}, "a2m_y": {"qdrant_client"}}
    assert len(violations(modules, packages)) == 1


def test_allowed_imports_pass() -> None:
    modules = {
        "a2m_gateway.__init__": "from a2m_gateway.client import Client",
        "a2m_gateway.store.x": "import os.path\nfrom . import rows\nfrom a2m_gateway import errors",
        "a2m_gateway.store.rows": "from a2m_gateway import __version__",
        "a2m_gateway.errors": "",
        "a2m_x.__init__": "from a2m_x.y import z\nfrom a2m_gateway.store import Row\nimport httpx",
    }
    assert violations(modules, {CORE: set(), "a2m_x": {"httpx"}}) == []


def test_a_circle_is_seen() -> None:
    modules = {
        "a2m_gateway.layers.x": "from a2m_gateway.shapes import y",
        "a2m_gateway.shapes.y": "from a2m_gateway.layers import x",
    }
    with pytest.raises(ValueError, match="cycle"):
        cycles(modules)
