"""The batches of Gemini."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from memlines.embed.batches.base import USUAL_LIMITS, Answer, BatchState, Phase
from memlines.embed.batches.handing import (
    ONCE,
    PAGE,
    PAGES,
    RESULTS,
    RESULTS_BYTES,
    Shape,
    created,
    json_line,
    multipart,
    named,
)
from memlines.embed.batches.lines import Line, Reader, count_at, dug, list_at, quoted, text_at
from memlines.embed.remote.http import DOCUMENTS, Http

_PHASES: Mapping[str, Phase] = {
    "SUCCEEDED": "done",
    "COMPLETED": "done",
    "DONE": "done",
    "FAILED": "failed",
    "EXPIRED": "expired",
    "CANCELLED": "cancelled",
}
"""By the end of the state's name, which begins with `BATCH_STATE_` or `JOB_STATE_`."""
_ABOUT = 'Content-Type: application/json\r\n\r\n{"file":{"mimeType":"application/jsonl"}}'
_FILE = "Content-Type: application/jsonl"


class GeminiBatches:
    """Batches of one model of Gemini; the service's methods are described in `BatchApi`.

    Files go up and down beside `base_url`, on the same host. Google deletes them after 48 hours.
    """

    limits = USUAL_LIMITS

    def __init__(self, http: Http, shape: Shape, dims: int | None) -> None:
        """Take how texts are asked for directly, and the length of vectors if it is known."""
        self.service = http.who
        self._http = http
        self._shape = shape
        self._reader = Reader(self.service, dims, read_line, shape.api.reply)

    def line(self, key: str, text: str) -> bytes:
        """Return what stands for a text in the file that is handed in."""
        request = self._shape.request(text)["requests"][0]
        return json_line({"key": key, "request": request})

    def upload(self, texts: Mapping[str, str]) -> str:
        """Bring a file with texts by their keys to the service and return its name there."""
        border, body = multipart(self, texts, _ABOUT, _FILE)
        address = f"{self._http.origin}/upload/v1beta/files?uploadType=multipart"
        headers = {"content-type": f"multipart/related; boundary={border}"}
        reply = self._http.upload(address, content=body, headers=headers)
        return named(self.service, dug(reply, "file") or reply, "name")

    def create(self, file: str, token: str) -> str:
        """Make a batch of a file and return its id; `find` finds it by the token."""
        request = {"batch": {"displayName": token, "inputConfig": {"fileName": file}}}
        path = f"/models/{quote(self._shape.model)}:asyncBatchEmbedContent"

        def attempt() -> str:
            return named(self.service, self._http.json("POST", path, body=request, patience=ONCE), "name")

        return created(self.service, attempt, lambda: self.find(token))

    def find(self, token: str) -> str | None:
        """Return the id of the batch that was made with a token; `None` if there is none."""
        after = ""
        for _ in range(PAGES):
            page = self._http.json("GET", f"/batches?pageSize={PAGE}{after}", patience=DOCUMENTS)
            for batch in list_at(page, "operations"):
                if _text(batch, "displayName") == token:
                    return named(self.service, batch, "name")
            following = text_at(page, "nextPageToken")
            if not following:
                break
            after = f"&pageToken={quote(following, safe='')}"
        return None

    def state(self, batch_id: str) -> BatchState:
        """Ask how far a batch has come; `ProviderUnusable` if it is not known."""
        batch = self._batch(batch_id)
        phase = _PHASES.get(_text(batch, "state").rpartition("_")[2], "running")
        error = dug(batch, "error")
        if phase == "running" and dug(batch, "done") is True:
            phase = "failed" if error else "done"
        completed = _count(batch, "successfulRequestCount") + _count(batch, "failedRequestCount")
        return BatchState(phase, completed, _count(batch, "requestCount"), quoted(dug(error, "message")))

    def results(self, batch_id: str, texts: Mapping[str, str]) -> Iterator[Answer]:
        """Yield what a batch that has ended says about these texts, while it arrives."""
        if file := _results_file(self._batch(batch_id)):
            address = f"{self._http.origin}/download/v1beta/{quote(file)}:download?alt=media"
            lines = self._http.lines(address, patience=RESULTS, max_bytes=RESULTS_BYTES)
            yield from self._reader.answers(lines, texts)

    def cancel(self, batch_id: str) -> None:
        """Ask the service to stop."""
        self._http.json("POST", f"/{quote(batch_id)}:cancel", patience=ONCE)

    def tidy(self, batch_id: str) -> None:
        """Remove the file of a batch that has ended, which holds the texts, from the service."""
        if file := _text(self._batch(batch_id), "inputConfig", "fileName"):
            self._http.json("DELETE", f"/{quote(file)}", patience=ONCE)

    def _batch(self, batch_id: str) -> Any:
        return self._http.json("GET", f"/{quote(batch_id)}", patience=DOCUMENTS)


def read_line(record: dict[str, Any]) -> Line:
    """Return what a line of Gemini's results holds."""
    key = record.get("key")
    if (error := record.get("error")) is not None:
        return Line(key, error=text_at(error, "message"))
    return Line(key, record.get("response"))


def _text(batch: Any, *path: str) -> str:
    """Return a text of a batch, which stands in its operation's metadata or at the top."""
    return text_at(batch, "metadata", *path) or text_at(batch, *path)


def _count(batch: Any, name: str) -> int:
    return count_at(batch, "metadata", "batchStats", name) or count_at(batch, "batchStats", name)


def _results_file(batch: Any) -> str:
    """Return the name of the file with results, which stands in one of the places that Google uses."""
    places = (("response",), ("response", "output"), ("metadata", "output"), ("output",))
    return next((file for place in places if (file := text_at(batch, *place, "responsesFile"))), "")
