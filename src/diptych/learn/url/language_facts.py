"""Facts for the URL language model: marks, countries and scripts of languages.

A fact connects a feature with a label: "the first directory is a code of this language", "the
language is spoken in the country of this top-level domain", "the letters belong to its script".
The weight of a fact depends on its kind, not on its language, so that weights learned from French
apply to Tongan too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log10
from typing import NamedTuple

from diptych.files import shipped_table
from diptych.kernels import url_lang_reference as urls
from diptych.kernels.url_lang_reference import feature
from diptych.language.codes import primary
from diptych.language.marks import fold, mark_table

# Fields that may contain a mark.
_FIELDS = {
    name: getattr(urls, name)
    for name in (
        "TLD", "NAME", "NAME_PART", "SUB", "SUB_PART", "DIR_FIRST", "DIR", "DIR_PART",
        "FILE_WHOLE", "FILE_FIRST", "FILE_LAST", "FILE_PART", "EXTENSION", "PARAMETER",
        "VALUE_LANG", "VALUE", "VALUE_PART", "LOCALE_LEFT", "LOCALE_RIGHT",
    )
}  # fmt: skip
# Fields that may contain the code or the name of a country.
_COUNTRY_CODES = ("TLD", "SUB", "DIR_FIRST", "DIR", "VALUE_LANG", "LOCALE_LEFT", "LOCALE_RIGHT")
_COUNTRY_NAMES = ("NAME", "NAME_PART", "SUB", "DIR_FIRST", "DIR", "FILE_WHOLE")
_MEASURES = 3  # number of measures in use; see `_measures`
_CODES = {"GB": "uk"}  # top-level domains that differ from the country code
# The range of code points of each script that distinguishes languages.
_SCRIPTS = {
    script: (int(start, 16), int(end, 16))
    for script, start, end in shipped_table("diptych.learn.url", "script_blocks.tsv")
}
_WRITTEN = {"Hans": ("Hani",), "Hant": ("Hani",), "Jpan": ("Jpan", "Hani")}


class Fact(NamedTuple):
    """A fact that connects a feature with a label, such as a country code with a language."""

    feature: int
    label: str
    kind: str
    value: float


def derive_facts(labels: Sequence[str]) -> list[Fact]:
    """All facts about the given languages, from `language.marks` and CLDR."""
    known = [label for label in labels if label != "und"]
    facts = (*_mark_facts(known), *_country_facts(known), *_script_facts(known))
    return [*facts, *_shape_facts(labels[0])]


def _shape_facts(label: str) -> Iterator[Fact]:
    """Yield a fact for each of the 16 shapes of URLs.

    These facts are not evidence for a language; they only let the weight of a URL's words depend on
    its shape.
    """
    for shape in range(16):
        yield Fact(feature(urls.SHAPE, bytes((shape,))), label, f"shape {shape}", 0.0)


def _mark_facts(labels: Sequence[str]) -> Iterator[Fact]:
    for word, marks in mark_table(tuple(labels)).items():
        text = word.replace("_", "-").encode()
        for place, mark in enumerate(marks):
            rank = "" if place == 0 else " other"
            for name, field in _FIELDS.items():
                kind = f"{mark.kind}{rank} {name}"
                yield Fact(feature(field, text), mark.lang, kind, 1.0)


def _country_facts(labels: Sequence[str]) -> Iterator[Fact]:
    """Yield facts that connect the codes and names of countries with their languages."""
    from langcodes import Language

    for country, shares in countries(labels).items():
        code = _CODES.get(country, country.lower()).encode()
        name = fold(Language.make(territory=country).territory_name("en")).encode()
        places = [(field, code) for field in _COUNTRY_CODES]
        places += [(field, name) for field in _COUNTRY_NAMES if name.isalpha()]
        for field, text in places:
            key = feature(_FIELDS[field], text)
            for label, measures in shares:
                for number, value in enumerate(measures[:_MEASURES]):
                    yield Fact(key, label, f"country{number} {field}", value)


def countries(labels: Sequence[str]) -> dict[str, list[tuple[str, tuple[float, ...]]]]:
    """Map each country to its languages, each with its `_measures`."""
    from language_data.population_data import LANGUAGE_WRITING_POPULATION

    people: dict[str, dict[str, float]] = {}
    for tag, number in LANGUAGE_WRITING_POPULATION.items():
        code, _, country = tag.rpartition("-")
        if len(country) == 2 and country.isupper() and (lang := primary(code)) in set(labels):
            country_people = people.setdefault(country, {})
            country_people[lang] = country_people.get(lang, 0.0) + number
    return {
        country: [(lang, _measures(number, langs)) for lang, number in sorted(langs.items())]
        for country, langs in sorted(people.items())
    }


def _measures(number: float, langs: dict[str, float]) -> tuple[float, ...]:
    """Four measures of how widely a language is written in a country.

    `number` is the number of people who write the language; `langs` holds this number for each
    language of the country.  The first measure is 1 for the most widely written language and 0 for
    any other.  The others are the language's share of all writers, a scaled logarithm of this
    share, and `number` itself.
    """
    share = number / max(sum(langs.values()), 1.0)
    order = max(0.0, 1 + log10(share + 1e-6) / 4)
    return float(number == max(langs.values())), share, order, number


def _script_facts(labels: Sequence[str]) -> Iterator[Fact]:
    """Yield facts that connect the letters of scripts with languages.

    The kind of a fact states whether one, few or many languages use the script.
    """
    from langcodes import Language

    written: dict[str, list[str]] = {}
    for label in labels:
        script = Language.make(label).maximize().script or ""
        for name in _WRITTEN.get(script, (script,)):
            written.setdefault(name, []).append(label)
    for name, (start, end) in _SCRIPTS.items():
        known = written.get(name, [])
        number = "one" if len(known) == 1 else "few" if len(known) < 6 else "many"
        for point in range(start, end, 128):
            key = feature(urls.SCRIPT, bytes((point >> 7 & 0xFF, point >> 15)))
            for label in known:
                yield Fact(key, label, f"script of {number}", 1.0)
