"""What all tests share: Ctrl-C that works, a quick model, a real browser for each process."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# A first call compiles, and a busy machine is no failure: single examples have no deadline.
settings.register_profile(
    "patient", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("patient")

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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of each file, one test in a browser stays in ``make test``; the others are slow."""
    begun: set[Path] = set()
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            if item.path in begun:
                item.add_marker(pytest.mark.slow)
            begun.add(item.path)


@pytest.fixture
def quick_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Explorations by a model that has little to choose from, where pages are what is tested."""
    import graphgrain as gg
    from graphgrain.evaluation.exploration import usual_model

    def quick(*arguments: Any) -> Any:
        return usual_model(*arguments).set_params(
            kernels=gg.WeisfeilerLehman(1, similarity="minmax")
        )

    monkeypatch.setattr("graphgrain.evaluation.exploration.usual_model", quick)


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


def opener(browser: Any) -> Iterator[Callable[..., Any]]:
    """A function that opens a page; whatever goes wrong in it is an error in the end."""
    troubles: list[str] = []
    contexts = []

    def opened(
        file: Path, *ready: str, width: int = 1280, height: int = 900, scheme: str = "light"
    ) -> Any:
        """The page, once there is something that each of the selectors finds."""
        viewport = {"width": width, "height": height}
        context = browser.new_context(viewport=viewport, color_scheme=scheme, has_touch=width < 500)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: troubles.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: troubles.append("a dialog opened"))
        page.on(
            "request",
            lambda request: (
                request.url.startswith(("file://", "data:"))
                or troubles.append(f"request to {request.url}")
            ),
        )
        page.goto(file.as_uri(), timeout=120_000)  # on a busy machine too
        for selector in ready:
            page.wait_for_selector(selector)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.fixture
def open_file(browser: Any) -> Iterator[Callable[..., Any]]:
    """A function that opens a page of the test's own."""
    yield from opener(browser)
