"""The tree of settings: every key, its default, its limits and its meaning.

Those of `qmd` and `rerank` are beside it.

A key's kind and choices are those of its type, so annotations must not be strings here.
"""

from typing import Literal

from memlines.paths import MAIN_AGENT, languages_with
from memlines.records import dataclass
from memlines.settings.qmd import Qmd
from memlines.settings.rerank import Rerank
from memlines.settings.values import key, section
from memlines.types import ClientName, Scope, Source

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Sessions:
    """Which transcripts are read if `sources` includes sessions."""

    clients: tuple[ClientName, ...] = key(
        (), "The clients whose own transcripts of this folder you want read, besides `sessions/`."
    )


@dataclass(frozen=True, slots=True)
class Redaction:
    """What is taken out of transcripts, and of everything that leaves the machine."""

    rules: Pairs = key((), "Your own patterns by kind, such as `badge: 'B-[0-9]{8}'`.")


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat model that finds what to keep of a conversation; without one, rules do it."""

    provider: Literal["none", "openai", "anthropic"] = key(
        "none",
        "The protocol of the model. Once you set this, your conversations are sent to it, and so are entries "
        "of your notes by `memlines eval --mine` and `memlines tidy`.",
    )
    model: str | None = key(None, "The chat model to use.")
    base_url: str | None = key(None, "The address of the API, if you do not use the usual one.", expands=True)
    api_key: str | None = key(None, "Your key; `${VAR}` reads a variable.", secret=True, expands=True)


@dataclass(frozen=True, slots=True)
class Intent:
    """Notice in messages that something should be remembered or recalled."""

    enabled: bool = key(True, "Whether what you write is checked for a wish to remember.", project="less")
    languages: tuple[str, ...] = key(
        languages_with("intent"),
        "The languages you write in; their rules are used.",
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
    """Facts: where they are kept, which are saved from conversations, and which are given to them."""

    auto_capture: bool = key(False, "Whether facts are saved from what you write.")
    auto_recall: bool = key(True, "Whether the agent gets fitting facts without asking.", project="less")
    capture_max_chars: int = key(500, "No facts are saved from messages longer than this.", (100, 10_000))
    capture_triggers: tuple[str, ...] = key((), "Your words that mark a fact, such as `house rule`.")
    recall_max_results: int = key(3, "How many facts the agent gets without asking, at most.", (1, 20))
    recall_min_score: float = key(0.5, "How likely a fact must fit before it is used.", (0, 1))
    file: str = key("memory/facts.md", "The note that holds your facts, one per line.")
    store: Literal["auto", "lancedb", "index"] = key(
        "auto", "What finds facts: a LanceDB table or the main index; `auto` uses LanceDB if it is installed."
    )
    uri: str | None = key(
        None, "Where the LanceDB table is, if not in the workspace: a folder, `s3://…` or `gs://…`."
    )


@dataclass(frozen=True, slots=True)
class Blame:
    """The record of which lines agents were shown, for `memlines blame`."""

    enabled: bool = key(True, "Whether it is kept.", project="less")


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

    model_path: str | None = key(None, "Your GGUF file; `auto` prefers it to all other models.", expands=True)
    model_cache_dir: str | None = key(
        None, "The folder of your GGUF files; a relative `model_path` is below it.", expands=True
    )
    threads: int = key(0, "How many threads the model may use; 0 means one per core.", (0, 1024))


@dataclass(frozen=True, slots=True)
class Batch:
    """The slow and cheap way of OpenAI, Gemini and Voyage: send a file, fetch the vectors later."""

    enabled: bool = key(False, "Whether many texts at once are sent as a batch.")
    min_texts: int = key(500, "Fewer texts than this are embedded directly.", (1, 1_000_000))
    wait: bool = key(True, "Whether a sync waits for the batch; if not, a later sync fetches it.")
    concurrency: int = key(2, "How many batches may be open at a time.", (1, 16))
    poll_seconds: float = key(2.0, "How many seconds pass between two looks at a batch.", (0.01, 3600))
    timeout_minutes: float = key(60.0, "How long a batch may take before it is given up.", (0.01, 2880))


@dataclass(frozen=True, slots=True)
class Embeddings:
    """How text becomes vectors, and which provider does it."""

    provider: str = key("auto", "What turns text into vectors; `none` searches by words.", choices=PROVIDERS)
    fallback: str = key("none", "The provider to use when the first one fails.", choices=PROVIDERS)
    remote_ok: bool = key(False, "Whether `auto` may choose a provider that gets your text over the network.")
    model: str | None = key(None, "The model to use; nothing means the default of the provider.")
    base_url: str | None = key(None, "The address of the API, if you do not use the usual one.", expands=True)
    api_key: str | None = key(None, "Your key; `${VAR}` reads a variable.", secret=True, expands=True)
    headers: Pairs = key((), "Headers to send with every request.", secret=True, expands=True)
    dimensions: int | None = key(None, "The length of vectors, if you can choose it.", (1, 65_536))
    batch_size: int | None = key(
        None, "Texts in a request; nothing or 0 means as many as the service accepts.", (0, 10_000), "yes"
    )
    local: Local = section(Local)
    batch: Batch = section(Batch)


@dataclass(frozen=True, slots=True)
class Spend:
    """What paid providers may cost; beyond a limit, text waits for its vectors and is found by words."""

    max_per_day: float | None = key(
        None, "Your limit for a day in US dollars; nothing means none.", (0, None)
    )
    max_per_run: float | None = key(
        None, "Your limit for one sync in US dollars; nothing means none.", (0, None)
    )
    max_tokens_per_day: int | None = key(
        None, "Your limit of tokens for a day; nothing means none.", (0, None)
    )
    max_tokens_per_run: int | None = key(
        None, "Your limit of tokens for one sync; nothing means none.", (0, None)
    )
    prices: Pairs = key((), "US dollars for a million tokens by model, such as `my-model: '0.05'`.")


@dataclass(frozen=True, slots=True)
class Files:
    """Which files are read."""

    max_bytes: int = key(10_000_000, "Larger files are skipped and reported.", (1, 100_000_000), "less")


@dataclass(frozen=True, slots=True)
class Chunking:
    """How notes are cut into the pieces that are found."""

    tokens: int = key(400, "The size of a chunk in tokens; a token is about four letters.", (1, 8000), "yes")
    overlap: int = key(
        80, "Tokens that the next chunk repeats; less than `chunking.tokens`.", (0, 7999), "yes"
    )


@dataclass(frozen=True, slots=True)
class Vector:
    """How vectors are searched."""

    enabled: bool = key(True, "Whether vectors are kept and searched.")
    engine: Literal["auto", "matrix", "sqlite-vec"] = key(
        "auto", "What compares vectors; `auto`: the fastest."
    )
    extension_path: str | None = key(
        None, "The file of the sqlite-vec extension, if not that of its package.", expands=True
    )


@dataclass(frozen=True, slots=True)
class Store:
    """Where chunks and vectors live."""

    driver: Literal["sqlite", "qdrant"] = key(
        "sqlite",
        "What answers searches. With `qdrant`, what is indexed here is copied to a Qdrant cluster, which "
        "answers, so that other machines find it too: docs/scale.md.",
    )
    uri: str = key(
        "",
        "The addresses of the cluster's nodes, with commas between them, such as `http://10.0.0.5:6333`. "
        "The key is read from the variable `QDRANT_API_KEY`.",
    )
    collection: str = key("memlines", "What the names of the collections on the cluster begin with.")
    workspace: str = key(
        "",
        "The name of this workspace on the cluster. Machines with the same name share one workspace. Empty "
        "means the folder's name with a mark that no other folder has.",
    )
    searches: tuple[str, ...] = key(
        (".",),
        "Which workspaces on the cluster a search asks: their names, `.` for this one, `*` for all that the "
        "token may see.",
    )
    path: str = key(
        "",
        "The index file, with `{agent}` for the name of the agent. Empty means `.memory/index.sqlite`, and "
        "`.memory/index-<agent>.sqlite` for an agent other than `main`. A path without `{agent}` gets "
        "`-<agent>` for such an agent.",
        template=True,
    )
    vector: Vector = section(Vector)


@dataclass(frozen=True, slots=True)
class Cache:
    """Vectors that were computed before and are reused."""

    enabled: bool = key(True, "Whether the vectors of text seen before are kept.")
    max_entries: int = key(10_000, "How many cached vectors are kept; the oldest go first.", (1, 10_000_000))


@dataclass(frozen=True, slots=True)
class SessionSync:
    """When a transcript that grew is read again."""

    delta_bytes: int = key(
        100_000, "New bytes before it is read again; 0 means any.", (0, 1_000_000_000), "yes"
    )
    delta_messages: int = key(50, "New messages before it is read again; 0 means any.", (0, 1_000_000), "yes")


@dataclass(frozen=True, slots=True)
class Sync:
    """When the index catches up with the files."""

    watch: bool = key(
        True,
        "Whether `watch` hears of changes from the operating system; if not, it looks every few seconds.",
        project="yes",
    )
    watch_debounce_ms: int = key(
        1500, "How long files must be unchanged before indexing.", (0, 600_000), "yes"
    )
    on_session_start: bool = key(True, "Whether a new session starts with a sync.", project="yes")
    on_search: bool = key(True, "Whether a search starts a sync.", project="yes")
    search_seconds: float = key(
        2.0, "How long a search may index; what is left follows later.", (0.1, 3600), "yes"
    )
    interval_minutes: int = key(
        0, "Minutes between syncs while a server or `watch` runs; 0 means none.", (0, 525_600), "yes"
    )
    sessions: SessionSync = section(SessionSync)


@dataclass(frozen=True, slots=True)
class Hybrid:
    """How words and meaning are weighted."""

    enabled: bool = key(True, "Whether words and vectors are searched together.", project="yes")
    vector_weight: float = key(
        0.7,
        "The weight of meaning; both weights are scaled to add up to 1. Setting it selects the fusion "
        "`weighted`.",
        (0, 1),
        "yes",
    )
    text_weight: float = key(
        0.3,
        "The weight of words; both weights are scaled to add up to 1. Setting it selects the fusion "
        "`weighted`.",
        (0, 1),
        "yes",
    )
    candidate_multiplier: int = key(
        4,
        "How many candidates each ranking gives per result, at most 200 in all. Setting it selects "
        "the fusion `weighted`; `evidence` always looks at 200.",
        (1, 20),
        "yes",
    )


@dataclass(frozen=True, slots=True)
class Mmr:
    """Whether results that repeat each other are avoided."""

    enabled: bool = key(False, "Whether you get results that repeat each other less.", project="yes")
    lambda_: float = key(0.7, "1 ranks by score only, 0 by difference only.", (0, 1), "yes")


@dataclass(frozen=True, slots=True)
class TemporalDecay:
    """Whether older daily notes score lower."""

    enabled: bool = key(False, "Whether older daily notes score lower.", project="yes")
    half_life_days: float = key(30.0, "The age in days at which a score is halved.", (0.01, 36_500), "yes")


@dataclass(frozen=True, slots=True)
class Query:
    """What a search returns."""

    max_results: int = key(6, "How many results you get at most.", (1, 1000), "yes")
    min_score: float = key(
        0.35,
        "How likely it must be that your notes answer. Below it you get up to three of the nearest lines, "
        "and the agent gets nothing without asking.",
        (0, 1),
        "yes",
    )
    fusion: Literal["evidence", "weighted", "rrf"] = key(
        "evidence",
        "How both rankings become one. If you do not set it but a weight or the multiplier of "
        "`query.hybrid`, it is `weighted`.",
        project="yes",
    )
    hybrid: Hybrid = section(Hybrid)
    mmr: Mmr = section(Mmr)
    temporal_decay: TemporalDecay = section(TemporalDecay)


@dataclass(frozen=True, slots=True)
class Tools:
    """Which tools models see, and how long their answers may be."""

    maintenance: bool = key(False, "Whether models see `memory_sync` and `memory_status`.", project="yes")
    max_chars: int = key(
        12_000,
        "The most characters in an answer of `memory_search` or `memory_recall`, and in the notes and facts "
        "that an agent gets without asking. Whole hits at the end are left out, and the answer says which.",
        (2000, 1_000_000),
        "less",
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting of Memlines; `Settings()` holds the defaults."""

    enabled: bool = key(True, "Whether Memlines is switched on.", project="less")
    profile: Literal["default", "openclaw"] = key(
        "default",
        "`openclaw` ranks as OpenClaw does, except for ranking keys that you set yourself. But file names "
        "and other forms of a word also count as the word, and the cosines of the builtin model are low, so "
        "few hits reach its `min_score` of 0.35.",
        project="yes",
    )
    agent: str = key(MAIN_AGENT, "The agent whose settings, sessions and index you use; see `--agent`.")
    workspace: str | None = key(
        None,
        "The folder with your notes, if you name none and are not inside one; relative to the file that sets "
        "it. A project's file may never set it.",
    )
    worktrees: Literal["shared", "separate"] = key(
        "shared",
        "Whether a git worktree without a memory uses that of the main worktree. `separate` gives each its "
        "own. A project's file may never set it.",
    )
    scopes: tuple[Scope, ...] = key(
        ("project", "personal"),
        "Whose memories are asked: that of the project, and your personal one if there is one. A project's "
        "file may switch the personal one off for itself. The project's is always asked.",
        project="less",
    )
    personal_folder: str | None = key(
        None,
        "The folder of your personal memory, if not `personal` in your data folder. A project's file may "
        "never set it.",
    )
    sources: tuple[Source, ...] = key(
        ("memory",), "What is indexed: your notes, and transcripts if you add them."
    )
    extra_paths: tuple[str, ...] = key((), "Files and folders to index besides the workspace.")
    backend: Literal["builtin", "qmd"] = key(
        "builtin",
        "What answers a search that is asked for: Memlines itself, or the program qmd, which you install: "
        "docs/qmd.md.",
    )
    citations: Literal["auto", "on", "off"] = key(
        "auto",
        "Whether results name their source. `auto` means `on`, because Memlines cannot know whether one "
        "person or many read your chat.",
        project="yes",
    )
    timezone: str | None = key(
        None, "Your time zone, such as Europe/Amsterdam, if not that of the machine.", project="yes"
    )
    files: Files = section(Files)
    embeddings: Embeddings = section(Embeddings)
    chunking: Chunking = section(Chunking)
    store: Store = section(Store)
    cache: Cache = section(Cache)
    sync: Sync = section(Sync)
    query: Query = section(Query)
    rerank: Rerank = section(Rerank)
    qmd: Qmd = section(Qmd)
    tools: Tools = section(Tools)
    intent: Intent = section(Intent)
    sessions: Sessions = section(Sessions)
    redaction: Redaction = section(Redaction)
    snapshots: Snapshots = section(Snapshots)
    chat: Chat = section(Chat)
    facts: Facts = section(Facts)
    blame: Blame = section(Blame)
    spend: Spend = section(Spend)
