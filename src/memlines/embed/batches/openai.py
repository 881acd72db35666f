"""The batches of OpenAI."""

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
    "completed": "done",
    "failed": "failed",
    "expired": "expired",
    "cancelled": "cancelled",
}
_PURPOSE = 'Content-Disposition: form-data; name="purpose"\r\n\r\nbatch'
_FILE = (
    'Content-Disposition: form-data; name="file"; filename="texts.jsonl"\r\nContent-Type: application/jsonl'
)


class OpenAiBatches:
    """Batches of one model of OpenAI; the service's methods are described in `BatchApi`."""

    limits = USUAL_LIMITS

    def __init__(self, http: Http, shape: Shape, dims: int | None) -> None:
        """Take how texts are asked for directly, and the length of vectors if it is known."""
        self.service = http.who
        self._http = http
        self._shape = shape
        self._reader = Reader(self.service, dims, read_line, shape.api.reply)

    def line(self, key: str, text: str) -> bytes:
        """Return what stands for a text in the file that is handed in."""
        body = self._shape.request(text)
        return json_line({"custom_id": key, "method": "POST", "url": "/v1/embeddings", "body": body})

    def upload(self, texts: Mapping[str, str]) -> str:
        """Bring a file with texts by their keys to the service and return its name there."""
        border, body = multipart(self, texts, _PURPOSE, _FILE)
        headers = {"content-type": f"multipart/form-data; boundary={border}"}
        return named(self.service, self._http.upload("/files", content=body, headers=headers), "id")

    def create(self, file: str, token: str) -> str:
        """Make a batch of a file and return its id; `find` finds it by the token."""
        request = self.request(file, token)

        def attempt() -> str:
            reply = self._http.json("POST", "/batches", body=request, patience=ONCE)
            return named(self.service, reply, "id")

        return created(self.service, attempt, lambda: self.find(token))

    def request(self, file: str, token: str) -> dict[str, Any]:
        """Return the request that makes a batch of a file."""
        return {
            "input_file_id": file,
            "endpoint": "/v1/embeddings",
            "completion_window": "24h",
            "metadata": {"memlines": token},
        }

    def find(self, token: str) -> str | None:
        """Return the id of the batch that was made with a token; `None` if there is none."""
        after = ""
        for _ in range(PAGES):
            page = self._http.json("GET", f"/batches?limit={PAGE}{after}", patience=DOCUMENTS)
            for batch in list_at(page, "data"):
                if text_at(batch, "metadata", "memlines") == token:
                    return named(self.service, batch, "id")
                after = f"&after={quote(text_at(batch, 'id'), safe='')}"
            if dug(page, "has_more") is not True:
                break
        return None

    def state(self, batch_id: str) -> BatchState:
        """Ask how far a batch has come; `ProviderUnusable` if it is not known."""
        batch = self._batch(batch_id)
        return BatchState(
            _PHASES.get(text_at(batch, "status"), "running"),
            count_at(batch, "request_counts", "completed"),
            count_at(batch, "request_counts", "total"),
            quoted(dug(batch, "errors", "data", 0, "message")),
        )

    def results(self, batch_id: str, texts: Mapping[str, str]) -> Iterator[Answer]:
        """Yield what a batch that has ended says about these texts: its vectors, then its errors."""
        batch = self._batch(batch_id)
        for name in ("output_file_id", "error_file_id"):
            if file := text_at(batch, name):
                path = f"/files/{quote(file, safe='')}/content"
                lines = self._http.lines(path, patience=RESULTS, max_bytes=RESULTS_BYTES)
                yield from self._reader.answers(lines, texts)

    def cancel(self, batch_id: str) -> None:
        """Ask the service to stop."""
        self._http.json("POST", f"/batches/{quote(batch_id, safe='')}/cancel", patience=ONCE)

    def tidy(self, batch_id: str) -> None:
        """Remove the files of a batch that has ended, which hold the texts, from the service."""
        batch = self._batch(batch_id)
        for name in ("input_file_id", "output_file_id", "error_file_id"):
            if file := text_at(batch, name):
                self._http.json("DELETE", f"/files/{quote(file, safe='')}", patience=ONCE)

    def _batch(self, batch_id: str) -> Any:
        return self._http.json("GET", f"/batches/{quote(batch_id, safe='')}", patience=DOCUMENTS)


def read_line(record: dict[str, Any]) -> Line:
    """Return what a line of OpenAI's or Voyage's results holds."""
    key = record.get("custom_id")
    body = dug(record, "response", "body")
    status = dug(record, "response", "status_code")
    if (error := record.get("error")) is not None:
        return Line(key, error=text_at(error, "message"))
    if isinstance(status, (int, float)) and status >= 400:
        return Line(key, error=text_at(body, "error", "message") or text_at(body, "detail"))
    return Line(key, body)
