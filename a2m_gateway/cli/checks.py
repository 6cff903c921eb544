"""Whether what a configuration file says means something, found out without connecting."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from a2m_gateway.cli.listening import http_settings
from a2m_gateway.cli.settings import Settings, decode_settings
from a2m_gateway.embedding import embedder_settings
from a2m_gateway.errors import ConfigurationError
from a2m_gateway.shapes import LayoutOptions
from a2m_gateway.store import StoreURL

__all__ = ["read_settings", "secret_from", "within"]

_MOST = 1e12
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def read_settings(file: Path | None) -> Settings:
    """The settings in ``file``; without one, the defaults.

    Raises:
        ConfigurationError: Names the file, the table and the key.
    """
    if file is None:
        return Settings()
    settings = decode_settings(file)
    try:
        _check_numbers(settings)
        _check_store(settings)
        if settings.embedder is not None:
            embedder_settings(settings.embedder)
        http_settings(settings.http, None)
    except ConfigurationError as error:
        raise within(error, f"{file}: ") from None
    return settings


def secret_from(variable: str, *, required_by: str | None = None) -> str | None:
    """A secret, which only ever comes from the environment; empty is none.

    Args:
        required_by: The setting that names the variable, where somebody chose it.

    Raises:
        ConfigurationError: It is not there, or can't be one; the value is not shown.
    """
    secret = os.environ.get(variable) or None
    if secret is None and required_by is not None:
        # The name is not shown: it may be the secret itself, put here by mistake.
        raise ConfigurationError(
            "the environment variable of this name is not set", setting=required_by
        )
    if secret is not None and not (secret.isascii() and secret.isprintable()):
        raise ConfigurationError(
            "holds a line end or other characters that no key or token has", setting=variable
        )
    return secret


def within(error: ConfigurationError, prefix: str, *, inner: bool = True) -> ConfigurationError:
    """The same error under the name that its setting has further outside.

    Args:
        prefix: What precedes the name.
        inner: Whether the setting's own name follows; without it the prefix is the name.
    """
    message = str(error).removeprefix(f"{error.setting}: ")
    setting = f"{prefix}{error.setting or ''}" if inner else prefix
    return ConfigurationError(message, setting=setting)


def _check_numbers(settings: Settings) -> None:
    positive: Mapping[str, float] = {
        "store.deadline": settings.store.deadline,
        "server.deadline": settings.server.deadline,
        "limits.max_recall_limit": settings.limits.max_recall_limit,
        "limits.max_timeline_limit": settings.limits.max_timeline_limit,
        "limits.max_request_bytes": settings.limits.max_request_bytes,
        "http.shutdown_grace": settings.http.shutdown_grace,
    }
    for name, value in positive.items():
        if not 0 < value < _MOST:  # which NaN is not either
            raise ConfigurationError("must be above 0 and finite", setting=name)
    weight = settings.ranking.words_weight
    if weight is not None and not 0 <= weight <= 1:
        raise ConfigurationError("must lie between 0 and 1", setting="ranking.words_weight")


def _check_store(settings: Settings) -> None:
    store = settings.store
    if not _VARIABLE.fullmatch(store.secret_env):
        raise ConfigurationError(
            "must be the name of the environment variable that holds the secret, not the secret",
            setting="store.secret_env",
        )
    try:
        LayoutOptions.parse(store.layout.given())
    except ConfigurationError as error:
        raise within(error, "store.layout.") from None
    if store.url is None:
        return
    try:
        url = StoreURL.parse(store.url)
    except ConfigurationError as error:
        raise within(error, "store.url", inner=False) from None
    try:
        LayoutOptions.parse(LayoutOptions.split(url)[0])
    except ConfigurationError as error:
        raise within(error, "store.url?") from None
