"""The wire's JSON against Python's own json module."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
import strict_json
from fuzz_messages import messages
from hypothesis import given, settings
from hypothesis import strategies as st

from a2m_gateway.errors import ParseError
from a2m_gateway.protocol import MAX_DEPTH, decode, encode

REFUSED = {
    "nothing": b"",
    "blanks": b" \t\r\n",
    "byte order mark": b"\xef\xbb\xbf{}",
    "UTF-16": '{"a":1}'.encode("utf-16"),
    "UTF-32": b"{\x00\x00\x00}\x00\x00\x00",
    "latin-1": '"é"'.encode("latin-1"),
    "overlong UTF-8": b'"\xc0\xaf"',
    "a surrogate in UTF-8": b'"\xed\xa0\x80"',
    "beyond Unicode": b'"\xf4\x90\x80\x80"',
    "a cut character": b'"\xf0\x9f\x98"',
    "bad UTF-8 in a name": b'{"\xff":1}',
    "a lone high surrogate": rb'"\ud800"',
    "a lone low surrogate": rb'"\udc00"',
    "a pair turned round": rb'"\udc00\ud800"',
    "a high surrogate and a letter": rb'"\ud800x"',
    "a lone surrogate in a name": rb'{"\ud800":1}',
    "NUL before": b"\x00{}",
    "NUL after": b"{}\x00",
    "NUL in a string": b'"a\x00b"',
    "a newline in a string": b'"a\nb"',
    "a tab in a string": b'"a\tb"',
    "form feed as a blank": b"\x0c1",
    "two values": b"{} {}",
    "two lines": b"{}\n{}",
    "a comment": b"/**/1",
    "single quotes": b"{'a':1}",
    "a bare name": b"{a:1}",
    "a trailing comma in a list": b"[1,]",
    "a trailing comma in an object": b'{"a":1,}',
    "an unknown escape": rb'"\x41"',
    "a short escape": rb'"\u12"',
    "a cut escape": b'"\\',
    "a cut object": b'{"a":',
    "a cut word": b"tru",
    "True": b"True",
    "NaN": b"NaN",
    "Infinity": b"[Infinity]",
    "-Infinity": b'{"a":-Infinity}',
    "out of range": b"1e999",
    "out of range below": b"-1e400",
    "just out of range": b"1.7976931348623159e308",
    "a leading zero": b"01",
    "a plus": b"+1",
    "no digit before the point": b".5",
    "no digit after the point": b"1.",
    "no exponent": b"1e",
    "hexadecimal": b"0x10",
    "a minus": b"-",
    "5000 digits": b"9" * 5000,
}

DUPLICATES = {
    "plain": b'{"a":1,"a":2}',
    "of equal value": b'{"a":1,"a":1}',
    "escaped": rb'{"a":1,"\u0061":2}',
    "escaped twice": rb'{"\u0061":1,"\u0061":2}',
    "a slash": rb'{"/":1,"\/":2}',
    "nested": b'{"x":[{"y":{"a":1,"a":null}}]}',
    "empty": b'{"":1,"":2}',
    "of three": b'{"a":1,"b":2,"a":3}',
    "a quote": rb'{"\"":1,"\u0022":2}',
    "with the value a look-alike": rb'{"a":"\":\"","a":2}',
    "a pair of surrogates": '{"😀":1,"\\ud83d\\ude00":2}'.encode(),
}

LOOK_ALIKES = {
    "a member in a string": rb'{"a":"\"a\":1,\"a\":2"}',
    "colons in a string": b'{"a":":::","b:":":"}',
    "a backslash before the quote": rb'{"a":"\\","b":"\\\\","c":":"}',
    "an escaped quote at the end": rb'{"a\"":"\"","b":":\""}',
    "same name in two objects": b'[{"a":1},{"a":2}]',
    "same name inside and out": b'{"a":{"a":{"a":1}}}',
    "names that differ in case": b'{"a":1,"A":2}',
    "composed and decomposed": '{"é":1,"e\u0301":2}'.encode(),
    "names of blanks": b'{"":1," ":2,"  ":3}',
    "NUL in names": rb'{"a\u0000":1,"a":2}',
    "blanks round the colon": b'{"a" \t:\r\n1 , "b":2}',
}


@pytest.mark.requirement("7-32700")
@pytest.mark.parametrize("message", REFUSED.values(), ids=REFUSED)
def test_what_is_no_json_is_refused(message: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - that the oracle refuses it is the point
        strict_json.loads(message)
    with pytest.raises(ParseError):
        decode(message)


@pytest.mark.parametrize("message", DUPLICATES.values(), ids=DUPLICATES)
def test_a_member_named_twice_is_refused(message: bytes) -> None:
    json.loads(message)  # the last would win in silence
    with pytest.raises(ParseError, match="twice"):
        decode(message)


@pytest.mark.parametrize("message", LOOK_ALIKES.values(), ids=LOOK_ALIKES)
def test_what_only_looks_like_a_duplicate_is_taken(message: bytes) -> None:
    assert decode(message) == json.loads(message)


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
def test_nesting_has_a_limit(opening: str, closing: str) -> None:
    levels = MAX_DEPTH // (2 if len(opening + closing) == 8 else 1)
    within = (opening * levels + closing * levels).replace(":}", ":1}")
    assert decode(within.encode()) == json.loads(within)
    beyond = f"[{within}]"
    with pytest.raises(ParseError, match="deeper than 100"):
        decode(beyond.encode())


@pytest.mark.parametrize("message", [b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000])
@pytest.mark.parametrize("outer", [b"%s", b'{"jsonrpc":"2.0","id":1,"params":%s'])
def test_nesting_that_would_kill_a_parser_is_refused(message: bytes, outer: bytes) -> None:
    with pytest.raises(ParseError):
        decode(outer % message)


def test_a_wide_message_is_not_a_deep_one() -> None:
    wide = [[index] for index in range(50_000)]
    assert decode(json.dumps(wide).encode()) == wide


@pytest.mark.parametrize(
    "text",
    [
        "0",
        "-1",
        "9007199254740993",
        "9223372036854775808",
        "-9223372036854775809",
        "1" + "0" * 400,
        "9" * 4300,
        "-" + "9" * 4299,
    ],
)
def test_integers_are_exact(text: str) -> None:
    value = decode(text.encode())
    assert type(value) is int
    assert value == int(text)
    assert encode(value) == text.encode()


@pytest.mark.parametrize("text", ["1.0", "1e2", "0.1", "5e-324", "1.7976931348623157e308", "-0.0"])
def test_a_float_stays_a_float(text: str) -> None:
    value = decode(text.encode())
    assert type(value) is float
    assert (value, math.copysign(1, value)) == (float(text), math.copysign(1, float(text)))
    again = json.loads(encode(value))
    assert type(again) is float
    assert again == value


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("holder", ["{}", "[1, {}]", '{{"a": [null, {{"b": {}}}]}}'])
def test_what_no_json_can_say_is_not_encoded(value: float, holder: str) -> None:
    whole = json.loads(holder.format(json.dumps(value)))
    with pytest.raises(ValueError, match="finite"):
        encode(whole)


@pytest.mark.parametrize("value", ["\ud800", {"\udc00": 1}, ["a", "\udfff"]])
def test_a_lone_surrogate_is_not_encoded(value: object) -> None:
    with pytest.raises(ValueError, match="surrogates"):
        encode(value)


@pytest.mark.requirement("8.2-one-line")
@given(st.text())
def test_no_text_breaks_the_line(text: str) -> None:
    encoded = encode({"a": text, text: "\n"})
    assert b"\n" not in encoded
    assert b"\r" not in encoded
    assert json.loads(encoded) == {"a": text, text: "\n"}


NUMBERS = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False))
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.text(max_size=8)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=12,
)


@given(VALUES, st.booleans(), st.sampled_from([None, 1, "\t"]))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_values_come_through(value: Any, ascii_only: bool, indent: Any) -> None:
    message = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    taken = decode(message.encode())
    assert _typed(taken) == _typed(value)
    assert _typed(json.loads(encode(taken))) == _typed(value)


FRAGMENTS = st.sampled_from(
    [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        " ",
        '"a"',
        '"\\u0061"',
        '"b"',
        '""',
        '"',
        "\\",
        '\\"',
        "a",
        "1",
        "-",
        "0",
        ".",
        "e",
        "1e999",
        "null",
        "true",
        "\n",
        "\x00",
        "NaN",
        '":"',
        '{"a":1}',
        "\\ud83d",
        "\\ude00",
        "é",
        "😀",
    ]
)


@given(st.lists(FRAGMENTS, max_size=14).map("".join))
@settings(max_examples=1500, deadline=None, derandomize=True)
def test_any_text_is_judged_as_the_oracle_does(text: str) -> None:
    _agree(text.encode())


@given(VALUES, st.data())
@settings(max_examples=500, deadline=None, derandomize=True)
def test_damaged_json_is_judged_as_the_oracle_does(value: Any, data: st.DataObject) -> None:
    message = bytearray(json.dumps(value, ensure_ascii=False).encode())
    at = data.draw(st.integers(0, len(message) - 1))
    message[at : at + 1] = data.draw(st.binary(max_size=2))
    _agree(bytes(message))


def test_fuzz_messages_are_judged_as_the_oracle_does() -> None:
    for message in messages(count=4000):
        _agree(message)


def _agree(message: bytes) -> None:
    try:
        wanted = strict_json.loads(message)
    except ValueError:
        with pytest.raises(ParseError):
            decode(message)
    else:
        assert _typed(decode(message)) == _typed(wanted), message


def _typed(value: Any) -> Any:
    """``value`` so that 1, 1.0 and true differ."""
    if isinstance(value, dict):
        return {name: _typed(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_typed(inner) for inner in value]
    return (type(value), value)
