"""The batch APIs of OpenAI, Voyage and Gemini: uploads, creating a batch only once, and following it.

A service promises an answer within hours and charges less for that. It is one class here, and one line in
`_OFFERED`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from memlines.embed.base import Provider, pack
from memlines.embed.batches.base import (
    ONCE,
    PAGE,
    PAGES,
    RESULTS,
    RESULTS_BYTES,
    USUAL_LIMITS,
    Answer,
    BatchState,
    Phase,
    ResultReader,
    count_at,
    list_at,
    text_at,
    value_at,
)
from memlines.embed.remote import http
from memlines.embed.remote.errors import quote_message
from memlines.embed.remote.http import DOCUMENTS
from memlines.embed.remote.provider import RemoteProvider
from memlines.errors import ProviderUnreachable, ProviderUnusable, QuotaExceeded

_TOKEN = "recollect"
"""Under which name a batch of OpenAI has its token; batches that run may have the project's first name."""

_CREATE_WAITS = (0.3, 2.0)
"""Seconds between the attempts to create a batch."""


class BatchApi:
    """The batches of one model of one service; what is not overridden is as OpenAI has it.

    Every method may raise an `EmbeddingError`.
    """

    limits = USUAL_LIMITS
    """How much one batch may hold."""

    _PHASES: Mapping[str, Phase] = {
        "completed": "done",
        "failed": "failed",
        "expired": "expired",
        "cancelled": "cancelled",
    }
    _START = "/batches"
    """Where a batch is made, which may name the `model`."""
    _UPLOAD = "/files"
    """Where a file is uploaded, which may name the `origin` of the service."""
    _FORM = "form-data"
    _FIRST_PART = 'Content-Disposition: form-data; name="purpose"\r\n\r\nbatch'
    _FILE_PART = (
        'Content-Disposition: form-data; name="file"; filename="texts.jsonl"\r\n'
        "Content-Type: application/jsonl"
    )
    _NAME = "id"
    """The field with the name that the service gives to a file or a batch."""

    def __init__(self, provider: RemoteProvider) -> None:
        self.service = provider.http.who
        self._provider = provider
        self._http = provider.http
        self._reader = ResultReader(self.service, provider.dims, self.read_line, provider.api.reply)

    def split(self, texts: Mapping[str, str]) -> Iterator[dict[str, str]]:
        """Yield texts in groups that each fit into one batch."""
        limits = self.limits
        return map(
            dict, pack(texts.items(), lambda item: len(self.line(*item)), limits.file_bytes, limits.texts)
        )

    def upload(self, texts: Mapping[str, str]) -> str:
        """Upload a file with texts by their keys and return its name at the service."""
        boundary = uuid4().hex
        head = f"--{boundary}\r\n{self._FIRST_PART}\r\n--{boundary}\r\n{self._FILE_PART}\r\n\r\n"
        lines = (self.line(key, text) for key, text in texts.items())
        content = b"".join((head.encode(), *lines, f"\r\n--{boundary}--\r\n".encode()))
        headers = {"content-type": f"multipart/{self._FORM}; boundary={boundary}"}
        path = self._UPLOAD.format(origin=self._http.address.origin)
        reply = self._http.upload(path, content=content, headers=headers)
        return self._name_of(value_at(reply, "file") or reply)  # Gemini wraps what it says of the file

    def create(self, file: str, token: str) -> str:
        """Make a batch of a file in up to three attempts and return its id; `find` finds it by the token.

        An attempt that seems to have failed may still have made the batch, so it is looked for before it
        is made, and paid, a second time. `ProviderUnusable` means that there are no batches for this model.
        """
        for wait in (*_CREATE_WAITS, None):
            try:
                return self._start(file, token)
            except ProviderUnusable as error:
                raise ProviderUnusable(
                    f"{self.service} does not offer batches here: {error.what}",
                    todo="Set embeddings.batch.enabled to false, or choose another model",
                ) from error
            except (ProviderUnreachable, QuotaExceeded) as error:
                if isinstance(error, ProviderUnreachable) and (found := self.find(token)) is not None:
                    return found
                if wait is None:
                    raise
                http.pause(wait)
        raise AssertionError("the last attempt returns or raises")

    def _start(self, file: str, token: str) -> str:
        """Ask once to make a batch of a file, and return its id."""
        path = self._START.format(model=quote(self._provider.model))
        request = self._batch_request(file, token)
        return self._name_of(self._http.json("POST", path, body=request, patience=ONCE))

    def find(self, token: str) -> str | None:
        """Return the id of the batch that was made with a token; `None` if there is none."""
        after = ""
        for _ in range(PAGES):
            page = self._http.json("GET", f"/batches?limit={PAGE}{after}", patience=DOCUMENTS)
            for batch in list_at(page, "data"):
                if text_at(batch, "metadata", _TOKEN) == token:
                    return self._name_of(batch)
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
        """Yield what a batch that has ended says about these texts, while it arrives.

        A bad line is an answer without a vector, never an error, and spoils no other line. An error is
        raised only if the file is not available, or breaks off.
        """
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
        """Return what a line of results holds: the key, the direct reply, and the message of an error."""
        key = record.get("custom_id")
        body = value_at(record, "response", "body")
        status = value_at(record, "response", "status_code")
        if (error := record.get("error")) is not None:
            return key, None, text_at(error, "message")
        if isinstance(status, (int, float)) and status >= 400:
            return key, None, text_at(body, "error", "message") or text_at(body, "detail")
        return key, body, None

    def line(self, key: str, text: str) -> bytes:
        """Return the line of a text in the file that is uploaded."""
        line = json.dumps(self._text_request(key, text), ensure_ascii=False)
        return line.encode("utf-8", "replace") + b"\n"

    def _text_request(self, key: str, text: str) -> dict[str, Any]:
        """Return what the file says of a text."""
        body = self._direct_request(text)
        return {"custom_id": key, "method": "POST", "url": "/v1/embeddings", "body": body}

    def _batch_request(self, file: str, token: str) -> dict[str, Any]:
        """Return the body of a request for a batch."""
        return {
            "input_file_id": file,
            "endpoint": "/v1/embeddings",
            "completion_window": "24h",
            "metadata": {_TOKEN: token},
        }

    def _direct_request(self, text: str) -> dict[str, Any]:
        """Return the body of the direct request for one passage; the vectors must be the same."""
        shown = self._provider.prepare([text], is_query=False)
        dims = self._provider.chosen_dims
        return self._provider.api.request(self._provider.model, shown, is_query=False, dims=dims)[1]

    def _name_of(self, reply: Any) -> str:
        """Return the name that the service gave to something it made."""
        name = text_at(reply, self._NAME)
        if not name:
            raise ProviderUnreachable(
                f"{self.service} replied without {self._NAME!r}", todo="Try again later"
            )
        return name


class VoyageBatches(BatchApi):
    """Batches of one model of Voyage, which names the model once for the whole file."""

    def _text_request(self, key: str, text: str) -> dict[str, Any]:
        return {"custom_id": key, "body": {"input": self._direct_request(text)["input"]}}

    def _batch_request(self, file: str, token: str) -> dict[str, Any]:
        common = {name: value for name, value in self._direct_request("").items() if name != "input"}
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
    _START = "/models/{model}:asyncBatchEmbedContent"
    _UPLOAD = "{origin}/upload/v1beta/files?uploadType=multipart"
    _FORM = "related"
    _FIRST_PART = 'Content-Type: application/json\r\n\r\n{"file":{"mimeType":"application/jsonl"}}'
    _FILE_PART = "Content-Type: application/jsonl"
    _NAME = "name"

    def _text_request(self, key: str, text: str) -> dict[str, Any]:
        return {"key": key, "request": self._direct_request(text)["requests"][0]}

    def _batch_request(self, file: str, token: str) -> dict[str, Any]:
        return {"batch": {"displayName": token, "inputConfig": {"fileName": file}}}

    def find(self, token: str) -> str | None:
        """Return the id of the batch that was made with a token; `None` if there is none."""
        after = ""
        for _ in range(PAGES):
            page = self._http.json("GET", f"/batches?pageSize={PAGE}{after}", patience=DOCUMENTS)
            for batch in list_at(page, "operations"):
                if self._text(batch, "displayName") == token:
                    return self._name_of(batch)
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
            address = f"{self._http.address.origin}/download/v1beta/{quote(file)}:download?alt=media"
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
    "openai": BatchApi,
    "gemini": GeminiBatches,
    "voyage": VoyageBatches,
}


def batches_of(provider: Provider) -> BatchApi | None:
    """Return the batches of a provider; `None` if it offers none."""
    if not isinstance(provider, RemoteProvider) or provider.id not in _OFFERED:
        return None
    return _OFFERED[provider.id](provider)
