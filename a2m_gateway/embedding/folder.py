"""What lies in the folder of a model, and what its own files say of how it is run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from a2m_gateway.embedding.recipes import recipe_for
from a2m_gateway.embedding.settings import Onnx, Pooling
from a2m_gateway.errors import ConfigurationError

if TYPE_CHECKING:  # onnxruntime and numpy load with the model
    from a2m_gateway.embedding.onnx import OnnxEncoder

__all__ = ["ModelFolder"]

_MODEL_FILES = ("model.onnx", "onnx/model.onnx")
_TOKENISERS = ("tokenizer.json", "vocab.txt")


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """The files of one model.

    Attributes:
        model: Its name.
        onnx: The graph, with or without its weights beside it.
        tokeniser: ``tokenizer.json``, else ``vocab.txt``.
        prefer_pooled: Whether the graph's own pooled output is taken where it has one: unless a
            setting names the pooling.
        dense: Whether layers follow the pooling, which a bare export lacks.
    """

    model: str
    onnx: Path
    tokeniser: Path
    pooling: Pooling
    max_tokens: int
    prefer_pooled: bool
    dense: bool

    @classmethod
    def of(cls, settings: Onnx) -> ModelFolder:
        """Find everything that ``settings`` leave open.

        Raises:
            ConfigurationError: Something is missing or ambiguous; names the setting.
        """
        path = Path(settings.path).expanduser()
        if not path.exists():
            raise ConfigurationError(f"{path} is not there", setting="embedder.path")
        root = path if path.is_dir() else path.parent
        if path.is_file() and root.name == "onnx" and not _tokeniser_in(root):
            root = root.parent
        onnx = path if path.is_file() else _onnx_in(root)
        tokeniser = _tokeniser_in(root)
        if tokeniser is None:
            raise ConfigurationError(
                f"{root} holds neither {' nor '.join(_TOKENISERS)}", setting="embedder.path"
            )
        model = settings.model or _name_of(root.resolve())
        recipe = recipe_for(model)
        return cls(
            model=model,
            onnx=onnx,
            tokeniser=tokeniser,
            pooling=settings.pooling or _pooling_in(root) or recipe.pooling,
            max_tokens=settings.max_tokens or _max_tokens_in(root) or recipe.max_tokens,
            prefer_pooled=settings.pooling is None,
            dense=_has_dense(root),
        )

    def load(self) -> OnnxEncoder:
        """The model itself; blocking, and imports onnxruntime."""
        from a2m_gateway.embedding.onnx import OnnxEncoder
        from a2m_gateway.embedding.tokens import Tokens

        read = Tokens.from_vocabulary if self.tokeniser.suffix == ".txt" else Tokens.from_json
        return OnnxEncoder.load(
            self.onnx,
            read(self.tokeniser, self.max_tokens),
            self.pooling,
            prefer_pooled=self.prefer_pooled,
            dense=self.dense,
        )


def _name_of(root: Path) -> str:
    """The folder's name, where it is the model's: not in the caches of the hub and of Chroma."""
    if root.parent.name == "snapshots":  # models--ORGANISATION--NAME/snapshots/REVISION
        return root.parent.parent.name.removeprefix("models--").replace("--", "/")
    return root.parent.name if root.name == "onnx" else root.name


def _onnx_in(root: Path) -> Path:
    for name in _MODEL_FILES:
        if (root / name).is_file():
            return root / name
    found = sorted([*root.glob("*.onnx"), *root.glob("onnx/*.onnx")])
    if len(found) == 1:
        return found[0]
    what = ", ".join(file.name for file in found) if found else "none"
    raise ConfigurationError(
        f"{root} should hold one ONNX file and holds {what}: name the file itself",
        setting="embedder.path",
    )


def _tokeniser_in(root: Path) -> Path | None:
    return next((root / name for name in _TOKENISERS if (root / name).is_file()), None)


def _pooling_in(root: Path) -> Pooling | None:
    """What sentence-transformers would do, where it has left its file."""
    said = _json(root / "1_Pooling" / "config.json")
    mode = said.get("pooling_mode")
    if said.get("pooling_mode_mean_tokens") is True or mode == "mean":
        return "mean"
    if said.get("pooling_mode_cls_token") is True or mode == "cls":
        return "cls"
    if said:
        raise ConfigurationError(
            f"{root / '1_Pooling' / 'config.json'} asks for a pooling that is neither mean nor cls",
            setting="embedder.pooling",
        )
    return None


def _max_tokens_in(root: Path) -> int | None:
    length = _json(root / "sentence_bert_config.json").get("max_seq_length")
    return length if isinstance(length, int) and length > 2 else None


def _has_dense(root: Path) -> bool:
    return ".Dense" in json.dumps(_json(root / "modules.json"))


def _json(path: Path) -> Mapping[str, object]:
    if not path.is_file():
        return {}
    try:
        said = json.loads(path.read_bytes())
    except ValueError:
        raise ConfigurationError(f"{path} is no JSON", setting="embedder.path") from None
    return said if isinstance(said, dict) else {"": said}
