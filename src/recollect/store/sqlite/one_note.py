"""What an index holds of one note."""

from __future__ import annotations

from collections.abc import Iterator

from recollect.store.sqlite.db import Connection


def state_of(connection: Connection, path: str) -> tuple[str, int]:
    """Return what changes whenever other chunks are put in the place of a note's; reading none of them."""
    digest = connection.execute("SELECT hash FROM files WHERE path = ?", (path,)).get
    last = connection.execute("SELECT max(number) FROM chunks WHERE path = ?", (path,)).get
    return str(digest or ""), int(last or 0)


def chunks_in(connection: Connection, path: str) -> Iterator[tuple[int, int, str]]:
    """Yield the number, the first line and the text of every chunk of a note."""
    rows = connection.execute("SELECT number, start_line, text FROM chunks WHERE path = ?", (path,))
    yield from ((int(number), int(line), str(text)) for number, line, text in rows)
