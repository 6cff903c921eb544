"""Regular expressions for Chroma's ``$regex``, which are Rust's.

``$contains`` is not used: it is case-sensitive and never finds what follows a NUL character in a
document, while ``$regex`` finds it (Chroma 1.5.9, both through the same trigram index).
"""

from __future__ import annotations

__all__ = ["containing", "equal_to"]

_MOST = 4096
"""Characters of a value that are compared by the store; what begins alike is compared again."""


def containing(term: str, *, whole: bool = False) -> str:
    """Matches texts that contain ``term``, which is in lower case, in any case.

    Args:
        whole: Not within a longer word.

    Rust folds every cased character that Python lower-cases to one, and so the only one missing is
    the İ, which becomes an i and a combining dot.
    """
    pattern = "".join("[iİ]" if char == "i" else _literal(char) for char in term)
    return rf"(?i)\b{pattern}\b" if whole else f"(?i){pattern}"


def equal_to(text: str) -> str:
    """Matches ``text``, or, where it is very long, what begins with its beginning."""
    end = r"\z" if len(text) <= _MOST else ""
    return r"\A" + "".join(map(_literal, text[:_MOST])) + end


def _literal(char: str) -> str:
    return char if char.isalnum() else f"\\x{{{ord(char):x}}}"
