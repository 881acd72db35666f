"""Who may open the page, and what no request can do: foreign sites, strangers, odd requests and paths."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlencode

import pytest

from memlines.serve.http.listener import MOST_CONNECTIONS
from memlines.serve.web import site
from tests.memories import write
from tests.serve.rpc import DEADLINE
from tests.serve.web import Browser, browsing

CORPORA = Path(__file__).parents[3] / "shared" / "corpora"
NOTE = "memory/birds.md"
SECRET = "kestrelword"
NOTES = {NOTE: f"# Birds\n\n- The {SECRET} nests in the tower.\n", "MEMORY.md": f"- {SECRET} first.\n"}
TYPE = "application/x-www-form-urlencoded"
STATIC = "/static/page.css"
PAGES = sorted({f"/{name}" for _, name in site._PAGES})
GETS = sorted(f"/{name}" for method, name in site._PAGES if method == "GET")
POSTS = sorted(f"/{name}" for method, name in site._PAGES if method == "POST")
OPENED = [*GETS, f"/note/{NOTE}", f"/note/{NOTE}?edit=1", f"/history/{NOTE}", f"/?q={SECRET}", "/nothing"]


@pytest.fixture
def browser(workspace: Path) -> Iterator[Browser]:
    write(workspace, NOTES)
    with browsing(workspace) as browser:
        yield browser


class Raw(NamedTuple):
    """An answer as it came: its status, or 0 if there was none, its head and its body."""

    status: int
    head: str
    body: str


def send(browser: Browser, request: str, *lines: str, body: bytes = b"") -> Raw:
    """Send a request line and headers as they stand, with the cookie."""
    head = "\r\n".join([request, *lines, f"Cookie: {browser.cookie}", "Connection: close", "", ""])
    with socket.create_connection(("127.0.0.1", browser.port), timeout=DEADLINE) as connection:
        connection.sendall(head.encode("latin-1") + body)
        with connection.makefile("rb") as answer:
            head, _, text = answer.read().decode("utf-8", "replace").partition("\r\n\r\n")
    return Raw(int(head.split()[1]) if head else 0, head, text)


def own(browser: Browser) -> str:
    return f"Host: 127.0.0.1:{browser.port}"


def digest(folder: Path) -> dict[str, str]:
    """Return what each file of a workspace holds, without the index, which is made of the others."""
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and not file.name.startswith("index.sqlite") and file.suffix != ".lock"
    }


# Every route, by every Host and every Origin

HOSTS = {
    "localhost:{port}": True,
    "127.0.0.1:{port}": True,
    "[::1]:{port}": True,
    "evil.test": False,
    "evil.test:{port}": False,
    "127.0.0.1.evil.test": False,
    "127.0.0.1.evil.test:{port}": False,
    "0.0.0.0:{port}": False,
    "": False,
    "127.0.0.1:{port}\r\nHost: evil.test": False,
    "127.0.0.1:{port}\r\nHost: 127.0.0.1:{port}": False,
}
ORIGINS = {
    None: True,
    "http://127.0.0.1:{port}": True,
    "null": False,
    "http://evil.test": False,
    "file://": False,
    "http://127.0.0.1:1": False,
}


@pytest.mark.parametrize("path", [*PAGES, STATIC, "/nothing", f"/note/{NOTE}"])
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.promise("P10")
def test_only_our_own_page_is_heard(browser: Browser, method: str, path: str) -> None:
    wrong = []
    form = (f"Content-Type: {TYPE}", "Content-Length: 0") if method == "POST" else ()
    for host, host_is_ours in HOSTS.items():
        for origin, origin_is_ours in ORIGINS.items():
            if host_is_ours and origin_is_ours and method == "POST":
                continue  # a form of our own, or one without an Origin, which has a test of its own
            named = [f"Origin: {origin.format(port=browser.port)}"] if origin else []
            answer = send(
                browser,
                f"{method} {path} HTTP/1.1",
                f"Host: {host.format(port=browser.port)}",
                *named,
                *form,
            )
            refused = 421 if not host_is_ours else 0 if origin_is_ours else 403
            is_right = answer.status == refused if refused else answer.status in (200, 400, 404, 405)
            leaks = bool(refused) and (SECRET in answer.body or "birds" in answer.body)
            if not is_right or leaks or "access-control" in answer.head.lower():
                wrong.append((host, origin, answer.status, leaks))
    assert wrong == []


@pytest.mark.promise("P10")
def test_a_stranger_sees_nothing(browser: Browser) -> None:
    browser.cookie = ""
    for page in map(browser.get, OPENED):
        assert (page.status, SECRET in page.text, "birds" in page.text) == (401, False, False)


@pytest.mark.promise("P10")
def test_a_stranger_changes_nothing(browser: Browser, workspace: Path) -> None:
    before, browser.cookie = digest(workspace), ""
    form = {"text": "evil", "sure": "1", "action": "propose"}
    assert {browser.post(path, **form).status for path in POSTS} == {401}
    assert digest(workspace) == before


@pytest.mark.parametrize(
    "token", ["", "x", "é", "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), "x" * 60_000]
)
@pytest.mark.promise("P10")
def test_a_wrong_token_opens_nothing(browser: Browser, token: str) -> None:
    browser.cookie = ""
    page = browser.get(f"/?token={quote(token)}")
    assert (page.status, page.headers["Set-Cookie"]) == (401, None)


@pytest.mark.promise("P10")
def test_the_token_is_good_on_the_first_page_only(browser: Browser) -> None:
    browser.cookie = ""
    assert browser.get(f"/note/{NOTE}{browser.path.removeprefix('/')}").status == 401


@pytest.mark.promise("P10")
def test_the_token_and_the_cookie_of_another_page_open_nothing(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with browsing(tmp_path / "other") as other:
        value = other.cookie.partition("=")[2]
        browser.cookie = ""
        tried = [browser.get(other.path), browser.get("/", Cookie=other.cookie)]
        tried.append(browser.get("/", Cookie=f"memlines-{browser.port}={value}"))
    assert [page.status for page in tried] == [401, 401, 401]


@pytest.mark.parametrize(
    "cookie",
    ["memlines-{port}=", "memlines-{port}", "=;=;", "memlines-{port}=\xff", "\x01=2", "x" * 60_000],
)
@pytest.mark.promise("P10")
def test_a_cookie_that_is_not_ours_opens_nothing(browser: Browser, cookie: str) -> None:
    assert browser.get("/", Cookie=cookie.format(port=browser.port)).status == 401


@pytest.mark.promise("P10")
def test_a_cookie_that_is_sent_twice_is_refused(browser: Browser) -> None:
    assert send(browser, "GET / HTTP/1.1", own(browser), f"Cookie: {browser.cookie}").status == 400


@pytest.mark.promise("P10")
def test_scripts_and_other_sites_cannot_have_the_cookie(browser: Browser) -> None:
    given = browser.enter().headers["Set-Cookie"]
    assert given.partition("; ")[2].split("; ") == ["Path=/", "HttpOnly", "SameSite=Strict"]


@pytest.mark.parametrize("where", ["cross-site", "same-site", "strange"])
@pytest.mark.promise("P10")
def test_what_another_site_sends_is_forbidden(browser: Browser, where: str) -> None:
    assert {browser.get(path, Sec_Fetch_Site=where).status for path in OPENED} == {403}


@pytest.mark.promise("P10")
def test_another_site_cannot_find_out_by_a_file_that_the_page_is_open(browser: Browser) -> None:
    browser.cookie = ""
    assert browser.get(STATIC, Sec_Fetch_Site="cross-site").status == 401


# Forms


@pytest.mark.promise("P10")
def test_a_form_without_an_origin_is_forbidden(browser: Browser) -> None:
    assert {browser.request("POST", path, b"", Origin=None).status for path in POSTS} == {403}


@pytest.mark.parametrize(
    "kind", ["application/json", "multipart/form-data; boundary=x", "text/plain", "x", f"{TYPE}x"]
)
@pytest.mark.promise("P10")
def test_a_form_of_another_type_is_refused(browser: Browser, kind: str) -> None:
    assert {browser.request("POST", path, b"{}", Content_Type=kind).status for path in POSTS} == {415}


def test_a_form_without_a_type_is_refused(browser: Browser) -> None:
    answer = send(
        browser, "POST /undo HTTP/1.1", own(browser), f"Origin: {browser.origin}", "Content-Length: 0"
    )
    assert answer.status == 415


@pytest.mark.parametrize(
    ("length", "status"),
    [
        (str(site.MOST_BYTES + 1), 413),
        ("9" * 19, 413),
        ("9" * 5000, 400),
        ("-1", 400),
        ("+1", 400),
        ("1_0", 400),
        ("x", 400),
    ],
)
def test_a_form_that_is_too_large_is_refused_before_it_is_read(
    browser: Browser, length: str, status: int
) -> None:
    head = [own(browser), f"Origin: {browser.origin}", f"Content-Type: {TYPE}", f"Content-Length: {length}"]
    assert send(browser, "POST /remember HTTP/1.1", *head).status == status


def test_a_form_in_chunks_is_refused(browser: Browser) -> None:
    head = [own(browser), f"Origin: {browser.origin}", f"Content-Type: {TYPE}", "Transfer-Encoding: chunked"]
    assert send(browser, "POST /remember HTTP/1.1", *head, body=b"0\r\n\r\n").status == 411


@pytest.mark.parametrize("path", ["/", STATIC])
@pytest.mark.parametrize(
    "header",
    [
        "Content-Length: 99999999999",
        "Content-Length: -1",
        "Content-Length: x",
        "Content-Length: 1",
        "Transfer-Encoding: chunked",
    ],
)
def test_what_is_only_opened_may_have_no_body(browser: Browser, path: str, header: str) -> None:
    assert send(browser, f"GET {path} HTTP/1.1", own(browser), header).status == 400


# Methods

METHODS = ["HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "BREW", "get"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.promise("P10")
def test_other_methods_are_refused_and_allow_no_other_site(browser: Browser, method: str) -> None:
    for path in PAGES:
        page = browser.request(method, path)
        assert (page.status, [name for name in page.headers if "access-" in name.lower()]) == (405, [])
        assert SECRET not in page.text


@pytest.mark.promise("P10")
def test_a_preflight_of_another_site_is_refused(browser: Browser) -> None:
    asked: dict[str, str | None] = {"Access_Control_Request_Method": "POST", "Origin": "http://evil.test"}
    page = browser.request("OPTIONS", "/undo", None, **asked, Cookie=None, Sec_Fetch_Site="cross-site")
    assert (page.status, [name for name in page.headers if "access" in name.lower()]) == (403, [])


def test_what_a_head_asks_for_is_not_sent(browser: Browser) -> None:
    assert send(browser, f"HEAD /note/{NOTE} HTTP/1.1", own(browser)).body == ""


@pytest.mark.parametrize(
    ("path", "allowed"), [("/map", "GET"), ("/events", "GET"), ("/", "GET"), ("/timeline", "GET")]
)
def test_a_page_without_a_form_takes_none(browser: Browser, path: str, allowed: str) -> None:
    page = browser.request("POST", path, b"")
    assert (page.status, page.headers["Allow"]) == (405, allowed)


NASTY = urlencode(
    {
        "action": "apply",
        "chosen": "1",
        "confirm": "1",
        "delete": "1",
        "done": "1",
        "force": "1",
        "method": "POST",
        "personal": "1",
        "redo": "1",
        "restore": "1",
        "sure": "1",
        "text": "evil",
        "topic": "evil",
        "_method": "POST",
        "what": NOTE,
    }
)


@pytest.mark.promise("P10")
def test_opening_an_address_changes_no_file(browser: Browser, workspace: Path) -> None:
    browser.post("/remember", text="An owl was seen.", sure="1")
    browser.post("/tidy", action="propose")
    version = browser.get(f"/history/{NOTE}").text
    before = digest(workspace)
    for path in GETS:
        for rest in ("", f"/{NOTE}", "/x"):
            assert browser.get(f"{path}{rest}?{NASTY}").status < 500, (path, rest)
    assert (digest(workspace), browser.get(f"/history/{NOTE}").text) == (before, version)


# What every reply says


@pytest.mark.parametrize("cookie", [True, False])
@pytest.mark.promise("P10")
def test_every_page_forbids_what_it_does_not_need(browser: Browser, *, cookie: bool) -> None:
    browser.cookie = browser.cookie if cookie else ""
    for path in [*OPENED, browser.path, STATIC, "/static/none", "/note/../x", "/timeline?day=x"]:
        headers = browser.get(path).headers
        policy = headers["Content-Security-Policy"]
        assert {"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"} <= {*policy.split("; ")}
        assert "unsafe" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] in ("no-referrer", "same-origin")
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert headers["X-DNS-Prefetch-Control"] == "off"
        assert headers["Server"] == "memlines"
        assert path == STATIC or headers["Cache-Control"] == "no-store"


@pytest.mark.promise("P10")
def test_every_refusal_forbids_it_too(browser: Browser) -> None:
    for page in (
        browser.get("/", Host="evil.test"),
        browser.get("/", Origin="null"),
        browser.request("PUT", "/"),
        browser.get(f"/?q={'x' * 70_000}"),
        browser.post("/remember", text=""),
    ):
        assert page.status >= 400
        assert "default-src 'none'" in page.headers["Content-Security-Policy"]


# Requests that make no sense


@pytest.mark.parametrize(
    "target",
    [
        "http://[/",
        "http://[::1/note",
        "http://\u2100.test/".encode().decode("latin-1"),
        "//[",
        "http://127.0.0.1:99999999/",
        "*",
        "?",
        "#",
        "/%",
        "/%zz",
        "/%ff%fe",
        "/%00",
        "/note/%",
        "/note/%C0%AE%C0%AE/",
        "/?q=%ff%00%zz",
        "/?=&=&&;;",
        "/?q[]=1&q[x]=2",
        "/\xff\xfe",
        "/note/\xff",
        "x",
        "http://evil.test/",
        "javascript:alert(1)",
    ],
)
def test_an_odd_address_gets_an_answer(browser: Browser, target: str) -> None:
    assert 200 <= send(browser, f"GET {target} HTTP/1.1", own(browser)).status < 500


def test_an_address_that_is_too_long_is_refused(browser: Browser) -> None:
    assert browser.get(f"/?q={'x' * 100_000}").status == 414


@pytest.mark.parametrize("path", POSTS)
def test_a_form_with_too_many_fields_is_refused(browser: Browser, path: str) -> None:
    page = browser.request("POST", path, b"&".join([b"chosen=1"] * 20_001))
    assert (page.status, "That did not work" in page.text) == (400, True)


@pytest.mark.parametrize("path", POSTS)
def test_a_form_of_bytes_that_are_no_text_is_answered(browser: Browser, path: str) -> None:
    body = b"text=%ff%fe\x00\xff&what=%00\xff&action=%ff&version=%00&chosen=%ff&topic=%00%ff"
    assert 200 <= browser.request("POST", path, body).status < 500 or path == "/note"


# Many clients


def test_pages_that_watch_the_vectors_leave_room_for_others(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"chunks": 2, "pending": 1, "text": ""}
    monkeypatch.setattr("memlines.serve.web.health._describe", lambda _: said)
    head = f"GET /events HTTP/1.1\r\n{own(browser)}\r\nCookie: {browser.cookie}\r\n\r\n".encode()
    with ExitStack() as stack:
        for _ in range(MOST_CONNECTIONS + 8):
            client = stack.enter_context(
                socket.create_connection(("127.0.0.1", browser.port), timeout=DEADLINE)
            )
            client.sendall(head)
            with client.makefile("rb") as answer:
                assert b" 200 " in answer.readline()
        assert browser.get(f"/note/{NOTE}").status == 200


def test_clients_that_say_nothing_leave_room_for_others(browser: Browser) -> None:
    with ExitStack() as stack:
        for _ in range(MOST_CONNECTIONS + 8):
            client = stack.enter_context(
                socket.create_connection(("127.0.0.1", browser.port), timeout=DEADLINE)
            )
            client.sendall(b"GET / HT")
        assert browser.get(f"/note/{NOTE}").status == 200


def test_many_tabs_are_answered(browser: Browser) -> None:
    statuses: list[int] = []

    def open_all() -> None:
        statuses.extend(browser.get(path).status for path in ("/", f"/note/{NOTE}", f"/?q={SECRET}"))

    threads = [threading.Thread(target=open_all) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
    assert statuses == [200] * 36


# Paths

OUTSIDE = [
    "../secret.md",
    "../../secret.md",
    "memory/../../secret.md",
    "%2e%2e/secret.md",
    "%252e%252e/secret.md",
    "..%2fsecret.md",
    "..%5csecret.md",
    "..\\secret.md",
    "%c0%ae%c0%ae/secret.md",
    "....//secret.md",
    "{outside}/secret.md",
    "/{outside}/secret.md",
    "file://{outside}/secret.md",
    "memory/link.md",
    "memory/linked/secret.md",
    "memory/secret.md%00.md",
    "%00",
    "C:/secret.md",
    "C:%5csecret.md",
    "%5c%5cserver%5cshare%5csecret.md",
    "~/secret.md",
    "CON",
    "memory/NUL.md",
    "memory/COM1.md",
    "/dev/stdin",
    "/proc/self/environ",
    "/etc/passwd",
    "memory/" + "x" * 300 + ".md",
    "x/" * 3000 + ".md",
    ".memory/index.sqlite",
    ".memory/config.toml",
    ".memory/config.toml.md",
    "memory/.memory/index.sqlite",
    ".git/config",
    "memlines.toml",
    "..",
    ".",
    "",
    "memory",
    "memory/",
    "personal:../../secret.md",
    "personal:/etc/passwd",
    "personal:",
    "memory/birds.md/../../../secret.md",
    "memory/birds.md%20",
    "memory/birds.md.",
    "memory/birds.md::$DATA",
    "memory/%e2%80%ae.md",
    "memory/birds.md@0000-00-00",
    "memory/birds.md@9999-12-31",
    "../secret.md@2026-01-01",
]
SEEN = "outsideword"


@pytest.fixture
def walled(workspace: Path, tmp_path: Path) -> Iterator[Browser]:
    """A memory with a note beside it that no page may show."""
    write(workspace, NOTES)
    (tmp_path / "secret.md").write_text(f"- {SEEN}\n", encoding="utf-8")
    (workspace / "memory/link.md").symlink_to(tmp_path / "secret.md")
    (workspace / "memory/linked").symlink_to(tmp_path)
    (workspace / ".memory").mkdir(exist_ok=True)
    (workspace / "memlines.toml").write_text(f"# {SEEN}\n", encoding="utf-8")
    with browsing(workspace) as browser:
        yield browser


def addresses(tmp_path: Path) -> list[str]:
    return [path.replace("{outside}", str(tmp_path)).replace("\\", "%5c") for path in OUTSIDE]


@pytest.mark.parametrize("page", ["note", "history", "sessions", "blame", "facts"])
@pytest.mark.parametrize("query", ["", "?edit=1", "?version=../../secret.md&line=1"])
@pytest.mark.promise("P7")
def test_a_path_leads_to_nothing_outside(walled: Browser, tmp_path: Path, page: str, query: str) -> None:
    for address in addresses(tmp_path):
        answer = walled.get(f"/{page}/{address}{query}")
        assert answer.status < 500 or "Code <code>" in answer.text, address
        assert (SEEN in answer.text, "could not be made" in answer.text) == (False, False), address


@pytest.mark.parametrize("page", ["note", "history"])
@pytest.mark.parametrize(
    "version", ["", hashlib.sha256(f"- {SEEN}\n".encode()).hexdigest(), "../../secret.md"]
)
@pytest.mark.promise("P7")
def test_a_form_changes_nothing_outside(walled: Browser, tmp_path: Path, page: str, version: str) -> None:
    def outside() -> dict[str, str]:
        ours = ("workspace/memory/", "workspace/.memory/")
        return {name: content for name, content in digest(tmp_path).items() if not name.startswith(ours)}

    before, form = outside(), urlencode({"text": "evil\n", "version": version}).encode()
    for address in addresses(tmp_path):
        answer = walled.request("POST", f"/{page}/{address}", form)
        assert (SEEN in answer.text, "could not be made" in answer.text) == (False, False), address
    assert outside() == before


@pytest.mark.parametrize(
    "page", ["/?q=x&topic={}", "/?q=x&path={}", "/?q={}", "/forget?what={}", "/blame?line={}"]
)
@pytest.mark.promise("P7")
def test_a_path_in_a_query_shows_nothing_outside(walled: Browser, tmp_path: Path, page: str) -> None:
    for address in addresses(tmp_path):
        answer = walled.get(page.format(address))
        assert (answer.status < 500, SEEN in answer.text) == (True, False), address


OPEN_EACH = """\
import json, os, sys
from pathlib import Path
from urllib.parse import quote

opened, watching = [], False
def watch(event, arguments):
    by_name = event in ("os.listdir", "os.scandir") or (event == "open" and arguments[1] is not None)
    if by_name and watching and not isinstance(arguments[0], int):
        opened.append(os.path.abspath(os.fsdecode(arguments[0])))
sys.addaudithook(watch)

from tests.serve.web import browsing

root, payloads = Path(sys.argv[1]), json.load(sys.stdin)
bad = []
with browsing(root) as browser:
    for page in ("note", "history", "sessions"):
        browser.get(f"/{page}/memory/birds.md")  # whatever is imported late is imported now
        browser.get(f"/{page}/memory/none.md")
    watching = True
    for payload in payloads:
        for page in ("note", "history", "sessions"):
            answer = browser.get(f"/{page}/{quote(payload, safe='/%')}")
            if "could not be made" in answer.text or "root:" in answer.text or "outsideword" in answer.text:
                bad.append([page, payload])
    watching = False
inside = [str(root), os.environ["MEMLINES_HOME"], os.environ["XDG_CONFIG_HOME"], sys.prefix, sys.base_prefix]
inside += [str(Path("src").resolve())]
outside = sorted({path for path in opened if not path.startswith(tuple(inside))})
print(json.dumps({"bad": bad, "outside": outside[:20]}))
"""


@pytest.mark.parametrize("name", ["traversal-a.txt", "traversal-b.txt", "traversal-c.txt"])
@pytest.mark.promise("P7")
def test_known_attacks_open_nothing_outside(workspace: Path, tmp_path: Path, name: str) -> None:
    if not (CORPORA / name).exists():
        pytest.skip("the lists of hostile paths are not here")
    write(workspace, NOTES)
    (tmp_path / "secret.md").write_text(f"- {SEEN}\n", encoding="utf-8")
    lines = (CORPORA / name).read_text(encoding="utf-8", errors="replace").splitlines()
    payloads = [line.replace("{FILE}", "secret.md") for line in lines[:: max(1, len(lines) // 100)]]
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", OPEN_EACH, str(workspace)],
        input=json.dumps(payloads),
        capture_output=True,
        check=True,
        encoding="utf-8",
        timeout=200,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    assert json.loads(done.stdout) == {"bad": [], "outside": []}
