"""What the reference pages show of a session at the shell is what the program prints."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tests.docs.shell import FIRST, play

_NOTES = """
mkdir -p notes/memory laptop
printf '# Memory\\n\\n- Prefers tea over coffee\\n' > notes/MEMORY.md
printf '# Memory\\n\\n- Prefers coffee over tea\\n' > laptop/MEMORY.md
printf '# Today\\n\\n- 10:15 We chose Postgres\\n- 11:40 Ana has the key\\n' > notes/memory/2026-11-16.md
"""
_CHANGE = "echo '- Prefers tabs' >> notes/MEMORY.md; memlines backup /media/stick -w notes > /dev/null"
_DAMAGE = "for file in /media/stick/objects/*/*; do sed -i s:key:KEY: $file; done"
_FORGET = """
(memlines export old.zip -w notes; memlines forget 'memory/2026-11-16.md#L4' --yes -w notes) > /dev/null
"""

_OPENCLAW = """
mkdir -p .openclaw/workspace .openclaw/agents/main
printf '# Memory\\n\\n- We chose Postgres 17 for billing.\\n' > .openclaw/workspace/MEMORY.md
echo '{agents: {defaults: {memorySearch: {query: {maxResults: 8}}}}} // mine' > .openclaw/openclaw.json
"""

SESSIONS: Mapping[str, Mapping[str, str]] = {
    "docs/facts.md": {FIRST: "mkdir notes; cd notes"},
    "docs/openclaw.md": {FIRST: _OPENCLAW},
    "docs/search.md": {
        FIRST: "mkdir memory; echo We picked Postgres 17 for the billing service. > memory/db.md"
    },
    "docs/evaluation.md": {FIRST: f"cp -r '{ROOT}/examples/notes' notes; cd notes"},
    "docs/backup.md": {
        FIRST: _NOTES,
        "memlines restore /media/stick --list": _CHANGE,
        "memlines restore /media/stick --to check --dry-run": _DAMAGE,
        "memlines import old.zip -w notes": _FORGET,
    },
}
"""Pages that are played from their first line to the last: what is done before some of the commands."""


@pytest.mark.skipif(sys.platform == "win32", reason="the pages show a POSIX shell")
@pytest.mark.timeout(360)
@pytest.mark.parametrize("page", SESSIONS)
def test_a_session_goes_as_the_page_shows_it(page: str, tmp_path: Path, warm: Mapping[str, str]) -> None:
    play(ROOT / page, SESSIONS[page], tmp_path / "home" / "you", warm)
