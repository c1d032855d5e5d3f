"""Collect short phrases and their translations from unpacked packages, for learning word pairs.

    apt-get download mediawiki wordpress-l10n iso-codes dict-freedict-eng-fra ...
    for f in *.deb; do dpkg -x $f unpacked; done
    python tools/phrases.py unpacked phrases.tsv.gz

Rows are: language, English phrase, phrase.  Sources are message catalogues (gettext and MediaWiki's
JSON), whose messages are English, and FreeDict dictionaries with English on one side.
"""

from __future__ import annotations

import gzip
import json
import re
import string
import sys
from collections.abc import Iterator
from gettext import GNUTranslations
from pathlib import Path

from diptych.language.codes import primary

MAX_WORDS = 5
_CODE = re.compile(r"[%{}$\[\]<>=|\\@#~]")
_MARKUP = re.compile(r"/[^/]*/|<[^>]*>|\([^)]*\)|\[[^\]]*\]")
_DIGITS = {char: value for value, char in enumerate(
    string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/")}  # fmt: skip
Row = tuple[str, str, str]


def usable(text: str) -> bool:
    """True if a message is a short phrase that contains no code."""
    return bool(text) and len(text.split()) <= MAX_WORDS and not _CODE.search(text)


def catalogues(root: Path) -> Iterator[Row]:
    """The messages of gettext catalogues; the name of a folder or file states the language."""
    for path in sorted(root.rglob("*.mo")):
        name = path.parent.parent.name if path.parent.name == "LC_MESSAGES" else path.stem
        lang = primary(re.sub(r"[@.].*", "", name.rpartition("-")[2] if "-" in name else name))
        if not lang or lang == "en":
            continue
        try:
            with path.open("rb") as stream:
                catalog: dict[object, str] = GNUTranslations(stream)._catalog  # type: ignore[attr-defined]
        except (OSError, UnicodeDecodeError, ValueError, LookupError):
            continue
        for message, translation in catalog.items():
            text = message[0] if isinstance(message, tuple) else message
            english = str(text).rpartition("\4")[2].replace("_", "").replace("&", "")
            other = translation.replace("_", "").replace("&", "")
            if usable(english) and usable(other) and english != other:
                yield lang, english, other


def mediawiki(root: Path) -> Iterator[Row]:
    """The messages of MediaWiki and its extensions."""
    for folder in sorted({path.parent for path in root.rglob("i18n/en.json")}):
        english = json.loads((folder / "en.json").read_text("utf-8"))
        for path in sorted(folder.glob("*.json")):
            lang = primary(path.stem)
            if not lang or lang == "en" or path.stem == "qqq":
                continue
            for key, text in json.loads(path.read_text("utf-8")).items():
                source = english.get(key)
                if not isinstance(text, str) or not isinstance(source, str) or source == text:
                    continue
                if usable(source) and usable(text):
                    yield lang, source, text


def dictionaries(root: Path) -> Iterator[Row]:
    """The entries of FreeDict dictionaries: a headword, with translations on the lines below."""
    for index in sorted(root.rglob("freedict-*.index")):
        left, right = index.stem.removeprefix("freedict-").split("-")[:2]
        if "eng" not in (left, right):
            continue
        lang = primary(right if left == "eng" else left)
        body = gzip.decompress(index.with_suffix(".dict.dz").read_bytes())
        for line in index.read_text("utf-8").splitlines():
            head, start, length = line.split("\t")[:3]
            if head.startswith("00") or not usable(head):
                continue
            entry = body[number(start) : number(start) + number(length)].decode("utf-8", "replace")
            for sense in translations(entry):
                yield (lang, head, sense) if left == "eng" else (lang, sense, head)


def number(digits: str) -> int:
    """Decode a number in the index of a dictd dictionary."""
    value = 0
    for digit in digits:
        value = value * 64 + _DIGITS[digit]
    return value


def translations(entry: str) -> Iterator[str]:
    """The first translations of an entry."""
    found = 0
    for line in entry.splitlines()[1:6]:
        text = re.sub(r"^\s*\d+\.\s*", "", _MARKUP.sub("", line)).strip()
        for sense in re.split(r"[;,]", text):
            sense = sense.strip(" .\"'")
            if usable(sense) and len(sense.split()) <= 3 and found < 4:
                found += 1
                yield sense


def main(root: Path, out: Path) -> None:
    """Write all phrases without duplicates."""
    rows = {*catalogues(root), *mediawiki(root), *dictionaries(root)}
    with gzip.open(out, "wt", encoding="utf-8", compresslevel=6) as stream:
        stream.writelines(
            "\t".join(" ".join(field.split()) for field in row) + "\n" for row in sorted(rows)
        )
    sys.stderr.write(f"{len(rows):,} phrases in {len({row[0] for row in rows})} languages\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
