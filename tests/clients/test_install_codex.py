"""An installation into Codex changes nothing that is the user's, and can be taken out without a trace."""

from __future__ import annotations

import json
import shlex
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memlines.clients import codex
from memlines.clients.apply import install, uninstall, would_install, would_uninstall
from memlines.clients.client import Target, integration_folder
from memlines.clients.edits import apply_edit as with_edit
from memlines.clients.plan import Step
from memlines.errors import WriteError
from tests.clients.places import names, tree
from tests.programs import Cli

CONFIGS = [
    b'model = "a"\n[mcp_servers.mine]\ncommand = "x"\n',
    b'model = "a"',
    b'model = "a"\r\n[tui]\r\n',
    b'\xef\xbb\xbfmodel = "a"\n',
    b"[[list]]\nx = 1\n[[list]]\nx = [\n 2\n]",
    b"mcp_servers.mine.command = 'x'\n",
    b"[mcp_servers]\n",
    b"# nothing but a comment",
    b"\n\n",
]


class Home:
    """A user's home and a project."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.everywhere = top / "codex"
        self.project = top / "project"
        self.project.mkdir(parents=True)
        self.everywhere.mkdir()

    def targets(self, *, in_project: bool) -> tuple[Target, ...]:
        return codex.targets(self.project if in_project else None)

    def folder(self, *, in_project: bool) -> Path:
        return self.project / ".codex" if in_project else self.everywhere

    def config(self, content: bytes | None = None) -> Path:
        file = self.everywhere / "config.toml"
        if content is not None:
            file.write_bytes(content)
        return file

    def server(self) -> dict[str, Any]:
        values = tomllib.loads(self.config().read_text(encoding="utf-8"))
        found: dict[str, Any] = values["mcp_servers"]["memlines"]
        return found


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "top/codex"))
    return Home(tmp_path / "top")


def actions(steps: Sequence[Step]) -> dict[str, str]:
    return {step.path.name: step.action for step in steps}


# What is installed


def test_a_project_gets_everything_in_its_own_folders(home: Home) -> None:
    install(home.targets(in_project=True))

    skills = {f".codex/skills/{name}/SKILL.md" for name in ("memory", "remember", "recall", "forget")}
    policies = {f".codex/skills/{name}/agents/openai.yaml" for name in ("remember", "recall", "forget")}
    own = {".codex/memlines/.gitignore", ".codex/memlines/receipt.json"}
    assert names(home.project) == {
        "AGENTS.md",
        ".codex/config.toml",
        ".codex/hooks.json",
        *skills,
        *policies,
        *own,
    }
    assert names(home.everywhere) == set()


def test_a_global_installation_goes_into_the_settings_of_the_user(home: Home) -> None:
    install(home.targets(in_project=False))

    assert {"AGENTS.md", "config.toml", "skills/memory/SKILL.md"} <= names(home.everywhere)
    assert names(home.project) == set()


def test_without_the_variable_the_settings_are_below_the_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CODEX_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/ana")

    assert codex.global_folder() == Path("/home/ana/.codex")


def test_the_server_is_started_by_the_python_that_installed_it(home: Home) -> None:
    install(home.targets(in_project=False))

    assert home.server()["command"] == sys.executable
    assert home.server()["args"] == ["-P", "-m", "memlines", "mcp"]


def test_who_starts_the_server_can_be_told(home: Home) -> None:
    assert codex.python_of(None) is None
    install(home.targets(in_project=False))

    assert codex.python_of(None) == Path(sys.executable)


def test_a_home_of_its_own_is_passed_on_to_the_server(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMLINES_HOME", str(home.top / "own"))
    install(home.targets(in_project=False))

    assert home.server()["env"] == {"MEMLINES_HOME": str(home.top / "own")}


def test_no_key_is_written_down(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    install(home.targets(in_project=False))

    assert b"sk-secret" not in home.config().read_bytes()
    assert "OPENAI_API_KEY" in home.server()["env_vars"]


def test_only_forgetting_asks_first(home: Home) -> None:
    install(home.targets(in_project=False))

    assert home.server()["default_tools_approval_mode"] == "approve"
    assert home.server()["tools"] == {"memory_forget": {"approval_mode": "prompt"}}


def test_the_instructions_are_between_markers(home: Home) -> None:
    (home.project / "AGENTS.md").write_text("# Mine\n", encoding="utf-8")
    install(home.targets(in_project=True))

    text = (home.project / "AGENTS.md").read_text(encoding="utf-8")
    told = (integration_folder("codex") / "instructions.md").read_text(encoding="utf-8")
    assert text.startswith("# Mine\n\n<!-- memlines: begin")
    assert told in text


def hooks_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "hooks.json").read_bytes())["hooks"]
    return found


def test_every_event_has_its_hook(home: Home) -> None:
    install(home.targets(in_project=True))

    found = hooks_of(home.project / ".codex")
    words = {event: shlex.split(group["hooks"][0]["command"]) for event, (group,) in found.items()}
    assert set(words) == {"SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd"}
    assert all(said[3] == sys.executable and said[7:9] == ["codex", event] for event, said in words.items())


def test_codex_does_not_have_to_shorten_the_time_of_a_hook(home: Home) -> None:
    install(home.targets(in_project=True))

    assert hooks_of(home.project / ".codex")["SessionEnd"][0]["hooks"][0]["timeout"] <= 3


def test_a_path_with_spaces_stays_one_word(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/opt/my python's/python3")
    install(home.targets(in_project=True))

    command = hooks_of(home.project / ".codex")["Stop"][0]["hooks"][0]["command"]
    assert shlex.split(command)[3] == "/opt/my python's/python3"


def test_nobody_is_made_to_trust_anything(home: Home) -> None:
    install(home.targets(in_project=False))

    assert tomllib.loads(home.config().read_text(encoding="utf-8")).keys() == {"mcp_servers"}


# What the user had


@pytest.mark.parametrize("content", CONFIGS, ids=repr)
def test_settings_are_extended_and_nothing_else_in_them_changes(home: Home, content: bytes) -> None:
    before = tomllib.loads(content.decode("utf-8-sig"))
    install(home.targets(in_project=False))
    home.config(content)
    install(home.targets(in_project=False))

    after = tomllib.loads(home.config().read_bytes().decode("utf-8-sig"))
    after["mcp_servers"].pop("memlines")
    assert {key: value for key, value in after.items() if value} == {
        key: value for key, value in before.items() if value
    }
    assert home.config().read_bytes().startswith(content)


@pytest.mark.parametrize("in_project", [True, False])
@pytest.mark.parametrize("content", CONFIGS, ids=repr)
def test_a_round_trip_leaves_every_byte_as_it_was(home: Home, content: bytes, in_project: bool) -> None:
    folder = home.folder(in_project=in_project)
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_bytes(content)
    (home.project / "AGENTS.md").write_bytes(b"# Mine\r\nno line break at the end")
    before = tree(home.top)

    install(home.targets(in_project=in_project))
    uninstall(home.targets(in_project=in_project))

    assert tree(home.top) == before


MINE = {"type": "command", "command": "echo 'not closed"}


@pytest.mark.parametrize(
    "content",
    [
        b"{}",
        b'{"hooks": {}}\n',
        json.dumps({"hooks": {"Stop": [{"hooks": [MINE]}]}}, indent=4).encode(),
        json.dumps({"hooks": {"Stop": [], "SessionStart": [{"matcher": "a", "hooks": [MINE]}]}}).encode(),
    ],
    ids=repr,
)
def test_the_hooks_of_the_user_come_first_and_come_back(home: Home, content: bytes) -> None:
    file = home.everywhere / "hooks.json"
    file.write_bytes(content)
    before = json.loads(content).get("hooks", {})

    install(home.targets(in_project=False))
    found = hooks_of(home.everywhere)
    assert all(found[event][: len(groups)] == groups for event, groups in before.items())
    assert all(len(found[event]) == len(before.get(event, [])) + 1 for event in found)
    uninstall(home.targets(in_project=False))

    assert file.read_bytes() == content


def test_hooks_that_were_changed_since_lose_ours_only(home: Home) -> None:
    file = home.everywhere / "hooks.json"
    install(home.targets(in_project=False))
    values = json.loads(file.read_bytes())
    values["hooks"]["Stop"].insert(0, {"hooks": [MINE]})
    file.write_text(json.dumps(values), encoding="utf-8")
    uninstall(home.targets(in_project=False))

    assert hooks_of(home.everywhere) == {"Stop": [{"hooks": [MINE]}]}


def test_a_second_installation_changes_nothing(home: Home) -> None:
    install(home.targets(in_project=True))
    before = tree(home.top)

    steps = install(home.targets(in_project=True))

    assert set(actions(steps).values()) == {"unchanged"}
    assert tree(home.top) == before


def test_a_look_changes_nothing(home: Home) -> None:
    home.config(b'model = "a"\n')
    before = tree(home.top)

    steps = would_install(home.targets(in_project=False))

    assert actions(steps)["config.toml"] == "edit"
    assert actions(steps)["hooks.json"] == "make"
    assert actions(steps)["AGENTS.md"] == "make"
    assert tree(home.top) == before


def test_an_upgrade_replaces_our_part_only(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.config(b'model = "a"\n')
    monkeypatch.setattr(sys, "executable", "/old/python3")
    install(home.targets(in_project=False))
    monkeypatch.setattr(sys, "executable", "/new/python3")
    install(home.targets(in_project=False))

    assert home.server()["command"] == "/new/python3"
    assert home.config().read_bytes().count(b"python3") == 1


def test_what_was_set_for_the_server_since_stays(home: Home) -> None:
    install(home.targets(in_project=False))
    text = home.config().read_bytes().replace(b"20.0", b"90.0").replace(b"\nargs", b"\nenabled = false\nargs")
    home.config(text)
    install(home.targets(in_project=False))

    assert home.server()["startup_timeout_sec"] == 90.0
    assert home.server()["enabled"] is False


def test_settings_that_were_changed_since_lose_our_part_only(home: Home) -> None:
    install(home.targets(in_project=False))
    trusted = b'\n[projects."/a"]\ntrust_level = "trusted"\n'
    home.config(b'model = "b"\n\n' + home.config().read_bytes() + trusted)
    uninstall(home.targets(in_project=False))

    assert home.config().read_bytes() == b'model = "b"\n' + trusted


def test_instructions_that_were_changed_since_lose_our_part_only(home: Home) -> None:
    file = home.project / "AGENTS.md"
    file.write_bytes(b"# Mine\n")
    install(home.targets(in_project=True))
    file.write_bytes(b"# Now\n\n" + file.read_bytes() + b"\nmore\n")
    uninstall(home.targets(in_project=True))

    assert file.read_bytes() == b"# Now\n\n# Mine\n\nmore\n"


# What cannot be done


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"model = \n", "not valid TOML"),
        (b"\xff\xfe", "not valid TOML"),
        (b"mcp_servers = { mine = { command = 'x' } }\n", "cannot be added"),
        (b"mcp_servers = 1\n", "cannot be added"),
        (b"[mcp_servers.memlines]\ncommand = 'mine'\n", "already"),
        (b"mcp_servers.memlines.command = 'mine'\n", "already"),
        (b"[mcp_servers]\nmemlines = { command = 'mine' }\n", "already"),
    ],
    ids=lambda value: repr(value),
)
def test_settings_that_cannot_be_extended_stay_and_nothing_is_installed(
    home: Home, content: bytes, reason: str
) -> None:
    home.config(content)
    before = tree(home.everywhere)

    with pytest.raises(WriteError, match=reason) as raised:
        install(home.targets(in_project=False))

    assert tree(home.everywhere) == before
    assert str(home.config()) in raised.value.what
    assert raised.value.todo.startswith("Delete its table" if reason == "already" else ("Repair", "Give"))


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"hooks": {"Stop": 1}}'], ids=repr)
def test_hooks_that_cannot_be_added_to_stay_and_nothing_is_installed(home: Home, content: bytes) -> None:
    (home.everywhere / "hooks.json").write_bytes(content)
    before = tree(home.everywhere)

    with pytest.raises(WriteError, match=r"hooks\.json"):
        install(home.targets(in_project=False))

    assert tree(home.everywhere) == before


def test_damaged_markers_are_reported_and_everything_stays(home: Home) -> None:
    install(home.targets(in_project=True))
    file = home.project / "AGENTS.md"
    file.write_bytes(file.read_bytes().replace(b"<!-- memlines: end -->\n", b""))
    before = tree(home.project)

    with pytest.raises(WriteError, match="damaged"):
        uninstall(home.targets(in_project=True))

    assert tree(home.project) == before


def test_settings_that_are_broken_since_are_reported(home: Home) -> None:
    install(home.targets(in_project=False))
    home.config(b"oh no [\n" + home.config().read_bytes())

    with pytest.raises(WriteError, match="not valid TOML"):
        would_uninstall(home.targets(in_project=False))


def test_an_edit_says_what_it_did_in_numbers() -> None:
    edit = codex.server_edit("config.toml", Path("config.toml"), {"command": "a", "args": []})
    new, noted = with_edit(b"a = 1\n", edit)

    ((begin, end),) = noted.cuts
    assert new[:begin] + new[end:] == b"a = 1\n"


# The command line


def test_the_command_line_tells_what_it_did(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    told = Cli(capsys)("install", "codex", "-w", home.project, "--json").json

    assert told["host"] == "codex"
    assert {Path(file["path"]).name for file in told["files"]} >= {"AGENTS.md", "config.toml", "SKILL.md"}
