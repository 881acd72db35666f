"""The reranker `onnx`: a cross-encoder of the user's own, run by onnxruntime inside this process.

A folder holds `model.onnx`, which takes the tokens of a query and a text together and returns one number,
and `tokenizer.json`, which makes the tokens.
"""

from __future__ import annotations

import atexit
import importlib.util
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memlines import paths
from memlines.embed.rerank.base import Reranker
from memlines.errors import ModelFilesError, ProviderUnusable, extra_missing
from memlines.settings.rerank import Rerank

_MODEL, _TOKENIZER = "model.onnx", "tokenizer.json"
_PACKAGES = ("onnxruntime", "tokenizers")
_MOST_TOKENS = 512
"""What most cross-encoders read; the tokenizer may say that it is less."""
_AT_ONCE = 4
"""Pairs in one run of the model: few, because a run cannot be interrupted."""
_CLOSING_SECONDS = 5.0
"""How long a process that ends waits for the model to load or run."""

_RUNNING = threading.Lock()
"""Held while a model loads or runs: several at once would only take the cores from each other."""


class OnnxReranker(Reranker):
    """A cross-encoder in a folder; nothing leaves the machine.

    Making one looks for its files. The model is loaded at the first query.
    """

    id = "onnx"

    def __init__(self, settings: Rerank) -> None:
        for package in _PACKAGES:
            if importlib.util.find_spec(package) is None:
                raise extra_missing(ProviderUnusable, "the reranker 'onnx'", "rerank", package)
        if not settings.path:
            raise ProviderUnusable(
                "the reranker 'onnx' has no model",
                todo=f"Set rerank.path to a folder with {_MODEL} and {_TOKENIZER}",
            )
        self._folder = paths.expand_home(settings.path).absolute()
        for name in (_MODEL, _TOKENIZER):
            if not (self._folder / name).is_file():
                raise _unusable(self._folder, f"has no {name}", "Put the file there, or set rerank.path")
        self.model = self._folder.name
        self._session: Any = None
        self._tokenizer: Any = None

    def score(self, query: str, texts: Sequence[str], ends: float) -> list[float]:
        """Return the scores that the model gives, those of texts of like length together."""
        if self._session is None:
            self.load()
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        scores: dict[int, float] = {}
        for start in range(0, len(order), _AT_ONCE):
            places = order[start : start + _AT_ONCE]
            if not _RUNNING.acquire(timeout=max(0.0, ends - time.monotonic())):
                raise TimeoutError
            try:
                if time.monotonic() >= ends:
                    raise TimeoutError
                found = self._run(query, [texts[place] for place in places])
            finally:
                _RUNNING.release()
            scores.update(zip(places, found, strict=True))
        return [scores[place] for place in range(len(texts))]

    def load(self) -> None:
        """Load the tokenizer and the model."""
        with _RUNNING:
            if self._session is None:
                self._tokenizer, self._session = self._read_files()

    def _read_files(self) -> tuple[Any, Any]:
        import onnxruntime
        import tokenizers

        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        try:
            tokenizer = tokenizers.Tokenizer.from_file(str(self._folder / _TOKENIZER))
            limit = (tokenizer.truncation or {}).get("max_length", _MOST_TOKENS)
            tokenizer.enable_truncation(min(limit, _MOST_TOKENS))
            # Files often ask for texts as long as the model reads, which takes many times as long.
            tokenizer.enable_padding(**{**(tokenizer.padding or {}), "length": None})
            model = str(self._folder / _MODEL)
            session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise _unusable(self._folder, f"cannot be loaded: {_first_line(error)}") from error
        return tokenizer, session

    def _run(self, query: str, texts: list[str]) -> list[float]:
        import numpy as np

        # Half a surrogate pair (from a broken file) is no text for a tokenizer.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in (query, *texts)]
        encoded = self._tokenizer.encode_batch([(clean[0], text) for text in clean[1:]])
        made = {
            "input_ids": [one.ids for one in encoded],
            "attention_mask": [one.attention_mask for one in encoded],
            "token_type_ids": [one.type_ids for one in encoded],
        }
        wanted = [given.name for given in self._session.get_inputs()]
        if unknown := [name for name in wanted if name not in made]:
            raise _unusable(self._folder, f"wants {unknown[0]!r}, which no cross-encoder needs")
        try:
            given = {name: np.array(made[name], dtype=np.int64) for name in wanted}
            numbers = np.asarray(self._session.run(None, given)[0], dtype=np.float64)
        except Exception as error:
            raise _unusable(self._folder, f"cannot be run: {_first_line(error)}") from error
        if numbers.size != len(texts) or not np.isfinite(numbers).all():
            raise _unusable(self._folder, "does not return one finite number for a pair of texts")
        scores: list[float] = numbers.reshape(-1).tolist()
        return scores


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _unusable(folder: Path, problem: str, todo: str = "Use another cross-encoder") -> ModelFilesError:
    return ModelFilesError(f"the reranker {str(folder)!r} {problem}", todo=todo)


def _wait_for_idle() -> None:
    """Let the model finish: a process that ends while the runtime computes may crash."""
    _RUNNING.acquire(timeout=_CLOSING_SECONDS)


atexit.register(_wait_for_idle)
