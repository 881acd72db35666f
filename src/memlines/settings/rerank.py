"""The settings of reranking, a part of the tree."""

from memlines.records import dataclass
from memlines.settings.values import key

RERANK_SERVICES: dict[str, tuple[str, ...]] = {
    "voyage": ("VOYAGE_API_KEY",),
    "cohere": ("COHERE_API_KEY", "CO_API_KEY"),
    "jina": ("JINA_API_KEY",),
    "openai-compatible": (),
}
"""The services by their names in the settings, and the variables that may hold a key, in the order they are
looked at. A service without any works without a key as well."""

RERANKERS = ("none", *RERANK_SERVICES, "local", "onnx")


@dataclass(frozen=True, slots=True)
class Rerank:
    """A second model that reads the best hits of a search with your question and improves their order."""

    provider: str = key(
        "none",
        "What reranks. Once you name a service, your questions and the lines that are found go there.",
        choices=RERANKERS,
    )
    model: str | None = key(None, "The model to use; nothing means the default of the service.")
    base_url: str | None = key(
        None, "The address that `/rerank` follows, if you do not use the usual one.", expands=True
    )
    api_key: str | None = key(None, "Your key; `${VAR}` reads a variable.", secret=True, expands=True)
    path: str | None = key(
        None,
        "Your model: a GGUF file for `local`, a folder with `model.onnx` and `tokenizer.json` for `onnx`.",
        expands=True,
    )
    candidates: int = key(8, "How many of the best hits are reranked.", (8, 30), "less")
    timeout_ms: int = key(
        1500, "How long reranking may take; after that you get the usual order.", (50, 60_000), "less"
    )
    weight: float = key(
        0.35, "The weight of the reranker; 0 keeps the usual order, 1 uses its order alone.", (0, 1), "yes"
    )
