"""What ``recall`` and ``timeline`` take as JSON on the command line."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, NoReturn

import typer

from a2m_gateway.errors import ParseError
from a2m_gateway.protocol import decode

__all__ = ["read_query", "read_score", "read_vector", "read_where"]


def read_where(conditions: Sequence[str] | None) -> dict[str, Any] | None:
    """``NAME=VALUE`` each; what stands before the first ``=`` is the name.

    Raises:
        typer.BadParameter: One is not of that form, or a name is given twice.
    """
    where: dict[str, Any] = {}
    for condition in conditions or ():
        _check_text(condition, "--where")
        name, equals, value = condition.partition("=")
        if not equals or not name:
            _refuse(f"{condition!r} is not NAME=VALUE", "--where")
        if name in where:
            _refuse(f"{name!r} is given twice; any of several values is {name}=[1,2]", "--where")
        where[name] = _value(value)
    return where or None


def read_vector(text: str | None) -> list[float] | None:
    """A JSON array of numbers.

    Raises:
        typer.BadParameter: It is none.
    """
    if text is None:
        return None
    try:
        given = decode(text.encode("utf-8", "surrogatepass"))
    except ParseError:
        given = None
    if not isinstance(given, list) or not all(type(one) in (int, float) for one in given):
        _refuse("must be a JSON array of numbers, such as [0.1, 0.2]", "--embedding")
    return given


def read_score(score: float | None) -> float | None:
    """A number that JSON can carry.

    Raises:
        typer.BadParameter: It is infinite or NaN.
    """
    if score is not None and not math.isfinite(score):
        _refuse("must be a finite number", "--min-score")
    return score


def read_query(query: str | None) -> str | None:
    """A text that can be sent.

    Raises:
        typer.BadParameter: It is not UTF-8.
    """
    _check_text(query or "", "QUERY")
    return query


def _value(text: str) -> Any:
    """JSON as its value, anything else as the string that it is."""
    try:
        return decode(text.encode())
    except ParseError as error:
        if _is_json(text):
            _refuse(f"{error.message}; to mean a string, quote it: '\"…\"'", "--where")
        return text


def _is_json(text: str) -> bool:
    """Whether it is JSON, though of a kind that can't be kept exactly."""
    try:
        # Only the grammar counts: a number of any size is one.
        json.loads(text, parse_int=str, parse_float=str, parse_constant=_no_json)
    except RecursionError:
        return True
    except ValueError:
        return False
    return True


def _no_json(name: str) -> NoReturn:
    raise ValueError(name)


def _check_text(text: str, parameter: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        _refuse("is not valid UTF-8", parameter)


def _refuse(message: str, parameter: str) -> NoReturn:
    raise typer.BadParameter(message, param_hint=parameter)
