"""What all tests share: Ctrl-C that works, and a real browser, one for each process."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from typing import Any

import pytest

CHROMIUM = next(
    (path for name in ("chromium", "google-chrome") if (path := shutil.which(name))), ""
)
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


def pytest_configure() -> None:
    """Undo what a shell does to background commands: theirs would not see Ctrl-C, nor ours."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="the browser tests need Playwright: pip install playwright"
    )
    if not CHROMIUM:
        pytest.skip("the browser tests need Chromium: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield running
        running.close()
