"""The tree of settings: every key, its default, its limits and its meaning, in one place.

A key's kind and choices are those of its type, so annotations must not be strings here.
"""
# ruff: noqa: RUF009 (`key` and `section` return dataclass fields)

from dataclasses import dataclass
from typing import Literal

from memlines.paths import MAIN_AGENT, languages_with
from memlines.settings.values import key, section
from memlines.types import ClientName, Source

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Sessions:
    """Which transcripts are read where `sources` asks for sessions."""

    clients: tuple[ClientName, ...] = key(
        (), "The clients whose own transcripts of this folder are read, beside `sessions/`."
    )


@dataclass(frozen=True, slots=True)
class Redaction:
    """What is taken out of transcripts, and of everything that leaves the machine."""

    rules: Pairs = key((), "Your own patterns by kind, such as `badge: 'B-[0-9]{8}'`.")


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat model that helps to find what should last in a conversation; without one, rules do it."""

    provider: Literal["none", "openai", "anthropic"] = key(
        "none", "The protocol of the model; what is said is sent to it once this is set."
    )
    model: str | None = key(None, "The model to ask.")
    base_url: str | None = key(None, "The address of its API, if it is not the usual one.", expands=True)
    api_key: str | None = key(None, "Its key; `${VAR}` reads a variable.", secret=True, expands=True)


@dataclass(frozen=True, slots=True)
class Intent:
    """Noticing in what the user writes that something should be remembered or recalled."""

    enabled: bool = key(True, "Whether messages are checked for an intent.", project="less")
    languages: tuple[str, ...] = key(
        languages_with("intent"),
        "The languages whose rules are used.",
        project="yes",
        choices=languages_with("intent"),
    )
    confidence_threshold: float = key(0.7, "How sure a rule must be before it counts.", (0, 1), "yes")


@dataclass(frozen=True, slots=True)
class Snapshots:
    """The last messages of a session, kept for recovery."""

    enabled: bool = key(True, "Whether snapshots are kept.", project="less")
    max_messages: int = key(15, "How many messages a snapshot holds.", (1, 1000), "less")
    max_content_length: int = key(500, "How many characters of a message are kept.", (1, 100_000), "less")


@dataclass(frozen=True, slots=True)
class Facts:
    """Short long-term memories: where they are kept, and which are taken from and given to conversations."""

    auto_capture: bool = key(False, "Whether facts are taken from what the user writes.")
    auto_recall: bool = key(True, "Whether fitting facts are given to the agent unasked.", project="less")
    capture_max_chars: int = key(500, "Longer messages are not captured.", (100, 10_000))
    capture_triggers: tuple[str, ...] = key(
        (), "Your own words that make a sentence worth capturing, such as `house rule`."
    )
    recall_max_results: int = key(3, "How many facts are given unasked.", (1, 20))
    recall_min_score: float = key(0.5, "How likely a fact must fit before it is shown.", (0, 1))
    file: str = key("memory/facts.md", "The note that holds the facts, a line each.")
    store: Literal["auto", "lancedb", "index"] = key(
        "auto", "What finds facts: a LanceDB table, the main index, or the table if its package is installed."
    )
    uri: str | None = key(
        None, "Where that table is kept, if not in the workspace: a folder, `s3://…` or `gs://…`."
    )


BUILTIN_MODEL = "use-multilingual-v3"
"""The only model of the provider `builtin`."""

SERVICES: dict[str, tuple[str, tuple[str, ...]]] = {
    "openai": ("OpenAI", ("OPENAI_API_KEY",)),
    "openai-compatible": ("Compatible", ()),
    "gemini": ("Gemini", ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
    "voyage": ("Voyage", ("VOYAGE_API_KEY",)),
    "mistral": ("Mistral", ("MISTRAL_API_KEY",)),
    "ollama": ("Ollama", ()),
}
"""By their names in the settings: the class in `embed/remote/services.py`, and the variables that may hold
a key, in the order they are looked at. A service without any works without a key as well."""

PROVIDERS = ("auto", "builtin", "local", *SERVICES, "none")


@dataclass(frozen=True, slots=True)
class Local:
    """A model of your own, in a GGUF file."""

    model_path: str | None = key(
        None, "The model's GGUF file; `auto` prefers it to all others.", expands=True
    )
    model_cache_dir: str | None = key(
        None, "The folder of your GGUF files, where a relative `model_path` is looked for.", expands=True
    )
    threads: int = key(0, "How many threads it may use; 0 means one a core.", (0, 1024))


@dataclass(frozen=True, slots=True)
class Batch:
    """The slow and cheap way of OpenAI, Gemini and Voyage: hand in a file, fetch the vectors later."""

    enabled: bool = key(False, "Whether many texts at once are handed in as a batch.")
    min_texts: int = key(500, "Fewer texts than this are embedded directly.", (1, 1_000_000))
    wait: bool = key(True, "Whether a sync waits for the batch; if not, a later one fetches it.")
    concurrency: int = key(2, "How many batches may be open at a time.", (1, 16))
    poll_seconds: float = key(2.0, "How often a batch is asked for.", (0.01, 3600))
    timeout_minutes: float = key(60.0, "How long a batch may take before it is given up.", (0.01, 2880))


@dataclass(frozen=True, slots=True)
class Embeddings:
    """How text becomes vectors, and who is asked to do it."""

    provider: str = key("auto", "Who turns text into vectors; `none` searches by words.", choices=PROVIDERS)
    fallback: str = key("none", "The provider to use when the first one fails.", choices=PROVIDERS)
    remote_ok: bool = key(False, "Lets `auto` pick a provider that receives your text over the network.")
    model: str | None = key(None, "The model to use; nothing means the provider's own default.")
    base_url: str | None = key(None, "The address of its API, if it is not the usual one.", expands=True)
    api_key: str | None = key(None, "Its key; `${VAR}` reads a variable.", secret=True, expands=True)
    headers: Pairs = key((), "More headers to send with every request.", secret=True, expands=True)
    dimensions: int | None = key(
        None, "The length of a vector, if the provider lets you choose.", (1, 65_536)
    )
    batch_size: int | None = key(
        None,
        "How many texts one request holds at most; nothing or 0 means as many as the service takes.",
        (0, 10_000),
        "yes",
    )
    local: Local = section(Local)
    batch: Batch = section(Batch)


@dataclass(frozen=True, slots=True)
class Spend:
    """What paid providers may cost; what is beyond a limit waits, and words find it meanwhile."""

    max_per_day: float | None = key(
        None, "The most a day may cost in US dollars; nothing means no limit.", (0, None)
    )
    max_per_run: float | None = key(
        None, "The most one sync may cost in US dollars; nothing means no limit.", (0, None)
    )
    max_tokens_per_day: int | None = key(
        None, "The most tokens a day may send; nothing means no limit.", (0, None)
    )
    max_tokens_per_run: int | None = key(
        None, "The most tokens one sync may send; nothing means no limit.", (0, None)
    )
    prices: Pairs = key((), "US dollars for a million tokens by model, such as `my-model: '0.05'`.")


@dataclass(frozen=True, slots=True)
class Files:
    """Which files are read."""

    max_bytes: int = key(10_000_000, "Larger files are skipped and reported.", (1, 100_000_000), "less")


@dataclass(frozen=True, slots=True)
class Chunking:
    """How notes are cut into the pieces that are found."""

    tokens: int = key(400, "The size of a chunk; a token is about four letters.", (1, 8000), "yes")
    overlap: int = key(
        80,
        "How much of a chunk is repeated in the next; always less than `chunking.tokens`.",
        (0, 7999),
        "yes",
    )


@dataclass(frozen=True, slots=True)
class Vector:
    """How vectors are searched."""

    enabled: bool = key(True, "Whether vectors are kept and searched.")
    engine: Literal["auto", "matrix", "sqlite-vec"] = key(
        "auto", "What compares vectors; `auto` takes the fastest."
    )
    extension_path: str | None = key(
        None,
        "The file of the sqlite-vec extension; nothing means the one of the installed package.",
        expands=True,
    )


@dataclass(frozen=True, slots=True)
class Store:
    """Where chunks and vectors live."""

    driver: Literal["sqlite", "qdrant"] = key(
        "sqlite", "Where the index lives. `qdrant` is not available in this version, and refused."
    )
    path: str = key(
        "",
        "The index file; `{agent}` is replaced. Empty means `.memory/index.sqlite`, and "
        "`.memory/index-<agent>.sqlite` for another agent than `main`; a common path without `{agent}` "
        "gets `-<agent>` for it, too.",
        template=True,
    )
    vector: Vector = section(Vector)


@dataclass(frozen=True, slots=True)
class Cache:
    """Vectors that were made before and need not be made again."""

    enabled: bool = key(True, "Whether vectors are kept for text seen before.")
    max_entries: int = key(10_000, "How many cached vectors are kept; the oldest go first.", (1, 10_000_000))


@dataclass(frozen=True, slots=True)
class SessionSync:
    """When a transcript that grew is read again."""

    delta_bytes: int = key(
        100_000, "Read again after this many new bytes; 0 means any.", (0, 1_000_000_000), "yes"
    )
    delta_messages: int = key(
        50, "Read again after this many new messages; 0 means any.", (0, 1_000_000), "yes"
    )


@dataclass(frozen=True, slots=True)
class Sync:
    """When the index catches up with the files."""

    watch: bool = key(
        True,
        "Whether a watch gets changes from the operating system; if not, it looks every few seconds.",
        project="yes",
    )
    watch_debounce_ms: int = key(1500, "How long files must rest before indexing.", (0, 600_000), "yes")
    on_session_start: bool = key(True, "Whether a new session starts with a sync.", project="yes")
    on_search: bool = key(True, "Whether a search starts a sync.", project="yes")
    search_seconds: float = key(
        2.0, "How long a search may index before it answers; what is left follows.", (0.1, 3600), "yes"
    )
    interval_minutes: int = key(
        0,
        "Sync this often too while `watch`, `serve`, `mcp` or the engine of hooks runs; 0 means never.",
        (0, 525_600),
        "yes",
    )
    sessions: SessionSync = section(SessionSync)


@dataclass(frozen=True, slots=True)
class Hybrid:
    """How words and meaning are weighed against each other."""

    enabled: bool = key(True, "Whether words and vectors are searched together.", project="yes")
    vector_weight: float = key(
        0.7,
        "The share of meaning; both weights are scaled to add up to 1. Setting it selects the fusion "
        "`weighted`.",
        (0, 1),
        "yes",
    )
    text_weight: float = key(
        0.3,
        "The share of words; both weights are scaled to add up to 1. Setting it selects the fusion "
        "`weighted`.",
        (0, 1),
        "yes",
    )
    candidate_multiplier: int = key(
        4,
        "How many candidates each ranking gives for each result, 200 in all at most. Setting it selects "
        "the fusion `weighted`; `evidence` always looks at 200.",
        (1, 20),
        "yes",
    )


@dataclass(frozen=True, slots=True)
class Mmr:
    """Whether results that repeat each other give way."""

    enabled: bool = key(False, "Whether results are spread over different texts.", project="yes")
    lambda_: float = key(0.7, "1 ranks by score alone, 0 by difference alone.", (0, 1), "yes")


@dataclass(frozen=True, slots=True)
class TemporalDecay:
    """Whether older daily notes count less."""

    enabled: bool = key(False, "Whether daily notes fade with age.", project="yes")
    half_life_days: float = key(30.0, "The age at which a score is halved.", (0.01, 36_500), "yes")


@dataclass(frozen=True, slots=True)
class Query:
    """What a search returns."""

    max_results: int = key(6, "How many results are returned.", (1, 1000), "yes")
    min_score: float = key(
        0.35,
        "What a result scores to count as an answer. Where none does, a search shows up to three of the "
        "nearest as weak ones, and nothing is given unasked.",
        (0, 1),
        "yes",
    )
    fusion: Literal["evidence", "weighted", "rrf"] = key(
        "evidence",
        "How both rankings become one. Not set, it is `weighted` if a weight or the multiplier of "
        "`query.hybrid` is set.",
        project="yes",
    )
    hybrid: Hybrid = section(Hybrid)
    mmr: Mmr = section(Mmr)
    temporal_decay: TemporalDecay = section(TemporalDecay)


@dataclass(frozen=True, slots=True)
class Tools:
    """Which tools models are shown, and how much these may answer."""

    maintenance: bool = key(False, "Whether models see `memory_sync` and `memory_status`.", project="yes")
    max_chars: int = key(
        12_000,
        "Characters that an answer of `memory_search` or `memory_recall` has at most, and the notes and "
        "facts that are given unasked. Whole hits are left out at the end, and the answer says which.",
        (2000, 1_000_000),
        "less",
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting of Memlines; made without arguments it holds the defaults."""

    enabled: bool = key(True, "Whether memory is used at all.", project="less")
    profile: Literal["default", "openclaw"] = key(
        "default",
        "`openclaw` ranks as OpenClaw does, except where you set a ranking key yourself. It differs in "
        "that file names and other forms of a word also count as the word; and the builtin model's "
        "cosines are low, so few hits reach its `min_score` of 0.35.",
        project="yes",
    )
    agent: str = key(MAIN_AGENT, "The agent whose settings, sessions and index are used; `--agent` names it.")
    workspace: str | None = key(
        None,
        "The folder with the notes where none is named and none is above; relative to the file that names"
        " it. A project's file may never set it.",
    )
    sources: tuple[Source, ...] = key(("memory",), "What is indexed: notes, and transcripts if asked for.")
    extra_paths: tuple[str, ...] = key((), "More files and folders to index beside the workspace.")
    backend: Literal["builtin", "qmd"] = key(
        "builtin", "What does the searching. `qmd` is not available in this version, and refused."
    )
    citations: Literal["auto", "on", "off"] = key(
        "auto",
        "Whether results name their source. `auto` is the same as `on`: whether a chat has one reader or "
        "many is not known here.",
        project="yes",
    )
    timezone: str | None = key(
        None,
        "The zone of days and times in notes, such as Europe/Amsterdam; nothing means the machine's.",
        project="yes",
    )
    files: Files = section(Files)
    embeddings: Embeddings = section(Embeddings)
    chunking: Chunking = section(Chunking)
    store: Store = section(Store)
    cache: Cache = section(Cache)
    sync: Sync = section(Sync)
    query: Query = section(Query)
    tools: Tools = section(Tools)
    intent: Intent = section(Intent)
    sessions: Sessions = section(Sessions)
    redaction: Redaction = section(Redaction)
    snapshots: Snapshots = section(Snapshots)
    chat: Chat = section(Chat)
    facts: Facts = section(Facts)
    spend: Spend = section(Spend)
