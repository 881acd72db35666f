"""An open workspace: its settings, the personal memory beside it, and what keeps its index up to date.

`Memory` adds what people and agents ask of it. When the index is brought up to date is decided in `manager`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from memlines.errors import SettingsError
from memlines.memory import arguments, scopes
from memlines.memory.manager import Manager
from memlines.memory.open_index import silent
from memlines.paths import Workspace, personal_folder
from memlines.settings import Loaded, Settings, load, refuse_if_off, switched_off
from memlines.settings.workspace import find_workspace
from memlines.types import (
    Progress,
    Report,
    Scope,
    Space,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memlines.embed.select import Probe
    from memlines.index.sync.job import Job
    from memlines.index.sync.plan import SyncPlan
    from memlines.memory.facts.facts import Facts
    from memlines.memory.sharing import Sharing
    from memlines.memory.status import Status
    from memlines.memory.tidy.tidy import Tidy


class OpenMemory:
    """The memory in one workspace, opened; what it holds and how it is kept up to date."""

    def __init__(
        self, workspace: str | os.PathLike[str] | None = None, settings: Mapping[str, Any] | None = None
    ) -> None:
        """Open the memory in a folder; `settings` holds keys such as `{"query.max_results": 3}`.

        Without a folder, the first of these is used: `MEMLINES_WORKSPACE`, the nearest folder upwards that
        holds a memory, the setting `workspace`, the current folder.
        """
        arguments.check_opened(workspace, settings)
        folder = find_workspace(overrides=settings).folder if workspace is None else workspace
        self.workspace = Workspace.at(folder)
        self.loaded: Loaded = load(self.workspace, settings)
        self.settings: Settings = self.loaded.settings
        """The settings in force."""
        self.personal_folder = Path(os.path.realpath(personal_folder(self.settings.personal_folder)))
        self.scope: Scope = "personal" if self.workspace.root == self.personal_folder else "project"
        self._manager = Manager(self.workspace, self.loaded)
        self._manager.prefix = scopes.PERSONAL if self.scope == "personal" else ""
        self._given = dict(settings or {})
        self._personal: Self | None = None
        self._facts: Facts | None = None
        self._opening = threading.Lock()

    def close(self) -> None:
        """End the work in the background and close the index; the next use opens it again."""
        self._manager.close()
        if self._personal is not None:
            self._personal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def facts(self) -> Facts:
        """The long-term facts: short memories with a category, kept in a note of their own."""
        from memlines.memory.facts.facts import Facts

        with self._opening:
            self._facts = self._facts or Facts(self._manager)
        return self._facts

    @property
    def tidy(self) -> Tidy:
        """What can be tidied in the notes: proposals, which a person applies or declines."""
        from memlines.memory.tidy.tidy import Tidy

        return Tidy(self._manager)

    @property
    def personal(self) -> Self | None:
        """The user's personal memory, asked together with this one; `None` without one, or if it is off."""
        is_wanted = self.scope == "project" and "personal" in self.settings.scopes
        if is_wanted and self.settings.personal_folder:
            scopes.refuse_inside(self)
        # Not `Path.is_dir`, which raises where a folder above is closed to us.
        if self._personal is None and is_wanted and os.path.isdir(self.personal_folder):  # noqa: PTH112
            with self._opening:
                if self._personal is None:
                    self._personal = type(self)(self.personal_folder, scopes.without_places(self._given))
                    self._personal._manager.beside = self._manager
        return self._personal if self._personal and self._personal.settings.enabled else None

    def begin_personal(self) -> Self:
        """Return the user's personal memory to write into; it is created if there is none."""
        if self.scope == "personal":
            return self
        if "personal" in self.settings.scopes and not os.path.isdir(self.personal_folder):  # noqa: PTH112
            from memlines.files.place import begin_workspace

            scopes.refuse_inside(self)
            begin_workspace(self.personal_folder, personal=True)
        personal = self.personal
        if personal is None:
            by = f"scopes ({self.loaded.origins['scopes']})"
            if "personal" in self.settings.scopes:
                by = f"enabled in {str(self.personal_folder)!r}"
            raise SettingsError(
                f"the personal memory is switched off by {by}",
                todo="Switch it on there, or write it into the project's memory",
            )
        return personal

    def sync(self, *, force: bool = False, progress: Progress = silent) -> Report:
        """Make the index equal the files, that of the personal memory too; `force` rebuilds it."""
        self._check()
        report = self._manager.sync(force=force, progress=progress)
        warnings: list[str] = []
        for personal in scopes.list_personal(self, warnings):
            report = scopes.merge_reports(report, personal._manager.sync(force=force, progress=progress))
        return replace(report, warnings=(*report.warnings, *warnings))

    def plan(self, *, progress: Progress = silent) -> SyncPlan:
        """Return what a sync would do and cost, without doing any of it."""
        from memlines.index.sync.plan import plan

        self._check()
        return plan(self._manager.job(progress))

    @property
    def provider_trouble(self) -> str:
        """Why vectors are not made by the provider that the settings name; empty if they are."""
        return self._manager.chosen().reason

    @property
    def builtin_vectors(self) -> Callable[[Sequence[str]], NDArray[np.float32]] | None:
        """How the builtin model embeds sentences, if it is what this memory uses; none is loaded for it."""
        provider = self._manager.provider_at_work()
        return provider.embed_documents if provider is not None and provider.id == "builtin" else None

    def change_model(self, change: Literal["cancel", "roll_back", "renew", "resume"]) -> Space:
        """Act on a change of model, and return the space of the vectors that it is about.

        - `cancel` stops it.
        - `roll_back` goes back to the vectors of the model before.
        - `renew` drops all vectors of the model, and the next sync makes them again.
        - `resume` asks for the model of the settings again after its change was stopped.
        """
        from memlines.index.sync import vectors

        changes: Mapping[str, Callable[[Job], Space]] = {
            "cancel": vectors.cancel,
            "roll_back": vectors.roll_back,
            "renew": vectors.renew,
            "resume": vectors.resume,
        }
        return changes[change](self._manager.job(silent))

    def start_session(self, key: str | None = None) -> None:
        """Begin a session: sync in the background, once for each key, and return at once.

        Without a key it syncs every time; with `sync.on_session_start` off it does nothing.
        """
        if not switched_off(self.loaded):
            for one in scopes.list_scopes(self, []):
                one._manager.start_session(key)

    def warm_up(self) -> None:
        """Load what the first search needs, as far as it is on this machine; it may take a second."""
        if not switched_off(self.loaded):
            self._manager.warm_up()

    @property
    def is_warm(self) -> bool:
        """Whether `warm_up` is done; until then a search by meaning may first load a model."""
        return self._manager.is_warm

    def sync_soon(self) -> None:
        """Sync in the background, and return at once."""
        if not switched_off(self.loaded):
            for one in scopes.list_scopes(self, []):
                one._manager.sync_soon()

    def watch(
        self,
        stop: threading.Event,
        *,
        on_sync: Callable[[Report], None] | None = None,
        on_notice: Callable[[str], None] | None = None,
    ) -> None:
        """Keep the index equal to the files until `stop` is set, whatever changes them.

        `on_sync` is called with the report of every sync that changed the index, `on_notice` with what else
        is worth knowing, in a sentence. A sync that fails is reported and tried again. Where another program
        watches already, this waits to take over.
        """
        from memlines.memory.watching import watch

        self._check()
        watch(self._manager, stop, on_sync, on_notice)

    def verify_cluster(self, progress: Progress = silent) -> tuple[int, int]:
        """Copy everything to the cluster and compare it; return how many files and chunks are equal there."""
        return self._sharing.verify(progress)

    def leave_cluster(self) -> int:
        """Remove what this machine copied to the cluster; return how many files that were."""
        return self._sharing.leave()

    @property
    def _sharing(self) -> Sharing:
        if self._manager.sharing is None:
            raise SettingsError(
                "this memory has no cluster: store.driver is sqlite, or it is the personal one",
                todo="Set store.driver to qdrant in a project's memory",
            )
        return self._manager.sharing

    def status(self, *, deep: bool = False) -> Status:
        """Return the state of the memory; `deep` also asks the provider for the vector of one word."""
        from memlines.memory.status import read_status

        return replace(read_status(self._manager, deep=deep), personal=scopes.describe_personal(self))

    def probe_embedding(self) -> Probe:
        """Return whether the provider that the settings ask for makes vectors; it may be sent one word."""
        from memlines.memory.status import probe_embedding

        return probe_embedding(self._manager)

    def probe_vectors(self) -> Probe:
        """Return whether vectors can be searched, by the engine that the settings ask for."""
        from memlines.memory.status import probe_vectors

        return probe_vectors(self._manager)

    def _check(self, operation: arguments.Arguments | None = None, **given: object) -> None:
        """Refuse arguments that make no sense, and every call while the memory is switched off."""
        arguments.check(operation or {}, **given)
        if not self.settings.enabled:
            refuse_if_off(self.loaded)
