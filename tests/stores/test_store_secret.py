"""A secret that no header can carry is refused before any database is asked, and is not shown."""

from __future__ import annotations

import pytest

from a2m_gateway.errors import ConfigurationError, StoreError
from a2m_gateway.memory.opening import MemorySettings, connect
from a2m_gateway.store import StoreURL

HOSTILE = ["", " ", "s3cret\r\nx: y", "s3crét", "s3cret\x00", "s3cret\ud800", "s3cret\x7f"]


@pytest.mark.parametrize("scheme", ["chroma", "qdrant", "memory"])
@pytest.mark.parametrize("secret", HOSTILE, ids=ascii)
async def test_a_secret_that_can_be_none(scheme: str, secret: str) -> None:
    url = StoreURL.parse(f"{scheme}://localhost:1/docs")
    with pytest.raises(ConfigurationError, match="A2M_STORE_SECRET") as refused:
        await connect(MemorySettings(url=url, secret=secret))
    assert "s3cr" not in str(refused.value)


async def test_a_secret_that_can_be_one_goes_on() -> None:
    url = StoreURL.parse("qdrant://localhost:1/docs")
    with pytest.raises(StoreError):
        await connect(MemorySettings(url=url, secret="pass word+/="))
