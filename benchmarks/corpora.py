"""Real passages with known answers.

The judged sets are not part of the repository; ``A2M_EVAL_DIR`` says where they are.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Corpus", "Document", "judged_set", "judged_sets", "twenty_thousand"]

REPOSITORY = Path(__file__).resolve().parent.parent
SETS = ("wiki", "debpkg")


@dataclass(frozen=True, slots=True)
class Document:
    id: str
    text: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents, questions, and which documents answer a question.

    Attributes:
        queries: Question → the ids of its answers.
    """

    documents: Sequence[Document]
    queries: Mapping[str, frozenset[str]]


def judged_sets() -> Path:
    """The folder of the sets.

    Raises:
        SystemExit: They are not there.
    """
    default = REPOSITORY.parent / "shared" / "eval"
    folder = Path(os.environ.get("A2M_EVAL_DIR") or default)
    missing = [f"{name}.json.gz" for name in SETS if not (folder / f"{name}.json.gz").is_file()]
    if missing:
        raise SystemExit(
            f"The benchmarks need judged sets, and {folder} has no {' and no '.join(missing)}.\n"
            "Name the folder that has them: make bench A2M_EVAL_DIR=…"
        )
    return folder


def judged_set(name: str) -> Corpus:
    """One of the judged or known-item sets."""
    file = judged_sets() / f"{name}.json.gz"
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        data = json.load(stream)
    documents = [Document(doc["id"], doc["text"], doc.get("meta") or {}) for doc in data["docs"]]
    texts = {query["id"]: query["text"] for query in data["queries"]}
    queries = {texts[query]: frozenset(grades) for query, grades in data["qrels"].items()}
    return Corpus(documents, queries)


def twenty_thousand() -> Corpus:
    """20,000 passages: 9,995 beginnings of encyclopedia articles, 10,005 package descriptions.

    A question is a later sentence of an article, or the short description of a package.
    """
    wiki, packages = (judged_set(name) for name in SETS)
    asked = frozenset().union(*list(packages.queries.values())[:500])
    ordered = sorted(packages.documents, key=lambda document: document.id not in asked)
    chosen = ordered[: 20_000 - len(wiki.documents)]
    known = {document.id for document in chosen}
    queries = {text: ids for text, ids in packages.queries.items() if ids <= known}
    return Corpus([*wiki.documents, *chosen], {**wiki.queries, **queries})


if __name__ == "__main__":  # before anything is started
    judged_sets()
