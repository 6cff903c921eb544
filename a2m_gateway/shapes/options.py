"""What an owner can tell about a layout: the options of the command line, URL and file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from a2m_gateway.errors import ConfigurationError
from a2m_gateway.protocol.timestamps import EPOCH
from a2m_gateway.shapes.fields import EVERYTHING, parse_field
from a2m_gateway.shapes.times import read_time
from a2m_gateway.store import Path, StoreURL

__all__ = ["LayoutOptions"]

_FIELDS = ("text_field", "metadata_field", "id_field", "created_at_field", "tenant_field")


@dataclass(frozen=True, slots=True)
class LayoutOptions:
    """Where things lie in a record; None is "find out".

    Attributes:
        text_field: The text. Alone it settles a layout that can't be told otherwise.
        metadata_field: The object that holds the metadata; ``EVERYTHING`` (written ``*``) when
            there is none and all that is not the text is metadata.
        id_field: The field by which records are known, instead of the store's own id.
        created_at_field: The time of creation, in any form that ``shapes.times`` reads.
        vector_name: The vector to search, where records carry several.
        tenant_field: The field that tells tenants apart.
        tenant: The one tenant whose records are served, as its field's value is written.
        created_at_default: The time of records without one, of the form of spec 3.3.
    """

    text_field: Path | None = None
    metadata_field: Path | None = None
    id_field: Path | None = None
    created_at_field: Path | None = None
    vector_name: str | None = None
    tenant_field: Path | None = None
    tenant: str | None = None
    created_at_default: str = EPOCH

    @classmethod
    def split(cls, url: StoreURL) -> tuple[dict[str, str], StoreURL]:
        """The layout options in a URL by name, and the URL without them, which no adapter knows."""
        known = {field.name for field in fields(cls)}
        layout = {name: value for name, value in url.options.items() if name in known}
        rest = {name: value for name, value in url.options.items() if name not in known}
        return layout, replace(url, options=rest)

    @classmethod
    def parse(cls, given: Mapping[str, str]) -> LayoutOptions:
        """Read options as people write them.

        Args:
            given: By name. ``tenant`` may be ``FIELD=VALUE`` where there is no ``tenant_field``.

        Raises:
            ConfigurationError: An unknown name, or a value that means nothing.
        """
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise ConfigurationError(
                    f"no such layout option; there are {', '.join(known)}", setting=name
                )
        paths = {name: _field(name, given[name]) for name in _FIELDS if name in given}
        tenant_field, tenant = _tenant(paths.pop("tenant_field", None), given.get("tenant"))
        return cls(
            **paths,
            vector_name=given.get("vector_name"),
            tenant_field=tenant_field,
            tenant=tenant,
            created_at_default=_default(given.get("created_at_default", EPOCH)),
        )


def _field(name: str, text: str) -> Path:
    try:
        path = parse_field(text)
    except ValueError as error:
        raise ConfigurationError(str(error), setting=name) from None
    if path == EVERYTHING and name != "metadata_field":
        raise ConfigurationError(
            "* is the whole record, which only metadata_field can be; "
            'a field of that name is written "*"',
            setting=name,
        )
    return path


def _tenant(field: Path | None, value: str | None) -> tuple[Path | None, str | None]:
    if value is None:
        if field is not None:
            raise ConfigurationError("needs `tenant` beside it", setting="tenant_field")
        return None, None
    if field is None and "=" in value:
        name, _, value = value.partition("=")
        field = _field("tenant", name)
    if not value:
        raise ConfigurationError("is empty; write FIELD=VALUE", setting="tenant")
    return field, value


def _default(text: str) -> str:
    moment = read_time(text)
    if moment is None or moment.kind.is_epoch:
        raise ConfigurationError(
            "must be a time such as 2026-07-28T10:15:30.123Z", setting="created_at_default"
        )
    return moment.timestamp
