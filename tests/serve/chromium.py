"""A real browser for the tests: Chromium, driven by Playwright, in which every request is watched."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.programs import find_or_install

if TYPE_CHECKING:
    from playwright.sync_api import Browser as Chromium
    from playwright.sync_api import BrowserContext, Dialog, Page

    from tests.serve.web import Browser

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_QUIET = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync")
_OFFLINE = ("--disable-background-networking", "--disable-component-update")


def find_chromium() -> str:
    """Return the program, installed by the system's package manager if that may be asked; else skip."""
    found = find_or_install(_NAMES, "chromium")
    if found is None:
        pytest.skip("there is no Chromium here, and it cannot be installed")
    return found


@contextmanager
def chromium() -> Iterator[Chromium]:
    """Start the browser for as long as the block lasts."""
    from playwright.sync_api import sync_playwright

    program = find_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*_QUIET, *_OFFLINE])
        try:
            yield browser
        finally:
            browser.close()


class Watched:
    """A page, what it asked for beyond this machine, and what its scripts and its console said."""

    def __init__(self, context: BrowserContext) -> None:
        self.foreign: list[str] = []
        self.errors: list[str] = []
        self.dialogs: list[str] = []
        context.on("request", lambda request: self._note(request.url))
        self._may_refuse = False
        self.page: Page = context.new_page()
        self.watch(self.page)

    def watch(self, page: Page) -> None:
        """Watch one more page of the same browser."""
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda said: self._add_error(said.text) if said.type == "error" else None)
        page.on("dialog", self._accept)

    def allow_refusals(self) -> None:
        """Leave out what a browser says of its own where no one answers, so far and from now on."""
        self._may_refuse = True
        said, self.errors = self.errors, []
        for error in said:
            self._add_error(error)

    def _add_error(self, error: str) -> None:
        if not (self._may_refuse and "Failed to load resource: net::ERR_" in error):
            self.errors.append(error)

    def visit(self, site: Browser, path: str = "/") -> Page:
        """Open a page of a memory as the person who was given its address."""
        name, _, value = site.cookie.partition("=")
        self.page.context.add_cookies([{"name": name, "value": value, "url": site.origin}])
        self.page.goto(site.origin + path)
        return self.page

    def _accept(self, dialog: Dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.accept()

    def _note(self, url: str) -> None:
        address = urlsplit(url)
        if address.scheme not in ("data", "about", "blob") and address.hostname not in (
            "127.0.0.1",
            "localhost",
            "::1",
        ):
            self.foreign.append(url)
