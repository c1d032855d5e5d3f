"""Take the screenshots of the documentation: mine the demo site, and capture its report.

Needs Debian's Chromium and the package playwright; `make screenshots` installs the latter.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
SIZE = {"width": 1000, "height": 760}


def browser() -> str:
    """The path of Chromium; exits with installation advice if it is missing."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        sys.exit("Chromium is needed to take screenshots: apt-get install chromium")
    return found


def photograph(page_file: Path, picture: Path, profile: Path) -> None:
    """Write a screenshot of a page in light colours."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            str(profile), executable_path=browser(), args=list(FLAGS), headless=True,
            viewport=SIZE, color_scheme="light", device_scale_factor=1.5,
        )  # fmt: skip
        page = context.new_page()
        page.goto(page_file.as_uri())
        page.screenshot(path=str(picture))
        context.close()


def main() -> None:
    """Run the demo in a temporary folder, and take a screenshot of its report."""
    browser()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([sys.executable, "-m", "diptych", "demo"], cwd=folder, check=True)
        photograph(folder / "diptych-demo/report.html", ROOT / "docs/report.png", folder / "user")
    print("wrote docs/report.png")


if __name__ == "__main__":
    main()
