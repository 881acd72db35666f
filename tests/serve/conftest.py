"""A browser for the tests of a module, and a page of it for each test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.serve.chromium import Watched, chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser as Chromium


@pytest.fixture(scope="module")
def chrome() -> Iterator[Chromium]:
    """Chromium for the tests of a module: while it runs, no other test of this thread can run a loop."""
    from playwright.sync_api import expect

    expect.set_options(timeout=10_000)
    with chromium() as started:
        yield started


@pytest.fixture
def watched(chrome: Chromium) -> Iterator[Watched]:
    """Open a page that must ask nothing of other machines, and whose scripts must not fail."""
    context = chrome.new_context(viewport={"width": 1200, "height": 800})
    context.set_default_timeout(20_000)
    made = Watched(context)
    yield made
    context.close()
    assert (made.foreign, made.errors) == ([], [])
