"""The remote kinds, against an HTTP server that speaks the vendors' documented shapes."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from a2m_gateway.embedding import Embedder, build
from a2m_gateway.embedding.settings import Cohere, OpenAI, Voyage
from a2m_gateway.errors import EmbedderError, EmbedderRefused, InvalidParams

KEY = "sk-test-0123456789"
JSON = dict[str, Any]


@dataclass
class Answer:
    """What the server says once; ``body`` may be made from the request."""

    body: bytes | JSON | Callable[[JSON], JSON]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Server:
    """A service: it says what is in ``script``, one by one, the last one for ever."""

    script: list[Answer]
    url: str = ""
    requests: list[tuple[str, dict[str, str], JSON]] = field(default_factory=list)
    arrived: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)

    def answer(self, asked: JSON) -> tuple[int, Mapping[str, str], bytes]:
        said = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        body = said.body(asked) if callable(said.body) else said.body
        return (
            said.status,
            said.headers,
            body if isinstance(body, bytes) else json.dumps(body).encode(),
        )


def vector_of(text: str) -> list[float]:
    return [float(len(text)), 1.0, 0.5]


def openai(asked: JSON) -> JSON:
    data = [
        {"object": "embedding", "index": place, "embedding": vector_of(text)}
        for place, text in enumerate(asked["input"])
    ]
    return {"object": "list", "data": data, "model": asked["model"], "usage": {"total_tokens": 1}}


def reversed_openai(asked: JSON) -> JSON:
    said = openai(asked)
    said["data"].reverse()
    return said


def without_index(asked: JSON) -> JSON:
    said = openai(asked)
    for datum in said["data"]:
        del datum["index"]
    return said


def cohere(asked: JSON) -> JSON:
    vectors = [vector_of(text) for text in asked["texts"]]
    return {"id": "1", "texts": asked["texts"], "embeddings": {"float": vectors}, "meta": {}}


@pytest.fixture
def server() -> Iterator[Server]:
    service = Server([Answer(openai)])

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            asked = json.loads(self.rfile.read(length))
            service.requests.append((self.path, dict(self.headers), asked))
            service.arrived.set()
            status, headers, body = service.answer(asked)
            if headers.get("X-Hang"):
                service.released.wait(20)
                return
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    class Http(ThreadingHTTPServer):
        request_queue_size = 64

    http = Http(("127.0.0.1", 0), Handler)
    service.url = f"http://127.0.0.1:{http.server_port}/v1"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield service
    service.released.set()
    http.shutdown()
    http.server_close()
    thread.join()


@pytest.fixture
async def embedder(server: Server) -> AsyncIterator[Embedder]:
    made = build(
        OpenAI(model="m", url=server.url, api_key_env="K", timeout=3.0, batch=2), {"K": KEY}
    )
    yield made
    await made.aclose()


# What is asked


async def test_openai_is_asked_as_documented(server: Server, embedder: Embedder) -> None:
    widths = [embedder.width]
    assert await embedder.embed_query("four") == [4.0, 1.0, 0.5]
    widths.append(embedder.width)
    assert widths == [None, 3]
    path, headers, asked = server.requests[0]
    assert path == "/v1/embeddings"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert asked == {"model": "m", "input": ["four"]}


async def test_dimensions_are_asked_for_and_held_to(server: Server) -> None:
    asking = OpenAI(model="m", url=server.url + "/", dimensions=256)
    embedder = build(asking, {})
    assert embedder.width == 256
    with pytest.raises(EmbedderError, match="3 components where 256"):
        await embedder.embed_query("x")
    path, headers, asked = server.requests[0]
    assert (path, asked["dimensions"]) == ("/v1/embeddings", 256)
    assert "Authorization" not in headers
    await embedder.aclose()


async def test_batches_keep_their_order(server: Server, embedder: Embedder) -> None:
    texts = ["a" * length for length in (5, 1, 4, 2, 3)]
    vectors = await embedder.embed_passages(texts)
    assert [vector[0] for vector in vectors] == [5, 1, 4, 2, 3]
    assert [len(asked["input"]) for _, _, asked in server.requests] == [2, 2, 1]
    assert await embedder.embed_passages([]) == []
    assert len(server.requests) == 3


async def test_cohere_is_asked_as_documented(server: Server) -> None:
    server.script = [Answer(cohere)]
    embedder = build(Cohere(model="embed-v4.0", url=server.url, api_key_env="K"), {"K": KEY})
    assert await embedder.embed_query("four") == [4.0, 1.0, 0.5]
    assert len(await embedder.embed_passages(["x"] * 200)) == 200
    await embedder.aclose()
    asked = [body for _, _, body in server.requests]
    assert server.requests[0][0] == "/v1/embed"
    assert [body["input_type"] for body in asked] == ["search_query", *["search_document"] * 3]
    assert [len(body["texts"]) for body in asked] == [1, 96, 96, 8]
    assert asked[0]["embedding_types"] == ["float"]
    assert {body["truncate"] for body in asked} == {"NONE"}  # a text is refused, not cut


async def test_voyage_is_asked_as_documented(server: Server) -> None:
    embedder = build(Voyage(model="voyage-3.5", url=server.url, api_key_env="K"), {"K": KEY})
    await embedder.embed_query("q")
    await embedder.embed_passages(["p"])
    await embedder.aclose()
    query, passage = (body for _, _, body in server.requests)
    assert server.requests[0][0] == "/v1/embeddings"
    assert (query["input_type"], passage["input_type"]) == ("query", "document")
    assert query["truncation"] is False


async def test_prefixes_by_model_and_by_setting(server: Server) -> None:
    for settings, query, passage in (
        (OpenAI(model="e5-base", url=server.url), "query: x", "passage: x"),
        (OpenAI(model="e5-base", url=server.url, query_prefix="q>"), "q>x", "passage: x"),
        (OpenAI(model="text-embedding-3-small", url=server.url), "x", "x"),
    ):
        embedder = build(settings, {})
        await embedder.embed_query("x")
        await embedder.embed_passages(["x"])
        await embedder.aclose()
        assert [body["input"] for _, _, body in server.requests[-2:]] == [[query], [passage]]


async def test_any_text_goes_through(server: Server, embedder: Embedder) -> None:
    texts = ["", 'quote " and \\', "nul \0", "🎉", "x" * 1_000_000]
    assert [v[0] for v in await embedder.embed_passages(texts)] == [len(t) for t in texts]
    sent = [text for _, _, asked in server.requests for text in asked["input"]]
    assert sent == texts
    with pytest.raises(InvalidParams, match="surrogate"):
        await embedder.embed_query("\ud800")


async def test_twenty_at_once(embedder: Embedder) -> None:
    answers = await asyncio.gather(*(embedder.embed_query("x" * n) for n in range(20)))
    assert [answer[0] for answer in answers] == list(range(20))


# What is answered


async def test_answers_are_put_in_order(server: Server, embedder: Embedder) -> None:
    server.script = [Answer(reversed_openai)]
    assert [v[0] for v in await embedder.embed_passages(["a", "bb"])] == [1, 2]
    server.script = [Answer(without_index)]
    assert [v[0] for v in await embedder.embed_passages(["a", "bb"])] == [1, 2]


def data(*vectors: object, indices: tuple[int, ...] | None = None) -> JSON:
    places = indices or range(len(vectors))
    return {"data": [{"index": i, "embedding": v} for i, v in zip(places, vectors, strict=True)]}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (data([1.0]), "indices"),
        (data([1.0], [1.0], [1.0]), "indices"),
        (data([1.0], [2.0], indices=(0, 0)), "indices"),
        (data([1.0], [2.0], indices=(1, 2)), "indices"),
        ({"data": [{"embedding": [1.0]}]}, "2 texts with 1 vectors"),
        ({"data": [{"embedding": [1.0], "index": 0}, {"embedding": [2.0]}]}, "indices"),
        (data([1.0, 2.0], [1.0]), "1 components where 2"),
        (data([], []), "empty vector"),
        (data([1.0], [None]), "not what was asked for"),
        (data([1.0], ["1"]), "not what was asked for"),
        (data([1.0], [True]), "not what was asked for"),
        (data([1.0], "AACAPw=="), "not what was asked for"),
        (b'{"data":[{"embedding":[NaN]},{"embedding":[1]}]}', "not what was asked for"),
        (b'{"data":[{"embedding":[1e999]},{"embedding":[1]}]}', "not what was asked for|finite"),
        (b'{"data":[{"embedding":[1', "not what was asked for"),
        (b"\xff\xfe", "not what was asked for"),
        (b"", "not what was asked for"),
        (b"<html>sign in</html>", "not what was asked for"),
        ({"embeddings": [[1.0]]}, "not what was asked for"),
    ],
)
async def test_nonsense_is_not_passed_on(
    server: Server, embedder: Embedder, body: bytes | JSON, words: str
) -> None:
    server.script = [Answer(body)]
    with pytest.raises(EmbedderError, match=words):
        await embedder.embed_passages(["a", "b"])
    assert len(server.requests) == 1


async def test_a_width_that_changes_is_refused(server: Server, embedder: Embedder) -> None:
    server.script = [Answer(openai), Answer(data([1.0] * 4))]
    await embedder.embed_query("x")
    with pytest.raises(EmbedderError, match="4 components where 3"):
        await embedder.embed_query("x")


async def test_cohere_nonsense(server: Server) -> None:
    embedder = build(Cohere(model="m", url=server.url, api_key_env="K"), {"K": KEY})
    for body, words in (
        ({"embeddings": {"float": [[1.0]]}}, "2 texts with 1"),
        ({"embeddings": [[1.0], [2.0]]}, "not what was asked for"),
        (data([1.0], [2.0]), "not what was asked for"),
    ):
        server.script = [Answer(body)]
        with pytest.raises(EmbedderError, match=words):
            await embedder.embed_passages(["a", "b"])
    await embedder.aclose()


# What fails


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 529])
async def test_a_passing_failure_is_tried_again(
    server: Server, embedder: Embedder, status: int
) -> None:
    server.script = [Answer({"error": {"message": "busy"}}, status), Answer(openai)]
    assert await embedder.embed_query("four") == [4.0, 1.0, 0.5]
    assert len(server.requests) == 2


@pytest.mark.parametrize("as_date", [False, True])
async def test_retry_after_is_respected(server: Server, embedder: Embedder, as_date: bool) -> None:
    header = formatdate(time.time() + 2, usegmt=True) if as_date else "1"
    server.script = [Answer(b"", 429, {"Retry-After": header}), Answer(openai)]
    before = time.monotonic()
    await embedder.embed_query("x")
    assert 0.9 < time.monotonic() - before < 3
    assert len(server.requests) == 2


async def test_retry_after_the_deadline_is_an_error_at_once(
    server: Server, embedder: Embedder
) -> None:
    server.script = [Answer({"message": "slow down"}, 429, {"Retry-After": "3600"})]
    before = time.monotonic()
    with pytest.raises(EmbedderError, match=r"429: slow down \(wait 3600 s\)") as caught:
        await embedder.embed_query("x")
    assert time.monotonic() - before < 1
    assert caught.value.retry
    assert len(server.requests) == 1


async def test_a_lasting_failure_ends_within_the_deadline(
    server: Server, embedder: Embedder
) -> None:
    server.script = [Answer({"error": "overloaded"}, 503)]
    before = time.monotonic()
    with pytest.raises(EmbedderError, match="503: overloaded") as caught:
        await embedder.embed_query("x")
    assert time.monotonic() - before < 3.5
    assert 2 <= len(server.requests) <= 4
    assert caught.value.retry


async def test_a_hanging_service_costs_the_deadline(server: Server) -> None:
    server.script = [Answer(b"", headers={"X-Hang": "1"})]
    embedder = build(OpenAI(model="m", url=server.url, timeout=0.3), {})
    before = time.monotonic()
    with pytest.raises(EmbedderError, match=r"did not answer within 0\.3 s"):
        await embedder.embed_query("x")
    assert time.monotonic() - before < 1
    server.script = [Answer(openai)]
    server.released.set()
    assert await embedder.embed_query("x")
    await embedder.aclose()


async def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    embedder = build(OpenAI(model="m", url=f"http://127.0.0.1:{port}/v1"), {})
    with pytest.raises(EmbedderError, match="can't be reached") as caught:
        await embedder.embed_query("x")
    assert caught.value.retry
    await embedder.aclose()


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_a_refusal_is_not_tried_again(
    server: Server, embedder: Embedder, status: int
) -> None:
    server.script = [Answer({"error": {"message": "no such model"}}, status)]
    with pytest.raises(EmbedderRefused, match=str(status)) as caught:
        await embedder.embed_query("x")
    assert not caught.value.retry
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_a_text_that_is_refused_is_the_callers(
    server: Server, embedder: Embedder, status: int
) -> None:
    """The same key, model and URL have just been good."""
    refusal = {"error": {"message": "maximum context length is 8192 tokens"}}
    server.script = [Answer(openai), Answer(refusal, status)]
    await embedder.embed_query("short")
    with pytest.raises(InvalidParams, match="8192 tokens") as caught:
        await embedder.embed_query("long " * 10_000)
    assert caught.value.data["field"] == "query"
    with pytest.raises(EmbedderRefused, match="8192 tokens"):
        await embedder.embed_passages(["long " * 10_000])


async def test_a_redirect_is_not_followed(server: Server, embedder: Embedder) -> None:
    for status in (301, 302, 307, 308):
        server.script = [Answer(b"", status, {"Location": server.url + "/elsewhere"})]
        server.requests.clear()
        with pytest.raises(EmbedderRefused, match="redirect"):
            await embedder.embed_query("private text")
        assert len(server.requests) == 1


async def test_the_key_is_in_no_message(
    server: Server,
    embedder: Embedder,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    for status in (400, 401, 403, 404, 429, 500):
        said = {"error": {"message": f"Incorrect API key provided: {KEY}."}}
        server.script = [Answer(said, status, {"Retry-After": "0"})]
        with pytest.raises(EmbedderError) as caught:
            await embedder.embed_query("x")
        assert KEY not in repr(caught.value)
        assert KEY not in repr(caught.value.__cause__)
    out, err = capfd.readouterr()
    assert KEY not in caplog.text + out + err
    assert KEY not in repr(embedder)


@pytest.mark.parametrize("status", [401, 403])
async def test_nor_is_half_of_it(server: Server, embedder: Embedder, status: int) -> None:
    """OpenAI repeats a wrong key with its middle masked."""
    masked = f"Incorrect API key provided: {KEY[:8]}****{KEY[-4:]}."
    server.script = [Answer({"error": {"message": masked}}, status)]
    with pytest.raises(EmbedderRefused, match="api_key_env") as caught:
        await embedder.embed_query("x")
    assert KEY[:8] not in str(caught.value)


async def test_cancelled_while_waiting(server: Server, embedder: Embedder) -> None:
    server.script = [Answer(b"", headers={"X-Hang": "1"})]
    call = asyncio.create_task(embedder.embed_query("x"))
    assert await asyncio.to_thread(server.arrived.wait, 5)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    server.script = [Answer(openai)]
    server.released.set()
    assert await embedder.embed_query("x")
