"""An emulator of Google Cloud Storage, in a process of its own, and an environment that leads to it.

It speaks the JSON API, which backups use. It checks no credentials, so refusals come from a server that gives
the answers that the service documents.
"""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

SERVER = """\
import sys
from gcp_storage_emulator.server import create_server

server = create_server("127.0.0.1", 0, True)
server.start()
print(server._api._httpd.server_port, flush=True)
sys.stdin.read()
server.stop()
"""


class Gcs:
    """The emulator: its address, and requests that need no client."""

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}"

    def request(self, method: str, path: str, data: bytes | None = None) -> bytes:
        headers = {"Content-Type": "application/json"}
        asked = urllib.request.Request(f"{self.address}/{path}", data, headers, method=method)
        with urllib.request.urlopen(asked, timeout=30) as answer:
            content: bytes = answer.read()
        return content

    def begin(self) -> None:
        """Forget everything, and make one bucket."""
        self.request("GET", "wipe")
        self.request("POST", "storage/v1/b", b'{"name": "notes"}')

    def listing(self) -> list[str]:
        """Return the names of everything in the bucket."""
        listed = json.loads(self.request("GET", "storage/v1/b/notes/o"))
        return [item["name"] for item in listed.get("items", [])]


@contextmanager
def serving() -> Iterator[Gcs]:
    """Run the emulator; it ends with its input."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        yield Gcs(int(process.stdout.readline()))
        assert process.stdin is not None
        process.stdin.close()


def lead_to(address: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Make the environment lead to a server, and to no credentials of this machine."""
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", address)
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(folder / "none"))
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)


class Refusing(BaseHTTPRequestHandler):
    """A service that knows nobody: the answers that Google documents, with their codes."""

    code, message = 401, ""

    def _refuse(self) -> None:
        told: object = {"error": {"code": self.code, "message": self.message}}
        if self.path == "/token":
            told = {"error": "invalid_grant", "error_description": "Invalid JWT Signature."}
        content = json.dumps(told).encode()
        self.send_response(400 if self.path == "/token" else self.code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self) -> None:
        self._refuse()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._refuse()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Print nothing."""


class Anonymous(Refusing):
    """Whoever asks gave no credentials."""

    message = "Anonymous caller does not have storage.objects.list access to the Google Cloud Storage bucket."


class Forbidding(Refusing):
    """The credentials are good, and do not allow this."""

    code, message = 403, "soak@project.iam does not have storage.objects.list access."


def write_credentials(file: Path, token_uri: str) -> str:
    """Write the credentials of a service account, with a key of its own; return the key."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = (
        rsa.generate_private_key(65537, 2048)
        .private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        .decode()
    )
    account = {
        "type": "service_account",
        "client_email": "memlines@project.iam.gserviceaccount.com",
        "private_key": key,
        "private_key_id": "1",
        "project_id": "project",
        "token_uri": token_uri,
    }
    file.write_text(json.dumps(account), encoding="utf-8")
    return key
