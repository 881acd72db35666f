"""The remote services: addresses, limits, and the shapes of their messages.

A service is one class here and one line in `SERVICES` of `settings/tree.py`. The classes keep no state and
send nothing; `provider` does that. Some services hand a text to the model as it is, so this module also
knows what the models of such services want to read before a query and before a passage.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from memlines.embed.base import Limits, validated
from memlines.errors import BadVectors
from memlines.records import dataclass
from memlines.settings.tree import SERVICES

if TYPE_CHECKING:
    from memlines.embed.base import Vectors

_MOST_TOKENS = 2**53


class Malformed(Exception):
    """A reply that is not of the service's shape; says how, without repeating any of it."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a service replied: one vector a text, in their order, and what it says about itself."""

    vectors: Sequence[Any]
    model: str = ""
    tokens: int | None = None

    def check_vectors(self, count: int, dims: int | None, service: str) -> Vectors:
        """Return the vectors as unit rows of one array, or raise `BadVectors`."""
        for vector in self.vectors:
            if not isinstance(vector, list) or not set(map(type, vector)) <= {int, float}:
                raise BadVectors(
                    f"{service} replied with something other than numbers",
                    todo="Try again, or choose another embeddings.provider",
                )
        return validated(self.vectors, count, dims, source=service)


class Api:
    """One service. What is not overridden follows OpenAI's protocol, which most services speak."""

    id: ClassVar[str]
    """The name in the settings."""
    default_model: ClassVar[str] = ""
    """The model to use if the settings name none; empty where they have to."""
    own_prefixes: ClassVar[tuple[str, ...]] = ()
    """What people write before a model's name and the service does not."""
    url: ClassVar[str] = ""
    """The usual address; empty where the settings have to name it."""
    usual_limits: ClassVar[Limits]
    known_dims: ClassVar[Mapping[str, int]] = {}
    """The lengths of vectors by patterns of models' names; of other models the first reply shows it."""
    one_length: ClassVar[str] = ""
    """A pattern of the models that make vectors of one length only."""
    path: ClassVar[str] = "embeddings"
    dims_field: ClassVar[str] = "dimensions"
    """What a request calls the length that the settings chose."""
    parameters: ClassVar[Mapping[str, Any]] = {"encoding_format": "float"}
    """What every request says; a text that is too long is refused, not cut."""
    input_types: ClassVar[tuple[str, str] | None] = None
    """What a request calls its texts if they are passages, and if they are queries."""
    serves_any_model: ClassVar[bool] = False
    """Whether the service runs models of others and hands them a text as it is."""

    def base_url(self, environ: Mapping[str, str]) -> str:
        """Return the usual address."""
        return self.url

    def auth(self, key: str) -> dict[str, str]:
        """Return the headers that carry a key."""
        return {"authorization": f"Bearer {key}"}

    def limits(self, model: str) -> Limits:
        """Return how much the service accepts at a time."""
        return self.usual_limits

    def dims(self, model: str) -> int | None:
        """Return the length of the model's vectors, if it is known before the first one."""
        known = self.known_dims.items()
        return next((dims for names, dims in known if re.fullmatch(names, model)), None)

    def shortens(self, model: str) -> bool:
        """Return whether the model makes vectors of any chosen length, as far as is known."""
        return not re.fullmatch(self.one_length, model)

    def prefixes(self, model: str) -> tuple[str, str]:
        """Return what the model wants to read before a query and before a passage."""
        return prefixes_of(model) if self.serves_any_model else ("", "")

    def request(
        self, model: str, texts: Sequence[str], *, is_query: bool, dims: int | None
    ) -> tuple[str, dict[str, Any]]:
        """Return the path and the body of a request; `dims` is set if a length was chosen."""
        body = {"model": model, "input": list(texts), **self.parameters}
        if self.input_types:
            body["input_type"] = self.input_types[is_query]
        if dims is not None and self.shortens(model):
            body[self.dims_field] = dims
        return self.path, body

    def reply(self, raw: Any, count: int) -> Reply:
        """Return what a reply to so many texts says, or raise `Malformed`."""
        items = _sort_by_index(_require(raw, "data", list), count)
        vectors = [_require(item, "embedding", list) for item in items]
        return Reply(vectors, _model_of(raw), _token_count(raw.get("usage"), "total_tokens"))


class OpenAI(Api):
    """api.openai.com: 8,192 tokens a text, 300,000 a request."""

    id = "openai"
    default_model = "text-embedding-3-small"
    own_prefixes = ("openai/",)
    url = "https://api.openai.com/v1"
    usual_limits = Limits(text_bytes=8_000, request_bytes=256_000, request_texts=256, at_once=4)
    known_dims: ClassVar = {
        "text-embedding-3-small": 1536,
        "text-embedding-3-large": 3072,
        "text-embedding-ada-002": 1536,
    }
    one_length = "text-embedding-ada-002"


class Compatible(Api):
    """Any server that speaks OpenAI's protocol: LM Studio, llama.cpp, vLLM. Many allow 32 texts."""

    id = "openai-compatible"
    serves_any_model = True

    def limits(self, model: str) -> Limits:
        """Return what most servers accept."""
        return Limits(text_bytes_of(model, 8_000), request_bytes=64_000, request_texts=32, at_once=2)


class Mistral(Api):
    """api.mistral.ai: 8,192 tokens a text, 16,384 a request."""

    id = "mistral"
    default_model = "mistral-embed"
    own_prefixes = ("mistral/", "mistralai/")
    url = "https://api.mistral.ai/v1"
    usual_limits = Limits(text_bytes=8_000, request_bytes=16_000, request_texts=128, at_once=2)
    known_dims: ClassVar = {"mistral-embed(-2312)?": 1024, "codestral-embed": 1536}
    one_length = "(?!codestral-embed).*"
    dims_field = "output_dimension"


class Voyage(Api):
    """api.voyageai.com: 32,000 tokens a text, 120,000 a request of the large models."""

    id = "voyage"
    default_model = "voyage-4-large"
    own_prefixes = ("voyage/", "voyageai/")
    url = "https://api.voyageai.com/v1"
    usual_limits = Limits(text_bytes=30_000, request_bytes=100_000, request_texts=256, at_once=4)
    known_dims: ClassVar = {"voyage-3-lite": 512, "voyage-(code|large)-2": 1536, "voyage-[34].*": 1024}
    one_length = "voyage-3(-lite)?|.*-2"
    dims_field = "output_dimension"
    parameters: ClassVar = {"truncation": False}
    input_types = ("document", "query")


class Ollama(Api):
    """Ollama's own protocol, for models on this machine or in a private network."""

    id = "ollama"
    default_model = "nomic-embed-text"
    own_prefixes = ("ollama/",)
    serves_any_model = True
    path = "api/embed"
    parameters: ClassVar = {"truncate": False}

    def base_url(self, environ: Mapping[str, str]) -> str:
        """Return the address that `OLLAMA_HOST` names, or the usual one."""
        host = environ.get("OLLAMA_HOST", "").strip().rstrip("/")
        scheme, found, rest = host.rpartition("://")
        name, colon, port = rest.rpartition(":")
        if not colon or not port.isdecimal():
            name, port = rest, "" if found else "11434"
        # A server that listens everywhere is reached at this machine's own address.
        name = "127.0.0.1" if name in ("", "0.0.0.0", "[::]") else name
        return f"{scheme or 'http'}://{name}" + (f":{port}" if port else "")

    def limits(self, model: str) -> Limits:
        """Return how much it accepts: 4,096 tokens a text at most, unless a server is set up otherwise."""
        text_bytes = min(4_000, text_bytes_of(model, 2_000))
        return Limits(text_bytes, request_bytes=64_000, request_texts=32, at_once=2)

    def reply(self, raw: Any, count: int) -> Reply:
        """Return what a reply says; vectors come in the order of the texts."""
        vectors = _require(raw, "embeddings", list)
        return Reply(vectors, _model_of(raw), _token_count(raw, "prompt_eval_count"))


class Gemini(Api):
    """generativelanguage.googleapis.com."""

    id = "gemini"
    default_model = "gemini-embedding-001"
    own_prefixes = ("models/", "google/", "gemini/")
    url = "https://generativelanguage.googleapis.com/v1beta"
    known_dims: ClassVar = {"text-embedding-004|embedding-001": 768, "gemini-embedding-.*": 3072}
    one_length = "embedding-001"

    def auth(self, key: str) -> dict[str, str]:
        """Return the header that carries a key, which must not be part of the address."""
        return {"x-goog-api-key": key}

    def limits(self, model: str) -> Limits:
        """Return how much it accepts: 2,048 tokens a text, 8,192 since the second generation."""
        text_bytes = 8_000 if self._is_second(model) else 2_000
        return Limits(text_bytes, request_bytes=100_000, request_texts=100, at_once=2)

    def prefixes(self, model: str) -> tuple[str, str]:
        """Return what the second generation reads in the place of a task's type."""
        return _GEMMA_PREFIXES if self._is_second(model) else ("", "")

    def request(
        self, model: str, texts: Sequence[str], *, is_query: bool, dims: int | None
    ) -> tuple[str, dict[str, Any]]:
        """Return the path and the body of a request."""
        common: dict[str, Any] = {"model": f"models/{model}"}
        if not self._is_second(model):
            common["taskType"] = "RETRIEVAL_QUERY" if is_query else "RETRIEVAL_DOCUMENT"
        if dims is not None:
            common["outputDimensionality"] = dims
        each = [{**common, "content": {"parts": [{"text": text}]}} for text in texts]
        if is_query:
            return f"models/{model}:embedContent", each[0]
        return f"models/{model}:batchEmbedContents", {"requests": each}

    def reply(self, raw: Any, count: int) -> Reply:
        """Return what a reply says; vectors come in the order of the texts."""
        single = isinstance(raw, dict) and "embedding" in raw
        items = [raw["embedding"]] if single else _require(raw, "embeddings", list)
        vectors = [_require(item, "values", list) for item in items]
        return Reply(vectors, "", _token_count(raw.get("usageMetadata"), "promptTokenCount"))

    @staticmethod
    def _is_second(model: str) -> bool:
        return model.startswith("gemini-embedding-2")


REMOTE: dict[str, Api] = {name: globals()[class_name]() for name, (class_name, _) in SERVICES.items()}
"""The services by their names in the settings."""


def _require(raw: Any, name: str, kind: type) -> Any:
    """Return a part of a reply, or raise `Malformed` if it is missing or of another kind."""
    value = raw.get(name) if isinstance(raw, dict) else None
    if not isinstance(value, kind):
        raise Malformed(f"replied without {name!r}")
    return value


def _model_of(raw: dict[str, Any]) -> str:
    """Return the model's name as the service says it."""
    name = raw.get("model")
    return name if isinstance(name, str) else ""


def _token_count(counts: Any, name: str) -> int | None:
    """Return a count of tokens, if it is there and can be true."""
    value = counts.get(name) if isinstance(counts, dict) else None
    return value if type(value) is int and 0 <= value < _MOST_TOKENS else None


def _sort_by_index(items: list[Any], count: int) -> list[Any]:
    """Return the items of a reply in the order of the texts, by the index that each one names.

    A service that names none at all keeps the order.
    """
    places = [item.get("index") if isinstance(item, dict) else None for item in items]
    if len(items) != count or all(place is None for place in places):
        return items
    by_place = {place: item for place, item in zip(places, items, strict=True) if type(place) is int}
    if sorted(by_place) != list(range(count)):
        raise Malformed("replied with vectors that have no clear index")
    return [by_place[place] for place in range(count)]


class _Family(NamedTuple):
    """Models that were trained alike."""

    name: str
    """A pattern of their names."""
    query: str = ""
    document: str = ""
    text_bytes: int = 8000
    """About two bytes a token of what the model reads, for text that is dense in digits and symbols."""


_TASK = "Given a web search query, retrieve relevant passages that answer the query"
_REPRESENT = "Represent this sentence for searching relevant passages: "
_GEMMA_PREFIXES = ("task: search result | query: ", "title: none | text: ")

_FAMILIES = (
    _Family(r"nomic-embed-text", "search_query: ", "search_document: ", 4000),
    _Family(r"qwen3-embed", f"Instruct: {_TASK}\nQuery:", ""),
    _Family(r"mxbai-embed-large", _REPRESENT, "", 1000),
    _Family(r"embedding-?gemma", *_GEMMA_PREFIXES, 4000),
    _Family(r"e5-mistral|\be5-.*-instruct", f"Instruct: {_TASK}\nQuery: ", "", 1000),
    _Family(r"\be5[-_]", "query: ", "passage: ", 1000),
    _Family(r"arctic-embed.*v2|arctic-embed2", "query: ", ""),
    _Family(r"arctic-embed", _REPRESENT, "", 1000),
    _Family(r"bge-(small|base|large)-en", _REPRESENT, "", 1000),
    _Family(r"bge-(small|base|large)", "", "", 1000),
    _Family(r"minilm", "", "", 500),
    _Family(r"bge-m3"),
)
"""The first whose pattern is found counts."""


def prefixes_of(model: str) -> tuple[str, str]:
    """Return what goes before a query and before a passage, by the model's or its file's name."""
    return _family_of(model, 0)[1:3]


def text_bytes_of(model: str, unknown: int) -> int:
    """Return how long a text the model reads, or the given number if that is not known."""
    return _family_of(model, unknown).text_bytes


def _family_of(model: str, unknown: int) -> _Family:
    known = (family for family in _FAMILIES if re.search(family.name, model, re.IGNORECASE))
    return next(known, _Family(model, text_bytes=unknown))
