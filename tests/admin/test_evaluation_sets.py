"""Labelled sets are read as they are written, and what is wrong with one is said with its line."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.admin.evaluation.sets import Gold, LabelledSet, Query, read_file, read_folder
from memlines.errors import UsageError, WorkspaceError
from tests.memories import write

GOLD = [{"path": "memory/a.md", "start": 2, "end": 3}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A set with two workspaces and no queries yet."""
    made = tmp_path / "birds"
    write(made / "one", {"memory/a.md": "kestrel\n", "MEMORY.md": "heron\n"})
    write(made / "two", {"memory/a.md": "sparrow\n"})
    return made


def ask(folder: Path, *rows: Any) -> LabelledSet:
    """Write queries and read the set; a text is written as it is."""
    lines = [row if isinstance(row, str) else json.dumps({"ws": "one"} | row) for row in rows]
    (folder / "queries.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return read_folder(folder)


def one(folder: Path, **fields: Any) -> Query:
    return ask(folder, {"query": "Where?", "gold": GOLD, **fields}).queries[0]


def problem(folder: Path, *rows: Any) -> str:
    with pytest.raises(UsageError) as caught:
        ask(folder, *rows)
    return str(caught.value)


# What is read


def test_a_query_with_everything(folder: Path) -> None:
    query = one(folder, id="q1", type="easy", now="2023-10-22T09:55:00", ws="two")
    gold = (Gold("memory/a.md", 2, 3, 1),)
    assert query == Query("q1", "Where?", gold, "two", "easy", datetime(2023, 10, 22, 9, 55, tzinfo=UTC))


def test_a_query_with_the_least(folder: Path) -> None:
    assert one(folder) == Query("1", "Where?", (Gold("memory/a.md", 2, 3),), "one", None, None)


def test_a_set_has_the_name_of_its_folder(folder: Path) -> None:
    assert ask(folder, {"query": "Where?", "gold": GOLD}).name == "birds"


def test_only_the_workspaces_that_are_asked_count(folder: Path) -> None:
    labelled = ask(folder, {"query": "Where?", "gold": GOLD})
    assert labelled.workspaces == {"one": folder / "one"}


def test_a_workspace_may_lie_deeper(folder: Path) -> None:
    write(folder / "more/three", {"memory/a.md": "owl\n"})
    assert one(folder, ws="more/three").workspace == "more/three"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (None, None),
        ("2023-10-22", datetime(2023, 10, 22, tzinfo=UTC)),
        ("2023-10-22T09:55:00Z", datetime(2023, 10, 22, 9, 55, tzinfo=UTC)),
        (
            "2023-10-22T09:55:00+02:00",
            datetime(2023, 10, 22, 9, 55, tzinfo=timezone(timedelta(hours=2))),
        ),
        ("2023/06/28 (Wed) 20:07", datetime(2023, 6, 28, 20, 7, tzinfo=UTC)),
    ],
)
def test_times(folder: Path, written: str | None, read: datetime | None) -> None:
    assert one(folder, now=written).now == read


def test_relevance(folder: Path) -> None:
    assert one(folder, gold=[{**GOLD[0], "rel": 2}]).gold[0].relevance == 2


def test_a_path_is_read_as_the_index_writes_it(folder: Path) -> None:
    assert one(folder, gold=[{**GOLD[0], "path": "./memory//a.md"}]).gold[0].path == "memory/a.md"


def test_blank_lines_are_passed_over(folder: Path) -> None:
    labelled = ask(folder, "", {"query": "Where?", "gold": GOLD}, " ", "")
    assert [query.id for query in labelled.queries] == ["2"]


def test_a_byte_order_mark_is_passed_over(folder: Path) -> None:
    row = json.dumps({"ws": "one", "query": "Where?", "gold": GOLD})
    (folder / "queries.jsonl").write_bytes(b"\xef\xbb\xbf" + row.encode() + b"\r\n")
    assert len(read_folder(folder).queries) == 1


def test_a_line_separator_does_not_end_a_line(folder: Path) -> None:
    row = json.dumps({"ws": "one", "query": "Where\u2028now?", "gold": GOLD}, ensure_ascii=False)
    assert ask(folder, row).queries[0].text == "Where\u2028now?"


def test_a_file_asks_one_workspace(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text(json.dumps({"query": "Where?", "gold": GOLD}), encoding="utf-8")
    labelled = read_file(file, folder / "one")
    assert (labelled.name, labelled.workspaces) == ("mine", {"one": (folder / "one").resolve()})


# What is wrong


def gold(**fields: Any) -> dict[str, Any]:
    return {"query": "Where?", "gold": [{**GOLD[0], **fields}]}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        pytest.param("{", "is not JSON", id="broken"),
        pytest.param("[" * 100_000, "is not JSON", id="deep"),
        pytest.param("[]", "not a JSON object", id="list"),
        pytest.param({"gold": GOLD}, "no usable 'query'", id="no-query"),
        pytest.param({"query": " ", "gold": GOLD}, "no usable 'query'", id="blank-query"),
        pytest.param({"query": "x", "gold": GOLD, "id": 7}, "no usable 'id'", id="id"),
        pytest.param({"query": "x", "gold": GOLD, "type": 7}, "no usable 'type'", id="type"),
        pytest.param({"query": "x", "gold": GOLD, "now": "soon"}, "the time 'soon'", id="time"),
        pytest.param({"query": "x", "gold": GOLD, "now": 7}, "the time 7", id="time-number"),
        pytest.param({"query": "x", "gold": GOLD, "ws": "three"}, "workspace 'three'", id="workspace"),
        pytest.param({"query": "x", "gold": GOLD, "ws": "../birds/one"}, "workspace '../birds/one'", id="up"),
        pytest.param({"query": "x", "gold": GOLD, "ws": "/"}, "workspace '/'", id="root"),
        pytest.param({"query": "x", "gold": GOLD, "ws": ""}, "workspace ''", id="empty-workspace"),
        pytest.param({"query": "x", "gold": GOLD, "ws": None}, "workspace None", id="no-workspace"),
        pytest.param({"query": "x"}, "no gold lines", id="no-gold"),
        pytest.param({"query": "x", "gold": []}, "no gold lines", id="empty-gold"),
        pytest.param({"query": "x", "gold": ["memory/a.md"]}, "not a JSON object", id="gold-text"),
        pytest.param(gold(start=0), "from line 0 to 3", id="line-0"),
        pytest.param(gold(start=4), "from line 4 to 3", id="backwards"),
        pytest.param(gold(end=None), "from line 2 to None", id="no-end"),
        pytest.param(gold(start=True), "from line True", id="true"),
        pytest.param(gold(rel=0), "relevance 0", id="relevance"),
        pytest.param(gold(path=None), "no usable 'path'", id="no-path"),
        pytest.param(gold(path="memory/b.md"), "'memory/b.md', which is not in", id="missing"),
        pytest.param(gold(path="memory"), "'memory', which is not in", id="folder"),
        pytest.param(gold(path="memory/../MEMORY.md"), "'memory/../MEMORY.md'", id="dots"),
        pytest.param(gold(path="/etc/passwd"), "'/etc/passwd'", id="absolute"),
        pytest.param(gold(path="docs/a.md"), "Gold must be in one of", id="elsewhere"),
        pytest.param(gold(path="memory/\0.md"), "gold in", id="nul"),
    ],
)
def test_a_wrong_line_is_told_with_its_number(folder: Path, row: Any, words: str) -> None:
    told = problem(folder, {"query": "x", "gold": GOLD}, row)
    assert told.startswith(f"line 2 of {str(folder / 'queries.jsonl')!r}")
    assert words in told


def test_an_id_that_is_given_twice(folder: Path) -> None:
    row = {"query": "x", "gold": GOLD, "id": "q"}
    assert "repeats the id 'q'" in problem(folder, row, row)


def test_a_line_that_is_not_utf_8(folder: Path) -> None:
    (folder / "queries.jsonl").write_bytes(b'\n{"query": "caf\xe9"}')
    with pytest.raises(UsageError, match=r"line 2 of .* is not JSON"):
        read_folder(folder)


def test_a_set_without_queries(folder: Path) -> None:
    assert "holds no queries" in problem(folder, "")


def test_a_folder_that_is_no_set(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"queries.jsonl' cannot be read: .*no such file"):
        read_folder(folder / "one")


def test_a_missing_file(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"'nowhere.jsonl' cannot be read"):
        read_file(Path("nowhere.jsonl"), folder / "one")


def test_a_file_about_a_missing_workspace(folder: Path) -> None:
    ask(folder, {"query": "Where?", "gold": GOLD})
    with pytest.raises(WorkspaceError, match="does not exist"):
        read_file(folder / "queries.jsonl", folder / "three")


def test_a_file_that_names_a_workspace(folder: Path) -> None:
    ask(folder, {"query": "Where?", "gold": GOLD})
    with pytest.raises(UsageError, match=r"line 1 of .* names a workspace, but"):
        read_file(folder / "queries.jsonl", folder / "one")


rows = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.sampled_from(["query", "gold", "path", "start", "end", "now", "id"]), inner)
    ),
)


@given(rows | st.binary())
def test_any_content_is_read_or_refused_in_our_words(
    tmp_path_factory: pytest.TempPathFactory, content: Any
) -> None:
    folder = tmp_path_factory.getbasetemp()
    file = folder / "any.jsonl"
    file.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    with pytest.raises(UsageError):
        read_file(file, folder)
