"""From a URL's scheme to its adapter, by entry point, loaded only when it is asked for."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

from a2m_gateway.errors import ConfigurationError, MissingDependency
from a2m_gateway.store.interface import Adapter

__all__ = ["GROUP", "adapter_for", "schemes"]

GROUP = "a2m_gateway.adapters"


def schemes() -> dict[str, EntryPoint]:
    """Every scheme that an installed distribution serves, sorted."""
    return {point.name: point for point in sorted(entry_points(group=GROUP), key=lambda p: p.name)}


def adapter_for(scheme: str) -> Adapter:
    """The adapter for a URL scheme.

    Raises:
        ConfigurationError: No distribution here serves that scheme.
        MissingDependency: Its client library is not installed.
    """
    known = schemes()
    point = known.get(scheme)
    if point is None:
        raise ConfigurationError(
            f"no adapter serves {scheme}://; there are {', '.join(known)}", setting="STORE"
        )
    try:
        adapter = point.load()
    except ModuleNotFoundError as error:
        raise MissingDependency(
            f"{scheme}:// needs {error.name}, which is not installed: {_remedy(point)}"
        ) from error
    if not isinstance(adapter, Adapter):
        raise ConfigurationError(
            f"{point.value} is no adapter: it has no connect()", setting="STORE"
        )
    return adapter


def _remedy(point: EntryPoint) -> str:
    name = point.dist.name if point.dist is not None else ""
    # Not point.extras, which splits a name at its hyphen (Python 3.11).
    extra = point.value.partition("[")[2].rstrip("] ")
    if name and extra:
        return f"pip install '{name}[{extra}]'"
    return f"pip install what {name or point.value} asks for"
