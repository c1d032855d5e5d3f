"""The sites of the simulated web: what each is about, where it is from, which languages it has.

`Assumptions` holds every number that was chosen; `simulated_web.py` says where they come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from random import Random
from typing import NamedTuple

import numpy as np
from anyascii import anyascii
from numpy.typing import NDArray

from bench.web.words import FREQUENT, PLACES, SYLLABLES, TOPIC_WORDS, TOPICS

LANGS = tuple(FREQUENT)
EN, ES = LANGS.index("en"), LANGS.index("es")
REGIONS = tuple(PLACES)
NONE = -1  # in place of a language
PLATFORMS = 12  # sites that everybody links to in a footer; the last ones
MOST = 0.8  # of the sites of a community are bilingual at most

TOPIC_SIZE = np.array([0.12, 0.02, 0.05, 0.06, 0.2, 0.08, 0.12, 0.1, 0.08, 0.05, 0.07, 0.05])
TOPIC_FACTOR = np.array([2.5, 4.0, 2.0, 1.0, 0.7, 1.3, 0.8, 0.5, 0.4, 1.2, 0.7, 0.6])
"""how many sites have a topic, and how much likelier than others they are bilingual"""


@dataclass(frozen=True, slots=True)
class Region:
    """A region: how many sites it has, how bilingual they are, and how they are written."""

    size: float
    factor: float
    lang: str
    domains: tuple[tuple[str, float], ...]


def _region(size: float, factor: float, lang: str, domains: str) -> Region:
    parts = [part.split(":") for part in domains.split()]
    return Region(size, factor, lang, tuple((name, float(share)) for name, share in parts))


WORLD: dict[str, Region] = {
    "spain": _region(0.12, 2.2, "es", "es:45 com:43 org:8 net:4"),
    "mexico": _region(0.08, 1.8, "es", "com.mx:30 mx:15 com:45 org:10"),
    "argentina": _region(0.05, 1.2, "es", "com.ar:55 com:38 org:7"),
    "chile": _region(0.03, 1.2, "es", "cl:60 com:40"),
    "colombia": _region(0.03, 1.2, "es", "com.co:40 co:10 com:50"),
    "peru": _region(0.02, 2.0, "es", "com.pe:30 pe:10 com:60"),
    "costarica": _region(0.02, 3.0, "es", "co.cr:20 com:80"),
    "usa": _region(0.25, 0.6, "en", "com:70 org:15 net:10 us:5"),
    "uk": _region(0.1, 0.3, "en", "co.uk:55 com:35 org.uk:10"),
    "canada": _region(0.04, 0.3, "en", "ca:50 com:50"),
    "australia": _region(0.03, 0.15, "en", "com.au:65 com:35"),
    "france": _region(0.06, 0.25, "fr", "fr:60 com:40"),
    "germany": _region(0.06, 0.2, "de", "de:75 com:25"),
    "italy": _region(0.04, 0.3, "it", "it:70 com:30"),
    "brazil": _region(0.04, 0.3, "pt", "com.br:75 com:25"),
    "netherlands": _region(0.02, 0.2, "nl", "nl:75 com:25"),
    "poland": _region(0.01, 0.15, "pl", "pl:75 com:25"),
}
SPANISH = frozenset(name for name, region in WORLD.items() if region.lang == "es")


@dataclass(frozen=True, slots=True)
class Assumptions:
    """What was assumed of the web; the docstring of `simulated_web.py` gives the reasons."""

    bilingual: float = 0.09
    """of all sites are in English and Spanish"""
    other_pairs: float = 0.08
    """of the other sites are in two languages too, but not in these two"""
    dead_switch: float = 0.02
    """of the other sites have a switcher that leads to a page that is not there"""
    translator: float = 0.03
    """of the other sites link to an outside translator by the name of a language"""
    untranslated: float = 0.015
    """of the other sites have a second version that is not translated"""
    school: float = 0.5
    """of the monolingual sites about courses in English or Spanish list languages they teach"""
    third: float = 0.2
    """of the bilingual sites have a third language"""
    hidden: float = 0.07
    """of the sites in several languages have no switcher"""
    concentration: float = 1.0
    """how much the bilingual share depends on topic and region: 0 not at all"""
    scatter: float = 0.4
    """deviation of the logarithm of that share between communities, for no known reason"""
    noise: float = 0.3
    """of the words of hosts, URLs and anchors are of another topic or region"""
    homophily: float = 0.5
    """of the links to a site without the citing page's language that are replaced"""
    minded: float = 0.6
    """of the links to a site in several languages lead to the version in the reader's language"""
    noted: float = 0.05
    """of the links in lists to sites in several languages say in which they are"""
    directories: float = 0.015
    """of the sites are directories of one community"""
    general: float = 0.0015
    """of the sites are directories of everything"""
    blogs: float = 0.1
    listing: float = 0.25
    """of the ordinary sites have a page of links"""
    partners: float = 0.5
    """of the ordinary sites link to 1 to 5 other sites on every page"""
    rolls: float = 0.9
    """of the blogs link to 5 to 20 other sites on every page"""
    median_size: float = 24.0
    """pages of a site in each of its languages"""


class Kind(IntEnum):
    """What a site is with regard to languages."""

    ONE = 0
    BILINGUAL = 1
    OTHER_PAIR = 2
    DEAD_SWITCH = 3
    TRANSLATOR = 4
    UNTRANSLATED = 5
    SCHOOL = 6


class Role(IntEnum):
    """What a site is with regard to links."""

    ORDINARY = 0
    BLOG = 1
    DIRECTORY = 2
    GENERAL = 3
    PLATFORM = 4


class Style(IntEnum):
    """How a site shows that it has another language."""

    NAMES = 0
    CODES = 1
    FLAGS = 2
    PHRASES = 3
    HREFLANG = 4
    HIDDEN = 5


class Scheme(IntEnum):
    """Where the pages in the other languages are."""

    PREFIX = 0
    BOTH = 1
    FOLDER = 2
    SUFFIX = 3
    QUERY = 4
    HOST = 5
    PLAIN = 6


STYLES = np.array([0.36, 0.18, 0.22, 0.12, 0.12])
SCHEMES = np.array([0.3, 0.12, 0.1, 0.16, 0.16, 0.16])

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Sites:
    """One row for each site."""

    kind: Ints
    role: Ints
    topic: Ints
    region: Ints
    langs: Ints
    """three columns; the first is that of the home page, `NONE` where there are fewer"""
    style: Ints
    scheme: Ints
    size: Ints
    """pages in each language, without lists of links"""
    hosts: list[str]

    def __len__(self) -> int:
        return len(self.hosts)

    @property
    def community(self) -> Ints:
        """The community of each: a topic in a region."""
        return self.topic * len(REGIONS) + self.region

    def codes(self) -> list[tuple[str, ...]]:
        """The languages that the pages of each are in, first that of the home page."""
        rows = self.langs.tolist()
        return [tuple(LANGS[lang] for lang in row if lang != NONE) for row in rows]


class Facts(NamedTuple):
    """All of one site, quick to look at."""

    host: str
    codes: tuple[str, ...]
    kind: int
    role: int
    topic: int
    region: int
    style: int
    scheme: int
    size: int
    lists: int


def facts_of(sites: Sites, lists: Ints) -> list[Facts]:
    """The facts of each site."""
    columns = (
        sites.kind, sites.role, sites.topic, sites.region, sites.style, sites.scheme, sites.size,
        lists,
    )  # fmt: skip
    numbers = zip(*(column.tolist() for column in columns), strict=True)
    return [
        Facts(host, codes, *row)
        for host, codes, row in zip(sites.hosts, sites.codes(), numbers, strict=True)
    ]


def make_sites(count: int, seed: int, assumed: Assumptions) -> Sites:
    """So many sites, always the same for one seed."""
    random = np.random.default_rng([seed, 1])
    topic = random.choice(len(TOPICS), count, p=TOPIC_SIZE)
    region_size = [WORLD[name].size for name in REGIONS]
    region = random.choice(len(REGIONS), count, p=region_size)
    role = _roles(count, random, assumed)
    kind = _kinds(topic, region, role, random, assumed)
    langs = _langs(kind, region, random, assumed)
    _name_schools(kind, topic, langs, random, assumed)
    style = random.choice(len(STYLES), count, p=STYLES)
    scheme = random.choice(len(SCHEMES), count, p=SCHEMES)
    hidden = np.isin(kind, (Kind.BILINGUAL, Kind.OTHER_PAIR)) & (
        random.random(count) < assumed.hidden
    )
    style[hidden], scheme[hidden] = Style.HIDDEN, Scheme.PLAIN
    size = random.lognormal(np.log(assumed.median_size), 0.8, count) * (1 + (role == Role.BLOG))
    hosts = _hosts(topic, region, langs, seed, assumed.noise)
    return Sites(
        kind, role, topic, region, langs, style, scheme,
        np.clip(size, 5, 1500).astype(np.int64), hosts,
    )  # fmt: skip


def _roles(count: int, random: np.random.Generator, assumed: Assumptions) -> Ints:
    special = [assumed.blogs, assumed.directories, assumed.general]
    role = random.choice(4, count, p=[1 - sum(special), *special]).astype(np.int64)
    role[-PLATFORMS:] = Role.PLATFORM
    return role


def bilingual_shares(
    sizes: NDArray[np.float64], random: np.random.Generator, assumed: Assumptions
) -> NDArray[np.float64]:
    """The share of bilingual sites in each community; over all sites it is as assumed."""
    region_factor = np.array([WORLD[name].factor for name in REGIONS])
    factor = np.outer(TOPIC_FACTOR, region_factor).ravel()
    factor *= np.exp(random.normal(0.0, assumed.scatter, len(factor)))
    share = factor**assumed.concentration
    for _ in range(20):  # what is cut off at the top goes to the others
        share *= assumed.bilingual * sizes.sum() / max(1e-9, (share * sizes).sum())
        share = np.minimum(share, MOST)
    return share


def _kinds(
    topic: Ints, region: Ints, role: Ints, random: np.random.Generator, assumed: Assumptions
) -> Ints:
    community = topic * len(REGIONS) + region
    sizes = np.bincount(community, minlength=len(TOPICS) * len(REGIONS)).astype(float)
    share = bilingual_shares(sizes, random, assumed)
    draw, other = random.random(len(topic)), random.random(len(topic))
    steps = [assumed.other_pairs, assumed.dead_switch, assumed.translator, assumed.untranslated]
    look_alikes = np.array(
        [Kind.OTHER_PAIR, Kind.DEAD_SWITCH, Kind.TRANSLATOR, Kind.UNTRANSLATED, Kind.ONE]
    )
    kind = look_alikes[np.searchsorted(np.cumsum(steps), other)]
    kind[draw < share[community]] = Kind.BILINGUAL
    kind[role >= Role.GENERAL] = Kind.ONE
    return kind


def _langs(kind: Ints, region: Ints, random: np.random.Generator, assumed: Assumptions) -> Ints:
    """The languages of each site: of its region, English, or another."""
    count = len(kind)
    own = np.array([LANGS.index(WORLD[name].lang) for name in REGIONS])[region]
    langs = np.full((count, 3), NONE)
    draw = random.random(count)
    stranger = random.integers(0, len(LANGS), count)
    langs[:, 0] = np.where(draw < 0.86, own, np.where(draw < 0.94, EN, stranger))
    catalan = (region == REGIONS.index("spain")) & (random.random(count) < 0.1)
    langs[catalan, 0] = LANGS.index("ca")
    langs[-PLATFORMS:, 0] = EN

    both = kind == Kind.BILINGUAL
    spanish_first = random.random(count) < np.where(own == ES, 0.7, 0.15)
    langs[both, 0] = np.where(spanish_first, ES, EN)[both]
    langs[both, 1] = np.where(spanish_first, EN, ES)[both]
    third = both & (random.random(count) < assumed.third)
    more = np.array([LANGS.index(code) for code in ("fr", "de", "pt", "it", "ca")])
    langs[third, 2] = more[random.integers(0, len(more), count)][third]

    pair = np.isin(kind, (Kind.OTHER_PAIR, Kind.UNTRANSLATED))
    langs[pair, 1] = _partners(langs[:, 0], more[random.integers(0, len(more), count)])[pair]
    lone = kind == Kind.UNTRANSLATED
    langs[lone, 1] = np.where(langs[:, 0] == ES, EN, ES)[lone]
    return langs


def _partners(first: Ints, drawn: Ints) -> Ints:
    """The second language of sites that are in two, but not in English and Spanish."""
    plain = np.where(drawn == first, LANGS.index("nl"), drawn)
    return np.where((first == EN) | (first == ES), plain, np.where(drawn % 3 == 0, plain, EN))


def _name_schools(
    kind: Ints, topic: Ints, langs: Ints, random: np.random.Generator, assumed: Assumptions
) -> None:
    courses = (kind == Kind.ONE) & (topic == TOPICS.index("courses"))
    taught = courses & np.isin(langs[:, 0], (EN, ES))
    kind[taught & (random.random(len(kind)) < assumed.school)] = Kind.SCHOOL


# -- names -----------------------------------------------------------------------------------------


def _hosts(topic: Ints, region: Ints, langs: Ints, seed: int, noise: float) -> list[str]:
    """A host for each site: a word of its topic, a place, a name, in various orders."""
    random = Random(seed)
    names: dict[str, None] = {}
    hosts = []
    for number in range(len(topic)):
        words = _host_words(
            random, int(topic[number]), int(region[number]), LANGS[langs[number, 0]], noise
        )
        domains = WORLD[REGIONS[region[number]]].domains
        domain = random.choices([name for name, _ in domains], [share for _, share in domains])[0]
        name = f"{random.choice(('-', '')).join(words)}"
        while f"{name}.{domain}" in names:
            name += random.choice(SYLLABLES)
        names[f"{name}.{domain}"] = None
        hosts.append(f"{'www.' if random.random() < 0.6 else ''}{name}.{domain}")
    return hosts


def _host_words(random: Random, topic: int, region: int, lang: str, noise: float) -> list[str]:
    name = "".join(random.choices(SYLLABLES, k=random.randint(2, 3)))
    if random.random() < noise:
        topic = random.randrange(len(TOPICS))
    if random.random() < noise:
        region = random.randrange(len(REGIONS))
    word = slug_word(random.choice(TOPIC_WORDS[lang][topic]))
    place = random.choice(PLACES[REGIONS[region]])
    forms: Sequence[list[str]] = ([word, name], [name, word], [word, place, name], [name, place])
    return random.choice((*forms, [name, random.choice(SYLLABLES)]))


@cache
def slug_word(word: str) -> str:
    """A word as it stands in a URL.

    >>> slug_word("traducción"), slug_word("aujourd'hui")
    ('traduccion', 'aujourdhui')
    """
    return "".join(letter for letter in anyascii(word).lower() if letter.isalnum())
