"""What any embedder can be given."""

from __future__ import annotations

from a2m_gateway.errors import InvalidParams

__all__ = ["is_encodable", "refuse_unencodable"]


def is_encodable(text: str) -> bool:
    """Whether ``text`` has a UTF-8 form; a lone surrogate has none."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def refuse_unencodable(text: str, field: str) -> None:
    """Raise InvalidParams, naming ``field``, for text that no tokeniser and no service can take."""
    if not is_encodable(text):
        raise InvalidParams(
            f"`{field}`: holds half of a surrogate pair, which is no Unicode text", field=field
        )
