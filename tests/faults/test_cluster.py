"""A cluster of three nodes, two copies of each chunk: whatever happens to one node, no chunk is missing.

Searches are answered all the while. What was not copied is said, and copied by the next sync.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import repeat
from pathlib import Path
from secrets import token_hex

import pytest

from memlines import Memory
from memlines.types import SearchResult
from tests.cluster import Nodes, run_cluster
from tests.faults.conftest import Tell
from tests.indexes import notes, program
from tests.memory.sharing import Machine, chunks_on

FULL = os.environ.get("FAULTS") == "full"
FILES = 400 if FULL else 80
PROCESSES, EACH = (8, 200) if FULL else (4, 25)
SEARCHES = 200 if FULL else 40
SMALL_DISK = "48m"

pytestmark = [
    pytest.mark.promise("P6"),
    pytest.mark.timeout(600),
]


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    with run_cluster(tmp_path_factory.mktemp("three"), 3) as nodes:
        yield nodes


@pytest.fixture
def machine(tmp_path: Path, three: Nodes) -> Iterator[Machine]:
    """A machine with notes that are on the cluster, all of whose nodes run again at the end."""
    folder = tmp_path / "shop"
    (folder / "memory").mkdir(parents=True)
    yield Machine(folder, three, f"team{token_hex(4)}").write(notes(FILES))
    for node in three.nodes:
        if node.process is None:
            node.start()
        node.signal(signal.SIGCONT)
        node.wait()
    three.wait_until_whole()
    three.clear()


def answers(memory: Memory) -> list[SearchResult]:
    """Return the answers to questions about notes, each of which one note alone answers."""
    found = [memory.search(f"own{number % FILES}") for number in range(SEARCHES)]
    assert [result[0].path for result in found] == [f"memory/n{at % FILES}.md" for at in range(SEARCHES)]
    return found


def warnings_in(results: list[SearchResult]) -> set[str]:
    return {warning.partition(":")[0] for result in results for warning in result.warnings}


@pytest.mark.parametrize("victim", [0, 2])
def test_a_node_that_is_killed_during_a_sync_costs_no_chunk(
    machine: Machine, three: Nodes, victim: int
) -> None:
    with machine.open() as memory:
        memory.sync()
        machine.write(notes(FILES, lines=40))  # 40 lines a note, in groups of several requests

        def kill(done: int, total: int, label: str) -> None:
            if "cluster" in label and done and three.nodes[victim].process is not None:
                three.nodes[victim].kill()

        assert memory.sync(progress=kill).warnings == ()
        assert three.nodes[victim].process is None
        assert warnings_in(answers(memory)) == set()
    assert machine.missing() == []


def test_a_node_that_comes_back_catches_up(machine: Machine, three: Nodes) -> None:
    machine.sync()
    three.nodes[1].kill()
    machine.write({"memory/n1.md": "one own1 line\n", "memory/new.md": "zebrafish\n"})
    (machine.folder / "memory/n2.md").unlink()
    assert machine.sync() == ()
    three.nodes[1].start()
    three.wait_until_whole()
    assert [chunks_on_node(three, at) for at in range(3)] == [chunks_on(three)] * 3
    assert machine.missing() == []


def chunks_on_node(nodes: Nodes, at: int) -> list[str]:
    """Return the texts of all chunks as one node knows them, from its own copies as far as it has these."""
    (name,) = nodes.collections()
    points = [point["payload"] for point in nodes.points(name, at)]
    return sorted(point["text"] for point in points if "text" in point)


def test_what_is_forgotten_while_a_node_is_away_is_gone_from_it_too(machine: Machine, three: Nodes) -> None:
    machine.write({"memory/safe.md": "The safe opens with kumquat.\n"}).sync()
    three.nodes[1].kill()
    with machine.open() as memory:
        assert memory.forget(memory.forget_candidates("memory/safe.md")).complete
    three.nodes[1].start()
    three.wait_until_whole()
    assert [("kumquat" in three.texts(at)) for at in range(3)] == [False] * 3


def test_searches_are_answered_while_a_node_is_killed_and_comes_back(machine: Machine, three: Nodes) -> None:
    machine.sync()
    found: list[SearchResult] = []
    with machine.open() as memory:
        asking = threading.Thread(target=lambda: found.extend(answers(memory)))
        asking.start()
        three.nodes[0].kill()
        three.nodes[0].start()
        asking.join()
    assert len(found) == SEARCHES
    assert warnings_in(found) == set()


@pytest.mark.parametrize("victim", [0, 1])
def test_searches_are_answered_while_a_node_hangs(machine: Machine, three: Nodes, victim: int) -> None:
    machine.sync()
    with machine.open() as memory:
        three.nodes[victim].signal(signal.SIGSTOP)
        assert warnings_in(answers(memory)) == set()


def test_a_sync_goes_past_a_node_that_hangs(machine: Machine, three: Nodes) -> None:
    machine.sync()
    three.nodes[2].signal(signal.SIGSTOP)
    assert machine.write({"memory/new.md": "zebrafish\n"}).sync() == ()
    assert machine.missing() == []


def test_all_nodes_agree_after_one_that_hung_takes_writes_again(machine: Machine, three: Nodes) -> None:
    machine.sync()
    three.nodes[2].signal(signal.SIGSTOP)
    machine.write({path: f"first {text}" for path, text in notes(FILES).items()}).sync()
    three.nodes[2].signal(signal.SIGCONT)
    machine.write({path: f"second {text}" for path, text in notes(FILES).items()})
    assert machine.sync(store__uri=three.nodes[2].address) == ()
    three.wait_until_whole()
    assert [chunks_on_node(three, at) for at in range(3)] == [chunks_on(three)] * 3
    assert machine.missing() == []
    assert len(chunks_on(three)) == FILES


def test_without_any_node_own_notes_answer_and_the_next_sync_copies_what_is_new(
    machine: Machine, three: Nodes
) -> None:
    machine.sync()
    for node in three.nodes:
        node.kill()
    machine.write({"memory/new.md": "zebrafish\n"})
    with machine.open() as memory:
        assert memory.search("zebrafish")[0].path == "memory/new.md"
        assert warnings_in(answers(memory)) == {"only the notes on this machine were searched"}
        (warning,) = memory.sync().warnings
        assert warning.startswith("what is new is not on the cluster yet")
    starting = [threading.Thread(target=node.start) for node in three.nodes]
    for thread in starting:
        thread.start()
    for thread in starting:
        thread.join()
    three.wait_until_whole()
    assert machine.sync() == ()
    assert machine.missing() == []


COPY = """
import sys
from memlines import Memory
with Memory(sys.argv[1], {settings}) as memory:
    report = memory.sync()
    print(*report.warnings, *report.failed)
"""


def test_many_machines_copy_to_one_collection_at_once(
    tmp_path: Path, three: Nodes, machine: Machine, tell: Tell
) -> None:
    folders = []
    for number in range(PROCESSES):
        folder = tmp_path / f"machine{number}"
        texts = {f"memory/{number}-{at}.md": f"note {at} of machine{number}\n" for at in range(EACH)}
        Machine(folder, three, machine.settings["store.collection"]).write(texts)
        folders.append(folder)
    settings = {**machine.settings, "store.workspace": "together"}
    begin = time.monotonic()
    running = [
        subprocess.Popen(
            [*program(COPY.format(settings=repr(settings))), str(folder)], stdout=subprocess.PIPE
        )
        for folder in folders
    ]
    printed = [process.communicate()[0].decode().strip() for process in running]
    seconds = time.monotonic() - begin
    assert (printed, [process.returncode for process in running]) == ([""] * PROCESSES, [0] * PROCESSES)
    expected = sorted(f"note {at} of machine{number}" for number in range(PROCESSES) for at in range(EACH))
    assert chunks_on(three) == expected
    tell(f"{PROCESSES} processes copied {len(expected)} files to one collection in {seconds:.1f} s")


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_on_one_node_costs_no_chunk(tmp_path: Path, machine: Machine) -> None:
    disk = tmp_path / "cluster/node1"
    disk.mkdir(parents=True)
    mount = shutil.which("mount")
    assert mount is not None
    made = subprocess.run([mount, "-t", "tmpfs", "-o", f"size={SMALL_DISK}", "tmpfs", str(disk)], check=False)
    if made.returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        with run_cluster(tmp_path / "cluster", 3) as nodes:
            small = Machine(machine.folder, nodes, f"team{token_hex(4)}")
            small.sync()
            fill(disk)
            assert small.write(notes(FILES, lines=60)).sync() == ()
            with small.open() as memory:
                assert warnings_in(answers(memory)) == set()
            assert small.missing() == []
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def fill(disk: Path) -> None:
    """Leave no byte free on a disk."""
    block = b"\0" * 65_536
    with (disk / "filler").open("wb", buffering=0) as filler, pytest.raises(OSError, match="No space left"):
        filler.writelines(repeat(block))


def test_a_reader_never_sees_half_of_a_file(machine: Machine) -> None:
    versions = {name: "".join(f"{name} kestrel {at}\n" * 12 for at in range(12)) for name in ("old", "new")}
    machine.write({"memory/flips.md": versions["old"]}).sync()
    stop = threading.Event()
    writer = threading.Thread(target=flip, args=(machine, versions, stop.is_set))
    reader = Machine(machine.folder.parent / "reader", machine.nodes, machine.settings["store.collection"])
    (reader.folder / "memory").mkdir(parents=True)
    reader.write({"memory/own.md": "A reader.\n"}).sync()
    writer.start()
    seen = set()
    try:
        with reader.open(chunking__tokens=60, chunking__overlap=0) as memory:
            for _ in range(SEARCHES):
                hits = memory.search("kestrel", workspaces=["shop"], max_results=50, min_score=0, full=True)
                names = {word for hit in hits for word in hit.snippet.split() if word in versions}
                seen.add(frozenset(names))
    finally:
        stop.set()
        writer.join()
    assert seen <= {frozenset({"old"}), frozenset({"new"})}


def flip(machine: Machine, versions: dict[str, str], is_over: Callable[[], bool]) -> None:
    with machine.open(chunking__tokens=60, chunking__overlap=0) as memory:
        while not is_over():
            for text in versions.values():
                machine.write({"memory/flips.md": text})
                memory.sync()
