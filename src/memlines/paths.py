"""Where things live, and the one check that a path stays inside a folder."""

from __future__ import annotations

import os
import posixpath
import re
from functools import cache
from pathlib import Path

from memlines.errors import SettingsError, WorkspaceError, reason_of
from memlines.old_name import MARKS, NAME, NEW_NAME, folder_in_use, get_variable, is_ours
from memlines.records import dataclass

PRIVATE_DIR = ".memory"
"""The folder of a workspace that holds what is derived or private."""

EVAL_DIR = "eval"
"""The folder in it for the test set that is made from the notes, and for the figures of its runs."""

PAST_DIR = "past"
"""The folder in it for indexes of the notes as they were on earlier days."""

QUESTIONS_FILE = "questions.jsonl"
"""That test set, which holds words of the notes: forgetting removes it."""

HISTORY_FILE = "history.jsonl"
"""A line of figures for each run over that set; no text."""

QMD_DIR = "qmd"
"""The folder in it for what the program qmd keeps of the notes: forgetting removes it."""

TIDY_DIR = "tidy"
PROPOSAL_FILE = "proposal.md"
"""The folder in it for what `memlines tidy` proposes, in a file that quotes notes: forgetting removes it."""

OPENCODE_DIR = ".opencode"
"""The folder of a project's OpenCode, whose `config.yaml` may hold settings below `memory`."""

HOME_VARIABLE = "MEMLINES_HOME"
"""Overrides where user-wide settings and caches live (portable installs, tests)."""

AGENT_VARIABLE = "MEMLINES_AGENT"
"""The variable of the setting `agent`."""

WORKSPACE_VARIABLE = "MEMLINES_WORKSPACE"
"""The variable of the setting `workspace`."""

MAIN_AGENT = "main"
"""The agent that is meant when none is named."""

LANGUAGES_DIR = Path(__file__).parent / "text" / "languages"
"""The files that hold the words of each language, `<code>.toml`."""

_FIRST_LANGUAGES = ("en", "nl", "de", "fr", "es", "pt", "it")
"""The order of preference where a text may be in several languages; all others follow by their codes."""

_LONGEST_INDEX_FOLDER = 380
"""Bytes of the path of a folder with indexes: SQLite opens no path above 512, and its own files and those of
a rebuild have longer names than an index."""

_AGENT_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder with `MEMORY.md` and `memory/`, and the places inside it."""

    root: Path

    @classmethod
    def at(cls, folder: str | os.PathLike[str]) -> Workspace:
        """Return the workspace in an existing folder."""
        if not os.fspath(folder):
            raise WorkspaceError(
                "the name of the workspace is empty", todo="Name a folder, or . for this one"
            )
        root = expand_home(folder)
        try:
            real = root.resolve(strict=True)
            is_folder = real.is_dir()
        except FileNotFoundError:
            raise WorkspaceError(
                f"workspace {str(root)!r} does not exist",
                todo="Create it with 'memlines init', or name another with --workspace",
            ) from None
        except (OSError, RuntimeError, ValueError) as error:
            raise WorkspaceError(
                f"workspace {str(root)!r} cannot be opened: {reason_of(error)}",
                todo="Check the path and its permissions",
            ) from error
        if not is_folder:
            raise WorkspaceError(
                f"workspace {str(root)!r} is not a folder", todo="Name the folder that holds the notes"
            )
        if not os.access(real, os.R_OK | os.X_OK):
            raise WorkspaceError(
                f"workspace {str(root)!r} cannot be opened: permission denied", todo="Check its permissions"
            )
        if not is_unicode(str(real)):
            raise WorkspaceError(
                f"workspace {str(root)!r} has a name that is not valid UTF-8", todo="Rename the folder"
            )
        return cls(real)

    @property
    def private(self) -> Path:
        """The folder for derived and private files."""
        return self.root / PRIVATE_DIR

    @property
    def config_file(self) -> Path:
        """The project's own settings file."""
        return self.private / "config.yaml"

    @property
    def opencode_config_file(self) -> Path:
        """The file of the project's OpenCode that may hold settings too."""
        return self.root / OPENCODE_DIR / "config.yaml"

    @property
    def config_files(self) -> tuple[Path, ...]:
        """The project's settings files, of which the last wins: OpenCode's, if there is one, then its own."""
        has_opencode = os.path.lexists(self.opencode_config_file)
        return (self.opencode_config_file, self.config_file) if has_opencode else (self.config_file,)

    @property
    def cached_indexes(self) -> Path:
        """The folder in the cache for indexes of this workspace, used if it cannot hold them itself."""
        from hashlib import sha256

        return user_cache_dir() / "indexes" / sha256(os.fsencode(self.root)).hexdigest()[:24]

    @property
    def eval_folder(self) -> Path:
        """The folder for the private test set; it is that in the cache if the workspace cannot be written."""
        return self._inside_or_cached(EVAL_DIR)

    @property
    def past_folder(self) -> Path:
        """The folder for indexes of notes as they were; it is that in the cache where none can be written."""
        return self._inside_or_cached(PAST_DIR)

    def _inside_or_cached(self, name: str) -> Path:
        inside = self.private / name
        nearest = next(place for place in (inside, self.private, self.root) if os.path.lexists(place))
        fits = not _is_too_long(inside) and os.access(nearest, os.W_OK | os.X_OK)
        return inside if fits else self.cached_indexes

    def index_file(self, template: str = "", agent: str = MAIN_AGENT) -> Path:
        """Return where the index of an agent is kept; `{agent}` in the template is replaced by its name."""
        check_agent(agent)
        if not template:
            name = "index.sqlite" if agent == MAIN_AGENT else f"index-{agent}.sqlite"
            usual = self.private / name
            return usual if _may_hold(usual) else self.cached_indexes / name
        file = Path(os.path.normpath(self.root / expand_home(template.replace("{agent}", agent))))
        if file.suffix == ".md" or contains(self.root / "memory", file) or contains(file, self.root):
            raise SettingsError(
                f"store.path {template!r} names a place of notes", todo="Set it to a file of its own"
            )
        return file


@cache
def languages_with(section: str) -> tuple[str, ...]:
    """Return the codes of the languages whose file has a section, such as `intent`."""
    header = f"\n[{section}]\n".encode()
    found = {file.stem for file in LANGUAGES_DIR.glob("??.toml") if header in file.read_bytes()}
    first = [code for code in _FIRST_LANGUAGES if code in found]
    return (*first, *sorted(found.difference(first)))


def _may_hold(index_file: Path) -> bool:
    """Return whether there is an index in a private folder, or one can be made there."""
    private = index_file.parent
    if os.path.lexists(index_file) or os.path.islink(private):  # noqa: PTH114 (`is_symlink` may raise)
        return True
    return not _is_too_long(private) and os.access(
        private if os.path.lexists(private) else private.parent, os.W_OK | os.X_OK
    )


def _is_too_long(folder: Path) -> bool:
    return len(os.fsencode(folder)) > _LONGEST_INDEX_FOLDER


def check_agent(name: str) -> None:
    """Raise unless a text is the name of an agent, which becomes a part of file names."""
    if not _AGENT_NAME.fullmatch(name):
        raise SettingsError(
            f"agent name {name!r} is not usable in a file name",
            todo="Use up to 64 letters, digits, '-', '_' and '.', and no '.' at the beginning",
        )


def expand_home(path: str | os.PathLike[str]) -> Path:
    """Replace a leading `~`; where that home is not known, the path stays as it is written."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 (pathlib raises RuntimeError instead)


def find_program(name: str) -> str | None:
    """Return where a program is, if it is on the search path.

    The folder that we are in does not count, though Windows looks there first, and a search path may name it.
    It may be a cloned workspace, with a program of that name.
    """
    import shutil

    found = shutil.which(str(expand_home(name)))
    return found if found is not None and Path(found).is_absolute() else None


def home_folder() -> Path:
    """Return the user's home; raise where the system does not know one."""
    home = expand_home("~")
    if not home.is_absolute():
        raise _homeless()
    return home


def user_config_file() -> Path:
    """Return the user-wide settings file."""
    return _user_folder("config") / "config.yaml"


def user_state_dir() -> Path:
    """Return the folder for user-wide state, such as which project settings are trusted."""
    return _user_folder("state")


def user_cache_dir() -> Path:
    """Return the folder for files that can be made again, such as the unpacked model."""
    return _user_folder("cache")


def personal_folder(named: str | None = None) -> Path:
    """Return the folder of the user's personal memory: the one that the settings name, or the usual one."""
    if named:
        return user_config_file().parent / expand_home(named)
    home = get_variable(HOME_VARIABLE)
    if home:
        return expand_home(home) / "personal"
    return _system_folder("data", NEW_NAME) / "personal"


def old_user_folders() -> list[tuple[str, Path, Path]]:
    """Return the user-wide folders that the old name left: their kinds, where they are, where they belong."""
    if get_variable(HOME_VARIABLE):
        return []
    found = {kind: _user_folders(kind) for kind in MARKS}
    return [(kind, old, new) for kind, (old, new) in found.items() if is_ours(old, kind)]


def _user_folder(kind: str) -> Path:
    home = get_variable(HOME_VARIABLE)
    if home:
        return expand_home(home) / ("" if kind == "config" else kind)
    return folder_in_use(kind, *_user_folders(kind))


def _user_folders(kind: str) -> tuple[Path, Path]:
    """Return where the user-wide folder of a kind was by the old name, and where it is by the new one."""
    return _system_folder(kind, NAME), _system_folder(kind, NEW_NAME)


def _system_folder(kind: str, name: str) -> Path:
    """Return the folder of a kind that the system gives a program; a program never makes up a home."""
    import platformdirs

    try:
        found: Path = getattr(platformdirs, f"user_{kind}_path")(name, appauthor=False)
    except RuntimeError:
        raise _homeless() from None
    return found


def _homeless() -> SettingsError:
    return SettingsError(
        "the home folder of this user is not known",
        todo=f"Set HOME, or set {HOME_VARIABLE} to a folder for settings and caches",
    )


def is_unicode(name: str) -> bool:
    """Return whether a file's name is text; a name of other bytes can be neither cited nor stored."""
    return name.isascii() or not any("\ud800" <= character <= "\udfff" for character in name)


def contains(folder: Path, path: Path) -> bool:
    """Return whether a real path is the folder itself or lies below it."""
    return path == folder or folder in path.parents


def note_path(file: str) -> str:
    """Return the setting `facts.file` as the index and citations name that note."""
    return posixpath.normpath(file.strip())
