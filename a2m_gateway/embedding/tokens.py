"""From text to token ids, with the ``tokenizers`` library."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from a2m_gateway.errors import ConfigurationError

if TYPE_CHECKING:  # the library is heavy and loads with the model
    from tokenizers import Encoding, Tokenizer

__all__ = ["Tokens"]

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_CHARACTERS_PER_TOKEN = 40
"""Of ordinary text a token has 4 or 5; this many make a first look long enough almost always."""


class Tokens:
    """A tokeniser that cuts at the model's window and never pads: the caller pads and masks.

    A ``tokenizer.json`` often carries settings of its training (all-MiniLM-L6-v2: cut at 128, pad
    to 128), so its own truncation and padding are replaced.
    """

    def __init__(self, tokenizer: Tokenizer, max_tokens: int) -> None:
        padding = tokenizer.padding
        self.pad_id = int(padding["pad_id"]) if padding else _pad_id(tokenizer)
        tokenizer.no_padding()
        tokenizer.enable_truncation(max_length=max_tokens)
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens

    @classmethod
    def from_json(cls, path: Path, max_tokens: int) -> Tokens:
        """The tokeniser in a ``tokenizer.json``.

        Raises:
            ConfigurationError: The library can't read it.
        """
        from tokenizers import Tokenizer

        try:
            return cls(Tokenizer.from_file(str(path)), max_tokens)
        except Exception as error:  # noqa: BLE001 - the library raises bare Exceptions
            raise ConfigurationError(
                f"{path} is no tokeniser: {error}", setting="embedder.path"
            ) from None

    @classmethod
    def from_vocabulary(cls, path: Path, max_tokens: int) -> Tokens:
        """BERT's WordPiece over a ``vocab.txt``, one piece a line.

        Raises:
            ConfigurationError: It is not BERT's.
        """
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

        pieces = path.read_bytes().decode("utf-8", "replace").split("\n")
        ids = {piece.rstrip("\r"): number for number, piece in enumerate(pieces) if piece}
        missing = [token for token in _SPECIAL if token not in ids]
        if missing:
            raise ConfigurationError(
                f"{path} is no vocabulary of BERT's, it lacks {', '.join(missing)}: "
                "put the model's tokenizer.json beside it",
                setting="embedder.path",
            )
        tokenizer = Tokenizer(models.WordPiece(vocab=ids, unk_token="[UNK]"))  # noqa: S106
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=_is_uncased(ids))
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.post_processor = processors.BertProcessing(
            ("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"])
        )
        tokenizer.add_special_tokens(list(_SPECIAL))
        return cls(tokenizer, max_tokens)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text, at most ``max_tokens``."""
        # One by one: encode_batch would start a thread per core beside the model's own.
        return [list(self._encode(text).ids) for text in texts]

    def _encode(self, text: str) -> Encoding:
        """Look at the beginning first: a text of megabytes would all be tokenised, then cut."""
        length = self._max_tokens * _CHARACTERS_PER_TOKEN
        while length < len(text):
            # Behind a space nothing changes how what is before it is taken apart.
            end = text.rfind(" ", 0, length)
            if end > 0:
                encoding = self._tokenizer.encode(text[:end])
                if encoding.overflowing:
                    return encoding
            length *= 4
        return self._tokenizer.encode(text)


def _pad_id(tokenizer: Tokenizer) -> int:
    known = (tokenizer.token_to_id(token) for token in ("[PAD]", "<pad>"))
    return next((number for number in known if number is not None), 0)


def _is_uncased(ids: dict[str, int]) -> bool:
    """Whether a vocabulary was made from lower-cased text: no piece of it has a capital."""
    return not any(piece != piece.lower() for piece in ids if not piece.startswith("["))
