"""What the project's first name, Recollect, installed into clients is recognised, replaced and removed."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from memlines.clients.apply import install, uninstall
from memlines.clients.client import load_clients
from memlines.clients.receipt import read_receipt
from tests.admin.doctor import look
from tests.clients.places import tree, write

CLIENTS = load_clients()
WORDS = {b"memlines": b"recollect", b"Memlines": b"Recollect", b"MEMLINES": b"RECOLLECT"}
USERS = {
    "AGENTS.md": "# Rules\n\nBe kind.\n",
    ".codex/config.toml": '[mcp_servers.other]\ncommand = "x"\n',
    ".mcp.json": '{"mcpServers": {"other": {"command": "x", "args": []}}}\n',
    ".claude/settings.local.json": '{"hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}}\n',
}


def old(text: bytes) -> bytes:
    """Return what the old version wrote in the place of something."""
    python = sys.executable.encode()
    text = text.replace(python, b"<python>").replace(b"memlines/serve/hooks", b"recollect/hooks")
    for new, former in WORDS.items():
        text = text.replace(new, former)
    return text.replace(b"<python>", python)


def make_old(top: Path, home: Path) -> None:
    """Turn an installation into the one that the old version would have made."""
    receipt_file = next(top.glob(f"{home}/receipt.json"))
    receipt = json.loads(receipt_file.read_bytes())
    files = {}
    for path, entry in receipt["files"].items():
        file, content = top / path, (top / path).read_bytes()
        renamed = top / old(path.encode()).decode()
        if entry.get("edited"):
            pieces, cuts, at, length = [], [], 0, 0
            for begin, end in entry["edited"]["cuts"]:
                ours = old(content[begin:end])
                pieces += [content[at:begin], ours]
                length += begin - at + len(ours)
                cuts.append([length - len(ours), length])
                at = end
            content = b"".join([*pieces, content[at:]])
            entry["edited"]["cuts"] = cuts
        else:
            content = old(content)
        file.unlink()
        renamed.parent.mkdir(parents=True, exist_ok=True)
        renamed.write_bytes(content)
        files[old(path.encode()).decode()] = {**entry, "sha256": hashlib.sha256(content).hexdigest()}
    manifest = "recollect/manifest.json"
    if manifest in files:
        told = json.loads((top / manifest).read_bytes())
        told["files"] = {path: files[path]["sha256"] for path in told["files"]}
        content = json.dumps(told).encode()
        (top / manifest).write_bytes(content)
        files[manifest]["sha256"] = hashlib.sha256(content).hexdigest()
    receipt |= {"files": files, "folders": [old(folder.encode()).decode() for folder in receipt["folders"]]}
    receipt_file.unlink()
    receipt_file.parent.rmdir()
    renamed = receipt_file.parent.with_name("recollect") / "receipt.json"
    renamed.parent.mkdir(exist_ok=True)
    renamed.write_text(json.dumps(receipt), encoding="utf-8")


class OldInstall:
    """A project into which the old version installed a client."""

    def __init__(self, project: Path, client: str) -> None:
        self.project = write(project, USERS)
        self.client = client
        self.before = tree(project)
        install(self.targets)
        for target in self.targets:
            make_old(target.folder, Path(target.home))

    @property
    def targets(self) -> Any:
        return CLIENTS[self.client].targets(self.project)

    def left(self) -> list[str]:
        """Return the paths and files that still bear the old name."""
        found = tree(self.project)
        return [path for path, (_, held) in found.items() if "recollect" in path or "ecollect" in str(held)]


@pytest.fixture(params=sorted(CLIENTS))
def made(request: pytest.FixtureRequest, tmp_path: Path) -> OldInstall:
    return OldInstall(tmp_path / "project", request.param)


def test_it_is_known_as_an_installation(made: OldInstall) -> None:
    assert made.left()
    receipt = read_receipt(CLIENTS[made.client].folder_of(made.project))
    assert receipt is not None
    assert receipt.is_installed()
    assert CLIENTS[made.client].python_of(made.project) == Path(sys.executable)


def test_doctor_names_the_installation_that_replaces_it(made: OldInstall) -> None:
    (made.project / "MEMORY.md").touch()
    found = [finding for finding in look(made.project).findings if "old name, Recollect" in finding.message]

    assert [finding.todo for finding in found] == [f"Run 'memlines install {made.client} --project'"]


def test_installing_replaces_it(made: OldInstall) -> None:
    install(made.targets)

    assert [path for path in made.left() if not path.endswith("memlines/registry.js")] == []
    assert read_receipt(CLIENTS[made.client].folder_of(made.project)) is not None
    assert not any(step.changes for step in install(made.targets))


def test_after_it_was_replaced_uninstalling_leaves_what_was_there_before(made: OldInstall) -> None:
    install(made.targets)
    uninstall(made.targets)

    assert tree(made.project) == made.before


def test_uninstalling_removes_it(made: OldInstall) -> None:
    uninstall(made.targets)

    assert tree(made.project) == made.before


def test_what_a_user_wrote_since_stays(made: OldInstall) -> None:
    for name in ("AGENTS.md", ".codex/config.toml"):
        file = made.project / name
        file.write_text(file.read_text(encoding="utf-8") + "\n# mine\n", encoding="utf-8")
    install(made.targets)

    assert [path for path in made.left() if not path.endswith("memlines/registry.js")] == []
    assert "# mine" in (made.project / "AGENTS.md").read_text(encoding="utf-8")
    assert "# mine" in (made.project / ".codex/config.toml").read_text(encoding="utf-8")


def test_an_installation_that_was_stopped_between_the_names_can_be_finished(made: OldInstall) -> None:
    folder = CLIENTS[made.client].folder_of(made.project)
    receipt = (folder / "recollect" / "receipt.json").read_bytes()
    install(made.targets)
    (folder / "recollect").mkdir()
    (folder / "recollect" / "receipt.json").write_bytes(receipt)
    install(made.targets)

    assert not (folder / "recollect" / "receipt.json").exists()


def test_what_a_clone_brought_by_the_old_name_is_replaced(tmp_path: Path) -> None:
    made = OldInstall(tmp_path / "project", "opencode")
    for name in ("receipt.json", "command.json"):  # git ignores them
        (made.project / ".opencode" / "recollect" / name).unlink()
    install(made.targets)

    assert not (made.project / ".opencode" / "plugins" / "recollect.js").exists()
    assert (made.project / ".opencode" / "plugins" / "memlines.js").exists()
