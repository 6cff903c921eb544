"""Importing the package and asking for help stay light: the engines load when they are needed."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import a2m_gateway.cli

HEAVY = {
    "bm25s", "chromadb", "fastapi", "fastembed", "numpy", "onnxruntime", "qdrant_client",
    "sentence_transformers", "tokenizers", "uvicorn",
}  # fmt: skip

AFTERWARDS = "import json, sys; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
HELP = f"""
import sys
from a2m_gateway.cli import main
sys.argv = ["a2m-gateway", "--help"]
try:
    main()
finally:
    {AFTERWARDS}
"""


def run(code: str) -> tuple[subprocess.CompletedProcess[str], set[str]]:
    """What a fresh interpreter made of ``code``, and the modules that it had loaded by the end."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    return done, set(json.loads(done.stderr.splitlines()[-1]))


def test_import_is_light() -> None:
    done, loaded = run(f"import a2m_gateway\n{AFTERWARDS}")
    assert done.returncode == 0, done.stderr
    assert "a2m_gateway" in loaded
    assert HEAVY & loaded == set()


@pytest.mark.skipif(not hasattr(a2m_gateway.cli, "main"), reason="there is no command line yet")
def test_help_is_light() -> None:
    done, loaded = run(HELP)
    assert done.returncode == 0, done.stderr
    assert "serve" in done.stdout
    assert HEAVY & loaded == set()
