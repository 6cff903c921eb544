"""A client of any A2M 0.1 server, over any transport."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from a2m_gateway.client.answers import is_answer_to, result_of
from a2m_gateway.client.channel import Channel, NotificationCallback
from a2m_gateway.client.in_process import Answering, InProcessChannel
from a2m_gateway.client.results import Record, ServerInfo, records_of, server_info
from a2m_gateway.errors import (
    CallTimeout,
    CapabilityNotSupported,
    InvalidParams,
    MalformedAnswer,
    MethodNotFound,
    QuotaExceeded,
)
from a2m_gateway.protocol import METHODS, PROTOCOL

__all__ = ["Client"]


class Client:
    """Calls the methods of one server.

    It describes the server before anything else, and sends no method of a capability that the
    server did not declare (spec 2). What the server answers with an error is raised as the class
    of ``a2m_gateway.errors`` for its code; what is no answer at all is raised as ``ClientError``.
    Nothing is ever sent again by itself: whether a repeated write is safe depends on its ids.

    ::

        async with Client.http("http://127.0.0.1:8778/") as memory:
            for record in await memory.recall("how often does the deploy key change?"):
                print(record["content"])

    Args:
        channel: Closed together with the client.
        timeout: Seconds that a call may take, the connection and the first describe included.
    """

    def __init__(self, channel: Channel, *, timeout: float = 60.0) -> None:
        self.channel = channel
        self._timeout = timeout
        self._ids = itertools.count(1)
        self._server: ServerInfo | None = None
        self._describing = asyncio.Lock()

    @classmethod
    def in_process(cls, endpoint: Answering, *, timeout: float = 60.0) -> Self:
        """A client of an endpoint in this process, which is not closed with the client."""
        return cls(InProcessChannel(endpoint), timeout=timeout)

    @classmethod
    def stdio(
        cls,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        on_notification: NotificationCallback | None = None,
        timeout: float = 60.0,
    ) -> Self:
        """A client of a server that is started by ``command`` and ended with the client."""
        from a2m_gateway.client.stdio import StdioChannel

        channel = StdioChannel(command, env=env, on_notification=on_notification)
        return cls(channel, timeout=timeout)

    @classmethod
    def unix(
        cls,
        path: str | Path,
        *,
        on_notification: NotificationCallback | None = None,
        timeout: float = 60.0,
    ) -> Self:
        """A client of the server that listens on a Unix socket."""
        from a2m_gateway.client.unix import UnixChannel

        return cls(UnixChannel(Path(path), on_notification=on_notification), timeout=timeout)

    @classmethod
    def http(cls, url: str, *, token: str | None = None, timeout: float = 60.0) -> Self:
        """A client of a server over HTTP; ``token`` is sent as a bearer token."""
        from a2m_gateway.client.http import HttpChannel

        return cls(HttpChannel(url, token=token), timeout=timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Disconnect. Idempotent."""
        await self.channel.aclose()

    async def describe(self) -> ServerInfo:
        """Ask the server what it can do; later calls go by this answer."""
        async with _deadline("memory/describe", self._timeout):
            return await self._describe()

    async def recall(
        self,
        query: str | None = None,
        *,
        limit: int | None = None,
        where: Mapping[str, Any] | None = None,
        min_score: float | None = None,
        embedding: Sequence[float] | None = None,
        embeddings: bool | None = None,
        tier: str | None = None,
        owner: str | None = None,
        key_prefix: str | None = None,
    ) -> list[Record]:
        """Records by relevance, the best first (spec 4.3)."""
        return records_of(
            await self.call(
                "memory/recall",
                _given(
                    query=query,
                    limit=limit,
                    where=where,
                    min_score=min_score,
                    embedding=embedding,
                    embeddings=embeddings,
                    tier=tier,
                    owner=owner,
                    key_prefix=key_prefix,
                ),
            )
        )

    async def timeline(
        self,
        *,
        limit: int | None = None,
        where: Mapping[str, Any] | None = None,
        embeddings: bool | None = None,
        tier: str | None = None,
        owner: str | None = None,
        key_prefix: str | None = None,
    ) -> list[Record]:
        """Records by creation, the oldest first; a limit keeps the newest (spec 4.4)."""
        return records_of(
            await self.call(
                "memory/timeline",
                _given(
                    limit=limit,
                    where=where,
                    embeddings=embeddings,
                    tier=tier,
                    owner=owner,
                    key_prefix=key_prefix,
                ),
            )
        )

    async def remember(
        self,
        records: Sequence[Mapping[str, Any]],
        *,
        owner: str | None = None,
        session: str | None = None,
    ) -> list[str]:
        """Write records; their ids, in the same order (spec 4.2).

        Give each record an ``id`` where the call may have to be repeated (spec 3.2).
        """
        result = await self.call(
            "memory/remember", _given(records=records, owner=owner, session=session)
        )
        ids = result.get("ids")
        if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
            raise MalformedAnswer("`ids` must be an array of strings")
        if len(ids) != len(records):
            raise MalformedAnswer(f"{len(records)} records were sent, {len(ids)} ids came back")
        return ids

    async def forget(
        self,
        *,
        ids: Sequence[str] | None = None,
        query: str | None = None,
        where: Mapping[str, Any] | None = None,
        tier: str | None = None,
        owner: str | None = None,
        key_prefix: str | None = None,
    ) -> int:
        """Delete what the selectors select; how many records that were (spec 4.5)."""
        result = await self.call(
            "memory/forget",
            _given(
                ids=ids, query=query, where=where, tier=tier, owner=owner, key_prefix=key_prefix
            ),
        )
        forgotten = result.get("forgotten")
        if type(forgotten) is not int:
            raise MalformedAnswer("`forgotten` must be an integer")
        return forgotten

    async def call(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - for the whole call, describe included
    ) -> dict[str, Any]:
        """The result of any method, as it came.

        Args:
            timeout: Seconds; None is the client's.

        Raises:
            A2MError: The server's error, or the one that it would have answered with: the method
                belongs to a capability that it did not declare, or the request is larger than it
                takes.
            ClientError: There was no answer.
        """
        async with _deadline(method, self._timeout if timeout is None else timeout):
            server = await self._described()
            _check_declared(method, server)
            return await self._exchange(method, params, server.limits.get("max_request_bytes"))

    async def _described(self) -> ServerInfo:
        """The server's description, which the calls that come first wait for together."""
        async with self._describing:
            return self._server or await self._describe()

    async def _describe(self) -> ServerInfo:
        result = await self._exchange("memory/describe", {"protocol": PROTOCOL}, None)
        self._server = server_info(result)
        return self._server

    async def _exchange(
        self, method: str, params: Mapping[str, Any] | None, largest: int | None
    ) -> dict[str, Any]:
        request_id = next(self._ids)
        message = _request(request_id, method, params)
        if largest is not None and len(message) > largest:
            raise QuotaExceeded(
                f"the request is {len(message)} bytes, and the server takes {largest}",
                max_request_bytes=largest,
            )
        response = await self.channel.exchange(request_id, message)
        # An error may come without the id, where the server could not tell it (JSON-RPC 5).
        if not is_answer_to(request_id, response) and not (
            response.get("id") is None and "error" in response
        ):
            raise MalformedAnswer(f"the answer to {request_id} has the id {response.get('id')!r}")
        return result_of(response)


@contextlib.asynccontextmanager
async def _deadline(method: str, seconds: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise CallTimeout(f"{method}: no answer within {seconds:g} s") from None


def _request(request_id: int, method: str, params: Mapping[str, Any] | None) -> bytes:
    envelope: dict[str, Any] = {"jsonrpc": "2.0", "id": request_id, "method": method}
    if params is not None:
        envelope["params"] = params
    try:
        # The standard encoder, which refuses what msgspec would turn into strings and null.
        text = json.dumps(envelope, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidParams(f"the parameters have no JSON form: {error}", field="params") from None


def _check_declared(method: str, server: ServerInfo) -> None:
    known = METHODS.get(method)
    if known is not None and known.capability not in server.capabilities:
        raise CapabilityNotSupported(known.capability, what=method)
    if known is None and method not in server.methods:
        raise MethodNotFound(f"no such method in A2M, nor in the server's own list: {method!r}")


def _given(**params: object) -> dict[str, object]:
    """Parameters without those that were left out: null may mean something else."""
    return {name: value for name, value in params.items() if value is not None}
