"""A browser of the page in a few lines: it opens the printed address, keeps the cookie and sends forms."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple
from urllib.parse import urlencode

from memlines.serve.http.listener import Listener, serve_http
from memlines.serve.rpc.server import Event, Events
from memlines.serve.rpc.workplace import Workplace
from memlines.serve.web.site import Site
from tests.memories import WORDS_ONLY
from tests.serve.rpc import DEADLINE


class Page(NamedTuple):
    """What came back: `status, headers, text = browser.get("/")`."""

    status: int
    headers: http.client.HTTPMessage
    text: str


class Browser:
    """A client of the pages of one memory; without `enter` it is a stranger."""

    def __init__(self, port: int, path: str) -> None:
        self.port = port
        self.path = path
        """The address with the token, without host and port."""
        self.origin = f"http://127.0.0.1:{port}"
        self.cookie = ""

    def enter(self) -> Page:
        """Open the address that was printed, and keep the cookie."""
        page = self.get(self.path)
        self.cookie = (page.headers["Set-Cookie"] or "").partition(";")[0]
        return page

    def get(self, path: str, **headers: str) -> Page:
        """Open a page; underscores in the names of headers stand for dashes."""
        return self.request("GET", path, None, **headers)

    def post(self, path: str, **form: str | Sequence[str]) -> Page:
        """Send a form of our own page, and follow to where it leads."""
        page = self.request("POST", path, urlencode(form, doseq=True).encode())
        return self.get(page.headers["Location"].partition("#")[0]) if page.status == 303 else page

    def request(self, method: str, path: str, body: bytes | None = None, **headers: str | None) -> Page:
        """Send any request and follow nothing; a header that is None is left out."""
        usual: dict[str, str | None] = {"Cookie": self.cookie or None, "Sec-Fetch-Site": "same-origin"}
        if body is not None:
            usual |= {"Origin": self.origin, "Content-Type": "application/x-www-form-urlencoded"}
        given = usual | {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE)
        try:
            connection.request(method, path, body, {name: value for name, value in given.items() if value})
            reply = connection.getresponse()
            return Page(reply.status, reply.headers, reply.read().decode("utf-8", "replace"))
        finally:
            connection.close()


@contextmanager
def browsing(folder: Path, settings: Mapping[str, Any] | None = None) -> Iterator[Browser]:
    """Serve the pages of a memory in this process, by words only unless set otherwise."""
    site = Site(Workplace(folder, {**WORDS_ONLY, **(settings or {})}))
    listener = Listener("127.0.0.1", 0, site)
    events: Events = SimpleQueue()
    thread = threading.Thread(target=serve_http, args=(listener, events))
    thread.start()
    browser = Browser(listener.port, site.path)
    try:
        browser.enter()
        yield browser
    finally:
        events.put(Event.END)
        thread.join(DEADLINE)
        assert not thread.is_alive()
