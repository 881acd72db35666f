"""Runs programs to their end, as a library that answers, or as a server, and says how large they are.

Every program runs in a group of processes of its own, which is ended whatever happens.
"""

from __future__ import annotations

import http.client
import json
import os
import resource
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import metadata
from pathlib import Path
from typing import IO, Any

TIMEOUT = 1_800


class CannotRunError(Exception):
    """A program cannot be installed, or did not do what it was asked."""


Ask = Callable[[str], tuple[float, list[str]]]
"""Takes a query; returns the seconds that the answer took and the paths of the hits."""


@contextmanager
def started(
    command: Sequence[str], variables: Mapping[str, str], **streams: Any
) -> Iterator[subprocess.Popen[str]]:
    """Run a program in a group of its own, and end the whole group whatever happens."""
    process = subprocess.Popen(
        list(command), env=dict(variables), encoding="utf-8", start_new_session=True, **streams
    )
    try:
        yield process
    finally:
        # Some programs put what they start into groups of their own, so the whole family is ended.
        family = family_of(process.pid) if process.poll() is None else {process.pid: 0}
        for ending in (signal.SIGTERM, signal.SIGKILL):
            for member in family:
                with suppress(ProcessLookupError):
                    os.kill(member, ending) if member != process.pid else os.killpg(member, ending)
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=10)


def run_command(command: Sequence[str], variables: Mapping[str, str]) -> tuple[float, float, str]:
    """Run a program to its end; return its seconds, those of the processor, and what it printed."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with started(command, variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            printed, said = process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired as error:
            raise CannotRunError(f"{_shown(command)} took more than {TIMEOUT} s") from error
        taken = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        last = (said.strip() or printed.strip()).rpartition("\n")[2]
        raise CannotRunError(f"{_shown(command)} ended with {process.returncode}: {last}")
    return taken, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, printed


def _shown(command: Sequence[str]) -> str:
    return " ".join([Path(command[0]).name, *command[1:3]])


@contextmanager
def library(command: Sequence[str], variables: Mapping[str, str]) -> Iterator[tuple[int, Ask]]:
    """Run a program that reads queries and prints how long each took and what it found."""
    with started(command, variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        asked, answers = process.stdin, process.stdout
        assert asked is not None
        assert answers is not None

        def ask(query: str, asked: IO[str] = asked, answers: IO[str] = answers) -> tuple[float, list[str]]:
            asked.write(json.dumps(query) + "\n")
            asked.flush()
            line = answers.readline()
            if not line:
                raise CannotRunError("the library ended instead of answering")
            seconds, paths = json.loads(line)
            return seconds, paths

        yield process.pid, ask


@contextmanager
def server(
    command: Sequence[str], variables: Mapping[str, str], port: int, host: str = "127.0.0.1"
) -> Iterator[int]:
    """Run a server until its port is open, and yield its process."""
    with started(command, variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        end = time.monotonic() + 180
        while True:
            try:
                socket.create_connection((host, port), timeout=5).close()
                break
            except OSError as error:
                if process.poll() is not None or time.monotonic() > end:
                    raise CannotRunError(f"{_shown(command)} does not listen") from error
                time.sleep(0.05)
        yield process.pid


def http_asker(
    port: int,
    path: str,
    headers: Mapping[str, str],
    body: Callable[[str], dict[str, Any]],
    paths: Callable[[Any], list[str]],
    host: str = "127.0.0.1",
) -> Ask:
    """Return a function that asks a server over one connection."""
    connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT)
    kind = {"Content-Type": "application/json", "Accept": "application/json"}
    rested_since = time.monotonic()

    def ask(query: str) -> tuple[float, list[str]]:
        nonlocal rested_since
        content = json.dumps(body(query))
        try:
            if time.monotonic() - rested_since > 1:  # servers close connections that rest for some seconds
                connection.close()
                connection.connect()
            begin = time.perf_counter()
            connection.request("POST", path, content, {**kind, **headers})
            reply = connection.getresponse()
            answer = reply.read()
        except (OSError, http.client.HTTPException) as error:
            raise CannotRunError(f"no answer from {path}: {error}") from error
        taken, rested_since = time.perf_counter() - begin, time.monotonic()
        if reply.status != http.HTTPStatus.OK:
            raise CannotRunError(f"{path} answered {reply.status}: {answer[:200]!r}")
        return taken, paths(json.loads(answer))

    return ask


def free_port() -> int:
    """Return a port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def family_of(process: int) -> dict[int, int]:
    """Return a process and all that it and they started, with the memory of each in bytes, as `ps` says."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,rss="], stdout=subprocess.PIPE, check=True, encoding="ascii"
    )
    rows = [tuple(map(int, line.split())) for line in listed.stdout.splitlines()]
    family = {process}
    while more := {pid for pid, parent, _ in rows if parent in family} - family:
        family |= more
    return {pid: 1024 * size for pid, _, size in rows if pid in family}


def bytes_of(place: Path) -> int:
    """Return the size of a file, or of all files in a folder."""
    if place.is_file():
        return place.stat().st_size
    return sum(file.lstat().st_size for file in place.rglob("*") if file.is_file() and not file.is_symlink())


def requirements(name: str) -> set[str]:
    """Return a distribution and all it needs here, without extras."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    found: set[str] = set()
    waiting = [name]
    while waiting:
        one = waiting.pop()
        if one in found:
            continue
        found.add(one)
        needed = map(Requirement, metadata.requires(one) or [])
        waiting += [
            canonicalize_name(each.name)
            for each in needed
            if not each.marker or each.marker.evaluate({"extra": ""})
        ]
    return found


def distribution_bytes(name: str) -> int:
    """Return the size of the files that a distribution installed."""
    files = [Path(str(file.locate())) for file in metadata.files(name) or []]
    return sum(file.stat().st_size for file in files if file.exists())
