"""What the services that backups go to need: limits for a dead network, and whom to trust."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memlines.errors import BackupError
from memlines.paths import expand_home

if TYPE_CHECKING:
    from paramiko import PKey, SSHClient

S3 = ("s3", "s3a")
GOOGLE = ("gs", "gcs")
SSH = ("sftp", "ssh")

WITHOUT_FOLDERS = {*S3, *GOOGLE, "abfs", "abfss", "az", "oci", "memory"}
"""Services where a name may have slashes without there being folders; asking for one could make a bucket."""

PACKAGES = dict.fromkeys(S3, "s3fs") | dict.fromkeys(GOOGLE, "gcsfs") | dict.fromkeys(SSH, "paramiko")
"""What the extra brings for each kind of place, beside fsspec."""

_CONNECT_SECONDS = 10
READ_SECONDS = 60
_KNOWN_HOSTS = "~/.ssh/known_hosts"


def options_of(protocol: str) -> dict[str, Any]:
    """Return the options that a service is opened with; those in fsspec's own settings win.

    Raises `ImportError` if the package for the service is not installed.
    """
    from fsspec.config import conf

    if protocol in S3:
        timeouts = {"connect_timeout": _CONNECT_SECONDS, "read_timeout": READ_SECONDS}
        for name in S3:
            timeouts |= conf.get(name, {}).get("config_kwargs", {})
        return {"config_kwargs": timeouts, "use_listings_cache": False}
    if protocol in GOOGLE:
        return {**_google_options(), **conf.get("gcs", {}), **conf.get("gs", {})}
    if protocol in SSH:
        return {**_ssh_options(), **conf.get("ssh", {}), **conf.get("sftp", {})}
    return {}


def _google_options() -> dict[str, Any]:
    # Without this, gcsfs asks a second service for the kind of the bucket, and prints what that answers.
    os.environ.setdefault("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
    import gcsfs  # noqa: F401 (says what is missing; it brings aiohttp)
    from aiohttp import ClientTimeout

    logging.getLogger("gcsfs").addHandler(logging.NullHandler())  # tracebacks of what we report ourselves
    limit = ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS, sock_read=READ_SECONDS)
    return {"requests_timeout": limit, "use_listings_cache": False}


def _ssh_options() -> dict[str, Any]:
    import paramiko

    logging.getLogger("paramiko").addHandler(logging.NullHandler())

    class KnownHosts(paramiko.MissingHostKeyPolicy):  # type: ignore[misc]  # it has no types
        """Trusts the hosts that ssh knows. Of itself, fsspec trusts any host, and never looks there."""

        def missing_host_key(self, client: SSHClient, hostname: str, key: PKey) -> None:
            file = Path(expand_home(_KNOWN_HOSTS))
            known = paramiko.HostKeys(str(file) if file.exists() else None)
            if not known.check(hostname, key):
                kind = key.get_name().removeprefix("ssh-")
                raise BackupError(
                    f"the host {hostname!r} is not known by its key ({kind}, {key.fingerprint})",
                    todo=f"Connect with ssh once and check the key, which adds it to {_KNOWN_HOSTS}",
                )

    limits = ("timeout", "banner_timeout", "auth_timeout", "channel_timeout")
    return {"host_key_policy": KnownHosts(), **dict.fromkeys(limits, _CONNECT_SECONDS)}
