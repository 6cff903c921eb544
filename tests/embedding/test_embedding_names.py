"""Names of models, and what the table says of them."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from a2m_gateway.embedding.names import canonical_name, is_vague, same_model
from a2m_gateway.embedding.recipes import prefixes_for, recipe_for

SPELLINGS = [
    (
        "all-MiniLM-L6-v2",
        "sentence-transformers/all-MiniLM-L6-v2",
        "fast-all-minilm-l6-v2",
        "ALL_MINILM_L6_V2",
        "qdrant/all-MiniLM-L6-v2-onnx",
        "Xenova/all-MiniLM-L6-v2",
        "all-MiniLM-L6-v2-onnx-int8",
        "/models/all-MiniLM-L6-v2/",
        "C:\\models\\all-MiniLM-L6-v2",
        "default",
        "DefaultEmbeddingFunction",
        "ONNXMiniLM_L6_V2",
        "onnx_mini_lm_l6_v2",
        "all-minilm:latest",
        "all-minilm",
    ),
    ("BAAI/bge-small-en-v1.5", "fast-bge-small-en-v1.5", "bge-small-en-v1.5-onnx-q"),
    ("nomic-ai/nomic-embed-text-v1.5", "nomic-embed-text:latest", "nomic-embed-text:v1.5"),
    ("text-embedding-3-small", "openai/text-embedding-3-small"),
]
DIFFERENT = [
    ("all-MiniLM-L6-v2", "all-MiniLM-L12-v2"),
    ("all-MiniLM-L6-v2", "paraphrase-MiniLM-L6-v2"),
    ("all-minilm:33m", "all-MiniLM-L6-v2"),
    ("bge-small-en", "bge-small-en-v1.5"),
    ("text-embedding-3-small", "text-embedding-3-large"),
    ("text-embedding-3-small", "text-embedding-ada-002"),
    ("e5-small", "multilingual-e5-small"),
    ("", ""),
    ("---", "///"),
]


@pytest.mark.parametrize("names", SPELLINGS, ids=lambda names: names[0])
def test_spellings_of_one_model(names: tuple[str, ...]) -> None:
    assert {canonical_name(name) for name in names} == {canonical_name(names[0])}
    assert all(same_model(names[0], name) for name in names)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_models(one: str, other: str) -> None:
    assert not same_model(one, other)


@given(st.text(max_size=60))
@example("fast-fast-x-onnx-q")
def test_the_canonical_name_is_its_own(name: str) -> None:
    once = canonical_name(name)
    assert canonical_name(once) == once


WORDS = st.lists(st.from_regex(r"[a-z][a-z0-9]{2,6}", fullmatch=True), min_size=2, max_size=4)


@given(
    words=WORDS,
    organisation=st.sampled_from(["", "some-org/", "hub.example/some-org/"]),
    separator=st.sampled_from(["-", "_", ".", " ", ":"]),
    prefix=st.sampled_from(["", "fast-"]),
    upper=st.booleans(),
)
def test_dress_does_not_count(
    words: list[str], organisation: str, separator: str, prefix: str, upper: bool
) -> None:
    plain = "-".join(words)
    dressed = separator.join(words)
    dressed = organisation + prefix + (dressed.upper() if upper else dressed)
    assert canonical_name(dressed) == canonical_name(plain)


@given(words=WORDS, extra=st.from_regex(r"x[a-z]{3,5}", fullmatch=True))
def test_another_word_is_another_model(words: list[str], extra: str) -> None:
    assert not same_model("-".join(words), "-".join([*words, extra]))


def test_vague_names() -> None:
    assert is_vague("default")
    assert is_vague("DefaultEmbeddingFunction")
    assert is_vague("")
    assert not is_vague("all-MiniLM-L6-v2")
    assert not is_vague("ONNXMiniLM_L6_V2")


@pytest.mark.parametrize(
    ("model", "query", "passage", "pooling"),
    [
        ("intfloat/e5-base-v2", "query: ", "passage: ", "mean"),
        ("intfloat/multilingual-e5-large", "query: ", "passage: ", "mean"),
        ("nomic-embed-text", "search_query: ", "search_document: ", "mean"),
        (
            "BAAI/bge-small-en-v1.5",
            "Represent this sentence for searching relevant passages: ",
            "",
            "cls",
        ),
        (
            "mixedbread-ai/mxbai-embed-large-v1",
            "Represent this sentence for searching relevant passages: ",
            "",
            "cls",
        ),
        (
            "Snowflake/snowflake-arctic-embed-m",
            "Represent this sentence for searching relevant passages: ",
            "",
            "cls",
        ),
        (
            "google/embeddinggemma-300m",
            "task: search result | query: ",
            "title: none | text: ",
            "mean",
        ),
        ("sentence-transformers/all-MiniLM-L6-v2", "", "", "mean"),
        ("text-embedding-3-small", "", "", "mean"),
        ("my-e5-base-tuned", "", "", "mean"),
    ],
)
def test_recipes(model: str, query: str, passage: str, pooling: str) -> None:
    recipe = recipe_for(model)
    assert (recipe.prefixes.query, recipe.prefixes.passage, recipe.pooling) == (
        query,
        passage,
        pooling,
    )


def test_qwen3_has_an_instruction_before_the_query_alone() -> None:
    prefixes = prefixes_for("Qwen/Qwen3-Embedding-0.6B")
    assert prefixes.query.startswith("Instruct: ")
    assert prefixes.query.endswith("\nQuery:")
    assert prefixes.passage == ""


def test_settings_override_the_table() -> None:
    assert prefixes_for("e5-base", query="").query == ""
    assert prefixes_for("e5-base", query="").passage == "passage: "
    assert prefixes_for("e5-base", passage="doc: ").passage == "doc: "
