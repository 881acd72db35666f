"""A project's memory and the personal one are asked as one, and written apart."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from memlines import Memory
from memlines.agent.auto_recall import fitting_facts
from memlines.agent.bootstrap import bootstrap
from memlines.errors import MemlinesError, PathError, SettingsError
from memlines.memory.blame import blame_line, blame_session
from memlines.memory.scopes import merge_results
from memlines.paths import personal_folder
from memlines.serve.tools import call_tool
from memlines.types import Hit, SearchResult
from tests.memories import WORDS_ONLY, write
from tests.programs import MAIN, program, read_only, unprivileged_run

TABS = "I prefer tabs over spaces"
NAMED = "personal:memory/tools.md#L3"


@pytest.fixture
def project(workspace: Path) -> Iterator[Memory]:
    with Memory(workspace, WORDS_ONLY) as memory:
        yield memory


def other_project(tmp_path: Path, **settings: object) -> Memory:
    folder = tmp_path / "other"
    (folder / "memory").mkdir(parents=True, exist_ok=True)
    return Memory(folder, {**WORDS_ONLY, **settings})


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


# Asked together


def test_a_search_asks_both(project: Memory) -> None:
    project.remember("The tabs of the browser are restored", topic="browser")
    project.remember(TABS, topic="tools", personal=True)
    assert {(hit.citation, hit.scope) for hit in project.search("tabs")} == {
        ("memory/browser.md#L3", "project"),
        (NAMED, "personal"),
    }


def test_what_is_personal_is_found_in_another_project(project: Memory, tmp_path: Path) -> None:
    project.remember(TABS, topic="tools", personal=True)
    with other_project(tmp_path) as other:
        assert [hit.citation for hit in other.search("tabs or spaces?")] == [NAMED]


def test_a_search_may_be_narrowed_to_one_scope(project: Memory) -> None:
    project.remember("The tabs of the browser are restored", topic="browser")
    project.remember(TABS, topic="tools", personal=True)
    assert [hit.scope for hit in project.search("tabs", scopes=["personal"])] == ["personal"]
    assert [hit.scope for hit in project.search("tabs", scopes=["project"])] == ["project"]


def test_what_both_say_is_shown_once(project: Memory) -> None:
    for folder in (project.workspace.root, personal_folder()):
        write(folder, {"tools.md": f"- {TABS}\n"})
    assert [hit.scope for hit in project.search("tabs")] == ["project"]


def test_equal_scores_prefer_the_project() -> None:
    own = SearchResult((Hit("a.md", 1, 1, 0.5, "one", "memory", band="likely"),), "none", "", "words", 0)
    theirs = Hit("personal:a.md", 1, 1, 0.5, "two", "memory", band="likely", scope="personal")
    both = merge_results(own, SearchResult((theirs,), "none", "", "words", 0), 6, by_score=True)
    assert [hit.scope for hit in both] == ["project", "personal"]


def test_nearest_lines_of_one_are_left_out_if_the_other_answers(project: Memory) -> None:
    project.remember("Billing runs on Postgres 17", topic="billing")
    project.remember("The billing of my phone is monthly", topic="phone", personal=True)
    answer = project.search("which Postgres does billing run on?")
    assert [hit.scope for hit in answer if hit.band == "weak"] == []


def test_no_more_hits_are_shown_than_asked_for(project: Memory) -> None:
    for number in range(4):
        project.remember(f"tabs {number} of the browser", topic=f"browser{number}")
        project.remember(f"tabs {number} of my editor", topic=f"editor{number}", personal=True)
    assert len(project.search("tabs", max_results=3)) == 3


def test_entries_of_both_are_recalled(project: Memory) -> None:
    project.remember("The deploy took an hour")
    project.remember(TABS, personal=True)
    assert {entry.citation.startswith("personal:") for entry in project.recall()} == {True, False}


def test_lines_of_the_personal_memory_are_read_by_their_citation(project: Memory, tmp_path: Path) -> None:
    project.remember(TABS, topic="tools", personal=True)
    with other_project(tmp_path) as other:
        excerpt = other.read("personal:memory/tools.md#L3")
    assert (excerpt.path, excerpt.lines, TABS in excerpt.text) == ("personal:memory/tools.md", 1, True)


def test_a_sync_brings_both_up_to_date(project: Memory) -> None:
    write(project.workspace.root, {"a.md": "one\n"})
    write(personal_folder(), {"b.md": "two\n"})
    assert project.sync().indexed == ("memory/a.md", "personal:memory/b.md")


def test_a_message_gets_fitting_facts_of_both(project: Memory) -> None:
    project.facts.store("Our dentist is Dr. Alvarez")
    project.begin_personal().facts.store("My dentist is Dr. Brown")
    found = fitting_facts(project, "when do we go to our dentist?", mode="words")
    assert {fact.citation.startswith("personal:") for fact in found.facts} == {True, False}


def test_a_session_starts_with_a_capped_part_of_the_personal_memory(project: Memory) -> None:
    write(project.workspace.root, {"MEMORY.md": "# Memory\n\n- " + "billing " * 900 + "\n- last\n"})
    lines = "".join(f"- My habit number {number} is a long sentence.\n" for number in range(400))
    write(personal_folder(), {"MEMORY.md": f"# Me\n\n{lines}"})
    context = bootstrap(project, max_tokens=1_000)
    quoted = [part for part in context.parts if part.path == "personal:MEMORY.md"]
    assert (len(quoted), quoted[0].end_line < 50, context.tokens <= 1_000) == (1, True, True)


def test_a_search_may_leave_out_a_personal_line(project: Memory) -> None:
    project.remember("The tabs of the browser are restored", topic="browser")
    project.remember(TABS, topic="tools", personal=True)
    assert [hit.scope for hit in project.search("tabs", without=[NAMED])] == ["project"]
    assert [hit.scope for hit in project.search("tabs", without=["memory/browser.md#L3"])] == ["personal"]


def test_what_an_agent_saw_is_recorded_in_the_memory_it_came_from(project: Memory) -> None:
    project.remember("The tabs of the browser are restored", topic="browser")
    project.remember(TABS, topic="tools", personal=True)
    call_tool(project, "memory_search", {"query": "tabs"}, "s1")
    records = [(folder / ".memory/shown.jsonl") for folder in (project.workspace.root, personal_folder())]
    assert ["tools.md" in file.read_text(encoding="utf-8") for file in records] == [False, True]
    assert ["browser.md" in file.read_text(encoding="utf-8") for file in records] == [True, False]


def test_blame_shows_what_an_agent_saw_of_both(project: Memory) -> None:
    project.remember("The tabs of the browser are restored", topic="browser")
    project.remember(TABS, topic="tools", personal=True)
    call_tool(project, "memory_search", {"query": "tabs"}, "s1")
    ((answer, lines),) = blame_session(project, "s1")
    assert (answer.query, {line.now for line in lines}) == ("tabs", {"memory/browser.md#L3", NAMED})
    assert [use.session for use in blame_line(project, NAMED)] == ["s1"]


# Written apart


def test_nothing_personal_is_written_into_the_project(project: Memory) -> None:
    project.remember("The deploy took an hour")
    project.search("deploy")
    before = contents(project.workspace.root)
    project.remember(TABS, topic="tools", personal=True)
    project.begin_personal().facts.store("My dentist is Dr. Brown")
    changed = contents(project.workspace.root)
    assert changed == before
    project.search("tabs")
    assert not any(b"tabs over" in content for content in contents(project.workspace.root).values())


def test_the_personal_folder_is_closed_to_others(project: Memory) -> None:
    project.remember(TABS, personal=True)
    assert stat.S_IMODE(personal_folder().stat().st_mode) == 0o700


def test_asking_does_not_make_a_personal_memory(project: Memory) -> None:
    project.remember("The deploy took an hour")
    project.search("deploy")
    assert not personal_folder().exists()


def test_a_personal_line_is_forgotten_by_its_citation(project: Memory) -> None:
    project.remember(TABS, topic="tools", personal=True)
    receipt = project.forget(project.forget_candidates(NAMED))
    assert (receipt.complete, list(project.search("tabs"))) == (True, [])


def test_words_select_what_to_forget_in_both(project: Memory) -> None:
    project.remember("The tabs of the browser are restored", topic="browser")
    project.remember(TABS, topic="tools", personal=True)
    assert {one.citation for one in project.forget_candidates("tabs")} == {"memory/browser.md#L3", NAMED}


def test_the_personal_memory_itself_has_no_other_beside_it(project: Memory) -> None:
    project.remember(TABS, topic="tools", personal=True)
    with Memory(personal_folder(), WORDS_ONLY) as memory:
        assert (memory.scope, memory.personal) == ("personal", None)
        assert [hit.citation for hit in memory.search("tabs")] == [NAMED]
        assert memory.read("memory/tools.md").text == memory.read("personal:memory/tools.md").text


# Switched off, and bad folders


def test_a_project_may_switch_the_personal_memory_off(project: Memory, tmp_path: Path) -> None:
    project.remember(TABS, personal=True)
    folder = tmp_path / "other"
    (folder / ".memory").mkdir(parents=True)
    (folder / ".memory" / "config.yaml").write_text("scopes: [project]\n", encoding="utf-8")
    with Memory(folder, WORDS_ONLY) as other:
        assert list(other.search("tabs")) == []
        with pytest.raises(SettingsError, match="switched off by scopes"):
            other.remember(TABS, personal=True)


def test_a_project_may_not_switch_it_on_again(workspace: Path) -> None:
    config = Path(os.environ["MEMLINES_HOME"], "config.yaml")
    config.write_text("scopes: [project]\n", encoding="utf-8")
    (workspace / ".memory").mkdir()
    (workspace / ".memory" / "config.yaml").write_text("scopes: [project, personal]\n", encoding="utf-8")
    with pytest.raises(SettingsError, match="sets scopes"):
        Memory(workspace)


def test_no_project_names_the_personal_folder(workspace: Path) -> None:
    (workspace / ".memory").mkdir()
    (workspace / ".memory" / "config.yaml").write_text("personal_folder: ../mine\n", encoding="utf-8")
    with pytest.raises(SettingsError, match="sets personal_folder, which only your own file may do"):
        Memory(workspace)


def test_the_project_is_asked_even_if_the_settings_do_not_name_it(workspace: Path) -> None:
    with Memory(workspace, {**WORDS_ONLY, "scopes": ["personal"]}) as memory:
        assert memory.settings.scopes == ("project", "personal")


def test_the_user_may_name_another_folder(workspace: Path, tmp_path: Path) -> None:
    with Memory(workspace, {**WORDS_ONLY, "personal_folder": str(tmp_path / "mine")}) as memory:
        memory.remember(TABS, topic="tools", personal=True)
        assert TABS in (tmp_path / "mine" / "memory" / "tools.md").read_text(encoding="utf-8")


def test_a_personal_folder_in_the_project_is_refused(workspace: Path) -> None:
    write(workspace, {"a.md": "tabs are restored\n"})
    with Memory(workspace, {**WORDS_ONLY, "personal_folder": str(workspace / "mine")}) as memory:
        with pytest.raises(SettingsError, match="lies in the project"):
            memory.remember(TABS, personal=True)
        answer = memory.search("tabs")
        assert ([hit.path for hit in answer], "left out" in answer.warnings[0]) == (["memory/a.md"], True)
        assert "lies in the project" in memory.status().personal["trouble"]


def test_a_broken_personal_memory_does_not_keep_the_project_from_answering(project: Memory) -> None:
    write(project.workspace.root, {"a.md": "tabs are restored\n"})
    write(personal_folder(), {"b.md": "tabs\n"})
    (personal_folder() / ".memory").mkdir()
    (personal_folder() / ".memory" / "config.yaml").write_text("nonsense: 1\n", encoding="utf-8")
    answer = project.search("tabs")
    assert [hit.path for hit in answer] == ["memory/a.md"]
    assert "your personal memory is left out: unknown setting 'nonsense'" in answer.warnings[0]


def test_a_personal_memory_that_is_switched_off_is_not_asked(project: Memory) -> None:
    project.remember(TABS, personal=True)
    (personal_folder() / ".memory" / "config.yaml").write_text("enabled: false\n", encoding="utf-8")
    with Memory(project.workspace.root, WORDS_ONLY) as again:
        assert (again.personal, list(again.search("tabs"))) == (None, [])


def test_a_personal_citation_without_a_personal_memory_is_refused(project: Memory) -> None:
    with pytest.raises(PathError, match="personal memory, and there is none"):
        project.read("personal:memory/a.md")


def test_a_personal_path_may_not_climb_out(project: Memory) -> None:
    project.remember(TABS, personal=True)
    with pytest.raises(MemlinesError):
        project.read("personal:../config.yaml")


READ_ONLY = """
import sys
from memlines import Memory
from memlines.errors import MemlinesError
with Memory(sys.argv[1], {"embeddings.provider": "none"}) as memory:
    print([hit.citation for hit in memory.search("tabs")])
    try:
        memory.remember("I drink tea", personal=True)
    except MemlinesError as error:
        print(error.exit_code)
"""


def test_a_personal_memory_on_a_read_only_disk_is_searched_and_not_written(workspace: Path) -> None:
    write(personal_folder(), {"tools.md": f"# Tools\n\n- {TABS}\n"})
    with read_only(personal_folder()):
        done = unprivileged_run(READ_ONLY, workspace)
    assert done.stdout.splitlines() == [f"['{NAMED}']", "7"], done.stderr


def test_a_folder_above_it_that_is_closed_does_not_keep_the_project_from_answering(
    workspace: Path, tmp_path: Path
) -> None:
    write(workspace, {"browser.md": "tabs are restored\n"})
    closed = tmp_path / "closed"
    (closed / "mine").mkdir(parents=True)
    closed.chmod(0)
    try:
        done = unprivileged_run(READ_ONLY, workspace, env={"MEMLINES_PERSONAL_FOLDER": str(closed / "mine")})
    finally:
        closed.chmod(0o700)
    assert done.stdout.splitlines() == ["['memory/browser.md#L1']", "4"], done.stderr


def test_the_command_says_that_a_personal_memory_cannot_be_written() -> None:
    write(personal_folder(), {"tools.md": f"# Tools\n\n- {TABS}\n"})
    with read_only(personal_folder()):
        done = unprivileged_run(
            f"import sys; sys.argv[0] = 'memlines'; {MAIN}", "remember", "--personal", "I drink tea"
        )
    assert done.returncode == 7, done.stderr


def test_status_shows_both(project: Memory) -> None:
    project.remember(TABS, personal=True)
    project.sync()
    status = project.status()
    assert status.scopes == ("project", "personal")
    assert (status.personal["workspace"], status.personal["files"]) == (str(personal_folder()), 1)


# Commands


def test_personal_is_an_option_of_every_command_that_opens_a_memory(tmp_path: Path) -> None:
    stored = program("remember", "--personal", TABS, "--topic", "tools", cwd=tmp_path)
    assert stored.stdout.decode() == f"Remembered in {NAMED}\n"
    shown = program("get", NAMED, cwd=tmp_path).stdout.decode()
    assert shown.endswith(f"{TABS}\n")
    assert program("undo", "--personal", cwd=tmp_path).returncode == 0
    assert program("get", NAMED, cwd=tmp_path).returncode == 1


def test_without_a_personal_memory_a_command_says_how_to_begin_one(tmp_path: Path) -> None:
    done = program("search", "--personal", "tabs", cwd=tmp_path)
    assert b"Begin one: memlines remember --personal" in done.stderr


def test_personal_and_a_workspace_are_not_both_meant(tmp_path: Path) -> None:
    program("remember", "--personal", TABS, cwd=tmp_path)
    done = program("search", "--personal", "-w", str(tmp_path), "tabs", cwd=tmp_path)
    assert (done.returncode, b"name two memories" in done.stderr) == (2, True)
