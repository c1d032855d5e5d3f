"""Lines of text in many languages, from the message catalogues of some Debian packages."""

from __future__ import annotations

import gettext
import os
import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

__all__ = ["PACKAGES", "default_folder", "fetch_catalogues", "read_lines"]

PACKAGES = (
    "vlc-l10n", "inkscape", "evolution-common", "libgtk-3-common", "gnucash-common",
    "gnome-control-center-data", "nautilus-data", "gimp-data", "libc-l10n",
)  # fmt: skip
_PLACEHOLDER = re.compile(r"%[-+ #0-9.$*]*[a-zA-Z]|%\([a-z_]+\)[a-z]|\{[^{}]*\}|<[^<>]*>|&[a-z]+;")
_ACCELERATOR = re.compile(r"(?<=\w)[_&](?=\w)|(?<!\w)[_&](?=\w)")
_LEAST = 40  # letters of a line that is taken: a sentence rather than a menu item


def fetch_catalogues(folder: Path) -> Path:
    """Download and unpack the packages, unless that was done before."""
    unpacked = folder / "unpacked"
    if not unpacked.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", *PACKAGES], cwd=folder, check=True)
        for package in sorted(folder.glob("*.deb")):
            subprocess.run(["dpkg-deb", "-x", package, unpacked], check=True)
    return unpacked


def read_lines(unpacked: Path) -> dict[str, list[str]]:
    """For each locale, its distinct messages of sufficient length, in a fixed random order.

    English messages in other catalogues were not translated, and are left out.
    """
    found: dict[str, dict[str, None]] = {}
    originals: set[str] = set()
    for path in sorted(unpacked.rglob("*.mo")):
        locale = path.parent.parent.name
        for original, text in _messages(path):
            originals.add(original)
            if text != original:
                found.setdefault(locale, {})[text] = None
    found["en"] = dict.fromkeys(sorted(originals))
    lines = {
        locale: [text for text in texts if locale == "en" or text not in originals]
        for locale, texts in found.items()
    }
    for locale, texts in lines.items():
        random.Random(locale).shuffle(texts)
    return lines


def _messages(path: Path) -> Iterator[tuple[str, str]]:
    with path.open("rb") as stream:
        try:
            catalogue = gettext.GNUTranslations(stream)
        except (OSError, ValueError, LookupError):  # a header that is none
            return
    entries = catalogue._catalog.items()  # type: ignore[attr-defined]
    for key, text in entries:
        original, text = _clean(key if isinstance(key, str) else key[0]), _clean(text)
        if original and sum(map(str.isalpha, text)) >= _least(text):
            yield original, text


def _least(text: str) -> int:
    return _LEAST if text.isascii() or len(text.encode()) < 2 * len(text) else _LEAST // 3


def _clean(text: str) -> str:
    """A message as shown to users, without markup."""
    text = text.partition("\x04")[2] or text
    return " ".join(_ACCELERATOR.sub("", _PLACEHOLDER.sub(" ", text)).split())


def default_folder() -> Path:
    """The folder of downloaded benchmark data."""
    base = os.environ.get("SITES_DIR") or Path.home() / ".cache" / "diptych-sites"
    return Path(base) / "langid"
