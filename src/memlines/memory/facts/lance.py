"""Reach LanceDB: its package, the options of services, and its errors told as ours."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeVar

from memlines.errors import StoreDamaged, StoreError, StoreFull, StoreReadOnly
from memlines.locks import start_daemon
from memlines.memory.facts.record import is_remote
from memlines.text.neutral import harmless_address

if TYPE_CHECKING:
    from lancedb.db import DBConnection

_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
_BOUNDS = {"connect_timeout": "5s", "timeout": "30s", "client_max_retries": "2", "client_retry_timeout": "20"}
"""How long a dead network is waited for; without these it would be minutes."""

_Told = TypeVar("_Told")

_REACHED_WITHIN = 10.0
_REST = 60.0
"""Seconds that a service may take to answer at all, and until one that did not is asked again."""

_resting: dict[str, tuple[float, str]] = {}

# LanceDB tells all troubles by two or three kinds of errors; what happened stands only in their text.
_NO_ROOM = re.compile(r"no space left|os error 28\b|quota exceeded|os error 122\b", re.IGNORECASE)
_NOT_WRITABLE = re.compile(r"permission denied|read-only file system|os error (?:13|30)\b", re.IGNORECASE)
_NO_BUCKET = re.compile(r"NoSuchBucket|status: 404|bucket does not exist", re.IGNORECASE)
_NO_CREDENTIALS = re.compile(r"CredentialsNotLoaded|TokenRequest|get AWS credentials", re.IGNORECASE)
_REFUSED = re.compile(r"status: 40[13]|AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch|Forbidden")
_UNREACHABLE = re.compile(
    r"RetryError|HttpError|timed? ?out|resolve region|status: (?:429|5\d\d)|error sending request",
    re.IGNORECASE,
)
_CREDENTIALS = (
    "Set the credentials of the service in the environment (S3: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY;"
    " Google: GOOGLE_APPLICATION_CREDENTIALS) and check what they allow"
)


INSTALL = "Run 'pip install memlines[facts]', or set facts.store to index"


def is_installed() -> bool:
    """Tell whether LanceDB could be imported, without the two seconds that it takes."""
    return find_spec("lancedb") is not None


def load() -> None:
    """Import LanceDB, quietly: its warnings would go to the terminal of whoever asked."""
    os.environ.setdefault("LANCEDB_LOG", "error")
    try:
        import lancedb  # noqa: F401
    except ImportError as error:
        raise StoreError(f"the package lancedb cannot be loaded: {error}", todo=INSTALL) from error


def connected(uri: str) -> DBConnection:
    """Return the database at a place; the folder is made if it is one of this machine."""
    load()
    import lancedb

    with lance_errors(uri):
        return lancedb.connect(uri, storage_options=_options(uri) if is_remote(uri) else None)


@contextmanager
def lance_errors(uri: str) -> Iterator[None]:
    """Raise LanceDB's errors inside the block as ours; a service that was not reached is let rest."""
    until, told = _resting.get(uri, (0.0, ""))
    if time.monotonic() < until:
        raise _unreachable(told)
    try:
        yield
    except (RuntimeError, ValueError, OSError) as error:
        if is_remote(uri):  # what services say may hold credentials
            raise _remote_trouble(uri, str(error)) from None
        raise _local_trouble(uri, str(error)) from error


def answered(uri: str, work: Callable[[], _Told], seconds: float) -> _Told:
    """Return what a table answers; a service that takes longer is let rest, and the work goes on alone."""
    if not is_remote(uri):
        return work()
    told = start_daemon(work, "memlines-lancedb")
    try:
        return told.result(seconds)
    except TimeoutError:
        shown = harmless_address(uri)
        _resting[uri] = (time.monotonic() + _REST, shown)
        raise _unreachable(shown) from None


def reach(uri: str) -> None:
    """Make sure that a service answers at all, before a long piece of work that would hang for minutes."""

    def look() -> None:
        database = connected(uri)
        with lance_errors(uri):
            database.list_tables(limit=1)

    if is_remote(uri):
        answered(uri, look, _REACHED_WITHIN)


def ask_again(uri: str) -> None:
    """End the rest of a service, because somebody asks for something that must not be left undone."""
    _resting.pop(uri, None)


def is_missing(error: ValueError) -> bool:
    """Tell whether LanceDB's error says that there is no such table."""
    return "was not found" in str(error)


def _options(uri: str) -> dict[str, str]:
    """Return what LanceDB does not take from the environment by itself."""
    options = dict(_BOUNDS)
    endpoint = next((os.environ[name] for name in _ENDPOINTS if os.environ.get(name)), "")
    region = next((os.environ[name] for name in _REGIONS if os.environ.get(name)), "")
    if uri.startswith("s3://"):
        if endpoint:
            options["endpoint"] = endpoint
        if endpoint.startswith("http://"):
            options["allow_http"] = "true"
        if region:
            options["region"] = region
    return options


def _local_trouble(uri: str, told: str) -> StoreError:
    if _NO_ROOM.search(told):
        return StoreFull(f"there is no room for the table {uri!r}", todo="Make room on the disk")
    if _NOT_WRITABLE.search(told):
        return StoreReadOnly(f"the table {uri!r} may not be read or written", todo="Check its permissions")
    return StoreDamaged(f"the table {uri!r} is damaged", todo="The next sync makes it anew")


def _remote_trouble(uri: str, told: str) -> StoreError:
    shown = harmless_address(uri)
    if _NO_CREDENTIALS.search(told):
        return StoreError(f"{shown!r} needs credentials, and none were found", todo=_CREDENTIALS)
    if _REFUSED.search(told):
        return StoreError(f"{shown!r} refused access", todo=_CREDENTIALS)
    if "was not found" not in told and _NO_BUCKET.search(told):
        return StoreError(
            f"the bucket of {shown!r} does not exist", todo="Make it, or set facts.uri to another"
        )
    if "contains dots" in told:
        return StoreError(f"the region of {shown!r} is not known", todo="Set AWS_REGION")
    if _UNREACHABLE.search(told):
        _resting[uri] = (time.monotonic() + _REST, shown)
        return _unreachable(shown)
    return StoreDamaged(f"the table {shown!r} is damaged", todo="The next sync makes it anew")


def _unreachable(shown: str) -> StoreError:
    return StoreError(
        f"{shown!r} cannot be reached", todo="Check the network and AWS_ENDPOINT_URL, if it is set"
    )
