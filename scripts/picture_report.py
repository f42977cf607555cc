"""Photograph a report page, light and dark, for the README.

The pictures in docs/images come from

    graphgrain reproduce table2 --kernel tree++,sp,wl,propa --repeats 3 \
        --datasets PTC_MM,PTC_FR,KKI,BZR,BZR_MD,COX2,COX2_MD --results out/results.jsonl
    graphgrain report out/results.jsonl -o out/report.html
    python scripts/picture_report.py out/report.html docs/images

It needs Playwright and Chromium.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

SIZE = {"width": 1280, "height": 960}


def main(page: str, folder: str) -> None:
    """Write report.png and report-dark.png into a folder."""
    address = Path(page).resolve().as_uri()
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for name, scheme in (("report.png", "light"), ("report-dark.png", "dark")):
            context = browser.new_context(viewport=SIZE, color_scheme=scheme)
            tab = context.new_page()
            tab.goto(address)
            tab.wait_for_selector("#accuracy svg")
            tab.screenshot(path=place / name)
            print(f"{place / name}: {(place / name).stat().st_size // 1000} kB")
            context.close()
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
