"""Random and mutated messages, the same ones for the same seed.

Half of them are calls with odd values in odd places, half are such calls damaged in their bytes.
Some hold raw newlines: a transport that frames by lines sends ``on_one_line(message)``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, TypeAlias

__all__ = ["COUNT", "SEED", "messages", "on_one_line"]

COUNT = int(os.environ.get("A2M_FUZZ_MESSAGES", "10000"))
SEED = int(os.environ.get("A2M_FUZZ_SEED", "20260728"))

METHODS = (
    "memory/describe", "memory/recall", "memory/timeline", "memory/remember", "memory/forget",
    "memory/promote", "memory/consolidate", "memory/reinforce", "memory/fetch",
    "memory/session/list", "memory/session/close", "memory/events", "memory/events/subscribe",
    "memory/events/unsubscribe", "memory/summarize", "memory/event", "memory/", "tools/list",
    "rpc.discover", "MEMORY/RECALL", "memory/recall\n", "memory/recall\x00", "",
)  # fmt: skip

CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("memory/describe", {}),
    ("memory/describe", {"protocol": "a2m/0.1"}),
    ("memory/describe", {"protocol": "a2m/9.9", "owner": "ann"}),
    ("memory/recall", {}),
    ("memory/recall", {"query": "how often does the deploy key rotate", "limit": 3}),
    ("memory/recall", {"query": "E4211", "where": {"page": 7}, "embeddings": True}),
    ("memory/recall", {"embedding": [0.5, -0.25, 1], "limit": 5, "min_score": 0.2}),
    ("memory/recall", {"where": {"source": ["a", "b"], "page": [1, 2.0, None], "role": "user"}}),
    ("memory/recall", {"query": "x", "prompt": {"method": "template", "budget": 9}, "owner": "b"}),
    ("memory/timeline", {"limit": 4}),
    ("memory/timeline", {"where": {"page": 1}, "embeddings": False}),
    ("memory/timeline", {"tier": "working", "key_prefix": "a/"}),
    ("memory/remember", {"records": [{"content": "x", "id": "1", "metadata": {"a": [1]}}]}),
    ("memory/forget", {"ids": ["1"], "query": "x", "where": {"a": 1}}),
    ("memory/fetch", {"key": "a/b"}),
    ("memory/summarize", {"query": "x", "into": "semantic"}),
    ("memory/events", {"cursor": "0", "kinds": ["written"]}),
)

NAMES = (
    "query", "limit", "where", "min_score", "embedding", "embeddings", "tier", "owner", "prompt",
    "key_prefix", "protocol", "records", "ids", "key", "id", "jsonrpc", "method", "params",
    "result", "error", "", "__proto__", "$ref", "a.b", "a[0]", "#document", "content", "created_at",
    "metadata", "role", "group", "page", "source", "\u0000", "é", "'; DROP TABLE x; --",
)  # fmt: skip

TEXTS = (
    "", " ", "deploy", "E4211", "'", '"', "\\", "' OR 1=1 --", '{"$gt": ""}', "@f:{x}|*", "%00",
    "\u0000", "\u0001\u001f", "\r\n", "\u2028\u2029", "\u202eevil", "\ufeff", "\uffff",
    "e\u0301", "ﬃ", "İ", "ß", "😀" * 40, "a" * 3000, "\U0010ffff", "../../etc/passwd", "${jndi:x}",
    "<script>", "{{7*7}}", "2026-07-28T10:15:30.123Z", "null", "true", "NaN", "1",
)  # fmt: skip

NUMBERS = (
    "0", "-0", "1", "-1", "1.0", "2.5", "1e2", "1E-400", "1e400", "-1e999", "0.1", "1000", "1001",
    "10000", "10001", "9007199254740993", "9223372036854775807", "9223372036854775808",
    "-9223372036854775809", "1e308", "-1e308", "5e-324", "1" * 400, "9" * 4300, "9" * 4301,
    "9" * 5000, "0." + "3" * 3000, "NaN", "Infinity", "-Infinity", "01", "+1", ".5", "1.", "0x10",
)  # fmt: skip

TOKENS = (
    b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\\u", b"\\ud800", b"\xff", b"\xed\xa0\x80",
    b"\xc0\xaf", b"\xef\xbb\xbf", b"\x00", b"\n", b"null", b"true", b"1e999", b"//", b"/**/", b"'",
    b'"id":1,', b'"method":"memory/recall",', b'"params":{},',
)  # fmt: skip


class _Text(str):
    """JSON text that goes into the message as it is."""

    __slots__ = ()


Value: TypeAlias = Any


def messages(seed: int = SEED, count: int = COUNT) -> Iterator[bytes]:
    """``count`` messages."""
    random = Random(seed)
    last = b"{}"
    for _ in range(count):
        message = _rendered(random, _envelope(random))
        while random.random() < 0.35:
            message = random.choice(DAMAGES)(random, message, last)
        last = message
        yield message


def on_one_line(message: bytes) -> bytes:
    """``message`` without the raw line ends that would make several of it."""
    return message.replace(b"\n", b" ").replace(b"\r", b" ")


# ---- calls with odd values


def _envelope(random: Random) -> Value:
    method, params = random.choice(CALLS)
    call: dict[str, Value] = {"jsonrpc": "2.0", "id": _id(random), "method": method}
    if params or random.random() < 0.5:
        call["params"] = dict(params)
    for _ in range(random.choice((0, 0, 1, 1, 2, 4))):
        random.choice(CHANGES)(random, call)
    if random.random() < 0.03:
        return random.choice(([call], [], [call, call], _value(random, 0), [[call]]))
    return call


def _id(random: Random) -> Value:
    return random.choice(
        (1, 0, -7, "1", "", "é\u0000", None, 1.5, _Text("1.0"), _Text("1e2"), 2**70)
    )


def _swap_parameter(random: Random, call: dict[str, Value]) -> None:
    params = call.get("params")
    if isinstance(params, dict):
        name = random.choice([*params, random.choice(NAMES)])
        params[name] = _value(random, 2)


def _swap_condition(random: Random, call: dict[str, Value]) -> None:
    params = call.get("params")
    if isinstance(params, dict):
        params["where"] = {random.choice(NAMES): _value(random, 1) for _ in range(2)}


def _swap_member(random: Random, call: dict[str, Value]) -> None:
    call[random.choice([*call, "id", "params", "result"])] = _value(random, 2)


def _drop_member(random: Random, call: dict[str, Value]) -> None:
    if call:
        del call[random.choice(list(call))]


def _swap_method(random: Random, call: dict[str, Value]) -> None:
    call["method"] = random.choice(METHODS)


def _nest(random: Random, call: dict[str, Value]) -> None:
    depth = random.choice((50, 97, 98, 99, 100, 101, 102, 500, 3000))
    opening, closing = random.choice((("[", "]"), ('{"a":', "}")))
    nested = opening * depth + "1" + closing * depth
    call["params"] = {random.choice(("where", "x", "embedding")): _Text(nested)}


def _flatten_params(random: Random, call: dict[str, Value]) -> None:
    call["params"] = random.choice(([], [1], "x", None, 1, True, {}))


CHANGES: tuple[Callable[[Random, dict[str, Value]], None], ...] = (
    _swap_parameter, _swap_parameter, _swap_parameter, _swap_condition, _swap_condition,
    _swap_member, _drop_member, _swap_method, _nest, _flatten_params,
)  # fmt: skip


def _value(random: Random, depth: int) -> Value:
    kind = random.randrange(9 if depth else 7)
    if kind < 2:
        return random.choice(TEXTS)
    if kind < 4:
        return _Text(random.choice(NUMBERS))
    if kind < 7:
        return random.choice((None, True, False, 1, 3, "user", [], {}, [0.5, -0.25, 1.0]))
    if kind == 7:
        return [_value(random, depth - 1) for _ in range(random.randrange(5))]
    return {random.choice(NAMES): _value(random, depth - 1) for _ in range(random.randrange(5))}


# ---- their text


def _rendered(random: Random, value: Value) -> bytes:
    return _text(random, value).encode("utf-8", "surrogatepass")


def _text(random: Random, value: Value) -> str:
    if isinstance(value, _Text):
        return str(value)
    if isinstance(value, dict):
        members = [f"{_text(random, str(k))}:{_text(random, v)}" for k, v in value.items()]
        if members and random.random() < 0.02:
            members.append(random.choice(members))
        return "{" + ("," + random.choice(("", " ", "\t"))).join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_text(random, one) for one in value) + "]"
    if isinstance(value, str) and random.random() < 0.1:
        return '"' + "".join(f"\\u{unit:04x}" for unit in _utf16(value)) + '"'
    return json.dumps(value, ensure_ascii=random.random() < 0.5)


def _utf16(text: str) -> Iterator[int]:
    encoded = text.encode("utf-16-be", "surrogatepass")
    for start in range(0, len(encoded), 2):
        yield int.from_bytes(encoded[start : start + 2], "big")


# ---- damage


def _flip(random: Random, message: bytes, last: bytes) -> bytes:
    damaged = bytearray(message)
    for _ in range(random.choice((1, 1, 2, 8))):
        if damaged:
            damaged[random.randrange(len(damaged))] ^= 1 << random.randrange(8)
    return bytes(damaged)


def _truncate(random: Random, message: bytes, last: bytes) -> bytes:
    return message[: random.randrange(len(message) + 1)]


def _insert(random: Random, message: bytes, last: bytes) -> bytes:
    at = random.randrange(len(message) + 1)
    return message[:at] + random.choice(TOKENS) + message[at:]


def _delete(random: Random, message: bytes, last: bytes) -> bytes:
    at = random.randrange(len(message) + 1)
    return message[:at] + message[at + random.choice((1, 2, 9)) :]


def _splice(random: Random, message: bytes, last: bytes) -> bytes:
    return message[: random.randrange(len(message) + 1)] + last[random.randrange(len(last) + 1) :]


def _repeat(random: Random, message: bytes, last: bytes) -> bytes:
    at = random.randrange(len(message) + 1)
    return message[:at] + message[at : at + 40] * random.choice((2, 3)) + message[at + 40 :]


def _noise(random: Random, message: bytes, last: bytes) -> bytes:
    return random.randbytes(random.randrange(40))


DAMAGES: tuple[Callable[[Random, bytes, bytes], bytes], ...] = (
    _flip, _flip, _truncate, _insert, _insert, _delete, _splice, _repeat, _noise,
)  # fmt: skip
