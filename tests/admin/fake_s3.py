"""A server that plays S3, in a process of its own, and an environment that leads to it."""

from __future__ import annotations

import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SERVER = """\
import sys
from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
server.stop()
"""

KEY, SECRET = "AKIA-of-nobody", "secret-of-nobody"


class S3:
    """The server: its address, and requests that need no client."""

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}"

    def request(self, method: str, path: str, data: bytes | None = None) -> bytes:
        headers = {"Content-Type": "application/octet-stream"} if data is not None else {}
        asked = urllib.request.Request(f"{self.address}/{path}", data, headers, method=method)
        with urllib.request.urlopen(asked, timeout=30) as answer:
            content: bytes = answer.read()
        return content

    def listing(self) -> list[str]:
        """Return the names of everything in the bucket."""
        told = self.request("GET", "bucket?list-type=2").decode()
        return [part.split("</Key>")[0] for part in told.split("<Key>")[1:]]


@contextmanager
def serving(program: str = SERVER) -> Iterator[S3]:
    """Run a server, so that its warnings are not ours; it ends with its input."""
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        port = next(line for line in process.stdout if line.strip().isdigit())
        yield S3(int(port))
        assert process.stdin is not None
        process.stdin.close()


def lead_to(server: S3, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Make the environment lead to a server, and to no credentials but its own."""
    for name, value in {
        "AWS_ENDPOINT_URL": server.address,
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_CONFIG_FILE": str(folder / "none"),
        "AWS_SHARED_CREDENTIALS_FILE": str(folder / "none"),
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_PROFILE", raising=False)
