"""The batch APIs of OpenAI, Voyage and Gemini. A service is one class, and one line in `_OFFERED`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from memlines.embed.base import Provider
from memlines.embed.batches.base import (
    ONCE,
    PAGE,
    PAGES,
    RESULTS,
    RESULTS_BYTES,
    Answer,
    BatchApi,
    BatchState,
    Phase,
    count_at,
    json_line,
    list_at,
    text_at,
    value_at,
)
from memlines.embed.remote.errors import quote_message
from memlines.embed.remote.http import DOCUMENTS
from memlines.embed.remote.provider import RemoteProvider

_TOKEN = "recollect"
"""Under which name a batch of OpenAI has its token; batches that run may have the project's first name."""


class OpenAiBatches(BatchApi):
    """Batches of one model of OpenAI."""

    _PHASES: Mapping[str, Phase] = {
        "completed": "done",
        "failed": "failed",
        "expired": "expired",
        "cancelled": "cancelled",
    }
    _PURPOSE = 'Content-Disposition: form-data; name="purpose"\r\n\r\nbatch'
    _FILE = (
        'Content-Disposition: form-data; name="file"; filename="texts.jsonl"\r\n'
        "Content-Type: application/jsonl"
    )

    def line(self, key: str, text: str) -> bytes:
        """Return the line of a text in the file that is uploaded."""
        body = self._request(text)
        return json_line({"custom_id": key, "method": "POST", "url": "/v1/embeddings", "body": body})

    def upload(self, texts: Mapping[str, str]) -> str:
        """Upload a file with texts by their keys and return its name at the service."""
        boundary, body = self._multipart(texts, self._PURPOSE, self._FILE)
        headers = {"content-type": f"multipart/form-data; boundary={boundary}"}
        return self._name_of(self._http.upload("/files", content=body, headers=headers), "id")

    def start(self, file: str, token: str) -> str:
        """Ask once to make a batch of a file, and return its id."""
        request = self._batch_request(file, token)
        return self._name_of(self._http.json("POST", "/batches", body=request, patience=ONCE), "id")

    def _batch_request(self, file: str, token: str) -> dict[str, Any]:
        return {
            "input_file_id": file,
            "endpoint": "/v1/embeddings",
            "completion_window": "24h",
            "metadata": {_TOKEN: token},
        }

    def find(self, token: str) -> str | None:
        """Return the id of the batch that was made with a token; `None` if there is none."""
        after = ""
        for _ in range(PAGES):
            page = self._http.json("GET", f"/batches?limit={PAGE}{after}", patience=DOCUMENTS)
            for batch in list_at(page, "data"):
                if text_at(batch, "metadata", _TOKEN) == token:
                    return self._name_of(batch, "id")
                after = f"&after={quote(text_at(batch, 'id'), safe='')}"
            if value_at(page, "has_more") is not True:
                break
        return None

    def state(self, batch_id: str) -> BatchState:
        """Ask how far a batch has come; `ProviderUnusable` if it is not known."""
        batch = self._batch(batch_id)
        return BatchState(
            self._PHASES.get(text_at(batch, "status"), "running"),
            count_at(batch, "request_counts", "completed"),
            count_at(batch, "request_counts", "total"),
            quote_message(text_at(batch, "errors", "data", 0, "message")),
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

    def delete_files(self, batch_id: str) -> None:
        """Remove the files of a batch that has ended, which hold the texts, from the service."""
        batch = self._batch(batch_id)
        for name in ("input_file_id", "output_file_id", "error_file_id"):
            if file := text_at(batch, name):
                self._http.json("DELETE", f"/files/{quote(file, safe='')}", patience=ONCE)

    def _batch(self, batch_id: str) -> Any:
        return self._http.json("GET", f"/batches/{quote(batch_id, safe='')}", patience=DOCUMENTS)

    @staticmethod
    def read_line(record: dict[str, Any]) -> tuple[Any, Any, str | None]:
        """Return what a line of OpenAI's or Voyage's results holds."""
        key = record.get("custom_id")
        body = value_at(record, "response", "body")
        status = value_at(record, "response", "status_code")
        if (error := record.get("error")) is not None:
            return key, None, text_at(error, "message")
        if isinstance(status, (int, float)) and status >= 400:
            return key, None, text_at(body, "error", "message") or text_at(body, "detail")
        return key, body, None


class VoyageBatches(OpenAiBatches):
    """Batches of one model of Voyage, which names the model once for the whole file."""

    def line(self, key: str, text: str) -> bytes:
        """Return the line of a text in the file that is uploaded."""
        return json_line({"custom_id": key, "body": {"input": self._request(text)["input"]}})

    def _batch_request(self, file: str, token: str) -> dict[str, Any]:
        common = {name: value for name, value in self._request("").items() if name != "input"}
        return super()._batch_request(file, token) | {"completion_window": "12h", "request_params": common}


class GeminiBatches(BatchApi):
    """Batches of one model of Gemini.

    Files go up and down beside `base_url`, on the same host. Google deletes them after 48 hours.
    """

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

    def line(self, key: str, text: str) -> bytes:
        """Return the line of a text in the file that is uploaded."""
        return json_line({"key": key, "request": self._request(text)["requests"][0]})

    def upload(self, texts: Mapping[str, str]) -> str:
        """Upload a file with texts by their keys and return its name at the service."""
        boundary, body = self._multipart(texts, self._ABOUT, self._FILE)
        address = f"{self._http.origin}/upload/v1beta/files?uploadType=multipart"
        headers = {"content-type": f"multipart/related; boundary={boundary}"}
        reply = self._http.upload(address, content=body, headers=headers)
        return self._name_of(value_at(reply, "file") or reply, "name")

    def start(self, file: str, token: str) -> str:
        """Ask once to make a batch of a file, and return its id."""
        request = {"batch": {"displayName": token, "inputConfig": {"fileName": file}}}
        path = f"/models/{quote(self._provider.model)}:asyncBatchEmbedContent"
        return self._name_of(self._http.json("POST", path, body=request, patience=ONCE), "name")

    def find(self, token: str) -> str | None:
        """Return the id of the batch that was made with a token; `None` if there is none."""
        after = ""
        for _ in range(PAGES):
            page = self._http.json("GET", f"/batches?pageSize={PAGE}{after}", patience=DOCUMENTS)
            for batch in list_at(page, "operations"):
                if self._text(batch, "displayName") == token:
                    return self._name_of(batch, "name")
            following = text_at(page, "nextPageToken")
            if not following:
                break
            after = f"&pageToken={quote(following, safe='')}"
        return None

    def state(self, batch_id: str) -> BatchState:
        """Ask how far a batch has come; `ProviderUnusable` if it is not known."""
        batch = self._batch(batch_id)
        phase = self._PHASES.get(self._text(batch, "state").rpartition("_")[2], "running")
        error = value_at(batch, "error")
        if phase == "running" and value_at(batch, "done") is True:
            phase = "failed" if error else "done"
        completed = self._count(batch, "successfulRequestCount") + self._count(batch, "failedRequestCount")
        reason = quote_message(text_at(error, "message"))
        return BatchState(phase, completed, self._count(batch, "requestCount"), reason)

    def results(self, batch_id: str, texts: Mapping[str, str]) -> Iterator[Answer]:
        """Yield what a batch that has ended says about these texts, while it arrives."""
        batch = self._batch(batch_id)
        # Google names the file of results in one of several places.
        places = (("response",), ("response", "output"), ("metadata", "output"), ("output",))
        file = next((file for place in places if (file := text_at(batch, *place, "responsesFile"))), "")
        if file:
            address = f"{self._http.origin}/download/v1beta/{quote(file)}:download?alt=media"
            lines = self._http.lines(address, patience=RESULTS, max_bytes=RESULTS_BYTES)
            yield from self._reader.answers(lines, texts)

    def cancel(self, batch_id: str) -> None:
        """Ask the service to stop."""
        self._http.json("POST", f"/{quote(batch_id)}:cancel", patience=ONCE)

    def delete_files(self, batch_id: str) -> None:
        """Remove the file of a batch that has ended, which holds the texts, from the service."""
        if file := self._text(self._batch(batch_id), "inputConfig", "fileName"):
            self._http.json("DELETE", f"/{quote(file)}", patience=ONCE)

    def _batch(self, batch_id: str) -> Any:
        return self._http.json("GET", f"/{quote(batch_id)}", patience=DOCUMENTS)

    @staticmethod
    def read_line(record: dict[str, Any]) -> tuple[Any, Any, str | None]:
        """Return what a line of Gemini's results holds."""
        key, error = record.get("key"), record.get("error")
        return (
            (key, record.get("response"), None) if error is None else (key, None, text_at(error, "message"))
        )

    @staticmethod
    def _text(batch: Any, *path: str) -> str:
        """Return a text of a batch, which is in its operation's metadata or at the top."""
        return text_at(batch, "metadata", *path) or text_at(batch, *path)

    @staticmethod
    def _count(batch: Any, name: str) -> int:
        return count_at(batch, "metadata", "batchStats", name) or count_at(batch, "batchStats", name)


_OFFERED: dict[str, type[BatchApi]] = {
    "openai": OpenAiBatches,
    "gemini": GeminiBatches,
    "voyage": VoyageBatches,
}


def batches_of(provider: Provider) -> BatchApi | None:
    """Return the batches of a provider; `None` if it offers none."""
    if not isinstance(provider, RemoteProvider) or provider.id not in _OFFERED:
        return None
    return _OFFERED[provider.id](provider)
