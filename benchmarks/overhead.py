"""What the gateway adds to a search by vector over HTTP, beside the same search by the raw client.

Same server, collection, fields, k and calling process; blocks in random order; the difference of
the medians with a bootstrap interval. The bar: at most 20% of the raw call, or 1 ms.

The raw client is Chroma's own. Everything else is called through aiohttp: the gateway, Chroma's
API itself, and an endpoint with a canned answer, which is what a call over HTTP costs at the least.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

import aiohttp
import chromadb
import msgspec
import numpy as np
from blocks import Call, difference, measure
from corpora import twenty_thousand
from engines import chroma_collection, free_port, gateway, process
from kept_vectors import embedded

BLOCKS, CALLS, K = 24, 60, 10
RAW, THIN, OURS, CANNED = "raw client", "raw HTTP", "gateway", "canned endpoint"
FIELDS = ["documents", "metadatas", "distances"]


async def main() -> int:
    corpus = twenty_thousand()
    vectors = await embedded([document.text for document in corpus.documents])
    chance = np.random.default_rng(2)
    asked = [vectors[i] for i in chance.integers(0, len(vectors), 500)]
    async with (
        chroma_collection("docs", corpus.documents, vectors) as port,
        aiohttp.ClientSession(headers={"a2m-protocol-version": "a2m/0.1"}) as http,
    ):
        with gateway(f"chroma://127.0.0.1:{port}/docs", "--embedder", "none") as (url, _):
            ours = _recall(http, url, asked)
            answer = await ours(0)
            with tempfile.NamedTemporaryFile() as file:
                file.write(msgspec.json.encode(answer))
                file.flush()
                place = free_port()
                command = [sys.executable, "benchmarks/canned.py", str(place), file.name]
                with process(command, f"http://127.0.0.1:{place}/healthz"):
                    callers = {
                        OURS: ours,
                        CANNED: _recall(http, f"http://127.0.0.1:{place}/", asked),
                        **await _raw(http, port, asked),
                    }
                    seconds = await measure(callers, blocks=BLOCKS, calls=CALLS)
    return _report(seconds)


def _recall(http: aiohttp.ClientSession, url: str, asked: Sequence[Sequence[float]]) -> Call:
    async def call(number: int) -> object:
        params = {"embedding": asked[number % len(asked)], "limit": K}
        message = {"jsonrpc": "2.0", "id": number, "method": "memory/recall", "params": params}
        answer = await _post(http, url, message)
        assert len(answer["result"]["records"]) == K
        return answer

    return call


async def _raw(
    http: aiohttp.ClientSession, port: int, asked: Sequence[Sequence[float]]
) -> Mapping[str, Call]:
    client = await chromadb.AsyncHttpClient(host="127.0.0.1", port=port)
    collection = await client.get_collection("docs", embedding_function=None)
    base = f"http://127.0.0.1:{port}/api/v2/tenants/default_tenant/databases/default_database"

    async def raw(number: int) -> object:
        vector = list(asked[number % len(asked)])
        return await collection.query(query_embeddings=[vector], n_results=K, include=FIELDS)

    async def thin(number: int) -> object:
        query = {
            "query_embeddings": [asked[number % len(asked)]],
            "n_results": K,
            "include": FIELDS,
        }
        return await _post(http, f"{base}/collections/{collection.id}/query", query)

    return {RAW: raw, THIN: thin}


async def _post(http: aiohttp.ClientSession, url: str, message: object) -> Any:
    headers = {"content-type": "application/json"}
    async with http.post(url, data=msgspec.json.encode(message), headers=headers) as response:
        return msgspec.json.decode(await response.read())


def _report(seconds: dict[str, list[list[float]]]) -> int:
    print(f"recall by vector, k={K}, 20,000 passages in Chroma, {BLOCKS} blocks of {CALLS} calls")
    for name in (RAW, THIN, OURS, CANNED):
        p50, p95 = np.percentile(np.asarray(seconds[name]), [50, 95]) * 1e3
        print(f"  {name:<16} p50 {p50:6.2f} ms   p95 {p95:6.2f} ms")
    bar = max(0.2 * float(np.median(np.asarray(seconds[RAW]))), 1e-3)
    for name in (RAW, THIN):
        added = difference(seconds[OURS], seconds[name])
        print(
            f"  added to the {name}: {added.median * 1e3:.2f} ms"
            f" (95%: {added.low * 1e3:.2f} to {added.high * 1e3:.2f}); bar {bar * 1e3:.2f} ms"
        )
    held = difference(seconds[OURS], seconds[RAW]).high <= bar
    print("  held" if held else "  NOT held")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
