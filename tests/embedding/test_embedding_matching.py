"""Does an embedder fit a collection, and which one serves it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from a2m_gateway.capability import Metric
from a2m_gateway.embedding import (
    Certainty,
    Embedder,
    Evidence,
    StoredPassage,
    assess,
    build,
    choose,
)
from a2m_gateway.embedding.settings import Minilm, NoEmbedder, OpenAI, WordLlama
from a2m_gateway.errors import ConfigurationError, EmbedderError, EmbedderMismatch
from a2m_gateway.store import VectorField

GOLDEN = json.loads((Path(__file__).parent / "golden_minilm.json").read_bytes())["vectors"]
STORED = [StoredPassage(entry["text"], entry["vector"]) for entry in GOLDEN]
CLS = [StoredPassage(entry["text"], entry["cls"]) for entry in GOLDEN if "cls" in entry]
MIXED_UP = [StoredPassage(one.text, other.vector) for one, other in pairwise(STORED)]


def field(width: int | None = 384, model: str | None = None) -> VectorField:
    return VectorField("", width, Metric.COSINE, "Cosine", model=model)


class Recorded:
    """A stand-in for a remote model: it gives what it is told to, and keeps what it was sent."""

    def __init__(
        self,
        vectors: dict[str, list[float]] | None = None,
        *,
        model: str = "text-embedding-3-small",
        width: int = 384,
        known_width: bool = False,
        remote: str | None = "https://api.example.org",
    ) -> None:
        self.model, self.remote = model, remote
        self._vectors, self._made = vectors or {}, width
        self.width = width if known_width else None
        self.sent: list[str] = []
        self.closed = False
        self.failure: Exception | None = None

    async def embed_query(self, text: str) -> list[float]:
        return (await self.embed_passages([text]))[0]

    async def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        if self.failure:
            raise self.failure
        self.sent += texts
        self.width = self._made
        return [self._vectors.get(text, [1.0] * self._made) for text in texts]

    async def aclose(self) -> None:
        self.closed = True


@pytest.fixture(scope="module")
def minilm() -> Iterator[Embedder]:
    embedder = build(Minilm())
    yield embedder
    asyncio.run(embedder.aclose())


@pytest.fixture
def remote() -> Recorded:
    return Recorded({passage.text: list(passage.vector) for passage in STORED})


# assess, with the real model


async def test_the_vectors_of_the_original_prove_it(minilm: Embedder) -> None:
    fit = await assess(minilm, Evidence(field(), passages=STORED))
    assert (fit.ok, fit.certainty) == (True, Certainty.PROVEN)
    assert "0.999" in fit.reason


async def test_scale_does_not_count(minilm: Embedder) -> None:
    """Vectors under l2 or dot need not have length 1."""
    scaled = [StoredPassage(p.text, [7 * x for x in p.vector]) for p in STORED]
    assert (await assess(minilm, Evidence(field(), passages=scaled))).ok


@pytest.mark.parametrize("passages", [MIXED_UP, CLS], ids=["others' vectors", "another pooling"])
@pytest.mark.parametrize("name", [None, "sentence-transformers/all-MiniLM-L6-v2", "default"])
async def test_other_vectors_disprove_it_whatever_the_name(
    minilm: Embedder, passages: list[StoredPassage], name: str | None
) -> None:
    fit = await assess(minilm, Evidence(field(model=name), passages=passages))
    assert (fit.ok, fit.certainty, fit.trustable) == (False, Certainty.REFUSED, True)
    assert "median cosine 0." in fit.reason


async def test_two_odd_records_of_five_do_not_disprove_it(minilm: Embedder) -> None:
    passages = STORED[3:6] + MIXED_UP[6:8]
    assert (await assess(minilm, Evidence(field(), passages=passages))).ok
    passages = STORED[3:5] + MIXED_UP[5:8]
    assert not (await assess(minilm, Evidence(field(), passages=passages))).ok


async def test_what_cannot_be_compared_is_left_out(minilm: Embedder) -> None:
    vector = STORED[3].vector
    unusable = [
        StoredPassage("", vector),
        StoredPassage(" \n", vector),
        StoredPassage("half \ud83d a pair", vector),
        StoredPassage("no vector", []),
        StoredPassage("zeros", [0.0] * 384),
        StoredPassage("another width", [1.0] * 8),
    ]
    fit = await assess(minilm, Evidence(field(), passages=unusable + STORED[3:4]))
    assert (fit.certainty, "1 stored passage " in fit.reason) == (Certainty.PROVEN, True)
    fit = await assess(minilm, Evidence(field(), passages=unusable))
    assert fit.certainty is Certainty.WIDTH_ONLY


async def test_width_alone_is_said_to_be_width_alone(minilm: Embedder) -> None:
    fit = await assess(minilm, Evidence(field()))
    assert (fit.ok, fit.certainty) == (True, Certainty.WIDTH_ONLY)


async def test_a_name_alone_is_said_to_be_a_name(minilm: Embedder) -> None:
    for evidence in (
        Evidence(field(model="fast-all-minilm-l6-v2")),
        Evidence(field(None, model="DefaultEmbeddingFunction")),
        Evidence(field(), names=["sentence-transformers/all-MiniLM-L6-v2"]),
    ):
        fit = await assess(minilm, evidence)
        assert (fit.ok, fit.certainty) == (True, Certainty.NAMED)


async def test_a_collection_without_vectors(minilm: Embedder) -> None:
    assert (await assess(minilm, Evidence(None))).certainty is Certainty.REFUSED


# assess, without running anything


async def test_widths_that_differ_are_both_named() -> None:
    embedder = Recorded(known_width=True, width=1536)
    fit = await assess(embedder, Evidence(field(384, model="all-MiniLM-L6-v2")), trust=True)
    assert not fit.ok
    assert not fit.trustable
    for word in ("1536", "384", "text-embedding-3-small", "all-MiniLM-L6-v2"):
        assert word in fit.reason
    assert embedder.sent == []


async def test_a_width_known_from_the_first_answer_alone() -> None:
    embedder = Recorded(width=1536)
    fit = await assess(embedder, Evidence(field(384)))
    assert not fit.ok
    assert "1536" in fit.reason
    assert "384" in fit.reason


async def test_the_width_of_the_sample_stands_in_for_one_that_is_not_declared() -> None:
    fit = await assess(Recorded(width=8, known_width=True), Evidence(field(None), passages=STORED))
    assert not fit.ok
    assert "384" in fit.reason


async def test_names_that_differ_are_both_named_and_nothing_is_run() -> None:
    embedder = Recorded(known_width=True)
    for evidence in (
        Evidence(field(model="fast-all-minilm-l6-v2"), passages=STORED),
        Evidence(field(), names=["all-minilm-l6-v2"], passages=STORED),
        Evidence(field(), names=["text-embedding-3-small", "all-minilm-l6-v2"]),
    ):
        fit = await assess(embedder, evidence, allow_remote=True)
        assert (fit.ok, fit.trustable) == (False, True)
        assert "text-embedding-3-small" in fit.reason
        assert "all-minilm-l6-v2" in fit.reason
    assert embedder.sent == []


async def test_chromas_default_contradicts_nobody() -> None:
    """Chroma writes it wherever a writer brought its own vectors (LlamaIndex, Haystack)."""
    embedder = Recorded(width=1536)
    assert (await assess(embedder, Evidence(field(1536, model="default")))).ok


# Text stays here


async def test_stored_text_is_not_sent_away_unasked(remote: Recorded) -> None:
    fit = await assess(remote, Evidence(field(), passages=STORED))
    assert fit.certainty is Certainty.WIDTH_ONLY
    assert remote.sent
    assert not {passage.text for passage in STORED} & set(remote.sent)
    fit = await assess(remote, Evidence(field(), passages=STORED), allow_remote=True)
    assert fit.certainty is Certainty.PROVEN
    assert len({passage.text for passage in STORED} & set(remote.sent)) == 5


async def test_a_remote_kind_on_this_machine_may_be_sent_text(remote: Recorded) -> None:
    remote.remote = None
    fit = await assess(remote, Evidence(field(), passages=STORED))
    assert fit.certainty is Certainty.PROVEN


# choose


@pytest.mark.parametrize(
    "evidence",
    [Evidence(field(), passages=STORED), Evidence(field(model="default"))],
    ids=["proven", "named"],
)
async def test_the_default_serves_where_it_surely_fits(evidence: Evidence) -> None:
    choice = await choose(None, evidence)
    assert choice.embedder is not None
    assert choice.embedder.model == "all-MiniLM-L6-v2"
    assert len(await choice.embedder.embed_query("x")) == 384
    await choice.embedder.aclose()


async def test_the_default_serves_what_early_fastembed_made() -> None:
    choice = await choose(None, Evidence(field(model="fast-all-minilm-l6-v2"), passages=CLS))
    assert choice.fit.certainty is Certainty.PROVEN
    assert choice.embedder is not None
    await choice.embedder.aclose()


@pytest.mark.parametrize(
    ("evidence", "word"),
    [
        (Evidence(field(1536)), "1536"),
        (Evidence(field(384)), "names no model"),
        (Evidence(field(384, model="bge-small-en-v1.5"), passages=STORED), "bge-small-en-v1.5"),
        (Evidence(field(384, model="all-MiniLM-L6-v2"), passages=MIXED_UP), "median cosine"),
        (Evidence(None), "no vectors"),
    ],
    ids=["width", "width alone", "name", "fingerprint", "no vectors"],
)
async def test_the_default_steps_aside_with_a_reason(evidence: Evidence, word: str) -> None:
    choice = await choose(None, evidence)
    assert choice.embedder is None
    assert not (choice.fit.ok and choice.fit.certainty is not Certainty.WIDTH_ONLY)
    assert word in choice.fit.reason


NAMED = OpenAI(model="text-embedding-3-small")
TRUSTED = OpenAI(model="text-embedding-3-small", trust=True)


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        (Evidence(field(1536)), ["384", "1536", "name another"]),
        (Evidence(field(model="bge-small-en")), ["bge-small-en", "text-embedding-3", "trust"]),
        (Evidence(field(), passages=MIXED_UP), ["median cosine", "trust = true"]),
        (Evidence(None), ["no vectors"]),
    ],
)
async def test_a_named_one_that_does_not_fit_is_an_error(
    remote: Recorded, evidence: Evidence, words: list[str]
) -> None:
    with pytest.raises(EmbedderMismatch) as caught:
        await choose(NAMED, evidence, allow_remote=True, build=lambda _: remote)
    assert all(word in str(caught.value) for word in words)
    assert remote.closed


@pytest.mark.parametrize(
    "evidence",
    [Evidence(field(model="bge-small-en")), Evidence(field(), passages=MIXED_UP)],
    ids=["name", "fingerprint"],
)
async def test_trust_overrides_name_and_fingerprint(remote: Recorded, evidence: Evidence) -> None:
    choice = await choose(TRUSTED, evidence, allow_remote=True, build=lambda _: remote)
    assert choice.embedder is remote
    assert choice.fit.certainty is Certainty.WIDTH_ONLY
    assert "trust" in choice.fit.reason


async def test_trust_does_not_override_the_width(remote: Recorded) -> None:
    with pytest.raises(EmbedderMismatch, match="1536"):
        await choose(TRUSTED, Evidence(field(1536)), build=lambda _: remote)


async def test_a_named_one_serves_where_nothing_speaks_against_it(remote: Recorded) -> None:
    choice = await choose(NAMED, Evidence(field()), build=lambda _: remote)
    assert choice.embedder is remote
    assert not remote.closed


async def test_none_is_none() -> None:
    choice = await choose(NoEmbedder(), Evidence(field(), passages=STORED))
    assert choice.embedder is None
    assert "none" in choice.fit.reason


async def test_a_named_one_that_can_not_be_reached_is_closed_and_told(remote: Recorded) -> None:
    remote.failure = EmbedderError("down")
    with pytest.raises(EmbedderError, match="down"):
        await choose(NAMED, Evidence(field()), build=lambda _: remote)
    assert remote.closed


async def test_a_named_one_that_can_not_be_built() -> None:
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        await choose(NAMED, Evidence(field()), build=lambda settings: build(settings, {}))


async def test_two_local_models_do_not_pass_for_one_another() -> None:
    pytest.importorskip("wordllama")
    with pytest.raises(EmbedderMismatch, match="256"):
        await choose(WordLlama(), Evidence(field(), passages=STORED))
