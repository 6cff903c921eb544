"""Tenants that share a collection: never two of them in one answer."""

from __future__ import annotations

from dataclasses import replace

from a2m_gateway.errors import ConfigurationError, UnrecognisedLayout
from a2m_gateway.shapes.fields import format_field
from a2m_gateway.shapes.options import LayoutOptions
from a2m_gateway.shapes.sample import Sample
from a2m_gateway.shapes.shape import Shape, Tenant
from a2m_gateway.store import Path, Scalar

__all__ = ["told_tenant", "with_tenant"]

_USUAL = ("tenant_id", "tenant", "user_id")
_SHOWN = 8


def with_tenant(
    shape: Shape, sample: Sample, options: LayoutOptions, field: Path | None
) -> tuple[Shape, tuple[str, ...]]:
    """``shape`` with the filter that always applies, and what to say of it.

    Args:
        field: Where the recognised writer keeps tenants apart.

    Raises:
        UnrecognisedLayout: The writer mixes tenants and none is named.
        ConfigurationError: One is named, but not the field.
    """
    told = told_tenant(options, field)
    if told is not None:
        return replace(shape, tenant=told), (_applies(told),)
    seen = _seen(sample, field) if field else []
    if field is None or not seen:
        return shape, _warning(sample)
    name = format_field(field)
    if len(seen) > 1:
        raise UnrecognisedLayout(
            f"the records belong to several tenants, told apart by `{name}`.\n"
            "To settle it, give one of:\n"
            + "\n".join(f"  --tenant '{name}={value}'" for value in seen[:_SHOWN])
            + (f"\n  … and {len(seen) - _SHOWN} more" if len(seen) > _SHOWN else "")
        )
    only = Tenant(field, (seen[0],))
    return replace(shape, tenant=only), (
        f"all sampled records are of one tenant; {_applies(only)}",
    )


def told_tenant(options: LayoutOptions, field: Path | None = None) -> Tenant | None:
    """The tenant that the owner names; a number or a boolean also in its own type.

    Raises:
        ConfigurationError: It is named, but not the field, and the writer has none.
    """
    if options.tenant is None:
        return None
    path = options.tenant_field or field
    if path is None:
        raise ConfigurationError(
            "names a tenant, but no field tells tenants apart here; write FIELD=VALUE",
            setting="tenant",
        )
    values: list[Scalar] = [options.tenant]
    if options.tenant.isascii() and options.tenant.isdigit():
        values.append(int(options.tenant))
    if options.tenant in {"true", "false"}:
        values.append(options.tenant == "true")
    return Tenant(path, tuple(values))


def _applies(tenant: Tenant) -> str:
    return f"only records whose `{format_field(tenant.path)}` is {tenant.values[0]!r} are served"


def _seen(sample: Sample, path: Path) -> list[str]:
    return sorted({value for value in sample.values(path) if isinstance(value, str)})


def _warning(sample: Sample) -> tuple[str, ...]:
    for name in _USUAL:
        seen = _seen(sample, (name,))
        if len(seen) > 1:
            return (
                f"`{name}` has {len(seen)} values in the sample and all are served; "
                f"--tenant '{name}=VALUE' would serve one",
            )
    return ()
