"""A database's key or token."""

from __future__ import annotations

from a2m_gateway.errors import ConfigurationError

__all__ = ["checked_secret"]


def checked_secret(secret: str | None) -> str | None:
    """``secret``, which an HTTP header can carry.

    Raises:
        ConfigurationError: It can't be one; the value is not shown.
    """
    if secret is not None and not (secret.isascii() and secret.isprintable() and secret.strip()):
        raise ConfigurationError(
            "is blank, or holds a line end or other characters that no key or token has",
            setting="A2M_STORE_SECRET",
        )
    return secret
