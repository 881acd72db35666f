"""Places that fsspec reaches: S3 and what speaks it, Google Cloud Storage, SFTP and many more.

Credentials come from the environment or from the service's and fsspec's own files, never from us.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from memlines.admin.backup.pieces import Damaged, read_pieces
from memlines.admin.backup.places import is_unreachable, trouble
from memlines.errors import BackupError, UsageError
from memlines.text.neutral import harmless_address

_S3 = ("s3", "s3a")
_WITHOUT_FOLDERS = {*_S3, "gs", "gcs", "abfs", "abfss", "az", "oci", "memory"}
"""Services where a name may have slashes without there being folders; asking for one could make a bucket."""

_OUR_EXTRA = "Install it with: pip install 'memlines[backup]'"

_BLOCK_BYTES = 16_000_000
"""How much of a large file travels at once; S3 takes at most 10,000 of these for one."""

_CONNECT_SECONDS = 10
_READ_SECONDS = 60


class Remote:
    """A prefix at a service that fsspec knows."""

    def __init__(self, uri: str) -> None:
        """Open the place; whether it is there shows when it is used."""
        self.shown = harmless_address(uri)
        self._protocol = re.split("::|://", uri, maxsplit=1)[0].lower()
        self._fs, root = self._opened(uri)
        self.root = root.rstrip("/")
        self._made: set[str] = set()
        if not self.root and self._protocol in _S3:
            raise UsageError(f"{self.shown!r} names no bucket", todo="Write s3://bucket/folder")

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the names below a folder and how many bytes each has."""
        top = f"{self.root}/{folder}"
        try:
            self._fs.invalidate_cache()
            found = self._fs.find(top, detail=True)
        except FileNotFoundError as error:
            if "bucket" in str(error).lower():
                raise trouble(self.shown, error) from error
            return {}
        except Exception as error:
            raise trouble(self.shown, error) from error
        start = len(self.root) + 1
        return {path[start:]: info["size"] or 0 for path, info in found.items() if path.startswith(top)}

    def read(self, names: Sequence[str]) -> dict[str, bytes | str]:
        """Return the content of each name, or in words why it cannot be had."""
        paths = [f"{self.root}/{name}" for name in names]
        try:
            # Unlike `cat`, this takes names as they are, and none for a pattern.
            contents = self._fs.cat_ranges(paths, None, None, on_error="return")
        except Exception as error:
            raise trouble(self.shown, error) from error
        return {name: self._told(content) for name, content in zip(names, contents, strict=True)}

    def fetch(self, name: str) -> Iterator[bytes]:
        """Yield a content in pieces, or raise `Damaged` if it cannot be had."""
        try:
            with self._fs.open(f"{self.root}/{name}", "rb", block_size=_BLOCK_BYTES) as stream:
                yield from read_pieces(stream)
        except Exception as error:
            problem = trouble(self.shown, error)
            raise Damaged(f"{name} cannot be read: {problem.what}", todo=problem.todo) from error

    def send(self, name: str, pieces: Iterable[bytes], size: int) -> None:
        """Write a file in pieces; what was sent of one that cannot be read to its end is removed."""
        path = f"{self.root}/{name}"
        try:
            self._make_folders([name])
            stream = self._fs.open(path, "wb", block_size=_BLOCK_BYTES)
        except Exception as error:
            raise trouble(self.shown, error) from error
        try:
            with stream:
                for piece in pieces:
                    stream.write(piece)
        except Exception as error:
            with suppress(Exception):  # it may not be there; the size tells what is left of it
                self._fs.rm_file(path)
            raise error if isinstance(error, Damaged) else trouble(self.shown, error) from error

    def write(self, contents: Mapping[str, bytes]) -> None:
        """Write files, several at a time where the service allows it."""
        try:
            self._make_folders(contents)
            self._fs.pipe({f"{self.root}/{name}": content for name, content in contents.items()})
        except Exception as error:
            raise trouble(self.shown, error) from error

    def _make_folders(self, names: Iterable[str]) -> None:
        if self._protocol in _WITHOUT_FOLDERS:
            return
        for folder in sorted({name.rpartition("/")[0] for name in names} - self._made):
            self._fs.makedirs(f"{self.root}/{folder}", exist_ok=True)
            self._made.add(folder)

    def _told(self, content: bytes | Exception) -> bytes | str:
        if isinstance(content, bytes):
            return content
        if isinstance(content, FileNotFoundError):
            return "is missing"
        if is_unreachable(content):
            raise trouble(self.shown, content) from content
        return f"cannot be read: {trouble(self.shown, content).what}"

    def _opened(self, uri: str) -> tuple[Any, str]:
        try:
            import fsspec
        except ImportError as error:
            raise _needs("fsspec is not installed", _OUR_EXTRA) from error
        options = self._s3_options(fsspec.config.conf) if self._protocol in _S3 else {}
        try:
            fs, root = fsspec.core.url_to_fs(uri, skip_instance_cache=True, **options)
        except ImportError as error:
            todo = _OUR_EXTRA if self._protocol in _S3 else "Install that package, too"
            raise _needs(str(error).rstrip("."), todo) from error
        except Exception as error:
            raise trouble(self.shown, error) from error
        if self._protocol in _S3:
            fs.retries = 1  # botocore tries again by itself; both together would try 25 times
        return fs, root

    def _s3_options(self, configured: Mapping[str, Any]) -> dict[str, Any]:
        """Bound how long a dead network is waited for, unless fsspec's own settings say otherwise."""
        own: dict[str, Any] = {}
        for protocol in _S3:
            own |= configured.get(protocol, {}).get("config_kwargs", {})
        timeouts = {"connect_timeout": _CONNECT_SECONDS, "read_timeout": _READ_SECONDS}
        return {"config_kwargs": timeouts | own, "use_listings_cache": False}


def _needs(why: str, todo: str) -> BackupError:
    return BackupError(f"backups to this place need a package: {why}", todo=todo)
