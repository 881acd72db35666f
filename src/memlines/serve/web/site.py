"""The page as an application of the HTTP server: who is let in, which page answers, what an error looks like.

`memlines web` prints an address with a random token. Opening it sets a cookie that no other site can
send, and the token is not needed again. Forms are taken from our own pages only, which their Origin shows.
"""

from __future__ import annotations

import gzip
import hmac
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from email.message import Message
from functools import cached_property
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

from memlines.errors import EditConflict, MemlinesError, PathError, UsageError, WorkspaceError
from memlines.records import dataclass
from memlines.serve.http.guard import Refusal, check_body
from memlines.serve.http.listener import Handler, Reply
from memlines.serve.rpc.messages import log_traceback
from memlines.serve.rpc.workplace import Workplace
from memlines.serve.web import finding, health, notes, overview, review
from memlines.serve.web.render import STATIC, render_page, static_file

if TYPE_CHECKING:
    from memlines.memory.memory import Memory

MOST_BYTES = 8 * 1024 * 1024
"""How large a form may be: a note of 1 MB, each byte of which may take three."""

_MOST_FIELDS = 20_000
_COMPRESSED = 1400
"""Bytes; less than this fits into one packet anyway."""

_FORM = "application/x-www-form-urlencoded"
_OWN = ("same-origin", "none")
"""Where a browser may say that a request comes from: our pages, or what the user typed."""

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Referrer-Policy": "same-origin",
    "X-DNS-Prefetch-Control": "off",  # or the names in links of notes would be looked up
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_STATUS: Mapping[type[MemlinesError], int] = {EditConflict: 409, PathError: 404, UsageError: 400}


@dataclass(frozen=True, slots=False)
class Request:
    """What a page is asked: the rest of its address, and the values of the query or the form."""

    place: Workplace
    method: str
    rest: str
    given: Mapping[str, list[str]]

    @cached_property
    def memory(self) -> Memory:
        """The memory with the settings as they are now."""
        return self.place.memory()

    def get(self, name: str) -> str:
        """Return a value, empty if it was not given."""
        return self.given.get(name, [""])[-1].strip()

    def number(self, name: str) -> int | None:
        """Return a whole number, if one was given."""
        return int(self.get(name)) if re.fullmatch(r"[0-9]{1,9}", self.get(name)) else None

    def text(self, name: str) -> str:
        """Return a value of several lines as it was typed."""
        return self.given.get(name, [""])[-1].replace("\r\n", "\n")

    def render(self, template: str, status: int = 200, /, **values: Any) -> Reply:
        """Return a page of this memory."""
        folder = self.place.workspace.root
        return render_page(template, status, folder=str(folder), name=folder.name, **values)


Page = Callable[[Request], Reply]

_PAGES: Mapping[tuple[str, str], Page] = {
    ("GET", ""): finding.show_search,
    ("GET", "note"): notes.show_note,
    ("POST", "note"): notes.save_note,
    ("GET", "history"): notes.show_history,
    ("POST", "history"): notes.restore,
    ("GET", "remember"): notes.show_remember,
    ("POST", "remember"): notes.remember,
    ("GET", "forget"): notes.show_forget,
    ("POST", "forget"): notes.forget,
    ("GET", "undo"): notes.show_undo,
    ("POST", "undo"): notes.undo,
    ("GET", "timeline"): overview.show_timeline,
    ("GET", "map"): overview.show_map,
    ("GET", "facts"): review.show_facts,
    ("POST", "facts"): review.change_fact,
    ("GET", "sessions"): review.show_sessions,
    ("GET", "tidy"): review.show_tidy,
    ("POST", "tidy"): review.change_tidy,
    ("GET", "blame"): review.show_blame,
    ("GET", "health"): health.show_health,
    ("POST", "health"): health.sync,
    ("GET", "events"): health.send_events,
}


class Site:
    """The pages of one memory, for the person who was given the address."""

    def __init__(self, place: Workplace) -> None:
        self._place = place
        self._token = secrets.token_urlsafe(24)
        self._session = secrets.token_urlsafe(32)
        self.path = f"/?token={self._token}"

    def find(self, method: str, target: str, headers: Message) -> Refusal | Handler:
        """Return the page that answers a request, or why none does."""
        try:
            address = urlsplit(target)
        except ValueError:
            return Refusal(400, "this is not an address")
        if method != "POST" and ("Transfer-Encoding" in headers or headers.get("Content-Length", "0") != "0"):
            return Refusal(400, "only a form has a body")
        name, _, rest = unquote(address.path, errors="replace").removeprefix("/").partition("/")
        given = parse_qs(address.query, keep_blank_values=True, errors="replace")
        is_own = headers.get("Sec-Fetch-Site", "none") in _OWN
        if method == "GET" and name == STATIC and is_own:
            static = static_file(rest)
            return lambda _: replace(static, headers={**_HEADERS, **static.headers})
        cookie = f"memlines-{(headers.get('Host') or '').rpartition(':')[2]}"  # each port has its own
        if method == "GET" and not name and "token" in given:
            return self._let_in(given["token"][-1], cookie)
        if not self._is_known(headers, cookie):
            return Refusal(401, "only the address that 'memlines web' printed opens this page")
        if not is_own:
            return Refusal(403, "other sites may not open this page")
        page = _PAGES.get((method, name))
        if page is None:
            allowed = ", ".join(known for known, page_name in _PAGES if page_name == name)
            return (
                Refusal(405, f"this page takes {allowed}", {"Allow": allowed})
                if allowed
                else Refusal(404, "there is no such page")
            )
        if method == "POST":
            if "Origin" not in headers:  # one that is there was checked
                return Refusal(403, "a form must come from this page")
            if refusal := check_body(headers, _FORM, MOST_BYTES):
                return refusal
        request = Request(self._place, method, rest, given)
        packed = "gzip" in headers.get("Accept-Encoding", "")
        return lambda body: _answer(page, request, body, packed=packed)

    def _let_in(self, token: str, cookie: str) -> Refusal | Handler:
        if not hmac.compare_digest(token.encode("utf-8", "replace"), self._token.encode()):
            return Refusal(401, "this address is not the one that 'memlines web' printed last")
        value = f"{cookie}={self._session}; Path=/; HttpOnly; SameSite=Strict"
        # The page leads on: after a redirect, a browser that came from another site keeps the cookie back.
        welcome = render_page("welcome.html")
        return lambda _: replace(welcome, headers={**_HEADERS, "Set-Cookie": value})

    def _is_known(self, headers: Message, name: str) -> bool:
        try:
            cookie = SimpleCookie(headers.get("Cookie", "")).get(name)
        except CookieError:
            return False
        return cookie is not None and hmac.compare_digest(
            cookie.value.encode("utf-8", "replace"), self._session.encode()
        )

    def refuse(self, refusal: Refusal) -> Reply:
        """Return a page that says why a request is refused."""
        todo = "Open the address that it prints, or start it again" if refusal.status == 401 else ""
        reply = render_page("error.html", refusal.status, error=refusal.sentence, todo=todo, bare=True)
        return replace(reply, headers=_HEADERS)

    def close(self) -> None:
        """Stop background work."""
        self._place.close()


def _read_form(body: bytes) -> dict[str, list[str]]:
    try:
        return parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise UsageError(f"a form may have {_MOST_FIELDS:,} fields", todo="Choose fewer at a time") from None


def _answer(page: Page, request: Request, body: bytes, *, packed: bool) -> Reply:
    """Return what a page says, or what went wrong; the wording and the codes are those of every interface."""
    try:
        if request.method == "POST":
            request = replace(request, given=_read_form(body))
        if not request.place.is_active and not request.place.workspace.root.is_dir():
            raise WorkspaceError("the folder of this memory is gone", todo="Bring it back, or start again")
        reply = page(request)
    except MemlinesError as error:
        status = next((number for kind, number in _STATUS.items() if isinstance(error, kind)), 503)
        reply = request.render("error.html", status, error=error.what, todo=error.todo, code=error.code)
    except Exception:  # noqa: BLE001 (a mistake of ours ends one page, not the server)
        log_traceback()
        todo = "The terminal in which 'memlines web' runs says more"
        reply = request.render(
            "error.html", 500, error="this page could not be made", todo=todo, code="error"
        )
    headers = {**_HEADERS, **reply.headers}
    if (
        packed
        and reply.stream is None
        and len(reply.body) > _COMPRESSED
        and re.match(r"text|image/svg", reply.kind)
    ):
        packed_body = gzip.compress(reply.body, 5, mtime=0)
        return replace(
            reply,
            body=packed_body,
            headers={**headers, "Content-Encoding": "gzip", "Vary": "Accept-Encoding"},
        )
    return replace(reply, headers=headers)
