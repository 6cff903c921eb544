"""Host, Origin and bearer tokens, in that order, on every route (spec 6.1, 8.3.1)."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable

import pytest
import structlog
from raw_http import Running
from stub_responder import Stub

from a2m_gateway.transports import HttpSettings, TokenHash

Serve = Callable[..., Awaitable[Running]]
Line = Callable[..., bytes]

PATHS = ["/", "/.well-known/a2m-server.json", "/healthz", "/readyz", "/nowhere"]
EVIL = "Origin: https://evil.example"
APP = "https://app.example"


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def headers(answer: bytes) -> dict[str, str]:
    lines = answer.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")[1:]
    return {name.lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)}


# ---- Host


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", 200),
        ("localhost:1", 200),
        ("LOCALHOST.", 200),
        ("127.9.9.9:80", 200),
        ("[::1]:8778", 200),
        ("[0:0:0:0:0:0:0:1]", 200),
        ("memory.example", 200),
        ("memory.example:9", 200),
        ("ported.example:9", 200),
        ("ported.example", 403),
        ("ported.example:8", 403),
        ("evil.example", 403),
        ("localhost.evil.example", 403),
        ("127.0.0.1.evil.example", 403),
        ("evil.example:8778", 403),
        ("10.0.0.1", 403),
        ("[::2]", 403),
        ("2130706433", 403),
        ("0x7f.1", 403),
        ("", 400),
        (" ", 400),
        ("localhost, evil.example", 400),
        ("localhost:port", 400),
        ("localhost:99999", 400),
        ("user@localhost", 400),
        ("localhost/", 400),
        ("[::1", 400),
        ("\xfclocalhost", 400),
        ("a" * 300, 400),
    ],
)
async def test_hosts(
    stub: Stub, serve_http: Serve, request_line: Line, host: str, expected: int
) -> None:
    running = await serve_http(stub, allowed_hosts=("Memory.example", "ported.example:9"))
    body = request_line(1, "echo")
    head = running.head(
        "Content-Type: application/json", f"Content-Length: {len(body)}", f"Host: {host}", host=""
    )
    assert status(await running.send(head + body)) == expected
    assert stub.calls == (["echo"] if expected == 200 else [])


@pytest.mark.parametrize("path", PATHS)
async def test_hosts_on_every_route(stub: Stub, serve_http: Serve, path: str) -> None:
    running = await serve_http(stub)
    for host, expected in (("evil.example", 403), ("", 400)):
        for method in ("GET", "POST", "OPTIONS"):
            answer = await running.send(running.head(line=f"{method} {path} HTTP/1.1", host=host))
            assert status(answer) == expected


# ---- Origin


@pytest.mark.requirement("8.3-transport-failure-status")
@pytest.mark.requirement("8.3.1-origin-checked")
@pytest.mark.requirement("8.3.1-origin-403")
@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        (None, 200),
        (APP, 200),
        ("HTTPS://APP.EXAMPLE:443", 200),
        ("http://127.0.0.1:{port}", 200),  # the server's own
        ("vscode-webview://abc", 200),
        ("https://127.0.0.1:{port}", 403),
        ("http://localhost:{port}", 403),  # another origin than that of the Host
        ("http://127.0.0.1", 403),
        ("http://127.0.0.1:1", 403),
        ("https://evil.example", 403),
        ("http://app.example", 403),
        (APP + ":8443", 403),
        (APP + ".evil.example", 403),
        ("https://sub.app.example", 403),
        ("null", 403),
        ("", 403),
        ("*", 403),
        ("file://", 403),
        (APP + "/", 403),
        (f"{APP} https://evil.example", 403),
        (f"{APP}, {APP}", 403),
        ("\xff", 403),
    ],
)
async def test_origins(
    stub: Stub, serve_http: Serve, request_line: Line, origin: str | None, expected: int
) -> None:
    running = await serve_http(stub, allowed_origins=(APP, "vscode-webview://abc"))
    given = [] if origin is None else [f"Origin: {origin.format(port=running.port)}"]
    answer = await running.send(running.post(request_line(1, "echo"), *given))
    assert status(answer) == expected
    assert stub.calls == (["echo"] if expected == 200 else [])


@pytest.mark.requirement("8.3.1-origin-403")
@pytest.mark.requirement("8.3.1-loopback")
@pytest.mark.parametrize("path", PATHS)
async def test_no_origin_is_allowed_by_default_on_any_route(
    stub: Stub, serve_http: Serve, path: str
) -> None:
    assert HttpSettings().host == "127.0.0.1"
    assert HttpSettings().allowed_origins == ()
    running = await serve_http(stub)
    for method in ("GET", "POST", "OPTIONS"):
        preflight = "Access-Control-Request-Method: POST"
        head = running.head(EVIL, preflight, line=f"{method} {path} HTTP/1.1")
        answer = await running.send(head)
        assert status(answer) == 403
        assert "access-control-allow-origin" not in headers(answer)


async def test_a_page_of_an_allowed_origin_can_call(
    stub: Stub, serve_http: Serve, request_line: Line
) -> None:
    running = await serve_http(
        stub, allowed_origins=(APP,), tokens=(TokenHash.of("page", "secret"),)
    )
    preflight = await running.send(
        running.head(
            f"Origin: {APP}",
            "Access-Control-Request-Method: POST",
            "Access-Control-Request-Headers: authorization,content-type",
            "Access-Control-Request-Private-Network: true",
            line="OPTIONS / HTTP/1.1",
        )
    )
    allowed = headers(preflight)
    assert status(preflight) == 204
    assert allowed["access-control-allow-origin"] == APP
    assert "POST" in allowed["access-control-allow-methods"]
    for name in ("authorization", "content-type", "a2m-protocol-version"):
        assert name in allowed["access-control-allow-headers"]
    assert allowed["access-control-allow-private-network"] == "true"
    assert allowed["vary"] == "origin"

    call = running.post(request_line(1, "echo"), f"Origin: {APP}", "Authorization: Bearer secret")
    answer = await running.send(call)
    assert status(answer) == 200
    assert headers(answer)["access-control-allow-origin"] == APP
    refused = await running.send(running.post(request_line(1, "echo"), f"Origin: {APP}"))
    assert status(refused) == 401
    assert headers(refused)["access-control-allow-origin"] == APP, "or the page can't tell why"


async def test_answers_without_an_origin_carry_no_cors(
    stub: Stub, serve_http: Serve, request_line: Line
) -> None:
    running = await serve_http(stub, allowed_origins=(APP,))
    own = f"Origin: http://127.0.0.1:{running.port}"
    for given in ([], [own]):
        answer = await running.send(running.post(request_line(1, "echo"), *given))
        assert status(answer) == 200
        assert not [name for name in headers(answer) if name.startswith("access-control")]


# ---- tokens

SECRET = "s3cret-token"


@pytest.mark.requirement("8.3-transport-failure-status")
@pytest.mark.requirement("6.1-401-first")
@pytest.mark.parametrize(
    ("authorization", "expected"),
    [
        (f"Bearer {SECRET}", 200),
        (f"bearer   {SECRET} ", 200),
        ("Bearer other", 200),
        (None, 401),
        ("", 401),
        ("Bearer", 401),
        ("Bearer ", 401),
        (f"Bearer {SECRET}x", 401),
        (f"Bearer {SECRET[:-1]}", 401),
        (f"Bearer {SECRET.upper()}", 401),
        (f"Basic {SECRET}", 401),
        (SECRET, 401),
        (f"Bearer {hashlib.sha256(SECRET.encode()).hexdigest()}", 401),
        ("Bearer \xff", 401),
    ],
)
async def test_tokens(
    stub: Stub, serve_http: Serve, authorization: str | None, expected: int
) -> None:
    tokens = (TokenHash.of("one", SECRET), TokenHash.of("two", "other"))
    running = await serve_http(stub, tokens=tokens)
    given = [] if authorization is None else [f"Authorization: {authorization}"]
    # Neither JSON nor of its type: a stranger is not told, for nothing of it is looked at.
    bad = running.head(*given, "Content-Length: 1") + b"{"
    good = running.post(b'{"jsonrpc":"2.0","id":1,"method":"echo"}', *given)
    assert status(await running.send(bad)) == (415 if expected == 200 else 401)
    answer = await running.send(good)
    assert status(answer) == expected
    assert stub.calls == (["echo"] if expected == 200 else [])
    if expected == 401:
        assert headers(answer)["www-authenticate"].startswith("Bearer")
        assert headers(answer)["content-type"].startswith("text/plain"), "no JSON-RPC"


async def test_what_is_public(stub: Stub, serve_http: Serve) -> None:
    running = await serve_http(stub, tokens=(TokenHash.of("one", SECRET),))
    for path in PATHS:
        answer = await running.send(running.head(line=f"GET {path} HTTP/1.1"))
        assert status(answer) == (401 if path in ("/", "/nowhere") else 200), path


@pytest.mark.parametrize(
    ("repeated", "expected"),
    [
        (["Host: localhost"], 400),
        ([f"Origin: {APP}", f"Origin: {APP}"], 403),
        ([f"Origin: {APP}", EVIL], 403),
        ([f"Authorization: Bearer {SECRET}", f"Authorization: Bearer {SECRET}"], 400),
        ([f"Authorization: Bearer {SECRET}", "Authorization: Bearer x"], 400),
    ],
)
@pytest.mark.parametrize("path", PATHS)
async def test_repeated_headers(
    stub: Stub, serve_http: Serve, repeated: list[str], expected: int, path: str
) -> None:
    tokens = (TokenHash.of("one", SECRET),)
    running = await serve_http(stub, tokens=tokens, allowed_origins=(APP,))
    answer = await running.send(running.head(*repeated, line=f"GET {path} HTTP/1.1"))
    assert status(answer) == expected


async def test_the_order_of_the_checks(stub: Stub, serve_http: Serve) -> None:
    """Whoever fails several is told of the first: Host, Origin, token, type, size, version."""
    stub.max_request_bytes = 10
    running = await serve_http(stub, tokens=(TokenHash.of("one", SECRET),))
    wrong = [
        ("Host: evil.example", f"Host: 127.0.0.1:{running.port}", 403),
        (EVIL, "X-Nothing: 1", 403),
        ("Authorization: Bearer x", f"Authorization: Bearer {SECRET}", 401),
        ("Content-Type: text/plain", "Content-Type: application/json", 415),
        ("Content-Length: 11", "Content-Length: 1", 413),
        ("A2M-Protocol-Version: a2m/9.9", "A2M-Protocol-Version: a2m/0.1", 400),
    ]
    for right in range(len(wrong)):
        given = [good for _, good, _ in wrong[:right]] + [bad for bad, _, _ in wrong[right:]]
        answer = await running.send(running.head(*given, host=""))
        assert status(answer) == wrong[right][2], given


async def test_nothing_secret_is_logged(
    stub: Stub, serve_http: Serve, request_line: Line, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    with structlog.testing.capture_logs() as logs:
        running = await serve_http(stub, tokens=(TokenHash.of("one", SECRET),))
        for token in (SECRET, SECRET + "x"):
            call = running.post(request_line(1, "echo"), f"Authorization: Bearer {token}")
            await running.send(call)
    seen = [entry["status"] for entry in logs if entry["event"] == "http.answered"]
    assert seen == [200, 401], "the requests were not logged at all"
    assert SECRET not in repr(logs) + caplog.text
