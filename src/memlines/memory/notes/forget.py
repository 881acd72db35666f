"""Forget: remove something from the memory for good, and prove that it is gone.

The order makes a run that is cut short harmless. First the text is noted as forgotten, by its hash. Then
everything that is derived from the notes or kept of them loses it, while no sync can run. The notes lose it
last: until then, the same command finds the same entries and does everything again.
"""

from __future__ import annotations

import glob
import shutil
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from itertools import chain
from operator import attrgetter
from pathlib import Path

from memlines.files import atomic, erase, history, snapshots
from memlines.files.erase import Lines
from memlines.files.place import Place, attempt, ensure_folder, ensure_private, place_of, writing
from memlines.files.read import read_document
from memlines.files.shown import shown_lock
from memlines.files.tombstones import Forgotten, bury, session_of
from memlines.index.search.query import parse_query
from memlines.index.store.sqlite import erase as store
from memlines.index.store.sqlite.index import Staying
from memlines.index.sync.discovery import SNAPSHOTS
from memlines.locks import WriterLock, eval_lock, past_lock, qmd_lock
from memlines.memory.answering import search_as_indexed, search_fresh
from memlines.memory.manager import Manager
from memlines.memory.notes.candidates import (
    NOTE,
    RECORD,
    SNAPSHOT,
    TRANSCRIPT,
    TURN,
    ForgetCandidate,
    list_transcripts,
    turns_of,
    with_hidden,
)
from memlines.memory.notes.entries import notes_in, text_of
from memlines.memory.notes.proof import (
    ForgetReceipt,
    Signs,
    files_below,
    find_holders,
    find_lines_kept,
    find_remaining,
    find_traces,
    state_of,
)
from memlines.memory.past.search import remove_past
from memlines.memory.recording import forget_shown
from memlines.paths import (
    EVAL_DIR,
    PRIVATE_DIR,
    PROPOSAL_FILE,
    QMD_DIR,
    QUESTIONS_FILE,
    TIDY_DIR,
    Workspace,
    expand_home,
    note_path,
)
from memlines.records import dataclass
from memlines.settings import Settings
from memlines.text.edits import locate
from memlines.text.entries import entries_of
from memlines.text.fact_note import chunk_facts, doubles_in, facts_of
from memlines.text.matching import bare
from memlines.text.terms import words_of
from memlines.types import Chunk, Document

_WAIT_SECONDS = 60.0
_MOST_SEARCHES = 10
_LONGEST_QUERY = 300


@dataclass(frozen=True, slots=True)
class _Plan:
    """What must go, sorted by how it goes."""

    workspace: Workspace
    settings: Settings
    chosen: tuple[ForgetCandidate, ...]
    indexes: tuple[Path, ...]
    earlier: tuple[str, ...] = ()
    """What facts that go said before they were changed."""

    def of(self, *kinds: str) -> list[ForgetCandidate]:
        return [candidate for candidate in self.chosen if candidate.kind in kinds]

    @property
    def entries(self) -> list[ForgetCandidate]:
        others = (NOTE, TURN, TRANSCRIPT, SNAPSHOT, RECORD)
        return [candidate for candidate in self.chosen if candidate.kind not in others]

    @property
    def texts(self) -> list[str]:
        """The texts that must not come back; of a whole session, its name is enough."""
        chosen = [candidate.text for candidate in [*self.entries, *self.of(NOTE, TURN)]]
        return list(dict.fromkeys([*chosen, *self.earlier]))

    @property
    def sessions(self) -> list[str]:
        recorded = [candidate.text for candidate in self.of(RECORD)]
        return [*(session_of(candidate.path) for candidate in self.of(TRANSCRIPT)), *recorded]

    def lines_by_note(self) -> dict[str, list[Lines]]:
        found: dict[str, list[Lines]] = {}
        for entry in self.entries:
            lines = Lines(entry.start_line, entry.end_line, entry.text)
            found.setdefault(entry.path, []).append(lines)
        return found


def forget(manager: Manager, chosen: Iterable[ForgetCandidate]) -> ForgetReceipt:
    """Remove candidates from the memory for good; return what went and what is left.

    What another index or table may hold on to is closed first, and a search at the end proves that nothing
    is found again.
    """
    entries = tuple(chosen)
    manager.close()
    facts = note_path(manager.settings.facts.file)
    with manager.fact_table.absent() as tables:  # earlier versions of facts may be left in it
        receipt, texts = remove(manager, entries)
        # Facts that stay are still in the index: it need not hold all others on their new lines for a proof.
        as_indexed = all(one.citation.startswith(f"{facts}#") for one in entries)
        again = _find_again(manager, receipt, texts, as_indexed=as_indexed)
    manager.look_again()
    return replace(receipt, left=tuple(dict.fromkeys([*receipt.left, *again, *tables])))


def remove(manager: Manager, chosen: Iterable[ForgetCandidate]) -> tuple[ForgetReceipt, list[str]]:
    """Remove candidates from the notes and all that is kept of them, without a search for what is left.

    Return also the texts that no search may find again. The indexes of other agents lose them as well. The
    index lacks the notes that were changed until the next sync.
    """
    workspace, settings, index_file = manager.workspace, manager.settings, manager.index_file
    ensure_private(workspace)
    ensure_folder(index_file.parent)
    indexes = tuple(_indexes(workspace, {settings.store.path, *manager.loaded.store_paths}, index_file))
    plan = _Plan(workspace, settings, tuple(with_hidden(workspace, settings, chosen)), indexes)
    removed: Counter[str] = Counter()
    with ExitStack() as locks:
        locks.enter_context(_locked([index_file, *indexes]))
        private = workspace.private
        for lock in (eval_lock(private), past_lock(private), qmd_lock(private), shown_lock(workspace)):
            locks.enter_context(lock.held(_WAIT_SECONDS))
        remaining = _remaining(plan)
        plan = replace(plan, earlier=_earlier_wordings(plan, remaining))
        found = Forgotten.of(plan.texts, plan.sessions)
        whole = [one.text for one in plan.of(TRANSCRIPT, SNAPSHOT)]
        signs = Signs.of([*plan.texts, *whole], remaining)
        transcripts = tuple(_transcripts_with(plan, found))
        bury(workspace, plan.texts, plan.sessions, [file.path for file in plan.of(NOTE, SNAPSHOT)])
        counts, clean = _from_indexes(plan, found, signs, transcripts)
        removed.update(counts)
        is_forgotten = partial(_is_forgotten, found, signs)
        left_on_cluster: list[str] = []
        if manager.sharing is not None:
            removed["cluster"], left_on_cluster = manager.sharing.forget(is_forgotten)
        removed.update(_from_snapshots(plan, is_forgotten))
        removed.update(_from_shown(plan, is_forgotten))
        removed.update(_from_kept(plan, found, signs))
        removed.update(_from_made(workspace))
        removed.update(past=remove_past(workspace))
        removed.update(_from_notes(plan))
        erase.finish(workspace)
        traces = find_traces(workspace, indexes, signs, clean)
        left = [*find_remaining(workspace, settings, found), *traces, *left_on_cluster]
    others = tuple(path for path in transcripts if not path.startswith(SNAPSHOTS))  # those are cleaned
    counted = {place: count for place, count in removed.items() if count}
    return ForgetReceipt(counted, tuple(dict.fromkeys(left)), others), plan.texts


# Where it may be


def _indexes(workspace: Workspace, store_paths: Iterable[str], index_file: Path) -> Iterator[Path]:
    """Yield every index over this workspace: each agent may have its own, in a place of its own."""
    found = {index_file} if index_file.exists() else set()
    found.update(store.indexes_in(workspace.private))
    found.update(store.indexes_in(workspace.cached_indexes))  # from when it could not be written
    for template in filter(None, store_paths):
        parts = (workspace.root / expand_home(template)).parts
        fixed = next((at for at, part in enumerate(parts) if "{agent}" in part), len(parts) - 1)
        pattern = "/".join(map(glob.escape, parts[fixed:])).replace("{agent}", "*")
        for file in Path(*parts[:fixed]).glob(pattern):
            found.update({file} & set(store.indexes_in(file.parent)))
    yield from sorted(found)


@contextmanager
def _locked(indexes: Iterable[Path]) -> Iterator[None]:
    """Hold the locks of all indexes, always in one order, so that no other process writes or embeds.

    A process that embeds does not hold the writer lock meanwhile, and would bring vectors of what is gone.
    """
    with ExitStack() as stack:
        for index in sorted(set(indexes)):
            for kind in (".embedding", ""):
                lock = WriterLock(index.with_name(f"{index.name}{kind}.lock"))
                stack.enter_context(lock.held(_WAIT_SECONDS))
        yield


def _remaining(plan: _Plan) -> list[str]:
    """Return the texts of all notes as they will be, or say why one cannot be changed like that."""
    lines = plan.lines_by_note()
    whole = {note.path for note in plan.of(NOTE)}
    for path in (*lines, *whole):
        place_of(plan.workspace, path)
    texts = []
    for note in notes_in(plan.workspace, plan.settings):
        if note.path not in whole:
            text = text_of(plan.workspace, plan.settings, note.path)
            texts.append(erase.without(text, lines.get(note.path, ()), note.path)[0])
    return texts


def _earlier_wordings(plan: _Plan, remaining: Sequence[str]) -> tuple[str, ...]:
    """Return what the facts to forget said earlier, except what other notes still hold.

    Earlier versions of their note are kept. A fact that was changed keeps its id, also if it had none of its
    own before.
    """
    path = note_path(plan.settings.facts.file)
    chosen = plan.lines_by_note().get(path)
    if not chosen:
        return ()
    note = text_of(plan.workspace, plan.settings, path)
    places = [locate(note, run.first, run.last, run.expected) or (0, 0) for run in chosen]
    lines = [line for line in facts_of(note) if any(first <= line.first <= last for first, last in places)]
    names = {line.fact.id for line in lines}
    earlier: dict[str, str] = {}
    for name, text in erase.kept_texts(plan.workspace):
        if f"/{path}" in f"/{name}" or any(f"^{one}" in text for one in names):
            doubles = doubles_in(text)
            lines = [*facts_of(text), *doubles.lost, *chain.from_iterable(doubles.conflicts)]
            earlier |= {line.raw: _spoken(line.fact.text) for line in lines if line.fact.id in names}
    known = [_spoken(text) for text in remaining] if earlier else []
    return tuple(raw for raw, said in earlier.items() if not any(said in other for other in known))


def _spoken(text: str) -> str:
    """Return the words of a text, so that one text is found in another only between words."""
    return f" {' '.join(words_of(text)).casefold()} "


# Removing it


def _from_indexes(
    plan: _Plan, found: Forgotten, signs: Signs, transcripts: Sequence[str]
) -> tuple[Counter[str], dict[Path, tuple[int, ...]]]:
    """Remove texts from every index; return what went, and in which states indexes hold nothing of them."""
    removed: Counter[str] = Counter()
    clean: dict[Path, tuple[int, ...]] = {}
    chosen = (candidate.path.removeprefix(f"{PRIVATE_DIR}/") for candidate in plan.chosen)
    files = {*transcripts, *chosen}
    staying = _staying_facts(plan)
    for index in plan.indexes:
        removed.update(store.erase(index, files, found.drops, staying))
        removed.update(copies=store.remove_copies(index))
        state = state_of(index)
        held = find_holders([index], signs.pieces).get(index, [])
        if not held:
            clean[index] = state
        elif not all(store.is_live(index, piece) for piece in held):
            store.rewrite(index)
    return removed, clean


def _staying_facts(plan: _Plan) -> dict[str, Staying]:
    """Return what stays of the note of facts, if facts go; it keeps its vectors."""
    path = note_path(plan.settings.facts.file)
    lines = plan.lines_by_note().get(path)
    note = next((note for note in notes_in(plan.workspace, plan.settings) if note.path == path), None)
    if not lines or note is None or path in {note.path for note in plan.of(NOTE)}:
        return {}
    document = read_document(note, plan.settings.files.max_bytes)
    if not isinstance(document, Document):
        return {}
    size = plan.settings.chunking

    @cache
    def chunks() -> list[Chunk]:
        return chunk_facts(erase.without(document.text, lines, path)[0], size.tokens, size.overlap)

    return {path: Staying(document.hash, _places_of(document.text, lines), chunks)}


def _places_of(text: str, lines: Sequence[Lines]) -> list[tuple[int, int]]:
    """Return where lines of the note of facts are if each run of them is a fact; nothing otherwise.

    Anything else, a heading for example, may be part of what is indexed of other lines.
    """
    facts = facts_of(text)
    places = [locate(text, run.first, run.last, run.expected) for run in lines]
    found = []
    for place in places:
        at = bisect_left(facts, place[0], key=attrgetter("first")) if place else len(facts)
        if place is None or at == len(facts) or (facts[at].first, facts[at].last) != place:
            return []
        found.append(place)
    return found


def _is_forgotten(found: Forgotten, signs: Signs, text: str) -> bool:
    return found.drops(text) or any(piece in text for piece in signs.pieces)


def _from_snapshots(plan: _Plan, is_forgotten: Callable[[str], bool]) -> Counter[str]:
    workspace = plan.workspace
    removed: Counter[str] = Counter()

    def clean() -> None:
        whole = {candidate.path for candidate in plan.of(SNAPSHOT)}
        root = workspace.root
        for file in list(files_below(workspace.private / snapshots.FOLDER, root)):
            if f"{PRIVATE_DIR}/{file.relative_to(workspace.private).as_posix()}" in whole:
                atomic.unlink(file, root=root)
                removed["snapshots"] += 1
                continue
            content = atomic.read(file, root=root) or b""
            new = snapshots.without_texts(content, is_forgotten)
            if new != content:
                atomic.replace(file, new, expected=content, root=root)
                removed["snapshots"] += 1

    with writing(workspace):
        attempt(Place(snapshots.FOLDER, workspace.private / snapshots.FOLDER, workspace.root), clean)
    return removed


def _from_shown(plan: _Plan, is_forgotten: Callable[[str], bool]) -> Counter[str]:
    """Remove what names the texts from the record of what agents were shown."""
    whole = [one.path.removeprefix(f"{PRIVATE_DIR}/") for one in plan.of(NOTE, TRANSCRIPT, SNAPSHOT)]
    places = [(one.path, one.start_line, one.end_line) for one in [*plan.entries, *plan.of(TURN)]]
    return Counter(shown=forget_shown(plan.workspace, plan.texts, places, whole, plan.sessions, is_forgotten))


def _from_kept(plan: _Plan, found: Forgotten, signs: Signs) -> Counter[str]:
    """Remove texts from the history and the trash; of a note that goes whole, everything kept goes."""
    workspace = plan.workspace
    removed: Counter[str] = Counter()
    for note in plan.of(NOTE):
        versions, items = erase.erase_kept(workspace, note.path)
        removed.update(history=versions, trash=items)
    with writing(workspace):  # what killed writers left unfinished may hold any text
        place = Place("unfinished files", workspace.private, workspace.root)
        attempt(place, lambda: history.remove_unfinished(workspace))
    changed: set[str] = set()
    if plan.earlier or find_lines_kept(workspace, signs):
        for entry in [entry.text for text in plan.texts for entry in entries_of(text)]:
            changed.update(history.scrub(workspace, entry))
    removed.update(name.partition("/")[0] for name in changed)
    # An earlier version may hold only a part of an entry, in the middle of a line.
    removed.update(erase.redact_kept(workspace, found.redact))
    return removed


def _from_made(workspace: Workspace) -> Counter[str]:
    """Remove what was made from the notes, such as questions and proposals; the next run makes it again."""
    removed: Counter[str] = Counter()
    root = workspace.root
    with writing(workspace):  # a proposal that is being written must not come after this
        for kind, file, top in (
            ("questions", workspace.private / EVAL_DIR / QUESTIONS_FILE, root),
            ("questions", workspace.cached_indexes / QUESTIONS_FILE, None),
            ("proposals", workspace.private / TIDY_DIR / PROPOSAL_FILE, root),
        ):
            if atomic.exists(file, root=top):
                place = Place(file.name, file, top or file.parent)
                attempt(place, partial(atomic.unlink, file, root=top))
                removed[kind] += 1
    qmd = workspace.private / QMD_DIR
    if qmd.is_dir() and not qmd.is_symlink():
        shutil.rmtree(qmd, ignore_errors=True)  # what is left of it is looked for, and named
        removed["qmd"] += 1
    return removed


def _from_notes(plan: _Plan) -> Counter[str]:
    removed: Counter[str] = Counter()
    for path, lines in plan.lines_by_note().items():
        limit = plan.settings.files.max_bytes
        removed["entries"] += erase.erase_lines(plan.workspace, path, lines, limit)
    for note in plan.of(NOTE):
        removed["notes"] += erase.erase_note(plan.workspace, note.path, note.text)
    removed.update(turns=len(plan.of(TURN)), transcripts=len(plan.of(TRANSCRIPT)))
    return removed


# Looking for it again


def _find_again(
    manager: Manager, receipt: ForgetReceipt, texts: Sequence[str], *, as_indexed: bool
) -> list[str]:
    """Return the citations of hits that show what was removed, where it was not known to be left.

    Whole chunks are searched for, whatever they score; `as_indexed` leaves the index as it is.
    """
    settings, found = manager.settings, Forgotten.of(texts)
    known = {citation.partition("#")[0] for citation in receipt.left}
    again: list[str] = []
    for text in texts[:_MOST_SEARCHES]:
        said = " ".join(words_of(bare(text)))[:_LONGEST_QUERY]
        if said:
            query = parse_query(
                said,
                settings.query,
                settings.profile,
                mode="words" if as_indexed else "hybrid",
                sources=settings.sources,
                now=datetime.now(UTC),
                cut=0.0,
                full=True,
            )
            result = (search_as_indexed if as_indexed else search_fresh)(manager, query)
            hits = (hit for hit in result if hit.path not in known and found.drops(hit.snippet))
            again += [hit.citation for hit in hits]
    return again


def _transcripts_with(plan: _Plan, found: Forgotten) -> Iterator[str]:
    """Yield the transcripts that hold what was forgotten, if sessions are a source."""
    if "sessions" not in plan.settings.sources:
        return
    for file in list_transcripts(plan.workspace, plan.settings):
        if found.drops_session(file.path) or any(found.drops(turn.text) for turn in turns_of(file)):
            yield file.path
