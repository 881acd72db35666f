"""The tree of settings: every key, its default, its limits and its meaning, in one place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from memlines.paths import MAIN_AGENT, languages_with
from memlines.settings.rules import rule
from memlines.types import Source

Client = Literal["claude-code", "codex", "opencode", "openclaw"]
ChatProvider = Literal["none", "openai", "anthropic"]
FactStore = Literal["auto", "lancedb", "index"]


@dataclass(frozen=True, slots=True)
class Sessions:
    """Which transcripts are read where `sources` asks for sessions."""

    clients: tuple[Client, ...] = field(
        default=(),
        metadata=rule(
            "list",
            "The clients whose own transcripts of this folder are read, beside `sessions/`.",
            choices=get_args(Client),
        ),
    )


@dataclass(frozen=True, slots=True)
class Redaction:
    """What is taken out of transcripts, and of everything that leaves the machine."""

    rules: tuple[tuple[str, str], ...] = field(
        default=(),
        metadata=rule("pairs", "Your own patterns by kind, such as `badge: 'B-[0-9]{8}'`."),
    )


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat model that helps to find what should last in a conversation; without one, rules do it."""

    provider: ChatProvider = field(
        default="none",
        metadata=rule(
            "text",
            "The protocol of the model; what is said is sent to it once this is set.",
            choices=get_args(ChatProvider),
        ),
    )
    model: str | None = field(default=None, metadata=rule("text", "The model to ask."))
    base_url: str | None = field(
        default=None,
        metadata=rule("text", "The address of its API, if it is not the usual one.", expands=True),
    )
    api_key: str | None = field(
        default=None,
        repr=False,
        metadata=rule("text", "Its key; `${VAR}` reads a variable.", secret=True, expands=True),
    )


@dataclass(frozen=True, slots=True)
class Intent:
    """Noticing in what the user writes that something should be remembered or recalled."""

    enabled: bool = field(
        default=True, metadata=rule("flag", "Whether messages are checked for an intent.", project="less")
    )
    languages: tuple[str, ...] = field(
        default=languages_with("intent"),
        metadata=rule(
            "list", "The languages whose rules are used.", choices=languages_with("intent"), project="yes"
        ),
    )
    confidence_threshold: float = field(
        default=0.7,
        metadata=rule("number", "How sure a rule must be before it counts.", low=0, high=1, project="yes"),
    )


@dataclass(frozen=True, slots=True)
class Snapshots:
    """The last messages of a session, kept for recovery."""

    enabled: bool = field(default=True, metadata=rule("flag", "Whether snapshots are kept.", project="less"))
    max_messages: int = field(
        default=15,
        metadata=rule("whole", "How many messages a snapshot holds.", low=1, high=1000, project="less"),
    )
    max_content_length: int = field(
        default=500,
        metadata=rule(
            "whole", "How many characters of a message are kept.", low=1, high=100_000, project="less"
        ),
    )


@dataclass(frozen=True, slots=True)
class Facts:
    """Short long-term memories: where they are kept, and which are taken from and given to conversations."""

    auto_capture: bool = field(
        default=False, metadata=rule("flag", "Whether facts are taken from what the user writes.")
    )
    auto_recall: bool = field(
        default=True,
        metadata=rule("flag", "Whether fitting facts are given to the agent unasked.", project="less"),
    )
    capture_max_chars: int = field(
        default=500,
        metadata=rule("whole", "Longer messages are not captured.", low=100, high=10_000),
    )
    capture_triggers: tuple[str, ...] = field(
        default=(),
        metadata=rule("list", "Your own words that make a sentence worth capturing, such as `house rule`."),
    )
    recall_max_results: int = field(
        default=3,
        metadata=rule("whole", "How many facts are given unasked.", low=1, high=20),
    )
    recall_min_score: float = field(
        default=0.5,
        metadata=rule("number", "How likely a fact must fit before it is shown.", low=0, high=1),
    )
    file: str = field(
        default="memory/facts.md",
        metadata=rule("text", "The note in which facts stand, a line each."),
    )
    store: FactStore = field(
        default="auto",
        metadata=rule(
            "text",
            "What finds facts: a LanceDB table, the main index, or the table if its package is installed.",
            choices=get_args(FactStore),
        ),
    )
    uri: str | None = field(
        default=None,
        metadata=rule(
            "text", "Where that table is kept, if not in the workspace: a folder, `s3://…` or `gs://…`."
        ),
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


Profile = Literal["default", "openclaw"]
Driver = Literal["sqlite", "qdrant"]
VectorEngine = Literal["auto", "matrix", "sqlite-vec"]
Fusion = Literal["evidence", "weighted", "rrf"]
Citations = Literal["auto", "on", "off"]
Backend = Literal["builtin", "qmd"]


@dataclass(frozen=True, slots=True)
class Files:
    """Which files are read."""

    max_bytes: int = field(
        default=10_000_000,
        metadata=rule(
            "whole",
            "Files larger than this are skipped and reported.",
            low=1,
            high=100_000_000,
            project="less",
        ),
    )


@dataclass(frozen=True, slots=True)
class Chunking:
    """How notes are cut into the pieces that are found."""

    tokens: int = field(
        default=400,
        metadata=rule(
            "whole", "The size of a chunk; a token is about four letters.", low=1, high=8000, project="yes"
        ),
    )
    overlap: int = field(
        default=80,
        metadata=rule(
            "whole",
            "How much of a chunk is repeated in the next; always less than `chunking.tokens`.",
            low=0,
            high=7999,
            project="yes",
        ),
    )


@dataclass(frozen=True, slots=True)
class Vector:
    """How vectors are searched."""

    enabled: bool = field(default=True, metadata=rule("flag", "Whether vectors are kept and searched."))
    engine: VectorEngine = field(
        default="auto",
        metadata=rule(
            "text", "What compares vectors; `auto` takes the fastest.", choices=get_args(VectorEngine)
        ),
    )
    extension_path: str | None = field(
        default=None,
        metadata=rule(
            "text",
            "The file of the sqlite-vec extension; nothing means the one of the installed package.",
            expands=True,
        ),
    )


@dataclass(frozen=True, slots=True)
class Store:
    """Where chunks and vectors live."""

    driver: Driver = field(
        default="sqlite",
        metadata=rule(
            "text",
            "Where the index lives. `qdrant` is not available in this version, and refused.",
            choices=get_args(Driver),
        ),
    )
    path: str = field(
        default="",
        metadata=rule(
            "text",
            "The index file; `{agent}` is replaced. Empty means `.memory/index.sqlite`, and"
            " `.memory/index-<agent>.sqlite` for another agent than `main`; a common path without"
            " `{agent}` gets `-<agent>` for it, too.",
            template=True,
        ),
    )
    vector: Vector = field(default_factory=Vector)


@dataclass(frozen=True, slots=True)
class Cache:
    """Vectors that were made before and need not be made again."""

    enabled: bool = field(
        default=True, metadata=rule("flag", "Whether vectors are kept for text seen before.")
    )
    max_entries: int = field(
        default=10_000,
        metadata=rule(
            "whole", "How many cached vectors are kept; the oldest go first.", low=1, high=10_000_000
        ),
    )


@dataclass(frozen=True, slots=True)
class SessionSync:
    """When a transcript that grew is read again."""

    delta_bytes: int = field(
        default=100_000,
        metadata=rule(
            "whole",
            "Read again after this many new bytes; 0 means any.",
            low=0,
            high=1_000_000_000,
            project="yes",
        ),
    )
    delta_messages: int = field(
        default=50,
        metadata=rule(
            "whole",
            "Read again after this many new messages; 0 means any.",
            low=0,
            high=1_000_000,
            project="yes",
        ),
    )


@dataclass(frozen=True, slots=True)
class Sync:
    """When the index catches up with the files."""

    watch: bool = field(
        default=True,
        metadata=rule(
            "flag",
            "Whether a watch is told of changes by the system; if not, it looks every few seconds.",
            project="yes",
        ),
    )
    watch_debounce_ms: int = field(
        default=1500,
        metadata=rule(
            "whole", "How long files must rest before they are indexed.", low=0, high=600_000, project="yes"
        ),
    )
    on_session_start: bool = field(
        default=True, metadata=rule("flag", "Whether a new session starts with a sync.", project="yes")
    )
    on_search: bool = field(
        default=True, metadata=rule("flag", "Whether a search starts a sync.", project="yes")
    )
    search_seconds: float = field(
        default=2.0,
        metadata=rule(
            "number",
            "How long a search may index before it answers; what is left follows.",
            low=0.1,
            high=3600,
            project="yes",
        ),
    )
    interval_minutes: int = field(
        default=0,
        metadata=rule(
            "whole",
            "Sync this often too while `watch`, `serve`, `mcp` or the engine of hooks runs; 0 means never.",
            low=0,
            high=525_600,
            project="yes",
        ),
    )
    sessions: SessionSync = field(default_factory=SessionSync)


@dataclass(frozen=True, slots=True)
class Hybrid:
    """How words and meaning are weighed against each other."""

    enabled: bool = field(
        default=True, metadata=rule("flag", "Whether words and vectors are searched together.", project="yes")
    )
    vector_weight: float = field(
        default=0.7,
        metadata=rule(
            "number",
            "The share of meaning; both weights are scaled to add up to 1. Setting it selects the fusion "
            "`weighted`.",
            low=0,
            high=1,
            project="yes",
        ),
    )
    text_weight: float = field(
        default=0.3,
        metadata=rule(
            "number",
            "The share of words; both weights are scaled to add up to 1. Setting it selects the fusion "
            "`weighted`.",
            low=0,
            high=1,
            project="yes",
        ),
    )
    candidate_multiplier: int = field(
        default=4,
        metadata=rule(
            "whole",
            "How many candidates each ranking gives for each result, 200 in all at most. Setting it "
            "selects the fusion `weighted`; `evidence` always looks at 200.",
            low=1,
            high=20,
            project="yes",
        ),
    )


@dataclass(frozen=True, slots=True)
class Mmr:
    """Whether results that repeat each other give way."""

    enabled: bool = field(
        default=False,
        metadata=rule("flag", "Whether results are spread over different texts.", project="yes"),
    )
    lambda_: float = field(
        default=0.7,
        metadata=rule(
            "number", "1 ranks by score alone, 0 by difference alone.", low=0, high=1, project="yes"
        ),
    )


@dataclass(frozen=True, slots=True)
class TemporalDecay:
    """Whether older daily notes count less."""

    enabled: bool = field(
        default=False, metadata=rule("flag", "Whether daily notes fade with age.", project="yes")
    )
    half_life_days: float = field(
        default=30.0,
        metadata=rule("number", "The age at which a score is halved.", low=0.01, high=36_500, project="yes"),
    )


@dataclass(frozen=True, slots=True)
class Query:
    """What a search returns."""

    max_results: int = field(
        default=6, metadata=rule("whole", "How many results are returned.", low=1, high=1000, project="yes")
    )
    min_score: float = field(
        default=0.35,
        metadata=rule(
            "number",
            "What a result scores to count as an answer. Where none does, a search shows up to three of the "
            "nearest as weak ones, and nothing is given unasked.",
            low=0,
            high=1,
            project="yes",
        ),
    )
    fusion: Fusion = field(
        default="evidence",
        metadata=rule(
            "text",
            "How both rankings become one. Not set, it is `weighted` if a weight or the multiplier of "
            "`query.hybrid` is set.",
            choices=get_args(Fusion),
            project="yes",
        ),
    )
    hybrid: Hybrid = field(default_factory=Hybrid)
    mmr: Mmr = field(default_factory=Mmr)
    temporal_decay: TemporalDecay = field(default_factory=TemporalDecay)


@dataclass(frozen=True, slots=True)
class Tools:
    """Which tools models are shown, and how much these may answer."""

    maintenance: bool = field(
        default=False,
        metadata=rule("flag", "Whether models are shown `memory_sync` and `memory_status`.", project="yes"),
    )
    max_chars: int = field(
        default=12_000,
        metadata=rule(
            "whole",
            "Characters that an answer of `memory_search` or `memory_recall` has at most, and the notes and "
            "facts that are given unasked. Whole hits are left out at the end, and the answer says which.",
            low=2_000,
            high=1_000_000,
            project="less",
        ),
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting of Memlines; made without arguments it holds the defaults."""

    enabled: bool = field(
        default=True, metadata=rule("flag", "Whether memory is used at all.", project="less")
    )
    profile: Profile = field(
        default="default",
        metadata=rule(
            "text",
            "`openclaw` ranks as the original does, wherever a ranking key is not set itself. It differs in "
            "that file names and other forms of a word also count as the word; and the builtin model's "
            "cosines are low, so few hits reach its `min_score` of 0.35.",
            choices=get_args(Profile),
            project="yes",
        ),
    )
    agent: str = field(
        default=MAIN_AGENT,
        metadata=rule("text", "The agent whose settings, sessions and index are used; `--agent` names it."),
    )
    workspace: str | None = field(
        default=None,
        metadata=rule(
            "text",
            "The folder with the notes where none is named and none is above; relative to the file that"
            " names it. A project's file may never set it.",
        ),
    )
    sources: tuple[Source, ...] = field(
        default=("memory",),
        metadata=rule(
            "list", "What is indexed: notes, and transcripts if asked for.", choices=get_args(Source)
        ),
    )
    extra_paths: tuple[str, ...] = field(
        default=(), metadata=rule("list", "More files and folders to index beside the workspace.")
    )
    backend: Backend = field(
        default="builtin",
        metadata=rule(
            "text",
            "What does the searching. `qmd` is not available in this version, and refused.",
            choices=get_args(Backend),
        ),
    )
    citations: Citations = field(
        default="auto",
        metadata=rule(
            "text",
            "Whether results name their source. `auto` is the same as `on`: whether a chat has one reader or "
            "many is not known here.",
            choices=get_args(Citations),
            project="yes",
        ),
    )
    timezone: str | None = field(
        default=None,
        metadata=rule(
            "text",
            "The zone of days and times in notes, such as Europe/Amsterdam; nothing means the machine's.",
            project="yes",
        ),
    )
    files: Files = field(default_factory=Files)
    embeddings: Embeddings = field(default_factory=Embeddings)
    chunking: Chunking = field(default_factory=Chunking)
    store: Store = field(default_factory=Store)
    cache: Cache = field(default_factory=Cache)
    sync: Sync = field(default_factory=Sync)
    query: Query = field(default_factory=Query)
    tools: Tools = field(default_factory=Tools)
    intent: Intent = field(default_factory=Intent)
    sessions: Sessions = field(default_factory=Sessions)
    redaction: Redaction = field(default_factory=Redaction)
    snapshots: Snapshots = field(default_factory=Snapshots)
    chat: Chat = field(default_factory=Chat)
    facts: Facts = field(default_factory=Facts)
    spend: Spend = field(default_factory=Spend)
