"""Texts with known numbers and places of sentences, from catalogues and a manual of Debian 12.

Messages: a message whose English original is one sentence (it ends with a full stop, question or
exclamation mark, and has no such mark before a blank and a capital letter) is taken as one
sentence in its translations too, if they begin with no small letter or sign.  Five messages make a
text; the places where they were joined are the boundaries.

Counts: messages of two sentences or more, and paragraphs of the installation guide.  The number of
sentences of the English original is counted by the same rule.  Originals with full stops that may
belong to abbreviations are left out.

The Amharic catalogues of LibreOffice are not used: they write a colon for the comma and for the
full stop.
"""

from __future__ import annotations

import gettext
import html
import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.support.langid_texts import PACKAGES as LANGID_PACKAGES

GUIDE = "installation-guide-amd64"
PACKAGES = (
    *LANGID_PACKAGES, GUIDE, "gnome-applets-data", "gnome-panel-data", "gnome-packagekit-common",
    "libreoffice-l10n-dz", "libreoffice-l10n-km", "libreoffice-l10n-th",
    "mate-applets-common", "mate-calc-common", "mate-control-center-common", "mate-desktop-common",
    "mate-panel-common", "mate-power-manager-common", "mate-settings-daemon-common",
    "mate-system-monitor-common", "mate-terminal-common", "mate-utils-common",
    "plasma-desktop-data", "plasma-discover-common", "plasma-workspace-data", "synaptic",
)  # fmt: skip
LANGUAGES = (
    "en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "fi", "hu", "tr", "pl", "cs", "sl", "hr",
    "lt", "ro", "vi", "id", "ru", "uk", "bg", "sr", "el", "hy", "ka", "ar", "fa", "ur", "he", "hi",
    "bn", "ta", "am", "th", "lo", "km", "my", "dz", "zh", "ja", "ko",
)  # fmt: skip
_LOCALES = {"zh": "zh_CN"}
WITHOUT_STOPS = frozenset("th lo".split())
_SENTENCES = 5  # messages of a text
_MAX_TEXTS = 300  # for each language
_MAX_COUNTS = 400
_MIN_MESSAGE = 20  # letters of the English original
_MARK = re.compile(r"[.!?][\"')]*(?=\s+[\"'(]?[A-Z0-9])")
_END = re.compile(r"[.!?][\"')]*$")
_ANY_END = re.compile(r"[.!?;\u037e。！？؟۔।॥։።፧។៕။།｡][\"'”’»)）」]*$")
_UNSURE = re.compile(r"\b(?:[A-Za-z]|e\.g|i\.e|etc|vs|Mr|Dr|Inc|No|St|al|cf|ca)\.|\d\.\s|…|\.\.")
_UNUSUAL = re.compile(r"[%{}<>\\|\n\t_~]|&\w+;|://")
_PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")


class JoinedText(NamedTuple):
    """A text made of messages, and the offsets at which messages begin, blanks not counted."""

    text: str
    boundaries: frozenset[int]


class CountedText(NamedTuple):
    """A text of known number of sentences."""

    text: str
    sentences: int


def unpacked_folder(cache: Path) -> Path:
    """The folder of the unpacked packages."""
    return cache / "unpacked"


def download(cache: Path) -> None:
    """Download and unpack the packages."""
    cache.mkdir(parents=True, exist_ok=True)
    subprocess.run(["apt-get", "download", *PACKAGES], cwd=cache, check=True)
    for package in sorted(cache.glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", package, unpacked_folder(cache)], check=True)


def joined_texts(cache: Path, lang: str) -> list[JoinedText]:
    """Texts of five messages each."""
    found = [
        translated
        for original, translated in _messages(cache, lang)
        if count_english(original) == 1 and _is_sentence(translated, lang)
    ]
    count = min(len(found) // _SENTENCES, _MAX_TEXTS)
    return [_joined(found[at * _SENTENCES : (at + 1) * _SENTENCES], lang) for at in range(count)]


def counted_messages(cache: Path, lang: str) -> list[CountedText]:
    """Messages of two sentences or more."""
    found = (
        (translated, count_english(original)) for original, translated in _messages(cache, lang)
    )
    return [CountedText(text, count) for text, count in found if count > 1][:_MAX_COUNTS]


def counted_paragraphs(cache: Path, lang: str) -> list[CountedText]:
    """Paragraphs of the installation guide; empty if it is not translated into the language."""
    folder = unpacked_folder(cache) / "usr/share/doc" / GUIDE
    found = []
    for page in sorted((folder / "en").glob("*.html")):
        other = folder / _LOCALES.get(lang, lang) / page.name
        if not other.is_file():
            continue
        english, translated = _paragraphs(page), _paragraphs(other)
        if len(english) == len(translated):
            found += [
                CountedText(text, count_english(original))
                for original, text in zip(english, translated, strict=True)
            ]
    return [one for one in found if one.sentences]


def count_english(text: str) -> int:
    """The number of sentences of an English text; 0 if a rule cannot tell.

    >>> count_english("Open file.txt first. Then wait."), count_english("See Fig. A. Then go.")
    (2, 0)
    """
    if len(text) < _MIN_MESSAGE or _UNSURE.search(text) or not _END.search(text):
        return 0
    return len(_MARK.findall(text)) + 1


def _is_sentence(text: str, lang: str) -> bool:
    """True if a text has the form of a sentence: it begins with no small letter, and it ends."""
    begins = text[0].isalnum() and (lang == "ka" or not text[0].islower())
    return begins and (lang in WITHOUT_STOPS or _ANY_END.search(text) is not None)


def _joined(messages: list[str], lang: str) -> JoinedText:
    places, letters = [], 0
    for message in messages[:-1]:
        letters += len("".join(message.split()))
        places.append(letters)
    blank = "" if lang in ("zh", "ja") else " "
    return JoinedText(blank.join(messages), frozenset(places))


def _messages(cache: Path, lang: str) -> list[tuple[str, str]]:
    """English messages and their translations, without markup, in a fixed random order."""
    locale = _LOCALES.get(lang, lang)
    folder = "de" if lang == "en" else locale
    found: dict[str, str] = {}
    for path in sorted(unpacked_folder(cache).rglob(f"{folder}/LC_MESSAGES/*.mo")):
        for original, text in _entries(path):
            translated = original if lang == "en" else text
            if (lang == "en" or translated != original) and not (
                _UNUSUAL.search(original) or _UNUSUAL.search(translated)
            ):
                found.setdefault(translated, original)
    pairs = [(original, translated) for translated, original in sorted(found.items())]
    random.Random(lang).shuffle(pairs)
    return pairs


def _entries(path: Path) -> Iterator[tuple[str, str]]:
    with path.open("rb") as stream:
        try:
            catalogue = gettext.GNUTranslations(stream)
        except (OSError, ValueError, LookupError):  # a header that is none
            return
    entries = catalogue._catalog.items()  # type: ignore[attr-defined]
    for key, text in entries:
        original = key if isinstance(key, str) else key[0]
        if original:
            yield (original.partition("\x04")[2] or original).strip(), text.strip()


def _paragraphs(page: Path) -> list[str]:
    text = page.read_text("utf-8", "replace")
    return [
        " ".join(html.unescape(_TAG.sub("", part)).split()) for part in _PARAGRAPH.findall(text)
    ]
