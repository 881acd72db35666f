"""Two clones of one workspace are merged: no entry is lost, none is doubled, and the order does not matter.

What `merge=union` does to a file, `git merge-file --union` does as well, and needs no commits. Some histories
are merged by real commits, pushes and merges.
"""

from __future__ import annotations

import random
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from memlines import Memory
from memlines.errors import MemlinesError
from memlines.files.attributes import ensure_union
from memlines.paths import Workspace
from memlines.text.entries import conflicts_in
from memlines.text.fact_note import facts_in
from memlines.text.facts import Fact, FactLine
from memlines.text.matching import entry_id
from tests.repositories import commit, git, make_repository

FACTS, TOPIC = "memory/facts.md", "memory/tea.md"
DAYS = [datetime(2026, 11, 14, 9, 0, tzinfo=UTC) + timedelta(days=day) for day in range(2)]
SETTINGS = {"embeddings.provider": "none", "timezone": "UTC", "sync.on_search": True, "facts.store": "index"}
MOST_STEPS = 6
LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Person:
    """Someone who works in a clone, in whatever way the dice say."""

    def __init__(self, name: str, folder: Path, dice: random.Random) -> None:
        self.name, self.folder, self.dice = name, folder, dice
        self.said = 0
        self.gone: set[str] = set()
        """What was forgotten here, by its words; a merge may bring it back."""

    def words(self) -> str:
        """Return a sentence that no one else says."""
        self.said += 1
        noun = "".join(self.dice.choice(LETTERS) for _ in range(9))
        return f"The {noun} of {self.name} is number {self.said} in the garden"

    def moment(self) -> datetime:
        return self.dice.choice(DAYS) + timedelta(minutes=self.dice.randrange(300))

    def work(self, memory: Memory, steps: int) -> None:
        every: list[tuple[int, Callable[[Memory], None]]] = [
            (4, self.remember),
            (2, self.remember_the_same),
            (2, self.remember_topic),
            (4, self.store),
            (2, self.replace),
            (2, self.edit),
            (1, self.forget_fact),
            (1, self.forget_entry),
            (1, self.strike_by_hand),
            (1, self.reword_by_hand),
            (1, self.add_by_hand),
            (1, self.reword_entry_by_hand),
            (1, self.flush),
        ]
        for _ in range(steps):
            weights = [weight for weight, _ in every]
            (step,) = self.dice.choices([step for _, step in every], weights)
            with suppress(MemlinesError):  # a fact that is on several lines, or no longer true
                step(memory)

    # By commands

    def remember(self, memory: Memory) -> None:
        memory.remember(self.words(), now=self.moment(), force=True)

    def remember_the_same(self, memory: Memory) -> None:
        number = self.dice.randrange(2)
        memory.remember(f"Deploy number {number} of the garden is done", now=DAYS[number], force=True)

    def remember_topic(self, memory: Memory) -> None:
        memory.remember(self.words(), topic="tea", now=self.moment(), force=True)

    def flush(self, memory: Memory) -> None:
        said = [(self.words(), DAYS[1]) for _ in range(2)]
        memory.remember_all(said, session=f"{self.name}{self.said}")

    def store(self, memory: Memory) -> None:
        memory.facts.store(self.words(), now=self.dice.choice([None, self.moment()]), force=True)

    def replace(self, memory: Memory) -> None:
        if facts := memory.facts.list():
            old = self.dice.choice(facts).fact.id
            memory.facts.store(self.words(), now=self.moment(), replaces=old, force=True)

    def edit(self, memory: Memory) -> None:
        if facts := memory.facts.list():
            self.gone.add(entry_id((old := self.dice.choice(facts).fact).text))
            memory.facts.edit(old.id, self.words())

    def forget_fact(self, memory: Memory) -> None:
        if facts := memory.facts.list(current=False):
            chosen = self.dice.choice(facts)
            self.gone.add(entry_id(chosen.fact.text))
            memory.facts.forget([chosen.fact.id])

    def forget_entry(self, memory: Memory) -> None:
        if found := [one for one in memory.recall(recent=True, limit=50) if one.path != FACTS]:
            chosen = self.dice.choice(found)
            self.gone.add(entry_id(chosen.text))
            memory.forget(memory.forget_candidates(chosen.citation))

    # With an editor

    def lines(self, path: str) -> list[str]:
        file = self.folder / path
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []

    def save(self, path: str, lines: list[str]) -> None:
        (self.folder / path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def strike_by_hand(self, memory: Memory) -> None:
        lines = self.lines(FACTS)
        if live := _written_with_ids(memory):
            fact = self.dice.choice(live)
            lines[fact.first - 1] = fact.raw.replace(fact.fact.text, f"~~{fact.fact.text}~~")
            self.save(FACTS, lines)

    def reword_by_hand(self, memory: Memory) -> None:
        lines = self.lines(FACTS)
        if live := _written_with_ids(memory):
            fact = self.dice.choice(live)
            self.gone.add(entry_id(fact.fact.text))
            lines[fact.first - 1] = fact.raw.replace(fact.fact.text, self.words())
            self.save(FACTS, lines)

    def reword_entry_by_hand(self, _: Memory) -> None:
        path = f"memory/{DAYS[0].date()}.md"
        lines = self.lines(path)
        if places := [at for at, line in enumerate(lines) if line.startswith("- ")]:
            at = self.dice.choice(places)
            self.gone.add(entry_id(lines[at]))
            lines[at] = f"- 09:00 {self.words()}"
            self.save(path, lines)

    def add_by_hand(self, _: Memory) -> None:
        path = self.dice.choice([FACTS, f"memory/{DAYS[1].date()}.md"])
        if lines := self.lines(path):
            self.save(path, [*lines, f"- {self.words()}"])


def _written_with_ids(memory: Memory) -> list[FactLine]:
    """Return the facts whose line has their id: without one, two lines cannot be known to be one fact."""
    return [line for line in memory.facts.list() if line.raw.endswith(f"^{line.fact.id}")]


def opened(folder: Path) -> Memory:
    return Memory(folder, SETTINGS)


def begin(folder: Path, dice: random.Random) -> Person:
    """Return someone with a workspace that has a history."""
    folder.mkdir(parents=True)
    (folder / "memory").mkdir()
    person = Person("both", folder, dice)
    with opened(folder) as memory:
        person.work(memory, dice.randrange(1, MOST_STEPS))
    return person


def copy_of(folder: Path, to: Path) -> Path:
    shutil.copytree(folder, to, ignore=shutil.ignore_patterns(".memory", ".git"))
    return to


def merge_files(base: Path, ours: Path, theirs: Path, to: Path) -> Path:
    """Merge every note as git does: logs and facts by union, others with marks where both changed them."""
    (to / "memory").mkdir(parents=True)
    empty = to.parent / "empty"
    empty.touch()
    for name in sorted({path.name for side in (ours, theirs) for path in (side / "memory").glob("*.md")}):
        sides = [side / "memory" / name for side in (ours, base, theirs)]
        existing = [side if side.exists() else empty for side in sides]
        union = [] if f"memory/{name}" == TOPIC else ["--union"]
        done = subprocess.run(
            ["git", "merge-file", "-p", *union, *map(str, existing)], capture_output=True, check=False
        )
        assert done.returncode >= 0, done.stderr
        (to / "memory" / name).write_bytes(done.stdout)
    return to


# What must be true of a merge


def facts_of(folder: Path) -> dict[str, Fact]:
    """Return the facts of a clone, which no merge has touched, by their ids."""
    note = folder / FACTS
    lines = facts_in(note.read_text(encoding="utf-8")) if note.exists() else ()
    return {line.fact.id: line.fact for line in lines}


def outcomes(base: Fact | None, ours: Fact | None, theirs: Fact | None) -> list[set[Fact]]:
    """Return what a merge may show of a fact, by what both sides did with it."""
    if ours is None or theirs is None:
        (left,) = (fact for fact in (ours, theirs) if fact is not None)
        return [{left}] if base is None or left != base else [{left}, set()]
    both = {ours, theirs}
    if len(both) == 1:
        return [both]
    if struck := {fact for fact in both if fact.struck}:
        return [*({fact} for fact in struck), struck]  # both, if other words were struck on one day
    changed = both - {base}
    newest = max(fact.edited or date.min for fact in both)
    dated = {fact for fact in both if (fact.edited or date.min) == newest}
    if len(dated) == 1:
        return [dated]
    return [changed, both] if len(changed) == 1 else [both]


def entries_of(memory: Memory) -> Counter[tuple[str, str]]:
    """Count the entries of notes other than facts, by note and words."""
    logs = [one for one in memory.recall(recent=True, limit=1000) if one.path != FACTS]
    return Counter((one.path, one.text) for one in logs)


def check(
    merged: Path, base: Person, ana: Person, ben: Person
) -> tuple[Counter[tuple[str, str]], frozenset[Fact]]:
    """Prove that nothing is lost and nothing doubled; return what the merged workspace shows."""
    gone = base.gone | ana.gone | ben.gone
    before: set[tuple[str, str]] = set()
    for person in (ana, ben):
        with opened(person.folder) as memory:
            before |= set(entries_of(memory))
    with opened(merged) as memory:
        warnings = [one for one in memory.sync().warnings if "merge conflict" in one]
        shown = entries_of(memory)
        facts = memory.facts.list(current=False)
        found = [memory.search(line.fact.text) for line in facts[-2:]]
    assert max(shown.values(), default=1) == 1, "an entry is doubled"
    assert {one for one in before - set(shown) if entry_id(one[1]) not in gone} == set(), "an entry is lost"
    conflicts = _check_facts([line.fact for line in facts], base, ana, ben)
    marks = [path for path in merged.glob("memory/*.md") if conflicts_in(path.read_text(encoding="utf-8"))]
    assert len(warnings) == conflicts + len(marks), "a conflict is not reported"
    for result, line in zip(found, facts[-2:], strict=True):
        cited = [hit.start_line for hit in result if line.fact.text in hit.snippet]
        assert cited == [line.first], "a fact is found twice, or not at all"
    return shown, frozenset(line.fact for line in facts)


def _check_facts(shown: list[Fact], base: Person, ana: Person, ben: Person) -> int:
    """Prove that each fact is shown as its two sides allow; return how many are in conflict."""
    assert len({fact.id for fact in shown}) == len(shown), "an id is doubled"
    left = Counter(_said(fact) for fact in shown)
    conflicts = 0
    first, ours, theirs = (facts_of(person.folder) for person in (base, ana, ben))
    for name in ours.keys() | theirs.keys():
        allowed = outcomes(first.get(name), ours.get(name), theirs.get(name))
        ways = [Counter(map(_said, facts)) for facts in sorted(allowed, key=len, reverse=True)]
        way = next((way for way in ways if way <= left), None)
        assert way is not None, f"a fact is lost: {name}"
        left -= way
        conflicts += len(way) > 1
    assert not left, f"a fact is doubled: {left}"
    return conflicts


def _said(fact: Fact) -> tuple[str, bool]:
    return fact.text, fact.struck


def histories(seed: int, folder: Path) -> tuple[Person, Person, Person]:
    """Return the workspace that both began with, and two people who went on from it, each in a copy."""
    dice = random.Random(seed)
    base = begin(folder / "base", dice)
    people = [Person(name, copy_of(base.folder, folder / name), dice) for name in ("ana", "ben")]
    for person in people:
        with opened(person.folder) as memory:
            person.work(memory, 1 + dice.randrange(MOST_STEPS))
    return base, people[0], people[1]


def merge_by_files(seed: int, folder: Path) -> None:
    base, ana, ben = histories(seed, folder)
    one = merge_files(base.folder, ana.folder, ben.folder, folder / "one")
    other = merge_files(base.folder, ben.folder, ana.folder, folder / "other")
    assert check(one, base, ana, ben) == check(other, base, ana, ben)


def merge_by_commits(seed: int, folder: Path) -> None:
    """Do the same with two clones: each pulls what the other did, in both orders."""
    dice = random.Random(seed)
    base = begin(folder / "base", dice)
    ensure_union(Workspace.at(base.folder), FACTS)
    commit(make_repository(base.folder))
    people = []
    for name in ("ana", "ben"):
        git(folder, "clone", "--quiet", str(base.folder), name)
        person = Person(name, folder / name, dice)
        with opened(person.folder) as memory:
            person.work(memory, 1 + dice.randrange(MOST_STEPS))
        commit(person.folder)
        people.append(person)
    ana, ben = people
    results = []
    for ours, theirs in ((ana, ben), (ben, ana)):
        merged = folder / f"merged-{ours.name}"
        git(folder, "clone", "--quiet", str(ours.folder), merged.name)
        git(merged, "pull", "--quiet", "--no-rebase", "--no-edit", str(theirs.folder), "main", check=False)
        results.append(check(merged, base, ana, ben))
    assert results[0] == results[1]


@pytest.fixture
def places(tmp_path: Path) -> Callable[[], Path]:
    """Empty folders, each removed when the next one is asked for."""
    used: list[Path] = []

    def place() -> Path:
        for folder in used:
            shutil.rmtree(folder, ignore_errors=True)
        used.append(tmp_path / str(len(used)))
        used[-1].mkdir()
        return used[-1]

    return place


@pytest.mark.parametrize("first", [0, 20])
def test_any_histories_are_merged_without_loss(first: int, places: Callable[[], Path]) -> None:
    for seed in range(first, first + 20):
        merge_by_files(seed, places())


def test_clones_are_merged_without_loss(places: Callable[[], Path]) -> None:
    for seed in range(3):
        merge_by_commits(seed, places())


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("first", range(0, 2_000, 100))
def test_two_thousand_histories_are_merged_without_loss(first: int, places: Callable[[], Path]) -> None:
    for seed in range(first, first + 100):
        merge_by_files(seed, places())


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_many_clones_are_merged_without_loss(places: Callable[[], Path]) -> None:
    for seed in range(100, 150):
        merge_by_commits(seed, places())
