"""The proposal of a tidy: items with ids, kept as one private Markdown file that a person can read.

    .memory/tidy/proposal.md      what is proposed; its first line holds a hash of the rest
    .memory/tidy/decisions.json   the ids of items that were applied or declined, and no text

Below each item is a comment with the same in JSON, which is what `apply` reads. Lines are known by a hash, so
that what is quoted can be without secrets.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any, Literal, get_args

from memlines.errors import UsageError
from memlines.files import atomic
from memlines.files.place import Place, attempt, reading
from memlines.folders import PRIVATE_FILE
from memlines.paths import PRIVATE_DIR, PROPOSAL_FILE, TIDY_DIR, Workspace
from memlines.records import dataclass
from memlines.types import cite

TidyKind = Literal["duplicate", "contradiction", "stale", "promote", "long"]
"""What can be found in the notes."""
KINDS: tuple[TidyKind, ...] = get_args(TidyKind)

PATH = f"{PRIVATE_DIR}/{TIDY_DIR}/{PROPOSAL_FILE}"
MOST_ITEMS = 200
_DECISIONS = "decisions.json"
_MOST_DECISIONS = 2_000
_MOST_BYTES = 20_000_000
_HEAD = "<!-- memlines tidy 1 {} -->\n"
_ITEM = "<!-- item "
_END = " -->"

_TITLES: dict[TidyKind, str] = {
    "duplicate": "Duplicates",
    "contradiction": "Contradictions",
    "stale": "Stale",
    "promote": "Promote",
    "long": "MEMORY.md is too long",
}
_AGAIN = "Make another one: memlines tidy"


@dataclass(frozen=True, slots=True)
class TidyLines:
    """Lines of a note that an item rests on: it is applied only while they are there."""

    path: str
    first: int
    last: int
    hash: str
    """A hash of the lines."""
    text: str
    """The lines without secrets."""

    @property
    def citation(self) -> str:
        """The lines as `path#L3` or `path#L3-L9`."""
        return cite(self.path, self.first, self.last)


@dataclass(frozen=True, slots=True)
class TidyEdit:
    """A change of a note: `new` in the place of lines, or in addition if `first` is 0.

    Lines in whose place there is nothing are removed. A note that does not exist begins with the title.
    """

    path: str
    new: str = ""
    """The lines that are written."""
    first: int = 0
    last: int = 0
    hash: str = ""
    """A hash of the lines that are replaced."""
    old: str = ""
    """The lines that are replaced, without secrets."""
    title: str = ""
    """The title of a note that does not exist yet."""

    @property
    def diff(self) -> str:
        """The change as a diff shows it."""
        place = cite(self.path, self.first, self.last) if self.first else self.path
        lines = [f"@@ {place} @@"]
        lines += [f"-{line}" for line in self.old.split("\n") if self.first]
        lines += [f"+{line}" for line in self.new.split("\n") if self.new]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class TidyItem:
    """One thing to decide on; without edits there is only something to look at."""

    id: str
    kind: TidyKind
    """What was found."""
    why: str
    """The reason, in a sentence."""
    cited: tuple[TidyLines, ...]
    """The lines that it rests on."""
    edits: tuple[TidyEdit, ...] = ()
    """What it would change."""
    needs_review: bool = False
    """Whether it would give text that no person wrote or reviewed more weight."""
    worded: str = ""
    """What a chat model made of the lines, to be added instead of them if that is chosen."""

    def to_json(self) -> dict[str, Any]:
        """Return it with field names that stay."""
        return {
            **{name: value for name, value in asdict(self).items() if name not in ("cited", "edits")},
            "cited": [{"citation": one.citation, "text": one.text} for one in self.cited],
            "edits": [{"path": edit.path, "diff": edit.diff} for edit in self.edits],
        }


@dataclass(frozen=True, slots=True)
class Proposal:
    """What was proposed, when, and how many items there was no room for."""

    time: str
    items: tuple[TidyItem, ...] = ()
    """What to decide on."""
    left_out: int = 0
    """How many more there would be."""

    def choose(self, ids: Iterable[str]) -> tuple[TidyItem, ...]:
        """Return the items with these ids, or say which there is none of."""
        known = {item.id: item for item in self.items}
        wanted = list(dict.fromkeys(ids))
        unknown = [name for name in wanted if name not in known]
        if unknown:
            raise UsageError(
                f"the proposal has no item {unknown[0]!r}", todo="Take ids that 'memlines tidy show' lists"
            )
        return tuple(known[name] for name in wanted)

    def to_json(self) -> dict[str, Any]:
        """Return it with field names that stay."""
        counts = Counter(item.kind for item in self.items)
        return {
            "path": PATH,
            "time": self.time,
            "counts": {kind: counts[kind] for kind in KINDS},
            "items": [item.to_json() for item in self.items],
            "left_out": self.left_out,
        }


def name_item(kind: TidyKind, parts: Sequence[str], taken: Iterable[str] = ()) -> str:
    """Return the id of an item: the same for the same kind and entries, whenever it is proposed."""
    known = set(taken)
    count = 0
    while True:
        source = "\0".join((kind, *parts, str(count) if count else ""))
        name = hashlib.sha256(source.encode(errors="surrogatepass")).hexdigest()[:8]
        if name not in known:
            return name
        count += 1


def save(workspace: Workspace, proposal: Proposal) -> None:
    """Write a proposal in the place of the one before; the caller holds the notes' lock."""
    body = _render(proposal)
    _write(workspace, PROPOSAL_FILE, _HEAD.format(_hash(body)) + body)


def load(workspace: Workspace) -> Proposal:
    """Return the proposal as it was written, or say why there is none."""
    content = _read(workspace, PROPOSAL_FILE)
    if content is None:
        raise UsageError("there is no proposal", todo="Make one: memlines tidy")
    text = content.decode("utf-8", "replace")
    body = text.partition("\n")[2]
    if text != _HEAD.format(_hash(body)) + body:
        raise UsageError(
            f"{PATH!r} was changed or damaged since it was written, and is not applied", todo=_AGAIN
        )
    try:
        return _parse(body)
    except (ValueError, TypeError, KeyError) as error:
        raise UsageError(f"{PATH!r} was written by another version", todo=_AGAIN) from error


def read_decisions(workspace: Workspace) -> dict[str, list[str]]:
    """Return the ids of items that were applied and declined; none if the file cannot be understood."""
    try:
        data = json.loads(_read(workspace, _DECISIONS) or b"{}")
        return {name: [str(one) for one in data.get(name, ())] for name in ("applied", "declined")}
    except (ValueError, TypeError, AttributeError):
        return {"applied": [], "declined": []}


def note_decisions(workspace: Workspace, **decided: Iterable[str]) -> None:
    """Remember that items were applied or declined; the caller holds the notes' lock."""
    known = read_decisions(workspace)
    for name, ids in decided.items():
        known[name] = list(dict.fromkeys([*known[name], *ids]))[-_MOST_DECISIONS:]
    _write(workspace, _DECISIONS, json.dumps(known))


def format_item(item: TidyItem) -> str:
    """Return an item for people: why, the lines it rests on, and what would change."""
    lines = [item.why, ""]
    for one in item.cited:
        first, *others = one.text.split("\n")
        lines += [f"> {one.citation}: {first}", *(f"> {line}" for line in others)]
    if item.edits:
        lines += ["", "```diff", *(edit.diff for edit in item.edits), "```"]
    if item.worded:
        lines += ["", f"A model words it so: {item.worded}"]
    return "\n".join(lines)


def _render(proposal: Proposal) -> str:
    parts = [
        f"# Tidy, {proposal.time}\n\nNothing was changed. `memlines tidy review` asks about each item.\n"
    ]
    for kind in KINDS:
        items = [item for item in proposal.items if item.kind == kind]
        if items:
            parts.append(f"\n## {_TITLES[kind]}\n")
        for item in items:
            note = " (needs review)" if item.needs_review else ""
            data = _in_comment(asdict(item))
            parts.append(f"\n### {item.id}{note}\n\n{format_item(item)}\n\n{_ITEM}{data}{_END}\n")
    rest = {"time": proposal.time, "left_out": proposal.left_out}
    parts.append(f"\n<!-- {_in_comment(rest)}{_END}\n")
    return "".join(parts)


def _in_comment(value: Any) -> str:
    """Return a value as JSON that does not end the comment it is in."""
    return json.dumps(value).replace(">", "\\u003e")


def _parse(body: str) -> Proposal:
    lines = body.split("\n")
    found = [json.loads(line[len(_ITEM) : -len(_END)]) for line in lines if line.startswith(_ITEM)]
    items = []
    for one in found:
        cited = tuple(TidyLines(**each) for each in one.pop("cited"))
        edits = tuple(TidyEdit(**each) for each in one.pop("edits"))
        items.append(TidyItem(cited=cited, edits=edits, **one))
    rest = json.loads(lines[-2].removeprefix("<!-- ").removesuffix(_END))
    return Proposal(rest["time"], tuple(items), rest["left_out"])


def _hash(body: str) -> str:
    return hashlib.sha256(body.encode(errors="surrogatepass")).hexdigest()


def _read(workspace: Workspace, name: str) -> bytes | None:
    with reading(f"{PRIVATE_DIR}/{TIDY_DIR}/{name}"):
        return atomic.read(workspace.private / TIDY_DIR / name, _MOST_BYTES, root=workspace.root)


def _write(workspace: Workspace, name: str, text: str) -> None:
    folder = workspace.private / TIDY_DIR
    file = folder / name

    def write() -> None:
        atomic.make_folders(folder, workspace.root)
        atomic.sweep(folder, root=workspace.root)
        old = atomic.read(file, root=workspace.root)
        atomic.replace(file, text.encode(), expected=old, mode=PRIVATE_FILE, root=workspace.root)

    attempt(Place(f"{PRIVATE_DIR}/{TIDY_DIR}/{name}", file, workspace.root), write)
