"""The doctor looks at what was installed into clients, and runs no program that a project brought."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from memlines import __version__
from memlines.admin.doctor.clients import check_clients
from memlines.admin.doctor.findings import Checkup, Finding
from memlines.clients import codex
from memlines.clients.apply import install, uninstall
from memlines.clients.client import load_clients
from memlines.clients.receipt import receipt_file
from memlines.errors import WriteError
from memlines.paths import Workspace
from tests.clients.places import Place, write
from tests.programs import Cli


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / "config"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    install(made.targets)
    return made


def look(place: Place) -> list[Finding]:
    with Checkup(Workspace.at(place.project), {"embeddings.provider": "none"}) as checkup:
        return list(check_clients(checkup))


def only(place: Place) -> Finding:
    (finding,) = look(place)
    return finding


def start_with(place: Place, python: Path) -> None:
    """Let the engine be started by another program, as if it had been installed so."""
    write(place.folder, {"memlines/command.json": json.dumps({"command": [str(python)]})})


def program(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def engine(place: Place) -> list[str]:
    """Return what is said beside that the file was changed."""
    return [finding.message for finding in look(place) if "changed since" not in finding.message]


def test_an_installation_that_is_well(place: Place) -> None:
    assert only(place).level == "ok"


def test_no_installation_is_nothing_wrong(place: Place) -> None:
    uninstall(place.targets)
    assert only(place).message.startswith("not installed in a client")


def test_a_global_installation_is_looked_at_too(place: Place) -> None:
    uninstall(place.targets)
    install(place.everywhere)
    assert str(place.everywhere[0].folder) in only(place).message


def test_a_missing_file_is_a_problem(place: Place) -> None:
    (place.folder / "plugins/memlines.js").unlink()
    assert (only(place).level, only(place).todo) == ("problem", "Run 'memlines install opencode --project'")


def test_a_changed_file_is_a_warning(place: Place) -> None:
    write(place.folder, {"commands/memory.md": "mine\n"})
    assert only(place).level == "warning"
    assert "commands/memory.md" in only(place).message


def test_a_file_that_became_a_link_is_a_warning(place: Place) -> None:
    (place.folder / "commands/memory.md").unlink()
    (place.folder / "commands/memory.md").symlink_to(place.source / "commands/memory.md")
    assert only(place).level == "warning"


def test_an_installation_of_another_version_is_a_warning(place: Place) -> None:
    told = json.loads(receipt_file(place.folder).read_bytes()) | {"version": "0.0.1"}
    receipt_file(place.folder).write_text(json.dumps(told), encoding="utf-8")
    assert f"is of Memlines 0.0.1, and this is {__version__}" in only(place).message


def test_a_python_that_is_gone_is_a_problem(place: Place, tmp_path: Path) -> None:
    start_with(place, tmp_path / "gone" / "python")
    assert engine(place) == [f"the Python of the engine is gone: {tmp_path}/gone/python"]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"command": []}', '{"command": 3}', '{"command": [3]}'])
def test_a_command_that_cannot_be_read_is_a_problem(place: Place, text: str) -> None:
    write(place.folder, {"memlines/command.json": text})
    assert "does not say how to start the engine" in engine(place)[0]


def test_a_python_without_memlines_is_a_problem(place: Place, tmp_path: Path) -> None:
    start_with(place, program(tmp_path / "python3", "#!/bin/sh\necho no memlines >&2\nexit 1\n"))
    assert engine(place) == [f"{tmp_path}/python3 has no Memlines to run: no memlines"]


def test_a_python_with_another_memlines_is_a_warning(place: Place, tmp_path: Path) -> None:
    start_with(place, program(tmp_path / "python3", "#!/bin/sh\necho 9.9.9\n"))
    assert engine(place) == [f"{tmp_path}/python3 runs Memlines 9.9.9, and this is {__version__}"]


def test_a_python_that_cannot_be_started_is_a_problem(place: Place, tmp_path: Path) -> None:
    start_with(place, program(tmp_path / "python3", "no program\n"))
    assert "cannot be started" in engine(place)[0]


def test_a_python_that_does_not_answer_is_a_problem(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memlines.admin.doctor.clients._SECONDS", 0.1)
    start_with(place, program(tmp_path / "python3", "#!/bin/sh\nexec /bin/sleep 30\n"))
    assert "did not answer" in engine(place)[0]


def test_the_python_that_is_running_is_asked(place: Place) -> None:
    start_with(place, Path(sys.executable))
    assert engine(place) == []


@pytest.mark.parametrize("name", ["python3", "sh"])
def test_a_program_that_the_project_brings_is_not_run(place: Place, name: str) -> None:
    start_with(place, program(place.project / name, '#!/bin/sh\ntouch "$0.ran"\n'))
    look(place)
    assert not (place.project / f"{name}.ran").exists()


def test_a_program_that_is_no_python_is_not_run(place: Place, tmp_path: Path) -> None:
    start_with(place, program(tmp_path / "rm", '#!/bin/sh\ntouch "$0.ran"\n'))
    look(place)
    assert not (tmp_path / "rm.ran").exists()


def test_a_link_to_a_program_of_the_project_is_not_run(place: Place, tmp_path: Path) -> None:
    brought = program(place.project / "python3", f'#!/bin/sh\ntouch "{place.project}/ran"\n')
    (tmp_path / "python3").symlink_to(brought)
    start_with(place, tmp_path / "python3")
    look(place)
    assert not (place.project / "ran").exists()


@pytest.mark.parametrize("version", ["1.18.33", "2.0.32"])
def test_the_version_of_opencode_is_named(place: Place, tmp_path: Path, version: str) -> None:
    found = program(tmp_path / "bin/opencode", f"#!/bin/sh\necho {version}\n")
    assert [finding.message for finding in look(place)][1:] == [f"OpenCode {version}: {found}"]


def test_the_version_is_named_where_something_is_wrong_too(place: Place, tmp_path: Path) -> None:
    program(tmp_path / "bin/opencode", "#!/bin/sh\necho 2.0.32\n")
    (place.folder / "plugins/memlines.js").unlink()
    assert [finding.level for finding in look(place)] == ["problem", "ok"]


def test_an_opencode_that_cannot_be_started_is_a_warning(place: Place, tmp_path: Path) -> None:
    program(tmp_path / "bin/opencode", "#!/nowhere/node\n")
    assert "does not say its version" in look(place)[1].message


def test_an_opencode_that_the_project_brings_is_not_run(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place.project / "bin").mkdir()
    program(place.project / "bin/opencode", "#!/bin/sh\ntouch was-run; echo 2.0.32\n")
    monkeypatch.setenv("PATH", str(place.project / "bin"))
    assert only(place).level == "ok"


def test_a_plugin_from_before_opencode_2_is_a_warning(place: Place) -> None:
    write(place.folder, {"memlines/plugin.js": 'export default { id: "memlines", server }\n'})
    (warned,) = [finding for finding in look(place) if "OpenCode 2" in finding.message]
    assert warned.todo == "Run 'memlines install opencode --project'"


def test_waiting_for_npm_is_a_warning(place: Place) -> None:
    (place.folder / ".npmrc").unlink()
    assert any("waits for npm" in finding.message for finding in look(place))


@pytest.fixture
def in_codex(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Only Codex, for a project that nobody trusts yet."""
    uninstall(place.targets)
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "home" / "codex"))
    install(codex.targets(place.project))
    return place


def trust(place: Place) -> None:
    write(codex.global_folder(), {"config.toml": f'[projects."{place.project}"]\ntrust_level = "trusted"\n'})


def test_a_project_that_codex_does_not_trust_is_a_warning(in_codex: Place) -> None:
    assert any("trust the project" in finding.todo for finding in look(in_codex))


def test_hooks_that_codex_does_not_trust_are_a_warning(in_codex: Place) -> None:
    trust(in_codex)
    assert (only(in_codex).level, only(in_codex).todo) == ("warning", "Type /hooks in codex, and trust them")


def test_a_receipt_that_cannot_be_read_is_said(place: Place) -> None:
    receipt_file(place.folder).write_text("{", encoding="utf-8")
    with pytest.raises(WriteError, match="receipt"):
        look(place)


def test_what_is_for_all_projects_is_not_looked_at_as_that_of_the_home(
    in_codex: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    uninstall(codex.targets(in_codex.project))
    monkeypatch.setenv("HOME", str(in_codex.project))
    monkeypatch.delenv("CODEX_HOME")
    install(codex.targets(None))
    assert [finding.todo for finding in look(in_codex) if "--project" in finding.todo] == []
    assert all("missing" not in finding.message for finding in look(in_codex))


# Plugins

ENABLED = {
    "claude-code": (".claude/settings.json", '{"enabledPlugins": {"memlines@memlines": true}}'),
    "codex": (".codex/config.toml", '[plugins."memlines@memlines"]\nenabled = true\n'),
}
by_client = pytest.mark.parametrize("client", ENABLED)


@pytest.fixture
def plugged(tmp_path: Path, client: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose user has the plugin of a client."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(variable, raising=False)
    file, text = ENABLED[client]
    write(tmp_path, {f"home/{file}": text, "shop/MEMORY.md": ""})
    return tmp_path / "shop"


@by_client
def test_a_plugin_is_named(client: str, plugged: Path, cli: Cli) -> None:
    assert "ok       clients    memlines runs as a plugin of" in cli("doctor", "-w", plugged).out


@by_client
def test_a_plugin_beside_an_installation_is_a_warning(client: str, plugged: Path, cli: Cli) -> None:
    assert "everything would run twice" in cli("install", client, "-w", plugged).out
    assert "runs Memlines twice" in cli("doctor", "-w", plugged).out


def test_a_plugin_that_is_switched_off_for_the_project_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    on, off = (json.dumps({"enabledPlugins": {"memlines@memlines": is_on}}) for is_on in (True, False))
    write(tmp_path, {"home/.claude/settings.json": on, "shop/.claude/settings.local.json": off})
    assert load_clients()["claude-code"].plugin_file(tmp_path / "shop") is None
