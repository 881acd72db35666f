"""The site: it is built without a warning, every page is in its menu, and it loads nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest
import yaml

import site_hooks as hooks
from tests.docs.pages import ROOT
from tests.serve.chromium import Watched, chromium

DOCS = ROOT / "docs"
_LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data", "use": "href"}
_LOADING_LINKS = {"stylesheet", "icon", "preload", "preconnect", "modulepreload", "manifest"}


class Loads(HTMLParser):
    """What a page loads as it is shown."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "link" and _LOADING_LINKS & set((given.get("rel") or "").split()):
            self.addresses.append(given.get("href") or "")
        elif tag in _LOADED:
            self.addresses.append(given.get(_LOADED[tag]) or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make site` builds it."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return folder


def test_every_page_is_on_the_site(site: Path) -> None:
    pages = {page.stem for page in DOCS.glob("*.md")} | {
        Path(page).stem for name, page in hooks.TOP.items() if (ROOT / name).exists()
    }
    assert pages <= {page.stem for page in site.glob("*.html")}


def test_the_scripts_that_write_pages_are_not_on_the_site(site: Path) -> None:
    assert [*site.rglob("*.py")] == []


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    pages = [*site.rglob("*.html")]
    loaded = {address for page in pages for address in Loads(page).addresses}
    assert any(address.endswith(".css") for address in loaded)
    assert any(address.endswith(".js") for address in loaded)
    assert [address for address in loaded if urlsplit(address).netloc] == []


def test_everything_that_a_page_loads_is_there(site: Path) -> None:
    for page in site.glob("*.html"):
        local = (urlsplit(address).path for address in Loads(page).addresses)
        assert [
            name for name in local if name and not (page.parent / name.removeprefix("/memlines/")).exists()
        ] == []


def test_no_style_loads_anything_from_elsewhere(site: Path) -> None:
    styles = "".join(file.read_text(encoding="utf-8") for file in site.rglob("*.css"))
    assert re.findall(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//[^)\"']+", styles) == []


def test_no_page_has_what_the_theme_would_fetch_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert 'data-md-component="source"' not in text  # the stars of a repository
        assert 'class="mermaid"' not in text  # a library for diagrams


def test_a_list_below_a_line_of_text_is_a_list(site: Path) -> None:
    assert "- Facts:" not in (site / "changes.html").read_text(encoding="utf-8")


def test_a_choice_in_a_table_has_no_backslashes(site: Path) -> None:
    text = (site / "commands.html").read_text(encoding="utf-8")
    assert "--mode [hybrid|words|vectors]" in text


@pytest.mark.parametrize(
    ("folder", "link", "expected"),
    [
        (DOCS, "search.md", "search.md"),
        (DOCS, "no-such-page.md", "no-such-page.md"),
        (DOCS, "../CONTRIBUTING.md", "contributing.md"),
        (DOCS, "../bench/results/peers.svg", "pictures/peers.svg"),
        (DOCS, "../bench/README.md", f"{hooks.REPOSITORY}/blob/main/bench/README.md"),
        (DOCS, "../examples/server", f"{hooks.REPOSITORY}/tree/main/examples/server"),
        (ROOT, "docs/search.md", "search.md"),
        (ROOT, "CONTRIBUTING.md", "contributing.md"),
        (ROOT, "LICENSE", f"{hooks.REPOSITORY}/blob/main/LICENSE"),
    ],
)
def test_a_link_leads_to_the_same_on_the_site(folder: Path, link: str, expected: str) -> None:
    assert hooks.find_on_site(folder, link) == expected


def test_a_broken_link_is_an_error(tmp_path: Path) -> None:
    settings = yaml.unsafe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text("# Start\n\n[a](no-page.md) [b](#no-heading)\n", encoding="utf-8")
    (tmp_path / "docs/forgotten.md").write_text("# Forgotten\n", encoding="utf-8")
    checks = yaml.safe_dump({"site_name": "a", "nav": ["index.md"], "validation": settings["validation"]})
    (tmp_path / "mkdocs.yml").write_text(checks, encoding="utf-8")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=110, check=False
    )
    assert done.returncode != 0
    for trouble in ("no-page.md", "#no-heading", "forgotten.md"):
        assert trouble in done.stderr


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder and prints nothing."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its name in the library)
        return


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    """The site, as a server on this machine has it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.timeout(600)  # it may install the browser
def test_a_browser_that_searches_the_site_asks_no_one_else(address: str) -> None:
    with chromium() as browser, browser.new_context() as context:
        watched = Watched(context)
        page = watched.page
        page.goto(f"{address}/index.html")
        words = page.locator("[data-md-component=search-query]")
        words.click()
        # Its script sets this once it has read the index; what is typed before that is not looked for.
        page.get_by_text("Type to start searching").wait_for(timeout=60_000)
        words.press_sequentially("forgetting")
        page.locator(".md-search-result__link[href*='forgetting.html']").first.wait_for(timeout=60_000)
    assert (watched.foreign, watched.errors) == ([], [])
