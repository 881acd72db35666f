"""A SQLite that loads no extensions is enough, as macOS and some distributions build it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.memories import write
from tests.programs import environment

NO_EXTENSIONS = """\
import apsw
class Plain(apsw.Connection):
    def __getattribute__(self, name):
        if "load_extension" in name:
            raise AttributeError(name)
        return super().__getattribute__(name)
apsw.Connection = Plain
from memlines.cli.start import main
main()
"""


def search(workspace: Path, **variables: str) -> tuple[int, str, str]:
    """Search as on such a system; return the exit code, the output and the complaints."""
    words = [sys.executable, "-c", NO_EXTENSIONS, "search", "-w", str(workspace), "port"]
    done = subprocess.run(words, env=environment(variables), capture_output=True, check=False, timeout=100)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_vectors_need_no_extension(workspace: Path) -> None:
    write(workspace, {"db.md": "# Database\n\nPostgres listens on port 5433.\n"})
    code, out, err = search(workspace, MEMLINES_EMBEDDINGS__PROVIDER="builtin")
    assert (code, err) == (0, "")
    assert "port 5433" in out


def test_asking_for_one_names_the_way_out(workspace: Path) -> None:
    write(workspace, {"db.md": "# Database\n\nPostgres listens on port 5433.\n"})
    variables = {"MEMLINES_EMBEDDINGS__PROVIDER": "builtin", "MEMLINES_STORE__VECTOR__ENGINE": "sqlite-vec"}
    _, out, err = search(workspace, **variables)
    assert "Traceback" not in err
    assert "this build of SQLite loads no extensions" in out + err
    assert "store.vector.engine" in out + err
