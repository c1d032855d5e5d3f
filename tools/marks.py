"""Regenerate the table of language marks from CLDR: `python tools/marks.py`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from string import ascii_lowercase

from diptych.language.marks import HABITS, LANGUAGES, derive_marks

TABLE = Path(__file__).parent.parent / "src/diptych/language/marks.tsv"


def country_marks() -> Iterator[tuple[str, str]]:
    """For all countries, the country code and the most widely spoken language."""
    from langcodes import Language

    from diptych.language.codes import primary

    for code in map("".join, product(ascii_lowercase, repeat=2)):
        country = Language.make(territory=code.upper())
        lang = primary(country.maximize().language or "") if country.is_valid() else ""
        # For territories without a language of their own, CLDR returns English.
        if lang in LANGUAGES and (lang != "en" or code in ENGLISH):
            yield code, lang


ENGLISH = {"us", "gb", "uk", "au", "nz", "ie"}


def lines() -> Iterator[str]:
    """All rows of the table, in order."""
    countries: dict[str, list[str]] = {}
    for code, lang in country_marks():
        countries.setdefault(lang, []).append(code)
    for lang in LANGUAGES:
        marks = derive_marks(lang)
        for code in countries.get(lang, ()):
            marks.setdefault(code, "country")
        yield from (f"{mark}\t{lang}\t{kind}" for mark, kind in sorted(marks.items()))


if __name__ == "__main__":
    assert set(HABITS) <= set(LANGUAGES)
    TABLE.write_text("".join(f"{line}\n" for line in lines()), "utf-8")
