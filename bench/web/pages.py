"""The pages of the simulated web as HTML, each made of its address when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from random import Random

from bench.web.addresses import Addresses, Place, mix
from bench.web.links import Citations, Sort
from bench.web.sites import LANGS, PLATFORMS, REGIONS, Assumptions, Kind, Role, Style
from bench.web.words import (
    COURSES,
    FLAGS,
    FREQUENT,
    HERE,
    LISTS,
    MENU,
    NAMES,
    PLACES,
    TOPIC_WORDS,
    TOPICS,
)
from diptych.types import Link

TECHNICAL = ("fonts.webtype.net", "stats.webcount.com", "cdn.scriptbox.com")
"""hosts of fonts and counters: the graph files have them, no page is linked there"""
MUTE_FLAGS = 3  # of ten flags have no text beside the name of their file
RELATED = 20  # links to further pages of the site: about 29 links a page, as in the paper
TITLES, ADDRESSES, NOTHINGS, BANNERS = 0.72, 0.82, 0.9, 1.0
"""how anchors of links to other sites are distributed: what is below each is of that kind"""


@dataclass(frozen=True, slots=True)
class Pages:
    """Makes pages."""

    addresses: Addresses
    citations: Citations
    assumed: Assumptions

    def html(self, place: Place) -> bytes:
        """The page at a place."""
        sites = self.addresses.sites
        codes = sites[place.site].codes
        shown = codes[place.lang]
        if sites[place.site].kind == Kind.UNTRANSLATED:
            shown = codes[0]
        random = Random(mix(self.addresses.seed, 6, *place))
        title = " ".join(self.addresses.slug(place.site, shown, place.number))
        head, switcher = self._switcher(place, codes)
        declares = mix(self.addresses.seed, 7, place.site) % 10 < 6
        lang = f' lang="{shown}"' if declares else ""
        parts = [
            f"<!DOCTYPE html><html{lang}><head>"
            f'<meta charset="utf-8"><title>{title.capitalize()} - {self.name(place.site)}</title>',
            *head,
            f'<script src="https://{TECHNICAL[place.site % 3]}/x.js"></script></head><body>',
            '<div id="top">', *switcher, "</div>", *self._menu(place, shown),
            f"<h1>{title.capitalize()}</h1>",
            *self._text(place.site, shown, random),
            *self._cited(place, shown, random),
            *self._related(place, shown),
            *self._footer(place), "</body></html>",
        ]  # fmt: skip
        return "\n".join(parts).encode()

    # -- languages -----------------------------------------------------------------------------

    def _switcher(self, place: Place, codes: tuple[str, ...]) -> tuple[list[str], list[str]]:
        """What a page says of its other languages, in its head and on top of its body."""
        sites = self.addresses.sites
        kind = sites[place.site].kind
        style = Style(sites[place.site].style)
        other = "en" if codes[0] == "es" else "es"
        if kind == Kind.DEAD_SWITCH:
            dead = f"https://{sites[place.site].host}/{other}/"
            return [], [_choice(style, other, dead)]
        if kind == Kind.TRANSLATOR:
            tool = self.addresses.url(Place(self._platform(0), 0, 0))
            own = f"https://{sites[place.site].host}/"
            return [], [_choice(style, other, f"{tool}translate?to={other}&amp;page={own}")]
        if kind == Kind.SCHOOL:
            return [], list(self._taught(place, codes[0]))
        if len(codes) == 1:
            return [], []
        # Lists of links are in one language: their switchers lead to the home page.
        number = place.number if place.number < sites[place.site].size else 0
        places = [Place(place.site, lang, number) for lang in range(len(codes))]
        versions = [
            (code, str(self.addresses.url(each)).replace("&", "&amp;"))
            for code, each in zip(codes, places, strict=True)
        ]
        if style == Style.HIDDEN:
            return [], [
                f'<a href="{url}">{MENU[code][1]}</a>'
                for lang, (code, url) in enumerate(versions)
                if lang != place.lang
            ]
        head = [f'<link rel="alternate" hreflang="{code}" href="{url}">' for code, url in versions]
        shown = [
            _choice(style, code, url)
            for lang, (code, url) in enumerate(versions)
            if lang != place.lang
        ]
        return (head if style == Style.HREFLANG else []), shown

    def _taught(self, place: Place, lang: str) -> Iterable[str]:
        """A school's links to the languages it teaches: they lead to pages in its own language."""
        size = self.addresses.sites[place.site].size
        for number, name in enumerate(COURSES[lang], 1):
            url = self.addresses.url(place._replace(number=number % size))
            yield f'<li><a href="{url}">{name}</a></li>'

    # -- text and links within the site --------------------------------------------------------

    def _menu(self, place: Place, lang: str) -> Iterable[str]:
        sites = self.addresses.sites
        yield "<ul>"
        for number, name in enumerate(MENU[lang]):
            yield self._item(place._replace(number=number), name)
        first = sites[place.site].size
        count = self.addresses.sites[place.site].lists
        main = sites[place.site].codes[0]
        for number in range(first, first + min(count, 12)):
            name = LISTS[main][0] if number == first else f"{LISTS[main][0]} {number - first + 1}"
            yield self._item(Place(place.site, 0, number), name.capitalize())
        yield "</ul>"

    def _item(self, place: Place, name: str) -> str:
        url = str(self.addresses.url(place)).replace("&", "&amp;")
        return f'<li><a href="{url}">{name}</a></li>'

    def _text(self, site: int, lang: str, random: Random) -> Iterable[str]:
        sites = self.addresses.sites
        pool = words_of(lang, sites[site].topic, sites[site].region)
        for _ in range(random.randint(3, 5)):
            sentences = []
            for _ in range(random.randint(2, 4)):
                words = random.choices(pool, k=random.randint(8, 16))
                sentences.append(" ".join(words).capitalize() + ".")
            yield f"<p>{' '.join(sentences)}</p>"

    def _related(self, place: Place, lang: str) -> Iterable[str]:
        """Links to further pages of the site, also of its lists if it has many."""
        sites = self.addresses.sites
        size, count = sites[place.site].size, self.addresses.sites[place.site].lists
        start = mix(self.addresses.seed, 8, *place)
        yield "<ul>"
        for step in range(RELATED):
            number = 1 + (start + 7 * step) % (size - 1)
            name = " ".join(self.addresses.slug(place.site, lang, number))
            yield self._item(place._replace(number=number), name)
        if count > 12:
            for step in range(RELATED):
                number = size + (start + step) % count
                yield self._item(Place(place.site, 0, number), f"{number - size + 1}")
        yield "</ul>"

    def _footer(self, place: Place) -> Iterable[str]:
        for platform in self.footer(place.site):
            url = self.addresses.url(Place(platform, 0, 0))
            yield f'<p><a href="{url}">{self.name(platform)}</a></p>'

    # -- links to other sites ------------------------------------------------------------------

    def footer(self, site: int) -> list[int]:
        """The platforms that all pages of a site link to: up to four."""
        chance = mix(self.addresses.seed, 9, site)
        if self.addresses.sites[site].role == Role.PLATFORM:
            return []
        return [self._platform((chance >> 8) + 5 * step) for step in range(chance % 5)]

    def _platform(self, number: int) -> int:
        return len(self.addresses.sites) - 1 - number % PLATFORMS

    def name(self, site: int) -> str:
        """What a site is called by those who link to it."""
        host = self.addresses.sites[site].host.removeprefix("www.")
        return host.partition(".")[0].replace("-", " ").title()

    def _cited(self, place: Place, lang: str, random: Random) -> Iterable[str]:
        """The links of a page that lead to other sites, and those all pages of its site have."""
        row = self.citations.row(place.site, place.number) if place.lang == 0 else None
        if row is not None and place.number and self.citations.sort[row] == Sort.ARTICLE:
            pool = FREQUENT[lang]
            for link in self._row(row):
                yield f"<p>{' '.join(random.choices(pool, k=9)).capitalize()} {_tag(link)}.</p>"
        elif row is not None and place.number:
            yield from _listed(self._row(row))
        sidebar = self.citations.row(place.site, 0)
        if sidebar is not None:
            yield from _listed(self._row(sidebar))

    def _row(self, row: int) -> list[Link]:
        first, end = self.citations.first[row : row + 2].tolist()
        return [self.cited(link) for link in range(first, end)]

    def cited(self, link: int) -> Link:
        """A link from one site to another, with what the citing page says of it."""
        addresses, citations = self.addresses, self.citations
        target = int(citations.target[link])
        row = citations.page_of(link)
        lang = addresses.sites[int(citations.site[row])].codes[0]
        chance = mix(addresses.seed, 10, link)
        place = Place(target, int(citations.target_lang[link]), int(citations.target_number[link]))
        url = addresses.url(place)
        around = "" if citations.sort[row] == Sort.ARTICLE else self._said(target, lang, link)
        kind = (chance >> 16) % 1000 / 1000
        if kind < TITLES:
            return Link(url, anchor=self._title(target, lang, chance), around=around)
        if kind < ADDRESSES:
            return Link(url, anchor=addresses.sites[target].host, around=around)
        if kind < NOTHINGS:
            return Link(url, anchor=HERE[lang], around=around)
        name = self.name(target)
        source = f"/banners/{name.lower().replace(' ', '-')}.gif"
        return Link(url, around=around, alt=name if chance % 3 else "", src=source)

    def _title(self, target: int, lang: str, chance: int) -> str:
        """What a site is called in a list: its name, mostly with a word of its topic."""
        word = self._topic_word(target, self._reader(target, lang), chance)
        return f"{word.capitalize()} {self.name(target)}" if chance % 10 < 7 else self.name(target)

    def _reader(self, target: int, lang: str) -> str:
        codes = self.addresses.sites[target].codes
        return lang if lang in codes else codes[0]

    def _topic_word(self, target: int, lang: str, chance: int) -> str:
        topic = self.addresses.sites[target].topic
        if (chance >> 30) % 1000 < 1000 * self.assumed.noise:
            topic = (chance >> 42) % len(TOPICS)
        words = TOPIC_WORDS[lang][topic]
        return words[(chance >> 50) % len(words)]

    def _said(self, target: int, lang: str, link: int) -> str:
        """How a list describes a site, in the language of the list."""
        sites, assumed = self.addresses.sites, self.assumed
        random = Random(mix(self.addresses.seed, 11, link))
        region = sites[target].region
        if random.random() < assumed.noise:
            region = random.randrange(len(REGIONS))
        words = random.choices(FREQUENT[lang], k=random.randint(2, 6))
        words.append(self._topic_word(target, lang, random.getrandbits(62)))
        words.append(random.choice(PLACES[REGIONS[region]]))
        random.shuffle(words)
        codes = sites[target].codes
        if len(codes) > 1 and random.random() < assumed.noted:
            words.append(f"({', '.join(NAMES[code][0] for code in codes)})")
        return " ".join(words)


@cache
def words_of(lang: str, topic: int, region: int) -> list[str]:
    """What texts of a language, topic and region are drawn from."""
    return [
        *FREQUENT[lang], *FREQUENT[lang], *FREQUENT[lang],
        *TOPIC_WORDS[lang][topic], *TOPIC_WORDS[lang][topic], *PLACES[REGIONS[region]],
    ]  # fmt: skip


def _choice(style: Style, code: str, url: str) -> str:
    """One choice of a switcher; some flags have no text."""
    if style == Style.CODES:
        return f'<a href="{url}">{code.upper()}</a> |'
    if style == Style.FLAGS:
        alt = "" if mix(*url.encode()) % 10 < MUTE_FLAGS else NAMES[code][0]
        return f'<a href="{url}"><img src="/img/flag_{FLAGS[code]}.gif" alt="{alt}"></a>'
    return f'<a href="{url}">{NAMES[code][1 if style == Style.PHRASES else 0]}</a>'


def _listed(links: Iterable[Link]) -> Iterable[str]:
    yield "<ul>"
    for link in links:
        yield f"<li>{_tag(link)} {link.around}</li>"
    yield "</ul>"


def _tag(link: Link) -> str:
    href = str(link.url).replace("&", "&amp;")
    shown = f'<img src="{link.src}" alt="{link.alt}">' if link.src else link.anchor
    return f'<a href="{href}">{shown}</a>'


assert set(LANGS) == set(NAMES) == set(MENU) == set(HERE) == set(LISTS)
