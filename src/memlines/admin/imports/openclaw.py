"""Bring in what OpenClaw remembers: its vectors, the memories of its LanceDB plugin and, if asked, its notes.

Its notes need no import: Memlines reads a workspace of OpenClaw as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from memlines.admin.imports import vault
from memlines.admin.imports.openclaw_memories import Memories, place_of_memories, take_memories
from memlines.admin.imports.openclaw_settings import translated
from memlines.admin.imports.openclaw_state import CONFIG, config_of, find_database, workspace_in
from memlines.admin.imports.openclaw_vectors import Vectors, take_vectors
from memlines.errors import PathError
from memlines.files.journal import operation
from memlines.memory.memory import Memory
from memlines.memory.notes.settings_file import add_to_project_file, add_to_user_file
from memlines.types import Progress

SettingsFile = Literal["user", "project"]
"""Whose settings file OpenClaw's settings are written into."""


@dataclass(frozen=True, slots=True)
class TheirSettings:
    """OpenClaw's settings as ours, what of them was left out and why, and where they were written."""

    values: Mapping[str, Any]
    left_out: tuple[str, ...]
    file: str = ""
    kept: tuple[str, ...] = ()
    """The keys that the file set before, which stay as they were."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did, or would do if `dry_run`; what there was nothing of is nothing."""

    vectors: Vectors | None
    memories: Memories | None
    notes: vault.Imported | None
    dry_run: bool
    settings: TheirSettings | None = None
    trouble: str = ""
    """Why OpenClaw's configuration could not be read, so that its usual places were looked at."""

    @property
    def failed(self) -> bool:
        """Whether something that is there could not be brought in."""
        return bool((self.notes and self.notes.failed) or (self.memories and self.memories.reason))

    def to_json(self) -> dict[str, Any]:
        """Return it with field names that stay; what became of vectors stands at the top."""
        told = asdict(self)
        vectors = told.pop("vectors") or asdict(Vectors(""))
        return {**vectors, **told}


@operation("import")
def import_openclaw(
    memory: Memory,
    *,
    state_dir: Path,
    notes_from: Path | None = None,
    dry_run: bool = False,
    with_forgotten: bool = False,
    settings_to: SettingsFile | None = None,
    progress: Progress,
) -> Imported:
    """Take over the memories and vectors of an agent of OpenClaw, and copy notes if a folder is named."""
    workspace, settings = memory.workspace, memory.settings
    database = find_database(state_dir, settings.agent)
    trouble = ""
    try:
        config = config_of(state_dir)
    except PathError as error:
        if settings_to is not None:
            raise
        config, trouble = {}, str(error)
    place = place_of_memories(state_dir, config)
    ours = _settings(memory, config, state_dir, None if dry_run else settings_to)
    if database is None and place is None and notes_from is None and ours is None:
        raise PathError(
            f"OpenClaw has no memory of the agent {settings.agent!r} in {str(state_dir)!r}",
            todo="Name its folder with --state-dir and the agent with --agent",
        )
    notes = None
    if notes_from is not None:
        root = vault.checked_folder(workspace, notes_from)
        notes = vault.copy_notes(
            workspace, settings, root, dry_run=dry_run, with_forgotten=with_forgotten, progress=progress
        )
    memories = None
    if place is not None:
        memories = take_memories(
            memory, place, dry_run=dry_run, with_forgotten=with_forgotten, progress=progress
        )
    vectors = None
    if database is not None:
        memory.close()  # what it does in the background would be in the way
        vectors = take_vectors(workspace, settings, str(database), dry_run=dry_run, progress=progress)
    return Imported(vectors, memories, notes, dry_run, ours, trouble)


def _settings(
    memory: Memory, config: Mapping[str, Any], state_dir: Path, file: SettingsFile | None
) -> TheirSettings | None:
    """Translate OpenClaw's settings, and write them into a file if one is named."""
    found = translated(config, workspace_in(config, state_dir, memory.settings.agent))
    if not found.values and not found.left_out:
        return None
    if file is None or not found.values:
        return TheirSettings(found.values, found.left_out)
    heading = f"From {state_dir / CONFIG}"
    if file == "user":
        path, kept = add_to_user_file(found.values, heading)
    else:
        path, kept = add_to_project_file(memory.workspace, found.values, heading)
    return TheirSettings(found.values, found.left_out, str(path), tuple(kept))
