"""The part of the tree about providers of vectors: who they are, and what they may cost."""

from __future__ import annotations

from dataclasses import dataclass, field

from memlines.settings.rules import rule
from memlines.settings.services import SERVICES

PROVIDERS = ("auto", "builtin", "local", *SERVICES, "none")


@dataclass(frozen=True, slots=True)
class Local:
    """A model of your own, in a GGUF file."""

    model_path: str | None = field(
        default=None,
        metadata=rule("text", "The model's GGUF file; `auto` prefers it to everything else.", expands=True),
    )
    model_cache_dir: str | None = field(
        default=None,
        metadata=rule(
            "text",
            "The folder of your GGUF files, in which a relative `model_path` is looked for.",
            expands=True,
        ),
    )
    threads: int = field(
        default=0,
        metadata=rule("whole", "How many threads it may use; 0 means one a core.", low=0, high=1024),
    )


@dataclass(frozen=True, slots=True)
class Batch:
    """The slow and cheap way of OpenAI, Gemini and Voyage: hand in a file, fetch the vectors later."""

    enabled: bool = field(
        default=False, metadata=rule("flag", "Whether many texts at once are handed in as a batch.")
    )
    min_texts: int = field(
        default=500,
        metadata=rule("whole", "Fewer texts than this are embedded directly.", low=1, high=1_000_000),
    )
    wait: bool = field(
        default=True,
        metadata=rule("flag", "Whether a sync waits for the batch; if not, a later one fetches it."),
    )
    concurrency: int = field(
        default=2, metadata=rule("whole", "How many batches may be open at a time.", low=1, high=16)
    )
    poll_seconds: float = field(
        default=2.0, metadata=rule("number", "How often a batch is asked for.", low=0.01, high=3600)
    )
    timeout_minutes: float = field(
        default=60.0,
        metadata=rule("number", "How long a batch may take before it is given up.", low=0.01, high=2880),
    )


@dataclass(frozen=True, slots=True)
class Embeddings:
    """How text becomes vectors, and who is asked to do it."""

    provider: str = field(
        default="auto",
        metadata=rule("text", "Who turns text into vectors; `none` searches by words.", choices=PROVIDERS),
    )
    fallback: str = field(
        default="none",
        metadata=rule("text", "The provider to use when the first one fails.", choices=PROVIDERS),
    )
    remote_ok: bool = field(
        default=False,
        metadata=rule("flag", "Lets `auto` pick a provider that receives your text over the network."),
    )
    model: str | None = field(
        default=None, metadata=rule("text", "The model to use; nothing means the provider's own default.")
    )
    base_url: str | None = field(
        default=None,
        metadata=rule("text", "The address of the provider's API, if it is not the usual one.", expands=True),
    )
    api_key: str | None = field(
        default=None,
        repr=False,
        metadata=rule("text", "The provider's key; `${VAR}` reads a variable.", secret=True, expands=True),
    )
    headers: tuple[tuple[str, str], ...] = field(
        default=(),
        repr=False,
        metadata=rule("pairs", "More headers to send with every request.", secret=True, expands=True),
    )
    dimensions: int | None = field(
        default=None,
        metadata=rule(
            "whole", "The length of a vector, where the provider lets one choose.", low=1, high=65_536
        ),
    )
    batch_size: int | None = field(
        default=None,
        metadata=rule(
            "whole",
            "How many texts one request holds at most; nothing or 0 means as many as the service takes.",
            low=0,
            high=10_000,
            project="yes",
        ),
    )
    local: Local = field(default_factory=Local)
    batch: Batch = field(default_factory=Batch)


@dataclass(frozen=True, slots=True)
class Spend:
    """What paid providers may cost; what is beyond a limit waits, and words find it meanwhile."""

    max_per_day: float | None = field(
        default=None,
        metadata=rule("number", "The most a day may cost in US dollars; nothing means no limit.", low=0),
    )
    max_per_run: float | None = field(
        default=None,
        metadata=rule("number", "The most one sync may cost in US dollars; nothing means no limit.", low=0),
    )
    max_tokens_per_day: int | None = field(
        default=None,
        metadata=rule("whole", "The most tokens a day may send; nothing means no limit.", low=0),
    )
    max_tokens_per_run: int | None = field(
        default=None,
        metadata=rule("whole", "The most tokens one sync may send; nothing means no limit.", low=0),
    )
    prices: tuple[tuple[str, str], ...] = field(
        default=(),
        metadata=rule("pairs", "US dollars for a million tokens by model, such as `my-model: '0.05'`."),
    )
