"""Small sites in two languages, answered from memory, and what a crawl of them costs."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.sites.engine import SiteEngine, completed
from diptych import recipes
from diptych.engine.workers import Workers
from diptych.frontier.crawl import Crawl
from diptych.frontier.politeness import Limits, Politeness
from diptych.frontier.scope import Scope, group
from diptych.page.answer import ReadAnswer, read_answer
from diptych.protocols import Watcher
from diptych.reason import SiteEnd
from diptych.registry import build
from diptych.run.store import Store
from diptych.steps.guide_answers import GuideAnswers
from diptych.steps.tasks import TaskContext
from diptych.text.urls import normalise
from diptych.types import Kind, Outlook, Response, Url

HOME = "http://example.org"
START = Url(HOME + "/")
LANGS = ("en", "fr", "de")
NAMES = {"en": "English", "fr": "Français", "de": "Deutsch"}
HTML = (("Content-Type", "text/html; charset=utf-8"),)
DEFAULT = Limits(share=0.97)  # as `diptych mine` has it
ALL = Limits()
HOME_TEXT = 9000  # number of the text of a home page
ENOUGH = 0.95  # share of the pairs whose cost is measured

# -- texts -----------------------------------------------------------------------------------------

_PHRASES = Path(__file__).with_name("phrases.tsv")
_START = ("Kar", "Bel", "Tor", "Mun", "Lis", "Fen", "Gor", "Pel", "Sam", "Vor", "Dan", "Hel")
_END = (
    "vale",
    "holm",
    "mouth",
    "borg",
    "wick",
    "sund",
    "zan",
    "rec",
    "stad",
    "more",
    "lin",
    "dorf",
)

Text = Mapping[str, tuple[str, ...]]
"""language -> a title and paragraphs"""


@cache
def _phrases() -> dict[str, list[list[str]]]:
    """Subjects, verbs and ends of sentences, each in three languages."""
    found: dict[str, list[list[str]]] = {}
    for line in _PHRASES.read_text("utf-8").splitlines():
        kind, *phrases = line.split("\t")
        found.setdefault(kind, []).append(phrases)
    return found


@cache
def text_of(number: int) -> Text:
    """A text of its own in three languages, always the same for a number."""
    chance = random.Random(number)
    name = chance.choice(_START) + chance.choice(_END)
    made: dict[str, list[str]] = {lang: [] for lang in LANGS}
    for sentences in [0, *(chance.choice((1, 1, 2, 3)) for _ in range(chance.randrange(4, 9)))]:
        several = [_sentence(chance, name) for _ in range(max(1, sentences))]
        for lang in LANGS:
            words = " ".join(each[lang] for each in several)
            made[lang].append(words if sentences else words.rstrip("."))
    return {lang: tuple(paragraphs) for lang, paragraphs in made.items()}


def _sentence(chance: random.Random, name: str) -> dict[str, str]:
    parts = [chance.choice(each) for each in _phrases().values()]
    slots = {"name": name, "n": chance.randrange(11, 990), "year": chance.randrange(1700, 2020)}
    used = parts[: chance.choice((2, 3))]
    return {
        lang: " ".join(part[place] for part in used).format(**slots) + "."
        for place, lang in enumerate(LANGS)
    }


def slug(title: str) -> str:
    """A title as part of an address."""
    letters = "".join(each if each.isascii() and each.isalnum() else "-" for each in title.lower())
    return "-".join(filter(None, letters.split("-")))[:40].strip("-")


# -- sites -----------------------------------------------------------------------------------------


@dataclass
class Site:
    """Answers by address; all else is missing."""

    answers: dict[Url, tuple[str, str, str]] = field(default_factory=dict)
    """address -> what it is the page of, its HTML, or where it leads"""
    pairs: list[tuple[str, str]] = field(default_factory=list)
    """names of pages that are translations of each other"""
    home: Url = START

    def page(self, path: str, name: str, html: str) -> None:
        """Add a page; the same name stands for the same page at several addresses."""
        self.answers[url_of(path)] = name, html, ""

    def move(self, path: str, target: str) -> None:
        """Let an address lead to another."""
        self.answers[url_of(path)] = "", "", target

    def respond(self, url: Url, now: float) -> tuple[Response, str | None]:
        """The answer of the server, and the name of the page that it is."""
        name, html, target = self.answers.get(url, ("", "", ""))
        if target:
            return Response(url, 301, (("Location", target),), b"", now), None
        if not name:
            return Response(
                url, 404, HTML, b"<html><body><h1>Not found</h1></body></html>", now
            ), None
        return Response(url, 200, HTML, html.encode(), now), name


def url_of(path: str) -> Url:
    """An address of the site."""
    url = normalise(path if "://" in path else HOME + path)
    assert url is not None, path
    return url


def html_of(
    lang: str, text: Sequence[str], links: Iterable[tuple[str, str]], head: str = "",
) -> str:  # fmt: skip
    """A page: its title, its text, and links as (address, words)."""
    title, *paragraphs = text
    body = "".join(f"<p>{each}</p>\n" for each in paragraphs)
    menu = "".join(f'<li><a href="{target}">{words}</a></li>' for target, words in links)
    return (
        f'<!DOCTYPE html><html lang="{lang}"><head><meta charset=utf-8><title>{title}</title>'
        f"{head}</head><body><main><h1>{title}</h1>{body}</main><ul>{menu}</ul></body></html>"
    )


def alternates(paths: Mapping[str, str]) -> str:
    """What the head of a page says of its translations."""
    return "".join(
        f'<link rel="alternate" hreflang="{lang}" href="{url_of(path)}">'
        for lang, path in paths.items()
    )


SECTIONS = {
    "en": ("news", "places", "people"), "fr": ("actualites", "lieux", "gens"),
    "de": ("nachrichten", "orte", "leute"),
}  # fmt: skip


def plain(target: str, source: str) -> str:
    """The address of a link as it is."""
    return target


@dataclass(frozen=True)
class Plan:
    """A site of documents in sections with lists of them, as content management systems make it."""

    documents: Mapping[int, Sequence[str]]
    """number of a document -> its languages"""
    langs: Sequence[str] = ("en", "fr")
    """of the menus; the first is that of the home page"""
    declares: str = "alternate"
    """how a document names its translations: alternate, switcher (a link), or nothing"""
    href: Callable[[str, str], str] = plain
    """how a page (second) writes the address of another (first)"""
    head: str = ""
    """more of the head of each page"""
    per_list: int = 8
    extra: Callable[[str, str], Sequence[tuple[str, str]]] = lambda path, lang: ()
    """more links of a page"""
    written: Mapping[tuple[str, int], str] = field(default_factory=dict)
    """(language of the folder, document) -> the language it is in, if it is another"""
    voices: Mapping[str, str] = field(default_factory=dict)
    """language of a folder -> the language that all of it is in, if it is another"""
    is_chained: bool = True
    """a document links to the next ones, and the home page to the first"""

    def path(self, number: int, lang: str) -> str:
        """The address of a document."""
        return f"/{lang}/{self.section(number, lang)}/{slug(text_of(number)[lang][0])}-{number}/"

    def section(self, number: int, lang: str) -> str:
        """The section of a document."""
        return SECTIONS[lang][number % 3]

    def build(self) -> Site:
        """The site."""
        site = Site()
        for lang in self.langs:
            self._add_home(site, lang)
            for place, section in enumerate(SECTIONS[lang]):
                own = [n for n, langs in self.documents.items() if lang in langs and n % 3 == place]
                self._add_lists(site, lang, section, own)
                for before, number, after in zip([0, *own], own, [*own[1:], 0], strict=False):
                    near = (before, after) if self.is_chained else ()
                    self._add_document(site, lang, number, [each for each in near if each])
        site.pairs += self._pairs()
        return site

    def _pairs(self) -> Iterable[tuple[str, str]]:
        if len(self.langs) < 2 or self.voices:
            return
        left, right = self.langs[:2]
        yield f"{left} home", f"{right} home"
        for number, langs in self.documents.items():
            as_said = all((lang, number) not in self.written for lang in (left, right))
            if {left, right} <= set(langs) and as_said:
                yield f"{left} {number}", f"{right} {number}"

    def _menu(self, lang: str) -> list[tuple[str, str]]:
        home = "/" if lang == self.langs[0] else f"/{lang}/"
        names = SECTIONS[self.voices.get(lang, lang)]
        lists = [f"/{lang}/{each}/" for each in SECTIONS[lang]]
        return [(home, self._text(HOME_TEXT, lang)[0]), *zip(lists, names, strict=True)]

    def _page(
        self, site: Site, path: str, name: str, lang: str, text: Sequence[str],
        links: Iterable[tuple[str, str]], head: str = "",
    ) -> None:  # fmt: skip
        every = [*links, *self._menu(lang), *self.extra(path, lang)]
        written = [(self.href(target, path), words) for target, words in every]
        site.page(path, name, html_of(lang, text, written, self.head + head))

    def _add_home(self, site: Site, lang: str) -> None:
        homes = {each: "/" if each == self.langs[0] else f"/{each}/" for each in self.langs}
        links = [(path, NAMES[each]) for each, path in homes.items() if each != lang]
        latest = [number for number, langs in self.documents.items() if lang in langs]
        latest = latest[: 3 * self.is_chained]
        links += self._links(latest, lang)
        self._page(site, homes[lang], f"{lang} home", lang, self._text(HOME_TEXT, lang), links)

    def _add_lists(self, site: Site, lang: str, section: str, own: Sequence[int]) -> None:
        parts = [own[at : at + self.per_list] for at in range(0, len(own), self.per_list)] or [()]
        for page, part in enumerate(parts, 1):
            path = f"/{lang}/{section}/" + (f"page/{page}/" if page > 1 else "")
            links = self._links(part, lang)
            if page < len(parts):
                links.append((f"/{lang}/{section}/page/{page + 1}/", str(page + 1)))
            text = [
                SECTIONS[self.voices.get(lang, lang)][0],
                *(self._text(number, lang)[1] for number in part),
            ]
            self._page(site, path, f"{lang} {section} {page}", lang, text, links)

    def _add_document(self, site: Site, lang: str, number: int, near: Sequence[int]) -> None:
        langs = [each for each in self.documents[number] if each in self.langs]
        paths = {each: self.path(number, each) for each in langs}
        head = alternates(paths) if self.declares == "alternate" and len(paths) > 1 else ""
        links = self._links(near, lang)
        if self.declares == "switcher":
            links += [(path, NAMES[each]) for each, path in paths.items() if each != lang]
        self._page(
            site, paths[lang], f"{lang} {number}", lang, self._text(number, lang), links, head
        )

    def _text(self, number: int, lang: str) -> tuple[str, ...]:
        """What a document in the folder of a language says."""
        return text_of(number)[self.written.get((lang, number), self.voices.get(lang, lang))]

    def _links(self, numbers: Iterable[int], lang: str) -> list[tuple[str, str]]:
        """Links to documents in the folder of a language."""
        return [(self.path(number, lang), self._text(number, lang)[0]) for number in numbers]


def both(count: int, start: int = 1) -> dict[int, Sequence[str]]:
    """Documents that are in English and in French."""
    return dict.fromkeys(range(start, start + count), ("en", "fr"))


# -- crawls ----------------------------------------------------------------------------------------


@dataclass
class _Readings:
    """Pages as they were read, once for all crawls of a site."""

    langs: tuple[str, ...]
    known: dict[tuple[Url, bytes], ReadAnswer] = field(default_factory=dict)

    def read(self, response: Response, depth: int) -> ReadAnswer:
        key = response.url, response.body
        if key not in self.known:
            self.known[key] = read_answer(Kind.PAGE, response, langs=self.langs, with_sketch=True)
        reading = self.known[key]._replace(fetched_at=response.fetched_at)
        if reading.page is None:
            return reading
        record = replace(reading.page.record, depth=depth, fetched_at=response.fetched_at)
        return reading._replace(page=replace(reading.page, record=record))


_READINGS = _Readings(("en", "fr"))


@dataclass
class Cost:
    """A crawl of a site, by its downloads."""

    site: Site
    urls: list[Url]
    served: list[str | None]
    """for each download the name of the page; None for all that is no page"""
    answers: list[tuple[Kind, int]]
    end: SiteEnd | None
    outlook: Outlook | None
    notes: list[str]

    @property
    def downloads(self) -> int:
        """All that was asked for."""
        return len(self.served)

    @property
    def found(self) -> float:
        """The share of the pairs of which both pages were fetched."""
        return len(completed(self.served, self.site.pairs)) / len(self.site.pairs)

    @property
    def at_enough(self) -> float:
        """Downloads until nearly all pairs were fetched."""
        done = completed(self.served, self.site.pairs)
        least = math.ceil(ENOUGH * len(self.site.pairs))
        return done[least - 1] if len(done) >= least else math.inf

    @property
    def estimate(self) -> float:
        """The share of the pairs that the crawl thinks it has found."""
        assert self.outlook is not None
        return 1.0 - self.outlook.missing

    def count(self, status: int) -> int:
        """Downloads of pages with a status."""
        return self.answers.count((Kind.PAGE, status))

    @property
    def wasted(self) -> int:
        """Redirects, missing pages, and copies of a page that was known by another address."""
        pages = [name for name in self.served if name is not None]
        return self.count(301) + self.count(404) + len(pages) - len(set(pages))


@dataclass(slots=True)
class _Engine(SiteEngine):
    urls: list[Url] = field(default_factory=list)

    def _answer(self, crawl: Crawl, claim, now: float) -> None:
        self.urls.append(claim.url)
        SiteEngine._answer(self, crawl, claim, now)


@dataclass
class _Looks(Watcher):
    """Fails where a crawl goes on for ever, though it fetches nothing."""

    left: int = 10_000

    def stopped(self) -> bool:
        self.left -= 1
        assert self.left, "the crawl goes on for ever"
        return False


def crawl(site: Site, policy: str = "hybrid", limits: Limits = DEFAULT) -> Cost:
    """Crawl a site with one of the policies, to the end that the limits give it."""
    strategies = build(recipes.load(recipes.DEFAULT, {"crawl": policy}))
    sites = group([site.home], kind="site")
    polite = Politeness(agent="test", delay=0.0, connections=1)
    engine = _Engine(site, _READINGS)
    with TemporaryDirectory() as folder, Store(Path(folder), agent="test") as store:
        machine = Crawl(
            store, sites, Scope.of(sites, kind="site"), strategies.crawl, ("en", "fr"),
            politeness=polite, limits=limits, now=0.0,
        )  # fmt: skip
        workers = Workers(0)
        answers = GuideAnswers(
            machine, TaskContext(store.folder, strategies, ("en", "fr")), workers
        )
        engine.run(machine, answers, workers, _Looks())
        outlook = machine.outlook()
        machine.finish(interrupted=False)
        (end,) = (each.end for each in machine.hosts.sites.values())
        notes = list(machine.hosts.notes)
    return Cost(site, engine.urls, engine.served, engine.answers, end, outlook, notes)
