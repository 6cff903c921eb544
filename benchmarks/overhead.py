"""What the gateway adds to a search by vector over HTTP, beside the same search by the raw client.

Same server, collection, fields, k and calling process; blocks in random order; the difference of
the medians with a bootstrap interval. The bar: at most 20% of the raw call, or 1 ms.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import chromadb
import httpx
import numpy as np
from blocks import difference, measure
from corpora import twenty_thousand
from engines import chroma_collection, free_port, gateway, process
from kept_vectors import embedded

BLOCKS, CALLS, K = 24, 60, 10
RAW, THIN, OURS, CANNED = "raw client", "raw HTTP", "gateway", "canned endpoint"


async def main() -> int:
    corpus = twenty_thousand()
    vectors = await embedded([document.text for document in corpus.documents])
    chance = np.random.default_rng(2)
    asked = [vectors[i] for i in chance.integers(0, len(vectors), 500)]
    async with chroma_collection("docs", corpus.documents, vectors) as port:
        with gateway(f"chroma://127.0.0.1:{port}/docs", "--embedder", "none") as (url, _):
            seconds = await _measured(port, url, asked)
    return _report(seconds)


async def _measured(
    port: int, url: str, asked: Sequence[Sequence[float]]
) -> dict[str, list[list[float]]]:
    bodies = [_body(vector) for vector in asked]
    headers = {"content-type": "application/json", "a2m-protocol-version": "a2m/0.1"}
    client = await chromadb.AsyncHttpClient(host="127.0.0.1", port=port)
    collection = await client.get_collection("docs", embedding_function=None)
    base = f"http://127.0.0.1:{port}/api/v2/tenants/default_tenant/databases/default_database"
    include = ["documents", "metadatas", "distances"]
    async with httpx.AsyncClient() as http:
        sample = await http.post(url, content=bodies[0], headers=headers)
        assert len(sample.json()["result"]["records"]) == K
        canned_port = free_port()
        with tempfile.NamedTemporaryFile() as answer:
            answer.write(sample.content)
            answer.flush()
            command = [sys.executable, str(Path(__file__).parent / "canned.py")]
            command += [str(canned_port), answer.name]
            with process(command, f"http://127.0.0.1:{canned_port}/healthz"):

                async def raw(call: int) -> object:
                    return await collection.query(
                        query_embeddings=[list(asked[call % len(asked)])],
                        n_results=K,
                        include=include,
                    )

                async def thin(call: int) -> object:
                    body = {
                        "query_embeddings": [asked[call % len(asked)]],
                        "n_results": K,
                        "include": include,
                    }
                    place = f"{base}/collections/{collection.id}/query"
                    return (await http.post(place, json=body)).json()

                async def ours(call: int) -> object:
                    body = bodies[call % len(bodies)]
                    answer = (await http.post(url, content=body, headers=headers)).json()
                    assert len(answer["result"]["records"]) == K
                    return answer

                async def canned(call: int) -> object:
                    place = f"http://127.0.0.1:{canned_port}/"
                    body = bodies[call % len(bodies)]
                    return (await http.post(place, content=body, headers=headers)).json()

                callers = {RAW: raw, THIN: thin, OURS: ours, CANNED: canned}
                return await measure(callers, blocks=BLOCKS, calls=CALLS)


def _body(vector: Sequence[float]) -> bytes:
    params = {"embedding": list(vector), "limit": K}
    call = {"jsonrpc": "2.0", "id": 1, "method": "memory/recall", "params": params}
    return json.dumps(call).encode()


def _report(seconds: dict[str, list[list[float]]]) -> int:
    print(f"recall by vector, k={K}, 20,000 passages in Chroma, {BLOCKS} blocks of {CALLS} calls")
    for name, taken in seconds.items():
        p50, p95 = np.percentile(np.asarray(taken), [50, 95]) * 1e3
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
