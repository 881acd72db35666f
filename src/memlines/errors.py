"""Every error Memlines raises on purpose, in one tree.

    MemlinesError                 exit 1
    ├── UsageError                 exit 2   the arguments make no sense
    │   ├── PathError                       a path that may not be read
    │   └── AccessRefused                   the client's token does not allow it
    ├── SettingsError              exit 3   a setting is unknown, wrong or not allowed
    │   └── MemoryOff              exit 10  the settings switch the memory off
    ├── WorkspaceError             exit 4   the folder is missing, unreadable or read-only
    ├── StoreError                 exit 5   the index cannot be used
    │   ├── StoreBusy                       another process is writing
    │   ├── StoreReadOnly                   it may be read but not written
    │   ├── StoreFull                       no room on the disk
    │   ├── StoreDamaged                    not a usable index; it is set aside and rebuilt
    │   │   └── StoreForeign                another user or machine made it; it is not trusted
    │   ├── QmdFailed                       the program qmd does not answer; the builtin engine does
    │   ├── ClusterUnreachable              no node of the cluster answers; this machine's index does
    │   └── ClusterRefused                  the cluster does not allow or understand a request
    ├── EmbeddingError             exit 6   text could not be turned into vectors
    │   ├── ProviderUnusable                it cannot work until you act: no key, no such model
    │   │   └── ModelFilesError             the model's files are missing or not the pinned ones
    │   ├── ProviderUnreachable             no answer that can be used came over the network
    │   ├── QuotaExceeded                   the provider's own limit is reached
    │   ├── SpendLimit                      a limit of the settings is reached
    │   ├── TextsRefused                    it does not take these texts; it may take others
    │   └── BadVectors                      a provider returned something that is not a vector
    │       └── ModelChanged                it returned vectors of another model than before
    ├── WriteError                 exit 7   a note, or a file of a client, could not be written
    │   └── EditConflict                    someone else saved the note meanwhile
    ├── BackupError                exit 8   an archive or a place of backups cannot be used
    └── SecretRefused              exit 9   a text to be kept holds a secret

An error says what happened, to what, and what to do. `code` and `exit_code` are the
same in the command line, in RPC, in MCP and in the web page. `state` says of some that no call to the memory
can be answered: because it is switched off (`disabled`), or for now (`unavailable`).
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeVar


class MemlinesError(Exception):
    """Something went wrong that a person or an agent can act on."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1
    state: ClassVar[Literal["", "disabled", "unavailable"]] = ""

    def __init__(self, what: str, *, todo: str = "") -> None:
        """Say what happened (and to what), and what to do about it."""
        self.what = what
        self.todo = todo
        super().__init__(f"{what}. {todo}" if todo else what)

    def to_json(self) -> dict[str, Any]:
        """Return the error as the interfaces show it, with the state of the memory if it says something."""
        fields: dict[str, Any] = {"code": self.code, "error": self.what, "todo": self.todo}
        return fields | {self.state: True, "action": self.todo} if self.state else fields


class UsageError(MemlinesError):
    """The arguments make no sense."""

    code = "usage"
    exit_code = 2


class PathError(UsageError):
    """A path that is not part of this memory."""

    code = "path"


class AccessRefused(UsageError):
    """The token of a client does not allow what it asked for."""

    code = "access"


class SettingsError(MemlinesError):
    """A setting is unknown, has a wrong value, or may not be set where it is."""

    code = "settings"
    exit_code = 3


class MemoryOff(SettingsError):
    """The settings switch the memory off."""

    code = "off"
    exit_code = 10
    state = "disabled"


class WorkspaceError(MemlinesError):
    """The workspace is missing, unreadable or read-only."""

    code = "workspace"
    exit_code = 4


class StoreError(MemlinesError):
    """The index cannot be used."""

    code = "store"
    exit_code = 5
    state = "unavailable"


class StoreBusy(StoreError):
    """Another process is writing to the index."""

    code = "store-busy"


class StoreReadOnly(StoreError):
    """The index may be read but not written."""

    code = "store-read-only"


class StoreFull(StoreError):
    """There is no room left for the index."""

    code = "store-full"


class StoreDamaged(StoreError):
    """The file is not an index this version can use."""

    code = "store-damaged"


class StoreForeign(StoreDamaged):
    """The index was made by another user or on another machine, and may hold anything."""

    code = "store-foreign"


class QmdFailed(StoreError):
    """The program qmd is missing, or does not answer as it should."""

    code = "qmd-failed"


class ClusterUnreachable(StoreError):
    """No node of the cluster answers."""

    code = "cluster-unreachable"


class ClusterRefused(StoreError):
    """The cluster does not allow a request, or does not understand it."""

    code = "cluster-refused"


class EmbeddingError(MemlinesError):
    """Text could not be turned into vectors."""

    code = "embedding"
    exit_code = 6
    state = "unavailable"


class ProviderUnusable(EmbeddingError):
    """The provider cannot work until you act: it lacks a key, a package, a model."""

    code = "provider-unusable"


class ProviderUnreachable(EmbeddingError):
    """No answer that can be used came over the network, however often it was tried."""

    code = "provider-unreachable"


class QuotaExceeded(EmbeddingError):
    """The provider's own limit is reached, of requests or of money."""

    code = "provider-quota"


class SpendLimit(EmbeddingError):
    """A limit of the settings on what providers may cost is reached."""

    code = "spend-limit"


class TextsRefused(EmbeddingError):
    """The provider does not take these texts; it may take others."""

    code = "texts-refused"


class ModelFilesError(ProviderUnusable):
    """The model's files are missing or differ from the pinned ones."""

    code = "model-files"


class BadVectors(EmbeddingError):
    """A provider returned something that is not a usable vector."""

    code = "bad-vectors"


class ModelChanged(BadVectors):
    """A provider returns vectors of another model than before, under the same name."""

    code = "model-changed"


class WriteError(MemlinesError):
    """A note, or a file of a client, could not be written."""

    code = "write"
    exit_code = 7


class EditConflict(WriteError):
    """Someone else saved a note while it was edited; nothing was written."""

    code = "edit-conflict"


class BackupError(MemlinesError):
    """An archive or a place of backups cannot be used."""

    code = "backup"
    exit_code = 8


class SecretRefused(MemlinesError):
    """A text to be kept holds a secret, and `allow_secret` is not set."""

    code = "secret"
    exit_code = 9


E = TypeVar("E", bound=MemlinesError)


def install_extra(extra: str, otherwise: str = "") -> str:
    """Return what to do where the packages of an extra are missing: install it, or something else."""
    return f"Run: pip install 'memlines[{extra}]'{otherwise and f', or {otherwise}'}"


def extra_missing(kind: type[E], feature: str, extra: str, package: str, otherwise: str = "") -> E:
    """Return the error of a feature whose package is not installed, in the same words everywhere."""
    what = f"{feature} needs the package {package}, which is not installed"
    return kind(what, todo=install_extra(extra, otherwise))


def reason_of(error: Exception) -> str:
    """Return why the system refused something, in its words and without its numbers."""
    words = error.strerror if isinstance(error, OSError) else None
    return words.lower() if words else str(error)
