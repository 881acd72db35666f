"""An index that is damaged anywhere: what is answered is true, the notes stay, and the next sync heals."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from memlines.index.store.sqlite.db import PAGE_BYTES
from memlines.index.store.sqlite.index import Index
from memlines.memory.memory import Memory
from tests.faults.conftest import Tell
from tests.faults.scale import facts_on_failure, scaled
from tests.faults.support import PROVIDER_VARIABLE, check_index, synced
from tests.indexes import IDENTITY, hashes, index_file, notes, put, write

pytestmark = [
    pytest.mark.promise("P4"),
    pytest.mark.usefixtures("each_provider", "copied_indexes"),
]

PAGE = PAGE_BYTES
CUTS = scaled(4, 50)
BLANKS = scaled(6, 10_000)
FLIPS = scaled(6, 200)
SEEDS = range(scaled(1, 5))
QUERIES = ("own7", "own12 shared", "line 20 own9", "own3")

Answers = list[list[tuple[str, int, int, str]]]


@dataclass
class Outcome:
    """What searches over damaged indexes came to."""

    noticed: int = 0
    harmless: int = 0
    unseen: list[str] = field(default_factory=list)
    """Answers that lacked something, or ranked otherwise, though nobody noticed the damage."""

    def __str__(self) -> str:
        total = self.noticed + self.harmless + len(self.unseen)
        return (
            f"{total} damaged indexes: {self.noticed} noticed and built anew, {self.harmless} answered as if"
            f" whole, {len(self.unseen)} answered with other hits unnoticed"
        )


@pytest.fixture(scope="module")
def pattern(tmp_path_factory: pytest.TempPathFactory, provider: str, copied_indexes: None) -> Path:
    """A synced workspace that is copied for every damage, because making it takes longer."""
    workspace = tmp_path_factory.mktemp("pattern") / "workspace"
    write(workspace, notes(14, lines=24))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMLINES_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv(PROVIDER_VARIABLE, provider)
        synced(workspace)
    return workspace


def searched(workspace: Path) -> tuple[Answers, list[str]]:
    """Return the answers to the queries, and what warned of them."""
    with Memory(workspace) as memory:
        memory.status()
        found = [memory.search(query, max_results=20) for query in QUERIES]
    answers = [[(hit.path, hit.start_line, hit.end_line, hit.snippet) for hit in result] for result in found]
    return answers, [warning for result in found for warning in result.warnings]


def is_true(workspace: Path, answers: Answers) -> bool:
    """Tell whether what was cited stands in the notes as it was shown."""
    for path, start, end, snippet in (hit for hits in answers for hit in hits):
        lines = (workspace / path).read_text(encoding="utf-8").split("\n")[start - 1 : end]
        if snippet not in "\n".join(lines):
            return False
    return True


def check_damage(pattern: Path, workspace: Path, contents: Iterable[bytes]) -> Outcome:
    """Put each content in the index's place; whatever it is, searches tell the truth and a sync heals."""
    before, whole = hashes(pattern), searched(pattern)[0]
    outcome = Outcome()
    for number, content in enumerate(contents):
        with facts_on_failure(number=number):
            shutil.rmtree(workspace, ignore_errors=True)
            shutil.copytree(pattern, workspace)
            index_file(workspace).write_bytes(content)
            answers, warnings = searched(workspace)
            assert is_true(workspace, answers)
            if any("set aside" in warning for warning in warnings):
                outcome.noticed += 1
                check_index(workspace)
            elif answers == whole:
                outcome.harmless += 1
            else:
                outcome.unseen.append(str(number))
            with Memory(workspace) as memory:
                memory.sync(force=True)
            assert searched(workspace)[0] == whole
            assert hashes(workspace) == before
    return outcome


def cuts(content: bytes, count: int) -> Iterator[bytes]:
    for place in range(1, count + 1):
        yield content[: len(content) * place // (count + 1)]


def blanks(content: bytes, count: int) -> Iterator[bytes]:
    pages = len(content) // PAGE
    for page in range(0, pages, max(1, pages // count)):
        yield content[: page * PAGE] + bytes(PAGE) + content[(page + 1) * PAGE :]


def flips(content: bytes, count: int, seed: int) -> Iterator[bytes]:
    chance = random.Random(seed)
    for _ in range(count):
        changed = bytearray(content)
        for _ in range(chance.choice([1, 2, 8, 64])):
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        yield bytes(changed)


def test_an_index_cut_off_anywhere_is_noticed(pattern: Path, tmp_path: Path, tell: Tell) -> None:
    content = index_file(pattern).read_bytes()
    outcome = check_damage(pattern, tmp_path / "workspace", cuts(content, CUTS))
    assert outcome.noticed == CUTS
    tell(f"cut off: {outcome}")


def test_a_blank_page_is_noticed_or_harmless(pattern: Path, tmp_path: Path, tell: Tell) -> None:
    content = index_file(pattern).read_bytes()
    outcome = check_damage(pattern, tmp_path / "workspace", blanks(content, BLANKS))
    assert outcome.unseen == []
    tell(f"blank pages: {outcome}")


@pytest.mark.parametrize("seed", SEEDS)
def test_flipped_bits_never_make_an_answer_untrue(
    pattern: Path, tmp_path: Path, tell: Tell, seed: int
) -> None:
    content = index_file(pattern).read_bytes()
    with facts_on_failure(seed=seed):
        outcome = check_damage(pattern, tmp_path / "workspace", flips(content, FLIPS, seed))
    tell(f"flipped bits, seed {seed}: {outcome}")


def test_a_damaged_log_never_makes_an_answer_untrue(pattern: Path, tmp_path: Path, tell: Tell) -> None:
    """What is only in the log may be lost with it: the next look at the files brings it back."""
    origin = tmp_path / "origin"
    shutil.copytree(pattern, origin)
    write(origin, {"memory/late.md": "the okapi came last\n"})
    index = Index.writer(index_file(origin), IDENTITY)
    put(index, "memory/late.md", "the okapi came last")
    database, log = index_file(origin).read_bytes(), log_of(origin).read_bytes()
    index.close()
    damaged = [*cuts(log, CUTS), *flips(log, FLIPS, seed=7), *blanks(log, BLANKS)]
    for number, content in enumerate(damaged):
        with facts_on_failure(number=number):
            workspace = tmp_path / "workspace"
            shutil.rmtree(workspace, ignore_errors=True)
            shutil.copytree(origin, workspace)
            index_file(workspace).write_bytes(database)
            log_of(workspace).write_bytes(content)
            with Memory(workspace) as memory:
                assert [hit.path for hit in memory.search("okapi")] == ["memory/late.md"]
                assert [hit.path for hit in memory.search("own7")] == ["memory/n7.md"]
                memory.sync()
            check_index(workspace)
    tell(f"damaged write-ahead logs: {len(damaged)}, each answered and healed")


def log_of(workspace: Path) -> Path:
    return workspace / ".memory" / "index.sqlite-wal"
