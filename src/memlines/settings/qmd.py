"""The settings of the backend `qmd`, a part of the tree."""

import re
from collections.abc import Mapping
from typing import Literal

from memlines.errors import SettingsError
from memlines.records import dataclass
from memlines.settings.values import key, section

_HOUR_MS = 3_600_000
_CONDITIONS = "channel", "chat_type", "key_prefix", "raw_key_prefix"
_RULE = re.compile(rf"(allow|deny)((?:\s+(?:{'|'.join(_CONDITIONS)})=\S+)*)\s*")


@dataclass(frozen=True, slots=True)
class QmdSessions:
    """Conversations as qmd finds them."""

    enabled: bool = key(False, "Whether conversations are searched too; `sources` must include sessions.")
    export_dir: str | None = key(
        None,
        "Where a folder for them is made, if not in `.memory/qmd`. A project's file may never set it.",
    )
    retention_days: int = key(0, "How many days they stay there; 0 means as long as they exist.", (0, 36_500))


@dataclass(frozen=True, slots=True)
class QmdUpdate:
    """When the index of qmd is brought up to date."""

    interval_minutes: int = key(
        5, "Minutes until an update looks at `qmd.paths`, and makes vectors; 0 means never.", (0, 525_600)
    )
    debounce_ms: int = key(15_000, "How long after an update the next one waits.", (0, _HOUR_MS))
    on_boot: bool = key(True, "Whether the first search of a program updates at once, if files changed.")
    wait_for_boot_sync: bool = key(False, "Whether that search waits for the update, however long it takes.")
    embed_interval_minutes: int = key(60, "Minutes between two runs of `qmd embed`.", (0, 525_600))
    update_timeout_ms: int = key(120_000, "How long `qmd update` may take.", (100, _HOUR_MS))
    embed_timeout_ms: int = key(120_000, "How long `qmd embed` may take.", (100, _HOUR_MS))


@dataclass(frozen=True, slots=True)
class QmdLimits:
    """What a search by qmd may take and return."""

    timeout_ms: int = key(4000, "How long a search by qmd may take.", (100, 600_000))
    max_results: int = key(6, "How many hits of qmd you get at most.", (1, 100))
    max_snippet_chars: int = key(700, "How many characters a hit quotes at most.", (50, 10_000))
    max_injected_chars: int = key(4000, "How many characters all hits quote at most.", (50, 200_000))


@dataclass(frozen=True, slots=True)
class QmdScope:
    """In which conversations qmd answers; outside of them, a search finds nothing."""

    default: Literal["allow", "deny"] = key("deny", "What happens where no rule fits.")
    rules: tuple[str, ...] = key(
        ("allow chat_type=direct",),
        "Rules such as `deny channel=discord`, of which the first that fits decides. The conditions are "
        "`channel`, `chat_type`, `key_prefix` and `raw_key_prefix`. Commands and servers of Memlines know "
        "nothing of the chat; that counts as `chat_type=direct`.",
    )

    def allows(self, chat: Mapping[str, str]) -> bool:
        """Return whether a conversation may be answered.

        It may have a `channel`, a `chat_type` and the `key` of its session. A prefix is that of the key
        without `agent:<name>:`, a raw one that of the whole key.
        """
        known = {name: value.lower() for name, value in chat.items()}
        raw = known["raw_key_prefix"] = known.get("key", "")
        known["key_prefix"] = raw.split(":", 2)[-1] if raw.startswith("agent:") else raw
        for action, conditions in [_parse_rule(rule) for rule in self.rules]:
            begins = [known[name].startswith(value) for name, value in conditions if name.endswith("prefix")]
            equals = [known.get(name) == value for name, value in conditions if not name.endswith("prefix")]
            if all([*begins, *equals]):
                return action == "allow"
        return self.default == "allow"


def _parse_rule(rule: str) -> tuple[str, list[list[str]]]:
    """Return what a rule says, and its conditions as pairs."""
    read = _RULE.fullmatch(rule.lower())
    if read is None:
        todo = f"Write allow or deny, then conditions as name=value, of {', '.join(_CONDITIONS)}"
        raise SettingsError(f"the rule {rule!r} in qmd.scope.rules cannot be read", todo=todo)
    return read[1], [condition.split("=", 1) for condition in read[2].split()]


@dataclass(frozen=True, slots=True)
class Qmd:
    """The program qmd, if `backend` names it: docs/qmd.md."""

    command: str = key("qmd", "The program, or its path. A project's file may never set it.")
    search_mode: Literal["search", "vsearch", "query"] = key(
        "search",
        "How it searches: by words, by vectors, or by both with a reranker. The last two need models on your "
        "machine, which `qmd pull` downloads.",
    )
    include_default_memory: bool = key(True, "Whether `MEMORY.md` and `memory/` are searched.")
    paths: tuple[tuple[str, str], ...] = key(
        (), "More folders, such as `/home/ana/notes: '**/*.md'`. A project's file may never set it."
    )
    sessions: QmdSessions = section(QmdSessions)
    update: QmdUpdate = section(QmdUpdate)
    limits: QmdLimits = section(QmdLimits)
    scope: QmdScope = section(QmdScope)
