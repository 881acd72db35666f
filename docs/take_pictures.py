"""Take the pictures of the page, from a copy of the example notes.

python docs/take_pictures.py docs/pictures

The program is the real one, with the model that it brings along, and the browser is Chromium.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = [sys.executable, "-c", "from memlines.cli.start import main; main()"]
FACTS = {
    "Annika prefers pull requests below 300 lines.": "preference",
    "The office printer is called Albatross.": "fact",
    "Invoices go out on the first working day of the month.": "fact",
}
WIDE, PHONE = {"width": 1200, "height": 760}, {"width": 390, "height": 800}
QUESTION = "who+renews+the+certificates"
PICTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "search": (f"/?q={QUESTION}", {"viewport": WIDE}),
    "note": ("/note/memory/runbooks/certificates.md?line=14", {"viewport": WIDE}),
    "timeline": ("/timeline", {"viewport": WIDE}),
    "map": ("/map?colour=topic", {"viewport": WIDE}),
    "dark": (f"/?q={QUESTION}", {"viewport": WIDE, "color_scheme": "dark"}),
    "phone": (f"/?q={QUESTION}", {"viewport": PHONE}),
}


@contextmanager
def serve() -> Iterator[str]:
    """Serve a copy of the example notes, with a few facts; yield the address that opens it."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "notes"
        shutil.copytree(ROOT / "examples/notes", folder)
        variables = {**os.environ, "MEMLINES_HOME": f"{home}/home", "XDG_CONFIG_HOME": f"{home}/config"}
        for fact, category in FACTS.items():
            _run("facts", "store", fact, "--category", category, folder=folder, env=variables)
        _run("sync", folder=folder, env=variables)
        with subprocess.Popen(
            [*PROGRAM, "web", "--no-browser", "--workspace", str(folder)],
            env=variables,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        ) as server:
            try:
                assert server.stdout is not None
                yield server.stdout.readline().split()[-1]
            finally:
                server.terminate()


def _run(*arguments: str, folder: Path, env: dict[str, str]) -> None:
    subprocess.run(
        [*PROGRAM, *arguments, "--workspace", str(folder)], env=env, check=True, stdout=subprocess.DEVNULL
    )


def take(page: Page, address: str, path: str, file: Path) -> None:
    """Take a picture of a page, with the first explanation open if it has one."""
    page.goto(address)
    page.wait_for_url("**/")
    page.goto(address.partition("/?")[0] + path)
    page.evaluate("() => document.querySelector('.why')?.setAttribute('open', '')")
    page.screenshot(path=file)


def main(folder: Path) -> None:
    """Take all pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with serve() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, (path, options) in PICTURES.items():
            context = browser.new_context(**options)
            take(context.new_page(), address, path, folder / f"{name}.png")
            context.close()
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
