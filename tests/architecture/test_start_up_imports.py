"""Importing the package and asking for help stay light: the engines load when they are needed."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import a2m_gateway.cli

ENGINES = {
    "chromadb", "fastapi", "fastembed", "onnxruntime", "qdrant_client", "sentence_transformers",
    "tokenizers", "uvicorn",
}  # fmt: skip
NUMERIC = {"bm25s", "numpy"}

AFTERWARDS = (
    "import json, sys; "
    "print(json.dumps(sorted({m.partition('.')[0] for m in sys.modules})), file=sys.stderr)"
)
HELP = f"""
import sys
from a2m_gateway.cli import main
sys.argv = ["a2m-gateway", "--help"]
try:
    main()
finally:
    {AFTERWARDS}
"""


def run(code: str) -> tuple[str, set[str]]:
    """What a fresh interpreter printed for ``code``, and the packages it had loaded by the end."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout, set(json.loads(done.stderr.splitlines()[-1]))


def test_import_is_light() -> None:
    _, loaded = run(f"import a2m_gateway\n{AFTERWARDS}")
    assert "a2m_gateway" in loaded
    assert (ENGINES | NUMERIC) & loaded == set()


@pytest.mark.skipif(not hasattr(a2m_gateway.cli, "main"), reason="there is no command line yet")
def test_help_is_light() -> None:
    printed, loaded = run(HELP)
    assert "serve" in printed
    assert ENGINES & loaded == set()
