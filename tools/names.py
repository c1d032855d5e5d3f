"""Regenerate the table of language names from CLDR: `python tools/names.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from diptych.language.names import derive_name

TABLE = Path(__file__).parent.parent / "src/diptych/language/names.tsv"
LANGUAGES = (
    "ar bg ca cs da de el en es et fa fi fr he hi hr hu id it ja ko lt lv ms nl no pl pt ro ru sk"
    " sl sr sv th tr uk vi zh"
).split()
"""the most frequent languages of the web"""


def lines() -> Iterator[str]:
    """All rows of the table: the readers, then the names of each language."""
    yield "\t".join(("", *LANGUAGES))
    for lang in LANGUAGES:
        yield "\t".join((lang, *(derive_name(lang, reader) for reader in LANGUAGES)))


if __name__ == "__main__":
    TABLE.write_text("".join(f"{line}\n" for line in lines()), "utf-8")
