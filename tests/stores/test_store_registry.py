"""From a scheme to its adapter."""

from __future__ import annotations

import tomllib
from importlib.metadata import Distribution, EntryPoint
from pathlib import Path

import pytest

from a2m_gateway.errors import ConfigurationError, MissingDependency
from a2m_gateway.store import registry
from a2m_gateway.store.memory import adapter as memory_adapter

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))[
    "project"
]


@pytest.fixture
def points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Adapters of distributions that are not there."""
    values = {
        "memory": "a2m_gateway.store.memory:adapter",
        "away": "no_such_package_anywhere:adapter",
        "away+file": "no_such_package_anywhere:embedded",
        "nothing": "json:loads",
    }
    found = [EntryPoint(name, value, registry.GROUP) for name, value in values.items()]
    monkeypatch.setattr(registry, "entry_points", lambda *, group: found)


def test_the_installed_adapters_are_found() -> None:
    assert "memory" in registry.schemes()
    assert list(registry.schemes()) == sorted(registry.schemes())
    assert registry.adapter_for("memory") is memory_adapter


@pytest.mark.parametrize("scheme", ["http", "", "MEMORY", "memory+file", "qdrant://", "mem\nory"])
def test_an_unknown_scheme_is_refused_with_what_there_is(scheme: str) -> None:
    with pytest.raises(ConfigurationError, match="memory"):
        registry.adapter_for(scheme)


@pytest.mark.usefixtures("points")
@pytest.mark.parametrize("scheme", ["away", "away+file"])
def test_a_missing_library_is_named_with_what_installs_it(scheme: str) -> None:
    with pytest.raises(MissingDependency) as caught:
        registry.adapter_for(scheme)
    assert "no_such_package_anywhere" in str(caught.value)
    assert "pip install" in str(caught.value)


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        ("no_such_package_anywhere:adapter [some-client]", "pip install 'a2m-thing[some-client]'"),
        ("no_such_package_anywhere:adapter[some_client]", "pip install 'a2m-thing[some_client]'"),
        ("no_such_package_anywhere:adapter", "pip install what a2m-thing asks for"),
    ],
)
def test_the_extra_is_that_of_the_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, remedy: str
) -> None:
    folder = tmp_path / "a2m_thing-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: a2m-thing\nVersion: 1\n")
    (folder / "entry_points.txt").write_text(f"[{registry.GROUP}]\nthing+file = {value}\n")
    found = Distribution.at(folder).entry_points
    monkeypatch.setattr(registry, "entry_points", lambda *, group: found.select(group=group))
    with pytest.raises(MissingDependency) as caught:
        registry.adapter_for("thing+file")
    assert str(caught.value).endswith(remedy)


def test_our_entry_points_name_extras_that_there_are() -> None:
    points: dict[str, str] = PROJECT["entry-points"][registry.GROUP]
    named = {scheme: value.partition("[")[2].rstrip("]") for scheme, value in points.items()}
    assert named == {
        "memory": "",
        "qdrant": "qdrant",
        "qdrant+file": "qdrant",
        "chroma": "chroma",
        "chroma+file": "chroma-embedded",
    }
    assert set(named.values()) - {""} <= PROJECT["optional-dependencies"].keys()


@pytest.mark.usefixtures("points")
def test_what_has_no_connect_is_no_adapter() -> None:
    with pytest.raises(ConfigurationError, match="json:loads"):
        registry.adapter_for("nothing")


@pytest.mark.usefixtures("points")
def test_nothing_is_loaded_before_it_is_asked_for() -> None:
    assert sorted(registry.schemes()) == ["away", "away+file", "memory", "nothing"]
    assert registry.adapter_for("memory") is memory_adapter
