r"""How a server finds words: it only filters, and how depends on its indexes and its version.

Probed on the Rust core: ``MatchText`` wants whole words of the text, in any case, unless a text
index says otherwise: only its ``prefix`` tokeniser finds beginnings of words. Before that, servers
took ``MatchText`` on a field without an index as a substring, and minded the case, which is why
several spellings are asked for. ``MatchSubstring`` finds beginnings and minds the case.

Text that lies in JSON may be escaped: ``é`` as ``\u00e9``, and a line break as ``\n``, after which
a tokeniser reads a letter more ("nbreak").
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Sequence

from qdrant_client import models

from a2m_gateway.capability import Claim, Support
from a2m_gateway.errors import StoreRefused
from a2m_gateway.store import Selection
from a2m_gateway.store.fan_out import at_once
from a2m_gateway.store.text import is_text
from a2m_qdrant.engine import Point, Points
from a2m_qdrant.keys import payload_key
from a2m_qdrant.schema import index_of, strict_mode

__all__ = ["MatchedText"]

_SUBSTRING_SINCE = (1, 20)
_ESCAPED_CONTROLS = "nrt"
_TERMS_AT_ONCE = 4

Scroll = Callable[[str, models.ScrollRequest], Awaitable[Points]]


class MatchedText:
    """Words of one field, by a scroll per term.

    Args:
        scroll: The engine's.
        version: The server's, as numbers.
    """

    def __init__(
        self,
        scroll: Scroll,
        collection: str,
        info: models.CollectionInfo,
        selection: Selection,
        version: tuple[int, int],
    ) -> None:
        self._scroll = scroll
        self._collection = collection
        self._json = selection.text_is_json
        path = selection.text_path
        self._key = payload_key(path) if path is not None else None
        index = index_of(info, path) if path is not None else None
        params = index.params if index is not None else None
        self._text = params if isinstance(params, models.TextIndexParams) else None
        self._indexed = index is not None and index.data_type is models.PayloadSchemaType.TEXT
        strict = strict_mode(info)
        self._refused = strict.unindexed_filtering_retrieve is False
        self._most = strict.max_query_limit
        self._substring = version >= _SUBSTRING_SINCE and not self._refused and not self._prefixed
        self.claim = self._claim()

    async def find(
        self,
        terms: Sequence[str],
        limit: int,
        narrowed: models.Filter | None,
        *,
        whole: bool,
    ) -> Sequence[Point]:
        if self._key is None or not self.claim.held:
            raise StoreRefused(f"qdrant: words can't be found here: {self.claim.reason}")
        searches = [
            self._find_one(self._filter(term, narrowed, whole), limit)
            for term in terms
            if is_text(term)
        ]
        found = await at_once(searches, _TERMS_AT_ONCE)
        return [point for points in found for point in points]

    async def _find_one(self, wanted: models.Filter, limit: int) -> Sequence[Point]:
        """As many pages as it takes: strict mode bounds one of them."""
        found: list[Point] = []
        offset: int | str | None = None
        while len(found) < limit:
            missing = limit - len(found)
            request = models.ScrollRequest(
                filter=wanted,
                offset=offset,
                limit=missing if self._most is None else min(missing, self._most),
                with_payload=True,
                with_vector=False,
            )
            page = await self._scroll(self._collection, request)
            found += page.points
            offset = page.next_id
            if offset is None:
                break
        return found

    def _filter(self, term: str, narrowed: models.Filter | None, whole: bool) -> models.Filter:
        wanted = models.Filter(should=list(self._conditions(term, whole)))
        return models.Filter(must=[wanted, *([narrowed] if narrowed is not None else [])])

    def _conditions(self, term: str, whole: bool) -> Iterator[models.FieldCondition]:
        for spelling in dict.fromkeys(self._spellings(term)):
            match = models.MatchText(text=spelling)
            yield models.FieldCondition(key=self._key or "", match=match)
        if self._substring and not whole:
            for spelling in dict.fromkeys(_cases(term, escaped=self._json)):
                part = models.MatchSubstring(substring=spelling)
                yield models.FieldCondition(key=self._key or "", match=part)

    def _spellings(self, term: str) -> Iterator[str]:
        folds = self._indexed and (self._text is None or self._text.lowercase is not False)
        spellings = [term] if folds and not self._json else list(_cases(term, escaped=self._json))
        yield from spellings
        if self._json:
            yield from (control + one for control in _ESCAPED_CONTROLS for one in spellings)

    @property
    def whole_words(self) -> bool:
        """Beginnings of words are not found."""
        return not (self._prefixed or self._substring)

    @property
    def _prefixed(self) -> bool:
        return self._text is not None and self._text.tokenizer is models.TokenizerType.PREFIX

    def _claim(self) -> Claim:
        if self._key is None:
            return Claim(reason="no text field was chosen, or its name can't be said to Qdrant")
        if self._refused and not self._indexed:
            return Claim(
                reason=f"strict mode forbids filters without an index, and {self._key} has no text "
                "index: create one with the tokenizer `prefix`"
            )
        return Claim(Support.NATIVE, self._how())

    def _how(self) -> str:
        tokenizer = self._text.tokenizer if self._text is not None else None
        kind = tokenizer.value if tokenizer is not None else "word"
        where = f"by a text index (tokenizer {kind})" if self._indexed else "without an index"
        if self._prefixed:
            return f"{where}: beginnings of words, in any case"
        if self._substring:
            return (
                f"{where}: whole words in any case, beginnings of words in lower case, upper case "
                "and capitalised"
            )
        return (
            f"{where}: whole words only, as they stand in the query; a text index on {self._key} "
            "with the tokenizer `prefix` would find inflections too"
        )


def _cases(term: str, *, escaped: bool) -> Iterator[str]:
    """A term as it may be written, and escaped as JSON writers do."""
    for spelling in (term, term.capitalize(), term.upper()):
        yield spelling
        if escaped:
            yield json.dumps(spelling)[1:-1]
