"""Measures the page of `memlines web` in a real browser. Run `python -m bench.web`.

A workspace with 15,000 chunks and the builtin model, served by the program itself. Every figure is a median
of 20, taken in turns with a bare page of the same server, the one that says why a request was refused; the
first map is one of 5 servers. Search is measured from the last key to the answer in the page, less the 40 ms
that the script waits for the next key; "at once" is while the page still loads what was written lately. The
weight is what crosses the wire.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

from tests.serve.chromium import Watched, chromium

from bench.common import (
    circumstances,
    default_settings,
    environment,
    finish,
    interleaved,
    medians,
    parser,
    verdict,
)
from bench.corpus import queries, write_workspace
from memlines import Memory

if TYPE_CHECKING:
    from playwright.sync_api import Browser as Chromium
    from playwright.sync_api import Page

NOTES, ROUNDS, FRESH = 4_300, 20, 5
WAIT = 40.0
"""Milliseconds that the script waits for the next key."""

PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
GOALS = {
    "first paint, ms": 300.0,
    "search as you type, ms": 80.0,
    "search at once, ms": 80.0,
    "map, first time, ms": 2_000.0,
    "map, again, ms": 2_000.0,
    "start to first page, ms": 700.0,
    "weight of the search page, kB": 150.0,
    "weight of the map, kB": 150.0,
    "requests that left loopback": 0.0,
}


def main() -> None:
    """Measure, print, and write the figures if asked to."""
    arguments = parser(__doc__).parse_args()
    with default_settings(), tempfile.TemporaryDirectory(prefix="memlines-bench-") as folder:
        figures = measure(Path(folder))
    results = {**circumstances(), "command": "python -m bench.web", **figures}
    finish(results, table(figures), arguments.json)


def measure(folder: Path) -> dict[str, Any]:
    """Return the figures of the page."""
    project = folder / "project"
    write_workspace(project, NOTES)
    with Memory(project) as memory:
        memory.sync()
        chunks = memory.status().chunks
    variables = environment(Path(os.environ["MEMLINES_HOME"]))
    starts = medians(interleaved({"start": lambda: _start(project, variables)}, ROUNDS))
    with chromium() as browser:
        first_maps = [_draw_first_map(browser, project, variables) for _ in range(FRESH)]
    with _served(project, variables) as url, chromium() as browser:
        base = url.partition("/?")[0]
        watched = Watched(browser.new_context())
        page = watched.page
        _open(page, url)
        asked = iter(queries(2 * ROUNDS))
        jobs: dict[str, Callable[[], float]] = {
            "bare page": lambda: _paint(page, f"{base}/no-such-page"),
            "first paint": lambda: _paint(page, f"{base}/"),
            "search": lambda: _type(page, base, next(asked), at_once=False),
            "search at once": lambda: _type(page, base, next(asked), at_once=True),
            "map": lambda: _visit(page, f"{base}/map", "#map path"),
        }
        taken = medians(interleaved(jobs, ROUNDS))
        weights = {
            name: _weigh(browser.new_context(), url, f"{base}{name}") for name in ("/?q=backup", "/map")
        }
        return {
            "chunks": chunks,
            "bare page, first paint, ms": taken["bare page"],
            "first paint, ms": taken["first paint"],
            "search as you type, ms": taken["search"],
            "search at once, ms": taken["search at once"],
            "map, first time, ms": median(first_maps),
            "map, again, ms": taken["map"],
            "start to first page, ms": starts["start"],
            "weight of the search page, kB": weights["/?q=backup"],
            "weight of the map, kB": weights["/map"],
            "requests that left loopback": len(watched.foreign),
        }


@contextmanager
def _served(folder: Path, variables: Mapping[str, str]) -> Iterator[str]:
    """Run the program, and yield the address that it prints."""
    command = [sys.executable, "-m", "memlines", "web", "--no-browser", "-w", str(folder)]
    with subprocess.Popen(command, env=dict(variables), stdout=subprocess.PIPE, encoding="utf-8") as process:
        try:
            found = re.search(r"http://\S+", process.stdout.readline() if process.stdout else "")
            assert found is not None
            yield found[0]
        finally:
            process.terminate()


def _start(folder: Path, variables: Mapping[str, str]) -> float:
    """Return the milliseconds from starting the program to having the first page."""
    began = perf_counter()
    with _served(folder, variables) as url:
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        for address in (url, url.partition("?")[0]):
            opener.open(address).read()
        return (perf_counter() - began) * 1000


def _paint(page: Page, address: str) -> float:
    """Return the milliseconds after which a page shows something."""
    page.goto(address)
    return _wait(page, PAINT)


def _wait(page: Page, expression: str) -> float:
    """Return what an expression is once it is not 0; the page's policy forbids waiting inside it."""
    deadline = perf_counter() + 60
    while not (value := float(page.evaluate(expression))):
        if perf_counter() > deadline:
            raise TimeoutError(expression)
    return value


def _open(page: Page, address: str) -> None:
    """Open the search, and wait for what was written lately."""
    page.goto(address)
    page.wait_for_selector("#recent .day", timeout=60_000)


def _draw_first_map(browser: Chromium, folder: Path, variables: Mapping[str, str]) -> float:
    """Return the milliseconds in which a server that has just started shows its map."""
    with _served(folder, variables) as url:
        page = browser.new_page()
        _open(page, url)
        try:
            return _visit(page, f"{url.partition('/?')[0]}/map", "#map path")
        finally:
            page.close()


def _type(page: Page, base: str, query: str, *, at_once: bool) -> float:
    """Return the milliseconds from the last key to the answer; at once is before the page has loaded all."""
    if at_once:
        page.goto(f"{base}/")
    else:
        _open(page, f"{base}/")
    page.fill("#q", query[:-1])
    page.wait_for_selector(".hits, .empty")
    page.evaluate(
        """() => {
          const q = document.querySelector('#q'), results = document.querySelector('#results');
          q.addEventListener('input', () => { window.began = performance.now(); }, { once: true });
          window.ended = 0;
          const watch = new MutationObserver(() => { window.ended = performance.now(); });
          watch.observe(results, { childList: true });
        }"""
    )
    page.keyboard.press("End")
    page.keyboard.type(query[-1])
    return _wait(page, "window.ended && window.ended - window.began") - WAIT


def _visit(page: Page, address: str, selector: str) -> float:
    """Return the milliseconds until a page is there with what it draws."""
    began = perf_counter()
    page.goto(address, timeout=60_000)
    page.wait_for_selector(selector, state="attached")
    _wait(page, PAINT)
    return (perf_counter() - began) * 1000


def _weigh(context: Any, url: str, address: str) -> float:
    """Return the kilobytes of a page and all it loads, as they cross the wire, into an empty cache."""
    page = context.new_page()
    page.goto(url)
    page.wait_for_selector("#q")
    client = context.new_cdp_session(page)
    client.send("Network.enable")
    client.send("Network.setCacheDisabled", {"cacheDisabled": True})
    sizes: list[float] = []
    client.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    page.goto(address)
    page.wait_for_load_state("networkidle")
    context.close()
    return sum(sizes) / 1000


def table(figures: Mapping[str, Any]) -> str:
    """Return the figures beside their goals."""
    rows = [f"{figures['chunks']:,} chunks. A bare page: {figures['bare page, first paint, ms']:.0f} ms.", ""]
    rows += ["| figure | goal | seen | |", "|---|---|---|---|"]
    rows += [
        f"| {name} | {goal:g} | {figures[name]:.0f} | {verdict(figures[name], goal)} |"
        for name, goal in GOALS.items()
    ]
    return "\n".join(rows)


if __name__ == "__main__":
    main()
