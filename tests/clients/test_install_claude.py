"""Installing into Claude Code: the user's files keep all that was theirs, and get it back byte for byte."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memlines.admin.doctor.clients import check_clients
from memlines.admin.doctor.findings import Checkup, Finding
from memlines.clients import claude_code
from memlines.clients.apply import install, uninstall, would_install
from memlines.clients.client import EVENTS, SCRIPT, Target, hook_words, integration_folder
from memlines.errors import WriteError
from memlines.paths import Workspace
from memlines.serve.rpc.command import VERBS
from memlines.serve.tools import TOOLS
from memlines.text.shell import join_words
from tests.clients.places import names, tree

SERVERS = '{\n    "mcpServers": {\n        "other": {"command": "x", "env": {"KEY": "s3cret"}}\n    }\n}\n'
SETTINGS = """\
{
\t"permissions": { "allow": ["Bash(ls)"] },
\t"hooks": {
\t\t"Stop": [ { "hooks": [ { "type": "command", "command": "say done" } ] } ],
\t\t"PreToolUse": []
\t}
}"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def targets(project: Path | None) -> tuple[Target, ...]:
    return claude_code.targets(project)


def put(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    return file


def loaded(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_bytes())
    return found


def look(project: Path) -> list[Finding]:
    with Checkup(Workspace.at(project), {"embeddings.provider": "none"}) as checkup:
        return list(check_clients(checkup))


def test_a_project_gets_a_server_hooks_commands_and_a_skill(project: Path) -> None:
    install(targets(project))
    assert names(project) == {
        ".mcp.json",
        ".claude/settings.local.json",
        ".claude/commands/forget.md",
        ".claude/commands/recall.md",
        ".claude/commands/memlines.md",
        ".claude/commands/remember.md",
        ".claude/skills/memory/SKILL.md",
        ".claude/memlines/.gitignore",
        ".claude/memlines/receipt.json",
    }


def test_the_server_is_started_by_this_python(project: Path) -> None:
    install(targets(project))
    server = loaded(project / ".mcp.json")["mcpServers"]["memlines"]
    assert [server["command"], *server["args"]] == [sys.executable, "-P", "-m", "memlines", "mcp"]
    assert server["env"] == {"MEMLINES_HOME": os.environ["MEMLINES_HOME"]}


def test_every_event_has_one_hook(project: Path) -> None:
    install(targets(project))
    hooks = loaded(project / ".claude/settings.local.json")["hooks"]
    assert list(hooks) == list(EVENTS)
    for event, groups in hooks.items():
        ((hook,),) = [group["hooks"] for group in groups]
        assert hook["command"] == "/bin/sh"
        assert hook["args"][2:8] == [sys.executable, "-I", "-S", str(SCRIPT), "claude-code", event]


@pytest.mark.parametrize("client", ["claude-code", "codex"])
@pytest.mark.parametrize("gone", ["script", "interpreter"])
def test_a_hook_of_which_a_part_is_gone_blocks_nothing(client: str, gone: str, tmp_path: Path) -> None:
    lost = str(tmp_path / "gone")
    missing = str(SCRIPT) if gone == "script" else sys.executable
    words = [lost if word == missing else word for word in hook_words(client, "UserPromptSubmit")]
    assert lost in words
    done = subprocess.run(
        ["sh", "-c", join_words(words)], input=b"{}", capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_hooks_that_an_earlier_version_wrote_are_replaced_and_removed(project: Path) -> None:
    file = project / ".claude/settings.local.json"
    install(targets(project))
    written = loaded(file)
    for (group,) in written["hooks"].values():
        _, _, python, *words = group["hooks"][0]["args"]
        group["hooks"][0] |= {"command": python, "args": words}
    put(file, json.dumps(written))
    assert claude_code.python_of(project) == Path(sys.executable)
    install(targets(project))
    assert [[hook["command"] for hook in group["hooks"]] for (group,) in loaded(file)["hooks"].values()] == [
        ["/bin/sh"]
    ] * len(EVENTS)
    put(file, json.dumps(written))
    uninstall(targets(project))
    assert not file.exists()


def test_the_server_of_the_project_needs_no_further_consent(project: Path) -> None:
    install(targets(project))
    assert loaded(project / ".claude/settings.local.json")["enabledMcpjsonServers"] == ["memlines"]


def test_what_the_user_had_stays(project: Path) -> None:
    put(project / ".mcp.json", SERVERS)
    put(project / ".claude/settings.local.json", SETTINGS)
    install(targets(project))
    assert set(loaded(project / ".mcp.json")["mcpServers"]) == {"other", "memlines"}
    settings = loaded(project / ".claude/settings.local.json")
    assert settings["permissions"] == {"allow": ["Bash(ls)"]}
    assert settings["hooks"]["Stop"][0]["hooks"][0]["command"] == "say done"
    assert len(settings["hooks"]["Stop"]) == 2


@pytest.mark.parametrize("servers", [None, SERVERS, "{}", "{\n}", '{"mcpServers":{}}'])
@pytest.mark.parametrize("settings", [None, SETTINGS, "{}\n", '{"hooks": {"Stop": []}}'])
def test_in_and_out_again_leaves_every_byte(project: Path, servers: str | None, settings: str | None) -> None:
    if servers is not None:
        put(project / ".mcp.json", servers)
    if settings is not None:
        put(project / ".claude/settings.local.json", settings)
    before = tree(project)
    install(targets(project))
    install(targets(project))
    uninstall(targets(project))
    assert tree(project) == before


def test_the_second_time_nothing_is_done(project: Path) -> None:
    put(project / ".mcp.json", SERVERS)
    install(targets(project))
    assert not any(step.changes for step in would_install(targets(project)))


def test_what_the_client_added_since_stays(project: Path) -> None:
    install(targets(project))
    file = project / ".claude/settings.local.json"
    settings = loaded(file)
    settings["permissions"] = {"allow": ["mcp__memlines__memory_search"]}
    file.write_text(json.dumps(settings, indent=2), encoding="utf-8")
    uninstall(targets(project))
    assert loaded(file) == {"permissions": {"allow": ["mcp__memlines__memory_search"]}}
    assert not (project / ".mcp.json").exists()


def test_a_hook_that_was_added_to_our_group_stays(project: Path) -> None:
    install(targets(project))
    file = project / ".claude/settings.local.json"
    settings = loaded(file)
    settings["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "mine"})
    file.write_text(json.dumps(settings), encoding="utf-8")
    uninstall(targets(project))
    assert loaded(file) == {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}


def test_installing_again_after_a_change_keeps_the_change_once(project: Path) -> None:
    install(targets(project))
    file = project / ".claude/settings.local.json"
    settings = loaded(file) | {"model": "sonnet"}
    file.write_text(json.dumps(settings), encoding="utf-8")
    install(targets(project))
    assert loaded(file) == settings
    uninstall(targets(project))
    assert loaded(file) == {"model": "sonnet"}


def test_another_python_takes_the_place_of_the_former(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(project / ".mcp.json", SERVERS)
    before = tree(project)
    monkeypatch.setattr(sys, "executable", "/old/python")
    install(targets(project))
    monkeypatch.undo()
    monkeypatch.setenv("HOME", str(project.parent / "home"))
    install(targets(project))
    server = loaded(project / ".mcp.json")["mcpServers"]["memlines"]
    assert server["command"] == sys.executable
    assert len(loaded(project / ".claude/settings.local.json")["hooks"]["Stop"]) == 1
    uninstall(targets(project))
    assert tree(project) == before


def test_a_server_of_the_same_name_that_is_not_ours_stays(project: Path) -> None:
    own = '{"mcpServers": {"memlines": {"command": "memlines", "args": ["mcp"]}}}'
    put(project / ".mcp.json", own)
    install(targets(project))
    assert (project / ".mcp.json").read_text(encoding="utf-8") == own
    uninstall(targets(project))
    assert (project / ".mcp.json").read_text(encoding="utf-8") == own


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": []}', '{"mcpServers": {}} // a comment'])
def test_a_file_that_cannot_be_added_to_means_that_nothing_is_changed(project: Path, text: str) -> None:
    put(project / ".mcp.json", text)
    before = tree(project)
    with pytest.raises(WriteError, match="nothing was changed"):
        install(targets(project))
    assert tree(project) == before


def test_a_link_is_not_written_through(project: Path, tmp_path: Path) -> None:
    real = put(tmp_path / "elsewhere.json", "{}")
    (project / ".mcp.json").symlink_to(real)
    with pytest.raises(WriteError, match="link"):
        install(targets(project))
    assert real.read_bytes() == b"{}"


def test_the_receipt_holds_nothing_of_the_user(project: Path) -> None:
    put(project / ".mcp.json", SERVERS)
    install(targets(project))
    assert "s3cret" not in (project / ".claude/memlines/receipt.json").read_text(encoding="utf-8")


def test_without_a_receipt_installing_again_does_not_double_it(project: Path) -> None:
    put(project / ".mcp.json", SERVERS)
    install(targets(project))
    first = (project / ".mcp.json").read_bytes()
    (project / ".claude/memlines/receipt.json").unlink()
    install(targets(project))
    assert (project / ".mcp.json").read_bytes() == first
    uninstall(targets(project))
    assert (project / ".mcp.json").read_text(encoding="utf-8") == SERVERS


def test_permissions_of_files_stay(project: Path) -> None:
    file = put(project / ".mcp.json", SERVERS)
    file.chmod(0o600)
    install(targets(project))
    assert file.stat().st_mode & 0o777 == 0o600


# For all projects


def test_the_user_gets_it_beside_the_settings_of_the_client(home: Path) -> None:
    install(targets(None))
    assert set(loaded(home / ".claude.json")) == {"mcpServers"}
    assert set(loaded(home / ".claude/settings.json")) == {"hooks"}
    assert (home / ".claude/commands/recall.md").exists()


def test_the_state_of_the_client_comes_through_unharmed(home: Path) -> None:
    put(home / ".claude.json", '{"numStartups": 3, "projects": {"/x": {"mcpServers": {}}}}')
    put(home / ".claude/settings.json", SETTINGS)
    before = tree(home)
    install(targets(None))
    uninstall(targets(None))
    assert tree(home) == before


def test_what_the_client_wrote_meanwhile_stays(home: Path) -> None:
    put(home / ".claude.json", '{"numStartups": 3}')
    install(targets(None))
    state = loaded(home / ".claude.json") | {"numStartups": 4}
    put(home / ".claude.json", json.dumps(state, indent=2))
    uninstall(targets(None))
    assert loaded(home / ".claude.json") == {"numStartups": 4}


def test_another_folder_for_settings_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    install(targets(None))
    assert "memlines" in loaded(tmp_path / "config" / ".claude.json")["mcpServers"]
    assert (tmp_path / "config" / "settings.json").exists()
    uninstall(targets(None))
    assert not (tmp_path / "config").exists()


# The doctor


def test_the_doctor_is_content_with_it(project: Path) -> None:
    install(targets(project))
    (finding,) = look(project)
    assert (finding.level, "Claude Code in" in finding.message) == ("ok", True)


def test_the_doctor_does_not_mind_other_settings(project: Path) -> None:
    install(targets(project))
    file = project / ".claude/settings.local.json"
    put(file, json.dumps(loaded(file) | {"model": "sonnet"}))
    assert [finding.level for finding in look(project)] == ["ok"]


def test_the_doctor_notices_that_our_part_is_gone(project: Path) -> None:
    install(targets(project))
    put(project / ".mcp.json", "{}")
    assert "our part of .mcp.json" in look(project)[0].message


def test_the_doctor_notices_hooks_that_are_gone(project: Path) -> None:
    install(targets(project))
    put(project / ".claude/settings.local.json", "{}")
    assert any("does not say how to start the engine" in finding.message for finding in look(project))


def test_the_doctor_notices_a_python_that_is_gone(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    install(targets(project))
    assert any("is gone: /no/such/python" in finding.message for finding in look(project))


# What is copied


def test_no_command_runs_a_shell() -> None:
    for page in (integration_folder(claude_code.NAME) / "commands").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert "!`" not in text
        assert "Bash" not in text


def test_no_command_takes_the_name_of_one_of_the_clients_own() -> None:
    folder = integration_folder(claude_code.NAME)
    assert {page.stem for page in (folder / "commands").glob("*.md")} == {
        "memlines",
        "remember",
        "recall",
        "forget",
    }
    assert "user-invocable: false" in (folder / "skills/memory/SKILL.md").read_text(encoding="utf-8")


def test_only_tools_and_words_that_exist_are_named() -> None:
    folder = integration_folder(claude_code.NAME)
    for page in folder.rglob("*.md"):
        assert set(re.findall(r"memory_[a-z]+", page.read_text(encoding="utf-8"))) <= set(TOOLS)
    hint = (folder / "commands/memlines.md").read_text(encoding="utf-8").split("argument-hint: ")[1]
    assert set(hint.split("\n")[0].strip('"').split(" | ")) == set(VERBS)
