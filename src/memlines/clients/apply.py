"""Carry out a plan: whole files only, one installer at a time, and a receipt that is never behind.

The receipt appears together with the first folder, and goes together with the last one, by one renaming.
"""
# The tests make the n-th call into `os` fail, so these calls are in plain sight instead of in pathlib.
# ruff: noqa: PTH103, PTH104, PTH106, PTH108, PTH208

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from memlines.clients.client import Target
from memlines.clients.plan import (
    Plan,
    Step,
    plan_install,
    plan_uninstall,
    refuse_conflicts,
    refuse_read_only,
)
from memlines.clients.receipt import NAME, Receipt, is_plain, old_receipt_file, receipt_file
from memlines.errors import StoreReadOnly, WriteError, reason_of
from memlines.files import atomic
from memlines.folders import PRIVATE_FILE, make_own_folder
from memlines.locks import WriterLock
from memlines.paths import user_state_dir

_IN_USE_OR_GONE = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT, errno.ENOTDIR)
_LOCK = "install.lock"
_WAIT_SECONDS = 10.0


def would_install(targets: Sequence[Target]) -> tuple[Step, ...]:
    """Return what `install` would do, or raise what it would raise before it changes anything."""
    with _explain_errors():
        return _steps(_plan_all(targets))


def install(targets: Sequence[Target]) -> tuple[Step, ...]:
    """Write what a client needs into its folders; if a file is in the way, nothing is changed at all."""
    with _one_at_a_time(), _explain_errors():
        for target in targets:
            _sweep(target)
        plans = _plan_all(targets)
        for plan in plans:
            _execute(plan)
    return _steps(plans)


def would_uninstall(targets: Sequence[Target], *, force: bool = False) -> tuple[Step, ...]:
    """Return what `uninstall` would do."""
    with _explain_errors():
        plans = [plan_uninstall(target, force=force) for target in targets]
    refuse_read_only(plans)
    return _steps(plans)


def uninstall(targets: Sequence[Target], *, force: bool = False) -> tuple[Step, ...]:
    """Remove what was written into a client's folders, also by an installation that was stopped."""
    done: list[Step] = []
    with _one_at_a_time(), _explain_errors():
        for target in targets:
            _sweep(target)
            plan = plan_uninstall(target, force=force)
            refuse_read_only([plan])
            done += _remove_files(plan)
    return tuple(done)


def _plan_all(targets: Sequence[Target]) -> list[Plan]:
    plans = [plan_install(target) for target in targets]
    refuse_conflicts(plans)
    refuse_read_only(plans)
    return plans


def _steps(plans: Sequence[Plan]) -> tuple[Step, ...]:
    return tuple(step for plan in plans for step in plan.steps)


def _execute(plan: Plan) -> None:
    """Write the receipt, then the files in their order, then the receipt as it is afterwards."""
    if plan.new is None:
        if plan.old is not None:
            _remove_files(plan)
        return
    root = plan.target.real()
    receipt, old_receipt = root / plan.target.home / NAME, old_receipt_file(root, plan.target.home)
    is_same = plan.new == plan.old and not os.path.lexists(old_receipt)
    if is_same and not any(step.changes for step in plan.steps):
        return
    # True at every moment between what was known before and what is new.
    former = plan.old.folders if plan.old else ()
    folders = tuple(dict.fromkeys((*plan.new.folders, *former)))
    _keep(receipt, replace(plan.new, files={**plan.known, **plan.new.files}, folders=folders))
    for step in plan.steps:
        if step.content is not None:
            os.makedirs(step.path.parent, exist_ok=True)
        _write(step)
    _remove_file(old_receipt)
    _remove_unused(root, plan)
    _keep(receipt, plan.new.finished())


def _write(step: Step) -> None:
    try:
        if step.action == "remove" and step.expected is not None:
            atomic.remove(step.path, step.expected)
        elif step.changes and step.content is not None:
            atomic.replace(step.path, step.content, step.expected)
    except atomic.Changed:
        raise WriteError(
            f"{str(step.path)!r} was changed by another program meanwhile",
            todo="Install again; what is there already stays",
        ) from None


def _remove_files(plan: Plan) -> list[Step]:
    """Remove the files of a plan, the last written first, then folders that are empty and the receipt."""
    done: list[Step] = []
    for step in reversed(plan.steps):
        try:
            _write(step)
            done.append(step)
        except WriteError:
            done.append(replace(step, action="keep", why="was changed this very moment"))
    if plan.old is None:
        return done
    root = plan.target.real()
    receipt = root / plan.target.home / NAME
    if receipt != old_receipt_file(root, plan.target.home):  # an installation over the old one was stopped
        _remove_file(old_receipt_file(root, plan.target.home))
    _remove_unused(root, plan)
    if plan.new is not None:
        _keep(receipt, plan.new)
    else:
        _leave(root, receipt, plan.old.folders)
    return done[::-1]


def _keep(file: Path, receipt: Receipt) -> None:
    """Write the receipt; folders that it needs appear together with it."""
    content = receipt.to_bytes()
    if file.parent.is_dir():
        if not atomic.create(file, content, PRIVATE_FILE):
            atomic.replace(file, content, atomic.read(file))
        return
    top = file.parent
    while not top.parent.exists():
        top = top.parent
    staged = _beside(top)
    try:
        os.makedirs(staged / file.parent.relative_to(top))
        atomic.create(staged / file.relative_to(top), content, PRIVATE_FILE)
        os.rename(staged, top)
    except BaseException:
        shutil.rmtree(staged, ignore_errors=True)  # what is left of it, the next run sweeps
        raise
    atomic.sync_folder(top.parent)


def _remove_unused(root: Path, plan: Plan) -> None:
    """Remove the folders that were made, hold nothing any more, and are not those of the receipt."""
    made = set(plan.old.folders if plan.old else ()) - set(plan.new.folders if plan.new else ())
    for folder in sorted(made, reverse=True):
        if folder != plan.target.home and is_plain(folder):
            try:
                os.rmdir(root / folder)
            except OSError as error:
                if error.errno not in _IN_USE_OR_GONE:
                    raise


def _leave(root: Path, file: Path, folders: Sequence[str]) -> None:
    """Remove the receipt, together with the folders that were made and hold nothing else."""
    made = [Path(os.path.normpath(root / folder)) for folder in folders]
    inner, top = file, None
    while inner.parent in made and os.listdir(inner.parent) == [inner.name]:
        top = inner = inner.parent
    if top is None:
        _remove_file(file)
        return
    staged = _beside(top)
    os.rename(top, staged)
    atomic.sync_folder(top.parent)
    shutil.rmtree(staged, ignore_errors=True)  # what is left of it, the next run sweeps


def _remove_file(file: Path) -> None:
    with suppress(FileNotFoundError, NotADirectoryError):
        os.unlink(file)
        atomic.sync_folder(file.parent)


def _beside(top: Path) -> Path:
    return top.with_name(f"{atomic.TEMPORARY_PREFIX}{uuid.uuid4().hex}{atomic.TEMPORARY_SUFFIX}")


def _sweep(target: Target) -> None:
    """Remove what killed installers left unfinished: folders around the client's, files inside it."""
    root = target.real()
    inner = [root / above for above in Path(target.home).parents]  # down to the folder of the receipt
    for folder in (*inner, *root.parents[:2]):
        with suppress(OSError):  # it need not be there, nor be ours to look into
            for name in os.listdir(folder):
                if atomic.TEMPORARY_NAME.fullmatch(name) and (folder / name).is_dir():
                    shutil.rmtree(folder / name, ignore_errors=True)
    receipt = target.receipt()
    names = [*target.names(), *(receipt.files if receipt else ())]
    for folder in {receipt_file(root, target.home).parent, *((root / name).parent for name in names)}:
        atomic.sweep(folder)


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Be the only installer; the lock is outside of the clients' folders, where it would be left behind."""
    with ExitStack() as stack:
        try:
            make_own_folder(user_state_dir())
            lock = WriterLock(user_state_dir() / _LOCK, "the set-up of a client")
            stack.enter_context(lock.held(_WAIT_SECONDS))
        except StoreReadOnly as error:
            raise WriteError(error.what, todo=error.todo) from error
        yield


@contextmanager
def _explain_errors() -> Iterator[None]:
    """Say in words what could not be read or written."""
    try:
        yield
    except OSError as error:
        what = error.filename2 or error.filename or "the folder of the client"
        raise WriteError(
            f"{str(what)!r} could not be read or written: {reason_of(error)}",
            todo="Check its permissions and the space on the disk, then run this again;"
            " 'memlines uninstall' takes out what was begun",
        ) from error
