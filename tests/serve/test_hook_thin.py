"""The command of a hook: what it prints, and that whatever happens it harms no client."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import pytest

from memlines.paths import user_state_dir
from memlines.serve.hooks import thin
from memlines.version import __version__
from tests.serve.hooks import NOTES, Hooks, socket_of
from tests.waiting import eventually

HEAVY = {
    "json",
    "re",
    "socket",
    "pathlib",
    "hashlib",
    "typing",
    "subprocess",
    "selectors",
    "enum",
    "tempfile",
}


@pytest.fixture
def hooks(tmp_path: Path) -> Iterator[Hooks]:
    made = Hooks(tmp_path / "shop", Path(os.environ["MEMLINES_HOME"]) / "hooks")
    yield made
    made.close()


@contextmanager
def listening(hooks: Hooks, answer: bytes | None) -> Iterator[list[bytes]]:
    """Be an engine that answers every request with the same line, or never."""
    place = Path(socket_of(hooks))
    place.parent.mkdir(parents=True, mode=0o700)
    asked: list[bytes] = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(place))
        listener.listen()

        def serve() -> None:
            with listener.accept()[0] as connection:
                asked.append(connection.makefile("rb").readline())
                if answer is not None:
                    connection.sendall(answer)
                connection.recv(1)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield asked
        thread.join(30)


def test_a_session_starts_with_what_the_memory_holds(hooks: Hooks) -> None:
    assert "port 5433" in hooks.run("SessionStart", source="startup")


def test_a_prompt_about_the_past_brings_what_is_known(hooks: Hooks) -> None:
    asked = "Which port did we choose for the staging database?"
    eventually(lambda: "MEMORY.md#L" in hooks.run("UserPromptSubmit", prompt=asked, session_id="two"))


def test_small_talk_brings_nothing(hooks: Hooks) -> None:
    hooks.run("SessionStart")
    assert hooks.run("UserPromptSubmit", prompt="Please rename this function.") == ""


def test_a_folder_without_a_memory_is_left_alone(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path / "plain", Path(os.environ["MEMLINES_HOME"]) / "hooks", notes="")
    for event in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd", "PreCompact"):
        assert hooks.run(event, prompt="What did we decide yesterday?") == ""
    assert not hooks.home.exists()
    assert list(hooks.folder.iterdir()) == []


def test_a_folder_inside_a_workspace_belongs_to_it(hooks: Hooks) -> None:
    (hooks.folder / "src").mkdir()
    below = Hooks(hooks.folder / "src", hooks.home, notes="")
    assert "port 5433" in below.run("SessionStart")
    assert hooks.engine() is not None


def test_the_folder_that_the_client_was_started_in_counts(hooks: Hooks, tmp_path: Path) -> None:
    elsewhere = Hooks(tmp_path / "elsewhere", hooks.home, notes="")
    done = elsewhere.run_raw("SessionStart", b"{}", CLAUDE_PROJECT_DIR=str(hooks.folder))
    assert b"port 5433" in done.stdout


@pytest.mark.parametrize(
    "said", [b"", b"no JSON", b"[1]", b'{"session_id": 5}', b"\xff\xfe", b'{"prompt": null}']
)
def test_whatever_the_client_says_the_hook_ends_well(hooks: Hooks, said: bytes) -> None:
    done = hooks.run_raw("UserPromptSubmit", said)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("event", ["", "No Such;Event", "Unknown"])
def test_an_event_that_is_not_known_ends_well(hooks: Hooks, event: str) -> None:
    done = hooks.run_raw(event, b"{}")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_json_over_several_lines_is_understood(hooks: Hooks) -> None:
    done = hooks.run_raw("SessionStart", b'{\r\n  "session_id": "one"\n}\n')
    assert b"port 5433" in done.stdout


def test_an_engine_that_does_not_answer_is_not_waited_for(hooks: Hooks) -> None:
    with listening(hooks, None) as asked:
        assert hooks.run("UserPromptSubmit", prompt="hello") == ""
    assert json.loads(asked[0])["params"]["input"]["prompt"] == "hello"
    assert "did not answer in time" in hooks.log


def test_the_engine_is_told_until_when_it_is_waited_for(hooks: Hooks) -> None:
    with listening(hooks, b'{"jsonrpc":"2.0","id":1,"result":{}}\n') as asked:
        before = monotonic()
        hooks.run("UserPromptSubmit", prompt="hello")
    waits = json.loads(asked[0])["params"]["deadline_ms"] / 1000 - before
    assert 0 < waits < 60


def test_a_prompt_that_starts_the_engine_is_answered(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thin, "START_LIMIT", 60.0)  # the machine may be busy
    monkeypatch.setenv("MEMLINES_HOME", str(hooks.home))
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")
    said = b'{"session_id": "one", "prompt": "Which port did we choose for the staging database?"}'
    event, root = "UserPromptSubmit", str(hooks.folder.resolve())
    answer = thin._ask_until(root, "claude-code", event, said, monotonic(), thin.LIMITS[event])
    assert b"port 5433" in answer


def test_an_engine_that_refuses_is_noted(hooks: Hooks) -> None:
    with listening(hooks, b'{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"oh"}}\n'):
        assert hooks.run("Stop") == ""
    assert "the engine refused" in hooks.log


def test_what_the_engine_answers_is_printed_as_it_comes(hooks: Hooks) -> None:
    answer = '{"hookSpecificOutput":{"x":"東京 🚢"}}'
    with listening(hooks, b'{"jsonrpc":"2.0","id":1,"result":' + answer.encode() + b"}\n"):
        assert hooks.run_raw("Stop", b"{}").stdout.decode() == answer + "\n"


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o755])
def test_a_folder_that_others_may_enter_is_not_trusted(
    hooks: Hooks, mode: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLINES_HOME", str(hooks.home))
    root = str(hooks.folder.resolve())
    folder = Path(thin.socket_file(root)).parent
    folder.mkdir(parents=True)
    folder.chmod(mode)
    with pytest.raises(FileNotFoundError):
        thin.ask(root, b"{}", monotonic() + 10)


def test_a_home_that_cannot_be_used_harms_nobody(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file", encoding="utf-8")
    hooks = Hooks(tmp_path / "shop", tmp_path / "home")
    done = hooks.run_raw("UserPromptSubmit", b'{"prompt": "hello"}')
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_home_can_be_named_as_the_third_word(hooks: Hooks, tmp_path: Path) -> None:
    variables = hooks.variables()
    del variables["MEMLINES_HOME"]
    words = [*hooks.words("SessionStart"), str(hooks.home)]
    done = subprocess.run(
        words, cwd=hooks.folder, env=variables, input=b"{}", capture_output=True, check=True
    )
    assert b"port 5433" in done.stdout
    assert hooks.engine() is not None


def test_a_long_home_gets_a_short_socket(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path / "shop", tmp_path / ("long" * 30))
    try:
        assert "port 5433" in hooks.run("SessionStart")
        assert len(str(hooks.socket)) <= thin.LONGEST_SOCKET
    finally:
        hooks.close()


def test_the_log_does_not_grow_without_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMLINES_HOME", str(tmp_path))
    for number in range(3000):
        thin.log("Stop", f"{number} " + "x" * 100)
    assert sum(file.stat().st_size for file in (tmp_path / "state").iterdir()) < 200_000
    assert " 2999 " in (tmp_path / "state" / "hooks.log").read_text(encoding="utf-8")


def test_next_to_nothing_is_imported(hooks: Hooks) -> None:
    hooks.run("SessionStart")
    look = (
        f"import sys; sys.path.insert(0, {str(Path(thin.__file__).parent)!r}); import thin;"
        " thin.main(['claude-code', 'Stop']); print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", look],
        cwd=hooks.folder,
        env=hooks.variables(),
        input=b"{}",
        capture_output=True,
        check=True,
    )
    assert not HEAVY & set(done.stdout.decode().split())


def test_a_module_of_the_project_is_not_imported(hooks: Hooks) -> None:
    (hooks.folder / "select.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    assert "port 5433" in hooks.run("SessionStart")


def test_the_version_is_that_of_the_package() -> None:
    assert thin.version() == __version__


@pytest.mark.parametrize(
    "variables", [{"MEMLINES_HOME": "/x/y"}, {"XDG_STATE_HOME": "/x/state"}, {"HOME": "/h"}]
)
def test_the_state_is_where_the_rest_of_memlines_keeps_it(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MEMLINES_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert thin.state_folder() == str(user_state_dir())


def test_a_shell_between_the_client_and_the_hook_is_skipped(hooks: Hooks) -> None:
    look = (
        f"import sys; sys.path.insert(0, {str(Path(thin.__file__).parent)!r}); import thin;"
        " print(thin.client_process())"
    )
    words = ["bash", "-c", '"$0" -I -S -c "$1"; true', sys.executable, look]
    done = subprocess.run(words, capture_output=True, check=True)
    assert int(done.stdout) == os.getpid()


def test_notes_without_a_mark_make_a_workspace_too(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path / "shop", Path(os.environ["MEMLINES_HOME"]) / "hooks", notes="")
    (hooks.folder / "memory").mkdir()
    (hooks.folder / "memory" / "people.md").write_text(NOTES, encoding="utf-8")
    assert thin.workspace_of(str(hooks.folder)) == str(hooks.folder.resolve())
