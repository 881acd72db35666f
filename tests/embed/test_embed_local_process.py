"""What the provider `local` does to its process: nothing before the first text, and no harm at the end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("gguf")
pytest.importorskip("xllamacpp")

from tests.embed.gguf import MEAN

_BEGIN = """
import os, signal, sys, threading, time
from pathlib import Path
from memlines.embed.local.provider import LocalProvider
from memlines.settings.tree import Embeddings, Local

def provider():
    return LocalProvider(Embeddings(local=Local(model_path=sys.argv[1], threads=1)))

"""


def test_nothing_heavy_is_loaded_before_the_first_text(model: Path) -> None:
    done = _run(model, "p = provider(); p.key, p.limits; print({'xllamacpp', 'numpy'} & set(sys.modules))")
    assert done.stdout == "set()\n"


def test_a_process_that_never_embeds_ends_well(model: Path) -> None:
    assert _run(model, "p = provider()").returncode == 0


@pytest.mark.parametrize(
    "code",
    [
        "p = provider(); p.embed_query('a')",
        "provider().embed_query('a')",
        "p = provider(); p.embed_documents(['a', 'b']); p.again = p",
        "p = provider(); threading.Thread(target=p.embed_documents, args=[['a'] * 500]).start()",
        "p = provider(); q = provider(); p.embed_query('a'); q.embed_query('a')",
        "p = provider(); p.embed_query('a'); sys.exit(0)",
    ],
    ids=["held", "dropped", "in a cycle", "in a thread", "shared", "by exit"],
)
def test_a_process_that_embeds_ends_well(model: Path, code: str) -> None:
    done = _run(model, code)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_process_that_ends_while_a_thread_embeds_ends_well(model: Path) -> None:
    code = """
p = provider()
p.embed_query('a')
threading.Thread(target=p.embed_documents, args=(['a b c ' * 15] * 100_000,), daemon=True).start()
time.sleep(0.3)
"""
    assert _run(model, code).returncode == 0


@pytest.mark.promise("P12")
def test_a_process_whose_model_hangs_ends(model: Path) -> None:
    code = """
from memlines.embed.local import engine
engine._CLOSING_SECONDS = 0.1
p = provider()
p.embed_query('a')
p._engine._busy.acquire()  # as a text would that never comes back
print('ends')
"""
    done = _run(model, code)
    assert (done.returncode, done.stdout) == (0, "ends\n")


def test_llama_cpp_writes_nothing(model: Path) -> None:
    done = _run(model, "provider().embed_query('a')")
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.promise("P12")
def test_the_socket_of_the_server_is_gone(model: Path) -> None:
    code = """
import tempfile
p = provider()
with tempfile.TemporaryDirectory() as folder:
    tempfile.tempdir = folder
    p.embed_query('a')
    print(list(Path(folder).iterdir()))
"""
    assert _run(model, code).stdout == "[]\n"


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs /proc")
def test_no_port_is_opened(model: Path) -> None:
    code = """
p = provider()
p.embed_query('a')
links = [file for file in Path('/proc/self/fd').iterdir() if file.is_symlink()]
own = {os.readlink(file) for file in links}
lines = [line for name in ('tcp', 'tcp6') for line in Path('/proc/net', name).read_text('utf-8').splitlines()]
print([line for line in lines if f'socket:[{line.split()[9]}]' in own])
"""
    assert _run(model, code).stdout == "[]\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_an_interrupt_still_reaches_python(model: Path) -> None:
    code = """
p = provider()
p.embed_query('a')
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(5)
except KeyboardInterrupt:
    print('interrupted')
"""
    assert _run(model, code).stdout == "interrupted\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_says_that_it_cannot_embed(model: Path) -> None:
    code = """
from memlines.errors import EmbeddingError
p = provider()
p.embed_query('a b c')
child = os.fork()
if child == 0:
    try:
        p.embed_query('a b c')
    except EmbeddingError:
        os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), p.embed_query('a b c').shape)
"""
    assert _run(model, code).stdout == "7 (32,)\n"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return MEAN.write(tmp_path / "tiny.gguf")


def _run(model: Path, code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-X", "warn_default_encoding", "-c", _BEGIN + code, str(model)]
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60)
