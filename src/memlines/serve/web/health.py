"""How the memory is: what is indexed, where text goes, what doctor finds, and vectors as they are made."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from memlines.embed.spending.budget import in_dollars
from memlines.errors import MemlinesError
from memlines.serve.http.listener import Reply
from memlines.serve.web.notes import redirect
from memlines.serve.web.overview import draw_growth

if TYPE_CHECKING:
    from memlines.memory.memory import Memory
    from memlines.serve.web.site import Request

_SECONDS_BETWEEN = 1.0
_MOST_EVENTS = 3600
"""After that many a page asks again."""

_STREAMS = threading.BoundedSemaphore(8)
"""Pages that get an event every second; others ask again, so that some connections stay free."""


def show_health(request: Request) -> Reply:
    """Show the state of the memory, and with `doctor` what is wrong with it; nothing is repaired here."""
    memory, findings = request.memory, None
    if request.get("doctor"):  # who may look for seconds at a large memory
        from memlines.admin.doctor.examine import examine

        found = examine(memory.workspace.root).findings
        findings = sorted(found, key=lambda one: ("problem", "warning", "ok").index(one.level))
        if request.get("part"):
            return request.render("doctor.html", findings=findings)
    status = memory.status()
    outline, months = draw_growth(memory.calendar())
    spent = status.spending.get("total", {})
    return request.render(
        "health.html",
        status=status,
        progress=_describe(memory),
        findings=findings,
        outline=outline,
        months=months,
        cost=in_dollars(spent["cost"]) if spent.get("requests") else "",
        requests=spent.get("requests", 0),
        done=request.get("done"),
    )


def sync(request: Request) -> Reply:
    """Have the index made equal to the files, in the background."""
    request.memory.sync_soon()
    return redirect("/health?done=1")


def send_events(request: Request) -> Reply:
    """Send the state of the vectors every second, as server-sent events, until all are made."""
    return Reply(200, kind="text/event-stream", stream=_events(request))


def _events(request: Request) -> Iterator[bytes]:
    stays = _STREAMS.acquire(blocking=False)
    try:
        for _ in range(_MOST_EVENTS):
            try:
                said = _describe(request.place.memory())
            except MemlinesError as error:  # for now: the index may be being rebuilt
                said = {"chunks": 0, "pending": 1, "text": str(error)}
            yield f"data: {json.dumps(said)}\n\n".encode()
            if not (said["pending"] and stays):
                return
            time.sleep(_SECONDS_BETWEEN)
    finally:
        if stays:
            _STREAMS.release()


def _describe(memory: Memory) -> dict[str, object]:
    status = memory.status()
    made = status.chunks - status.pending
    text = (
        f"{made:,} of {status.chunks:,} passages have vectors"
        if status.model
        else "search goes by words alone"
    )
    if status.dirty:
        text += "; files changed since the last sync"
    return {"chunks": status.chunks, "pending": status.pending if status.model else 0, "text": text}
