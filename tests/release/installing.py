"""Build the wheel, and install it as people do, without the source and without a network.

What the wheel depends on is packed into wheels again from the environment that runs the tests. The installer
finds nothing but this folder of wheels, so what the wheel's metadata forgets is missing in what it installs.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 300
"""Seconds that a program may take; the machine may be busy."""
PROTOCOL = "2025-06-18"

_SCRIPTS = "Scripts" if os.name == "nt" else "bin"
_OURS = ("PYTHON", "MEMLINES_", "RECOLLECT_", "UV_", "PIP_", "PIPX_", "VIRTUAL_ENV", "XDG_", "COVERAGE")
_NOT_PACKED = {"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"}


def build(folder: Path) -> None:
    """Build the sdist and the wheel into a folder, with the backend that pyproject.toml names."""
    pytest.importorskip("hatchling")
    hatch(ROOT, folder)


def hatch(source: Path, folder: Path, *options: str) -> None:
    """Have hatchling build a source folder."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder), *options]
    done = subprocess.run(command, cwd=source, capture_output=True, check=False, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr


def requirements_of(wheel: Path) -> list[Requirement]:
    """Return what the metadata of a wheel requires, with the conditions."""
    (about,) = metadata.Distribution.discover(name="memlines", path=[str(wheel)])
    return [Requirement(line) for line in about.requires or ()]


def closure(wanted: Sequence[Requirement], extras: Sequence[str] = ()) -> set[str]:
    """Return the names of what must be installed for some requirements, found in this environment."""
    found: set[tuple[str, str]] = set()
    waiting = [(one, extra) for one in wanted for extra in ("", *extras)]
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        for inner in {"", *requirement.extras}:
            if (name, inner) not in found:
                found.add((name, inner))
                needed = metadata.requires(name) or () if name != "memlines" else ()
                waiting += [(Requirement(line), inner) for line in needed]
    return {name for name, _ in found}


def pack(name: str, folder: Path) -> None:
    """Make a wheel of a distribution that is installed in this environment."""
    about = metadata.distribution(name)
    files = [file for file in about.files or () if file.parts[0] != ".." and file.suffix != ".pyc"]
    marks = next((file for file in files if file.name == "WHEEL"), None)
    if marks is None:
        pytest.skip(f"{name} was not installed from a wheel, so it cannot be packed into one")
    lines = marks.read_text(encoding="utf-8").splitlines()
    tags = [line.removeprefix("Tag: ").split("-") for line in lines if line.startswith("Tag: ")]
    tag = "-".join(".".join(sorted(set(part))) for part in zip(*tags, strict=True))
    info = marks.parent.as_posix()
    with ZipFile(folder / f"{info.removesuffix('.dist-info')}-{tag}.whl", "w") as archive:
        kept = [file for file in files if not (file.parent == marks.parent and file.name in _NOT_PACKED)]
        for file in kept:
            archive.write(str(file.locate()), file.as_posix())
        record = [*(file.as_posix() for file in kept), f"{info}/RECORD"]
        archive.writestr(f"{info}/RECORD", "".join(f"{path},,\n" for path in record))


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine with Python and uv, a home of its own, no network, and a folder of wheels as the registry."""

    home: Path
    wheels: Path

    @property
    def wheel(self) -> Path:
        """The wheel of Memlines."""
        (found,) = self.wheels.glob("memlines-*.whl")
        return found

    def uv(self, *arguments: str | Path, **more: Any) -> subprocess.CompletedProcess[str]:
        """Run uv, which must succeed."""
        uv = pytest.importorskip("uv").find_uv_bin()
        done = self.run([uv, *arguments], **more)
        assert done.returncode == 0, f"{done.args}: {done.stderr}"
        return done

    def run(
        self,
        command: Sequence[str | Path],
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        **more: Any,
    ) -> subprocess.CompletedProcess[str]:
        """Run a program in a folder that has nothing to do with the source."""
        return subprocess.run(
            [str(part) for part in command],
            cwd=cwd or self.home,
            env={**self.variables(), **(env or {})},
            timeout=TIMEOUT,
            check=False,
            encoding="utf-8",
            **({"capture_output": True, "stdin": None if "input" in more else subprocess.DEVNULL} | more),
        )

    def variables(self) -> dict[str, str]:
        """Return the environment: none of what the tests run with, and a registry without a network."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
        return kept | {
            **dict.fromkeys(("HOME", "USERPROFILE"), str(self.home)),
            "MEMLINES_HOME": str(self.home / "memlines"),
            "UV_CACHE_DIR": str(self.home / "uv"),
            "UV_FIND_LINKS": str(self.wheels),
            "UV_NO_CONFIG": "1",
            "UV_NO_INDEX": "1",
            "UV_OFFLINE": "1",
            "UV_PYTHON": sys.executable,
            "UV_PYTHON_DOWNLOADS": "never",
            "UV_TOOL_BIN_DIR": str(self.home / "bin"),
            "UV_TOOL_DIR": str(self.home / "tools"),
        }

    def install(self, name: str, *what: str | Path) -> Installation:
        """Install packages from the folder of wheels into a new environment."""
        place = self.home / name
        self.uv("venv", "--quiet", place)
        environment = Installation(self, place)
        self.uv("pip", "install", "--quiet", "--python", environment.python, *what)
        return environment


@dataclass(frozen=True, slots=True)
class Installation:
    """An environment that Memlines was installed in."""

    machine: Machine
    folder: Path

    @property
    def python(self) -> Path:
        """The interpreter."""
        return self.script("python")

    @property
    def packages(self) -> Path:
        """The folder that the packages are in."""
        done = self.machine.run([self.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"])
        return Path(done.stdout.strip())

    def script(self, name: str) -> Path:
        """Return a command of a package."""
        return self.folder / _SCRIPTS / name

    def __call__(
        self, *arguments: str | Path, name: str = "memlines", **more: Any
    ) -> subprocess.CompletedProcess[str]:
        """Run a command, of Memlines if no other is named."""
        return self.machine.run([self.script(name), *arguments], **more)

    def ok(self, *arguments: str | Path, **more: Any) -> str:
        """Run a command, which must succeed; return what it printed."""
        done = self(*arguments, **more)
        assert done.returncode == 0, f"{done.args}: {done.stderr}"
        return done.stdout


def lines_of(*requests: tuple[str, Mapping[str, Any]]) -> str:
    """Return requests as a program that speaks JSON-RPC reads them."""
    calls = enumerate(requests, 1)
    return "".join(
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"
        for number, (method, params) in calls
    )


MCP_START = (
    "initialize",
    {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
)


def answers_of(printed: str) -> list[Any]:
    """Return the results of requests, in their order."""
    answers = sorted((json.loads(line) for line in printed.splitlines()), key=lambda answer: answer["id"])
    return [answer["result"] for answer in answers]


def make_machine(folder: Path) -> Machine:
    """Build Memlines and put it into a new registry, beside all that it requires without extras."""
    machine = Machine(folder / "home", folder / "wheels")
    machine.home.mkdir()
    build(machine.wheels)
    for name in sorted(closure(requirements_of(machine.wheel))):
        pack(name, machine.wheels)
    return machine


def machine_in(folder: Path) -> Iterator[Machine]:
    """Yield a machine, and remove it: it takes half a gigabyte."""
    try:
        yield make_machine(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
