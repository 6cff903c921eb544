"""What a command says where a library that it needs is not installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

WITHOUT = """
import sys
for name in sys.argv[1].split(","):
    sys.modules[name] = None  # as if it were not installed
from a2m_gateway.cli import main
sys.argv = ["a2m-gateway", *sys.argv[2:]]
main()
"""


@pytest.mark.parametrize(
    ("missing", "args", "remedy"),
    [
        ("qdrant_client", ("serve", "qdrant://127.0.0.1:1/docs"), "a2m-gateway[qdrant]"),
        ("qdrant_client", ("inspect", "qdrant+file://{folder}/docs"), "a2m-gateway[qdrant]"),
        ("qdrant_client", ("demo",), "a2m-gateway[qdrant]"),
        ("qdrant_client", ("config", "check", "{folder}/qdrant.toml"), "a2m-gateway[qdrant]"),
        ("chromadb", ("serve", "chroma+file://{folder}/docs"), "a2m-gateway[chroma-embedded]"),
    ],
)
def test_it_says_what_to_install(
    missing: str, args: tuple[str, ...], remedy: str, tmp_path: Path
) -> None:
    (tmp_path / "chroma.sqlite3").touch()
    (tmp_path / "qdrant.toml").write_text('[store]\nurl = "qdrant://127.0.0.1:1/docs"\n')
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, missing, *(arg.format(folder=tmp_path) for arg in args)],
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert f"pip install '{remedy}'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("library", ["fastembed", "sentence_transformers"])
def test_of_an_embedder(library: str) -> None:
    kind = library.replace("_", "-")
    program = f"import command_corpora\ncommand_corpora.create_all()\n{WITHOUT}"
    args = ("inspect", "memory:///vectors", "--embedder", f"{kind}:m")
    done = subprocess.run(
        [sys.executable, "-c", program, library, *args],
        capture_output=True,
        text=True,
        timeout=90,
        env={"PYTHONPATH": str(Path(__file__).parents[1] / "support")},
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert f"pip install 'a2m-gateway[{kind}]'" in done.stderr
