"""Read and change notes: text beside how it reads, edits, history, remembering, forgetting and undo.

Every change is previewed by GET or a first form and made by a second one; what was there before is kept. A
save names the version that it began with, so that two people who edit one note do not overwrite each other.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from memlines.errors import EditConflict, MemlinesError, PathError, UsageError, WriteError
from memlines.memory.notes.undo import diff_of
from memlines.serve.http.listener import Reply
from memlines.serve.web.render import split_diff
from memlines.text.chunk import chunk_note
from memlines.text.entries import entries_of

if TYPE_CHECKING:
    from memlines.memory.memory import Memory
    from memlines.memory.notes.candidates import ForgetCandidate
    from memlines.memory.notes.edit import OpenNote
    from memlines.serve.web.site import Request

_MOST_SHOWN, _MOST_LINES = 60_000, 5_000
"""Characters and lines of a note that one page shows; a longer note is shown in parts."""


def redirect(address: str) -> Reply:
    """Send the browser to the page that shows what was done."""
    return Reply(303, headers={"Location": address})


# Reading


def show_note(request: Request) -> Reply:
    """Show a note, from the line that was asked for if it is long; with `edit`, the form to change it."""
    memory, path = request.memory, request.rest
    note = _open(memory, path)
    if request.get("edit"):
        if note is None or not note.editable:
            reason = note.reason if note else "it is not a note of this memory"
            raise WriteError(f"{path!r} cannot be edited here: {reason}", todo="Open it in an editor")
        return request.render(
            "edit.html", path=path, version=note.version, theirs=[], trouble="", draft=note.text
        )
    line = request.number("line") or 0
    values: dict[str, Any] = {"path": path, "note": note, "line": line, "done": request.get("done")}
    is_short = note and len(note.text) <= _MOST_SHOWN and note.text.count("\n") <= _MOST_LINES
    if note is not None and note.editable and is_short:
        cuts = _find_cuts(memory, note.text) if request.get("cuts") else {}
        return request.render(
            "note.html",
            text=note.text,
            first=1,
            next_line=None,
            whole=True,
            cuts=cuts,
            exists=bool(note.version),
            **values,
        )
    excerpt = memory.read(path, max(1, line - 5) if line else None)
    if not excerpt.found:
        raise PathError(f"{path!r} does not exist", todo="It may have been moved or deleted: search for it")
    is_whole = excerpt.start == 1 and not excerpt.truncated and excerpt.next_start is None
    return request.render(
        "note.html",
        text=excerpt.text,
        first=excerpt.start,
        next_line=excerpt.next_start,
        whole=is_whole,
        cuts={},
        exists=True,
        **values,
    )


def _open(memory: Memory, path: str) -> OpenNote | None:
    try:
        return memory.open_note(path)
    except PathError:  # notes of other folders and of earlier days are read only
        return None


def _find_cuts(memory: Memory, text: str) -> dict[int, str]:
    """Return the lines on which entries and chunks begin."""
    chunking = memory.settings.chunking
    entries = {entry.first: "entry-start" for entry in entries_of(text)}
    return entries | {
        one.start_line: "chunk-start" for one in chunk_note(text, chunking.tokens, chunking.overlap)
    }


# Editing


def save_note(request: Request) -> Reply:
    """Save the text of a note, or show why not with the text that was typed, which must not be lost."""
    path, text = request.rest, request.text("text")
    try:
        request.memory.edit_note(path, text, request.get("version"))
    except MemlinesError as error:
        is_conflict = isinstance(error, EditConflict)
        note = request.memory.open_note(path) if is_conflict else None
        if note and note.version and note.text == text:  # a second click on the button
            return redirect(f"/note/{quote(path)}?done=saved")
        return request.render(
            "edit.html",
            409 if is_conflict else 503,
            path=path,
            version=note.version if note else request.get("version"),
            theirs=split_diff(diff_of(path, note.text, text)) if note else [],
            trouble="" if is_conflict else str(error),
            draft=text,
        )
    return redirect(f"/note/{quote(path)}?done=saved")


def show_history(request: Request) -> Reply:
    """Show the earlier versions of a note, and what restoring one would change."""
    memory, path, name = request.memory, request.rest, request.get("version")
    preview = memory.restore_version(path, name, dry_run=True) if name else None
    return request.render(
        "history.html",
        path=path,
        versions=memory.history(path),
        version=name,
        preview=preview,
        diff_lines=split_diff(preview.change.diff) if preview else [],
    )


def restore(request: Request) -> Reply:
    """Make a note what it was in a version."""
    request.memory.restore_version(request.rest, request.get("version"))
    return redirect(f"/note/{quote(request.rest)}?done=restored")


# Remembering


def show_remember(request: Request) -> Reply:
    """Show the form for something new."""
    values = {
        "text": request.text("text"),
        "topic": request.get("topic"),
        "personal": bool(request.get("personal")),
    }
    return request.render("remember.html", preview=None, done=None, **values)


def remember(request: Request) -> Reply:
    """Show where a text would go, and with `sure` write it there."""
    text, topic, personal = request.text("text"), request.get("topic"), bool(request.get("personal"))
    sure = bool(request.get("sure"))
    force = bool(request.get("force"))
    done = request.memory.remember(
        text, topic=topic or None, personal=personal, dry_run=not sure, force=force
    )
    shown = {"done": done, "preview": None} if sure else {"done": None, "preview": done}
    return request.render("remember.html", text=text, topic=topic, personal=personal, **shown)


# Forgetting


def _sign(candidate: ForgetCandidate) -> str:
    """Return what names a candidate in a form, and changes if the candidate does."""
    return sha256(
        repr((candidate.citation, candidate.kind, candidate.text)).encode("utf-8", "replace")
    ).hexdigest()


def show_forget(request: Request) -> Reply:
    """Show what would be forgotten."""
    what = request.get("what")
    found = [(_sign(one), one) for one in request.memory.forget_candidates(what)] if what else []
    return request.render("forget.html", what=what, found=found, receipt=None)


def forget(request: Request) -> Reply:
    """Forget what was chosen, if it is still what was shown, and show the receipt."""
    what, chosen = request.get("what"), set(request.given.get("chosen", []))
    if not chosen:
        raise UsageError("nothing was chosen", todo="Choose what to forget")
    found = [one for one in request.memory.forget_candidates(what) if _sign(one) in chosen]
    if len(found) < len(chosen):
        raise UsageError(
            "what you chose was changed meanwhile; nothing was forgotten", todo="Look at it again"
        )
    return request.render("forget.html", what=what, found=[], receipt=request.memory.forget(found))


# Undo


def show_undo(request: Request) -> Reply:
    """Show what undoing the last change, or redoing it, would change."""
    redo = bool(request.get("redo"))
    try:
        planned, reason = request.memory.undo(redo=redo, dry_run=True), ""
    except UsageError as error:
        planned, reason = None, str(error)
    diffs = [(change.path, split_diff(change.diff)) for change in planned.changes] if planned else []
    return request.render("undo.html", planned=planned, reason=reason, diffs=diffs, redo=redo, done=False)


def undo(request: Request) -> Reply:
    """Undo what was written last, or redo it."""
    redo = bool(request.get("redo"))
    undone = request.memory.undo(redo=redo)
    diffs = [(change.path, split_diff(change.diff)) for change in undone.changes]
    return request.render("undo.html", planned=undone, reason="", diffs=diffs, redo=redo, done=True)
