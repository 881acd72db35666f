"""The provider `local`: reads the model's header when it is made, and the model at the first text."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memlines import paths
from memlines.embed.base import Limits, Provider, count_cores
from memlines.embed.local.header import PACKAGE, fingerprint_of, read_header, unusable
from memlines.embed.remote.errors import Outage
from memlines.embed.remote.services import prefixes_of
from memlines.errors import ProviderUnreachable, ProviderUnusable, extra_missing
from memlines.locks import start_daemon
from memlines.settings.tree import Embeddings

if TYPE_CHECKING:
    from memlines.embed.base import Vector, Vectors
    from memlines.embed.local.engine import Engine

DEFAULT_MODEL = "embeddinggemma-300m-qat-Q8_0.gguf"

_MOST_TOKENS = 2048
"""Longer texts would take gigabytes with some models, and passages are far shorter."""
_MARKS = 8
"""Tokens that are kept for the marks a model puts around a text."""
_LEAST_TEXT_BYTES = 64
_OTHER = "Set embeddings.local.model_path to a GGUF model made for embeddings"
_ELSEWHERE = re.compile("(hf|https?|huggingface):", re.IGNORECASE)
"""What a model's name begins with if it says from where to download it."""
QUERY_SECONDS = 300.0
PASSAGES_SECONDS = 600.0
"""How long a call may take; the first one loads the model as well."""
_TEXTS = 16
"""How many passages one call holds: small, so that progress shows and little is lost on a stop."""


class LocalProvider(Provider):
    """A GGUF model of the user's own; nothing leaves the machine.

    Making one reads the file's header and raises `ProviderUnusable` or `ModelFilesError` if the
    model cannot be used. llama.cpp and the model are loaded at the first text.
    """

    id = "local"

    def __init__(self, settings: Embeddings) -> None:
        if importlib.util.find_spec(PACKAGE) is None:
            raise extra_missing(ProviderUnusable, "the provider 'local'", "local", PACKAGE)
        self._path = model_file(settings)
        header = read_header(self._path)
        if header.pooling == "rank":
            raise unusable(self._path, "is a reranker and gives no vectors", todo=_OTHER)
        if header.pooling == "none":
            raise unusable(self._path, "was not made for embeddings: it names no pooling", todo=_OTHER)
        self.model = self._path.name
        self.dims = header.dims
        self._prefixes = prefixes_of(self.model)
        self._tokens = min(header.context, _MOST_TOKENS)
        self._threads = settings.local.threads or count_cores()
        self._fingerprint = fingerprint_of(self._path)
        # A token is at least one byte, so a text of so many bytes fits whatever it says.
        room = self._tokens - _MARKS - max(len(text.encode("utf-8")) for text in self._prefixes)
        if room < _LEAST_TEXT_BYTES:
            too_few = f"reads only {self._tokens} tokens, too few for a passage"
            raise unusable(self._path, too_few, todo=_OTHER)
        self.limits = Limits(text_bytes=room, request_bytes=room * _TEXTS, request_texts=_TEXTS)
        made_by = "\0".join((self._fingerprint, header.pooling, *self._prefixes))
        self.key = hashlib.sha256(made_by.encode("utf-8")).hexdigest()[:32]
        self._engine: Engine | None = None
        self._outage = Outage()

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question."""
        vector: Vector = self._vectors([self._prefixes[0] + text], QUERY_SECONDS)[0]
        return vector

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of passages, in their order."""
        return self._vectors([self._prefixes[1] + text for text in texts], PASSAGES_SECONDS)

    def _vectors(self, texts: Sequence[str], seconds: float) -> Vectors:
        """Return the vectors of texts, or raise `ProviderUnreachable` when the time is over.

        llama.cpp cannot be interrupted, so it works in a thread of its own, which is left alone then. It ends
        with the text that it is at.
        """
        import numpy as np

        self._outage.check()
        engine = self._engine or self._start()
        ends, is_over = time.monotonic() + seconds, threading.Event()

        def work() -> list[list[float]]:
            return [engine.vector(text, ends) for text in texts if not is_over.is_set()]

        try:
            vectors = start_daemon(work, "memlines-local").result(seconds)
        except TimeoutError:
            error = ProviderUnreachable(
                f"the local model {str(self._path)!r} did not answer within {seconds:g} seconds",
                todo="Try again, or use a smaller model",
            )
            self._outage.begin(error)
            raise error from None
        finally:
            is_over.set()
        self._outage.end()
        return np.array(vectors, dtype=np.float32)

    def _start(self) -> Engine:
        """Return the engine, once the file is known to be the one whose header was read."""
        from memlines.embed.local.engine import Plan, shared

        if fingerprint_of(self._path) != self._fingerprint:
            raise unusable(self._path, "has been replaced meanwhile", todo="Start again to use the new file")
        self._engine = shared(Plan(str(self._path), self._fingerprint, self._tokens, self._threads))
        return self._engine


def model_file(settings: Embeddings) -> Path:
    """Return where the model of the settings is, whether or not there is one.

    A model that would have to be downloaded is a `ProviderUnusable`.
    """
    folder = settings.local.model_cache_dir
    models = paths.expand_home(folder) if folder else paths.user_cache_dir() / "models"
    wanted = settings.local.model_path
    if not wanted:
        name = settings.model or ""
        wanted = name if name.lower().endswith(".gguf") else DEFAULT_MODEL
    elif not folder and not _ELSEWHERE.match(wanted):
        return paths.expand_home(wanted).absolute()
    if _ELSEWHERE.match(wanted):
        raise _not_downloaded(wanted, models)
    return (models / paths.expand_home(wanted)).absolute()  # an absolute path stays as it is


def _not_downloaded(wanted: str, models: Path) -> ProviderUnusable:
    """Return the error for a model that is named by where it can be downloaded."""
    name = wanted.split("?")[0].rstrip("/").rpartition("/")[2]
    scheme, _, rest = wanted.partition(":")
    parts = rest.strip("/").split("/")
    if not name.lower().endswith(".gguf"):
        name, which = "MODEL.gguf", "one of its GGUF files"
    elif scheme.lower().startswith("http") or len(parts) < 3:
        which = wanted
    else:  # a file that is named by its repository on Hugging Face
        which = f"https://huggingface.co/{parts[0]}/{parts[1]}/resolve/main/{'/'.join(parts[2:])}"
    return ProviderUnusable(
        f"{wanted!r} is a model to download, and models are never downloaded for you",
        todo=f"Download {which} to {str(models / name)!r} and set embeddings.local.model_path to that path",
    )
