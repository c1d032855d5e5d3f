"""The questions on which detectors are compared: built sites, start pages, and what is true.

    python -m bench.sites.detect_sites [--sites DIR]

builds what is missing: variants to train on (`det-*`), and those that are measured, of which some
are monolingual (`mono-*`), or declare their translations without showing them (`hre-*`).

A question is a site, its start page and two languages.  Some sites are altered as they answer:
`broken` has a switcher that leads to pages that are not there, `copies` to the same page again,
`untranslated` to nearly the same page, and `stray` has one page in the other language.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import NamedTuple

from bench.sites.archive import site_url
from bench.sites.built import (
    Builder,
    add_sites_option,
    build_native,
    build_variant,
    built_folder,
    site_builder,
)
from bench.sites.crawl_sites import CRAWL_SITES, HELD, build_sites
from bench.sites.engine import BuiltSite
from bench.sites.pair_sites import build_pair_sites, chosen
from diptych.language.codes import same_language
from diptych.page.read import read_page
from diptych.types import Page, Response, Url

TRAINING = (
    "amc", "apt-doc", "bibletime", "brltty", "debian-history", "developers-reference", "dia",
    "eviacam", "genius", "gfxboot", "glpeces", "kicad", "liferea", "live-manual", "maint-guide",
    "nagvis", "nted", "sgt-puzzles", "solfege", "step-objinfo", "svn-buildpackage", "transcriber",
    "tupi", "webissues", "xfig",
)  # fmt: skip
"""families to train on: none of them is measured on, here or by the crawl benchmarks"""
SCHEMES = (
    "dir", "suffix", "dotlang", "null", "query", "qopaque", "slug", "utf8slug", "numeric",
    "subdomain",
)  # fmt: skip
STYLES = ("text", "code", "english", "img")
NATIVE = (
    "apache2-manual", "aptitude", "debian-faq", "debian-install-guide", "gnucash", "lilypond",
    "linux-doc", "mplayer", "scilab",
)  # fmt: skip
"""sites as their authors shipped them"""
VARIANTS = (
    *(site.name for site in CRAWL_SITES), "dev-dir-igfr", "dev-dir-linux", "dev-dotlang-igpl",
    "dev-null-gimp", "dev-numeric-scilab", "dev-qopaque-lilypond", "dev-query-gnucash",
    "dev-slug-gimp", "dev-slug-ig", "dev-subdomain-gimp", "dev-suffix-mplayer", "dev-utf8slug-faq",
    "held-null-scilab", "held-numeric-faq", "held-query-lily", "held-slug-mplayer",
    "held-subdomain-gnucash", "held-suffix-faq", "opaque-aptitude", "opaque-gimp",
    "opaque-gimp-drop", "opaque-gnucash", "opaque-ig", "opaque-lily", "opaque-mplayer-drop",
    "opaque-scilab",
)  # fmt: skip
MONOLINGUAL = (
    ("debian-faq", "en"), ("debian-faq", "it"), ("aptitude", "en"), ("aptitude", "es"),
    ("mplayer", "en"), ("mplayer", "zh-cn"), ("debian-install-guide", "en"),
    ("debian-install-guide", "zh-cn"), ("gnucash", "en"), ("gnucash", "pt"),
    ("apache2-manual", "en"), ("apache2-manual", "fr"), ("gimp-help", "en"), ("gimp-help", "es"),
    ("lilypond", "en"), ("lilypond", "fr"), ("scilab", "en"), ("scilab", "ja"),
    ("eyes17", "en"), ("freedombox", "es"),
)  # fmt: skip
DECLARED = (
    ("mplayer", "en,fr"), ("debian-install-guide", "es,pt"), ("aptitude", "en,ja"),
    ("gnucash", "en,de"), ("gimp-help", "en,ru"), ("debian-faq", "fr,nl"), ("scilab", "en,fr"),
    ("lilypond", "it,ca"), ("apache2-manual", "en,ko"), ("eyes17", "fr,ml"),
)  # fmt: skip
UNSEEN = {
    "held-null-scilab": ("scilab", "en,pt-br", "--drop", "pt-br=0.4", "--max-pages", "1500"),
    "held-numeric-faq": ("debian-faq", "de,en,fr,it,ja,ko,nl,pt,ru,zh-cn"),
    "held-query-lily": ("lilypond", "ca,en,ja", "--max-pages", "1500"),
    "held-slug-mplayer": ("mplayer", "en,fr,pl"),
    "held-subdomain-gnucash": ("gnucash", "en,it,ja"),
    "held-suffix-faq": ("debian-faq", "en,nl,ru", "--drop", "nl=0.4"),
}
ABSENT = ("fr", "es", "de", "it", "pt", "ru", "pl", "nl", "cs", "sv", "ja", "tr", "uk", "ca", "no")
LEAST = 3  # true pairs of pages that make a site bilingual
_TITLE = re.compile(rb"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_LINK = re.compile(rb"<a\s[^>]*href[^>]*>.*?</a>", re.IGNORECASE | re.DOTALL)
_BODY = re.compile(rb"(<body[^>]*>)", re.IGNORECASE)
_REMARK = b"<p>2006-04-12 / 2009-01-30 / v. 3.1</p>"
_STRAY = "/press/2019-07-04.html"


class Question(NamedTuple):
    """A site to be judged, and the answer."""

    site: str
    langs: tuple[str, str]
    is_bilingual: bool
    kind: str
    """what shows the languages, or what makes a site look bilingual"""
    begin: str = ""
    """where to begin: nothing for the site's home, `home` of the first language, `inner` page"""
    altered: str = ""

    @property
    def is_held(self) -> bool:
        """Whether nothing at all was designed on its family."""
        return _meta(self.site)["family"] in HELD


@cache
def _meta(site: str) -> Mapping[str, str]:
    found: dict[str, str] = json.loads((built_folder() / site / "meta.json").read_text("utf-8"))
    return found


class TrueSite:
    """A built site, and the true language of each of its pages."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.built = BuiltSite(built_folder() / name)
        self.langs: dict[Path, str] = {}
        """file -> language; nothing for a page that is not as it should be"""
        self.groups: dict[str, dict[str, Path]] = {}
        self.urls: dict[Path, Url] = {}
        for line in (self.built.folder / "groups.tsv").read_text("utf-8").splitlines():
            key, lang, path, is_fine, _ = line.split("\t")
            answer = self.built.find(site_url(path))
            if answer is not None and answer.file is not None:
                self.langs[answer.file] = lang if is_fine == "1" else ""
                self.urls[answer.file] = site_url(path)
                self.groups.setdefault(key, {})[lang] = answer.file

    def lang_of(self, url: Url) -> str | None:
        """The true language behind a URL; None when nothing is said of it."""
        for _ in range(4):
            answer = self.built.find(url)
            if answer is None or (answer.file is None and not answer.location):
                return None
            if answer.file is not None:
                return self.langs.get(answer.file)
            url = _joined(url, answer.location)
        return None

    def pairs(self, left: str, right: str) -> int:
        """How many true pairs there are in two languages."""
        return sum(
            all(self.langs.get(group[lang]) for lang in (left, right))
            for group in self.groups.values()
            if left in group and right in group
        )

    def counterpart(self, file: Path, lang: str) -> Path | None:
        """The same page in another language."""
        return next(
            (group.get(lang) for group in self.groups.values() if file in group.values()), None
        )


def _joined(url: Url, location: str) -> Url:
    from diptych.text.urls import resolve

    return resolve(url, location) or url


@cache
def true_site(name: str) -> TrueSite:
    """A built site, read once."""
    return TrueSite(name)


class Answers:
    """What a site answers to a question's requests, altered as the question says."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.site = true_site(question.site)
        self.start = self._start()

    def respond(self, url: Url) -> Response | None:
        """What is sent; None when there is no such host."""
        question = self.question
        if question.altered == "stray":
            return self._with_stray(url)
        sent = self.site.built.respond(url, 0.0)
        if sent is None or sent[1] is None or not question.altered:
            return None if sent is None else sent[0]
        response, file = sent
        assert file is not None
        lang = next((lang for group in self.site.groups.values()
                     for lang, each in group.items() if each == file), "")  # fmt: skip
        if lang != question.langs[1]:
            return response
        if question.altered == "broken":
            return Response(url, 404, response.headers[:1], b"<html><h1>404</h1></html>", 0.0)
        same = self.site.counterpart(file, question.langs[0]) or self._any(question.langs[0])
        body = same.read_bytes() + (_REMARK if question.altered == "untranslated" else b"")
        return Response(url, 200, response.headers, body, 0.0)

    def _any(self, lang: str) -> Path:
        return next(group[lang] for group in self.site.groups.values() if lang in group)

    def _start(self) -> Url:
        """Where to begin."""
        site, (left, _) = self.site, self.question.langs
        if self.question.begin == "inner":
            of_left = sorted(
                group[left] for group in site.groups.values()
                if all(site.langs.get(group.get(lang, Path())) for lang in self.question.langs)
            )  # fmt: skip
            return site.urls[of_left[len(of_left) // 2]]
        home = site.built.home
        if self.question.begin == "home" and site.lang_of(home) != left:
            page = read(site.built, home)
            for link in page.links if page else ():
                if site.lang_of(link.url) == left:
                    return link.url
        return home

    def _with_stray(self, url: Url) -> Response | None:
        """A monolingual site whose start page links to one page in the other language."""
        file = _foreign_page(str(_meta(self.question.site)["family"]), self.question.langs[1])
        text = _LINK.sub(b"", file.read_bytes())
        first = self._followed(self.start)
        if url == site_url(_STRAY):
            links = b" ".join(_LINK.findall(first.body)[:40])
            body = _BODY.sub(lambda found: found[1] + links, text, count=1)
            return Response(url, 200, first.headers, body, 0.0)
        sent = self.site.built.respond(url, 0.0)
        if sent is None or sent[0].url != first.url:
            return None if sent is None else sent[0]
        title = _TITLE.search(text)
        named = title[1].strip() if title else b"Communiqu\xc3\xa9 de presse"
        stray = b'<p><a href="%s">%s</a></p>' % (escape(_STRAY).encode(), named)
        body = _BODY.sub(lambda found: found[1] + stray, first.body, count=1)
        return Response(url, 200, first.headers, body, 0.0)

    def _followed(self, url: Url) -> Response:
        sent = self.site.built.respond(url, 0.0)
        assert sent is not None, url
        if sent[0].status == 200:
            return sent[0]
        return self._followed(_joined(url, sent[0].header("Location")))


@cache
def _foreign_page(family: str, lang: str) -> Path:
    """A page of a family in a language, long enough to be told."""
    for site in (*NATIVE, "eyes17", *VARIANTS):
        if (built_folder() / site).is_dir() and _meta(site)["family"] == family:
            known = true_site(site)
            some = [file for file, own in sorted(known.langs.items()) if own == lang]
            some = [file for file in some if 4_000 < file.stat().st_size < 60_000]
            if some:
                return some[len(some) // 2]
    raise LookupError(f"no page of {family} in {lang}")


def read(site: BuiltSite, url: Url, langs: Sequence[str] = ()) -> Page | None:
    """A page of a built site; None when there is none at that URL."""
    for _ in range(5):
        sent = site.respond(url, 0.0)
        if sent is None:
            return None
        if sent[0].status == 200:
            is_page = sent[0].header("Content-Type") == "text/html"
            return read_page(sent[0], langs=langs, with_sketch=True) if is_page else None
        if not sent[0].header("Location"):
            return None
        url = _joined(url, sent[0].header("Location"))
    return None


def _kind(site: str) -> str:
    """What shows the languages of a site on its start page."""
    options = json.loads(json.dumps(_meta(site).get("options") or {}))
    if not options:
        return "as shipped"
    if options["switcher"] == "none":
        return "chooser page"
    return f"switcher: {options['switcher_style']}"


def questions() -> list[Question]:
    """All questions, positive ones first, in a fixed order."""
    found = [*_positive(), *_negative()]
    return sorted(found, key=lambda each: not each.is_bilingual)


def _bilingual_pairs(site: str, most: int) -> list[tuple[str, str]]:
    """Some pairs of languages of a site that share enough pages."""
    known = true_site(site)
    langs = sorted({lang for group in known.groups.values() for lang in group})
    rng = random.Random(f"pairs {site}")
    pairs = [
        (one, other) for one in langs for other in langs
        if one != other and not same_language(one, other)
    ]  # fmt: skip
    rng.shuffle(pairs)
    pairs.sort(key=lambda pair: "en" not in pair)
    good: list[tuple[str, str]] = []
    for pair in pairs:
        if pair[::-1] not in good and known.pairs(*pair) >= LEAST:
            good.append(pair)
        if len(good) >= most * 4:
            break
    return [*good[:1], *good[-1:]][:most] if len(good) > 1 else good


def _positive() -> Iterator[Question]:
    for site in (*VARIANTS, *NATIVE):
        for pair in _bilingual_pairs(site, 2):
            yield Question(site, pair, is_bilingual=True, kind=_kind(site))
    for number, (family, langs) in enumerate(DECLARED):
        left, right = langs.split(",")
        name = f"hre-{family}"
        yield Question(name, (left, right), is_bilingual=True, kind="hreflang only",
                       begin=("home", "inner")[number % 2])  # fmt: skip
    for site in VARIANTS:
        options = json.loads(json.dumps(_meta(site)["options"]))
        if options["switcher"] == "all":
            pair = _bilingual_pairs(site, 1)[0]
            yield Question(site, pair, is_bilingual=True, kind="inner page", begin="inner")


def _negative() -> Iterator[Question]:
    for number, site in enumerate((*VARIANTS, *NATIVE)):
        left, right = _bilingual_pairs(site, 1)[0]
        absent = _absent(site, number)
        other = _absent(site, number + 5)
        begin = "" if number % 3 else "home"
        yield Question(site, (left, absent), is_bilingual=False, kind="one of two", begin=begin)
        if number % 3 == 0 and other != absent:
            yield Question(site, (absent, other), is_bilingual=False, kind="two others")
        if number % 4 == 1:
            for altered in ("broken", "copies", "untranslated"):
                yield Question(site, (left, right), is_bilingual=False, kind=altered,
                               altered=altered)  # fmt: skip
    for number, (family, lang) in enumerate(MONOLINGUAL):
        site = f"mono-{lang}-{family}"
        other = _absent(site, number)
        yield Question(site, (lang, other), is_bilingual=False, kind="monolingual")
        if number % 2 == 0 and lang == "en":
            foreign = {"debian-faq": "fr", "aptitude": "es", "mplayer": "fr", "gnucash": "de",
                       "debian-install-guide": "de", "apache2-manual": "fr", "gimp-help": "es",
                       "lilypond": "fr", "scilab": "fr", "eyes17": "fr"}[family]  # fmt: skip
            yield Question(site, (lang, foreign), is_bilingual=False, kind="stray page",
                           altered="stray", begin="home")  # fmt: skip


def _absent(site: str, number: int) -> str:
    """A language that a site does not have."""
    langs = {lang for group in true_site(site).groups.values() for lang in group}
    some = [
        lang for lang in ABSENT if not any(same_language(lang, each) for each in langs)
    ]  # fmt: skip
    return some[number % len(some)]


def missing_sites() -> list[str]:
    """The sites of the questions that are not built."""
    names = [*VARIANTS, *NATIVE, "eyes17", *(f"hre-{family}" for family, _ in DECLARED)]
    names += [f"mono-{lang}-{family}" for family, lang in MONOLINGUAL]
    return [name for name in names if not (built_folder() / name / "meta.json").is_file()]


def build_missing(folder: Path | None) -> None:
    """Build the sites of the questions if one is missing."""
    if missing_sites():
        build_measured(site_builder(folder))


def build_all(builder: Builder) -> None:
    """Build what is missing, to measure on and to train on."""
    build_measured(builder)
    for family in TRAINING:
        build_native(builder, family)
    for name, options in training_variants():
        build_variant(builder, name, options)


def build_measured(builder: Builder) -> None:
    """Build the sites of the questions."""
    for family in (*NATIVE, "eyes17"):
        build_native(builder, family)
    build_sites(builder, CRAWL_SITES)
    build_pair_sites(builder, chosen([]))
    for name, (family, langs, *more) in UNSEEN.items():
        options = ["--family", family, "--scheme", name.split("-")[1], "--langs", langs, *more]
        build_variant(builder, name, options)
    for family, lang in MONOLINGUAL:
        number = MONOLINGUAL.index((family, lang))
        options = ["--family", family, "--scheme", SCHEMES[number % 10], "--langs", lang]
        options += ["--switcher", ("home", "none")[number % 2], "--max-pages", "40"]
        build_variant(builder, f"mono-{lang}-{family}", options)
    for number, (family, langs) in enumerate(DECLARED):
        options = ["--family", family, "--scheme", SCHEMES[number % 10], "--langs", langs]
        options += ["--switcher", "none", "--hreflang", "--only-ok", "--max-pages", "60"]
        build_variant(builder, f"hre-{family}", options)


def training_variants() -> Iterator[tuple[str, list[str]]]:
    """Three variants of each family to train on, under all schemes and kinds of switchers."""
    rng = random.Random(7)
    for place, family in enumerate(TRAINING):
        pages = json.loads(json.dumps(_meta(family)["pages"]))
        langs = sorted(lang for lang, count in pages.items() if count > 2)
        for turn, letter in enumerate("abc"):
            some = rng.sample(langs, min(len(langs), rng.choice((2, 3, 4, 5))))
            number = place + turn
            options = ["--family", family, "--scheme", SCHEMES[(place * 3 + turn * 7) % 10]]
            options += ["--langs", ",".join(sorted(some)), "--max-pages", "25"]
            options += ["--switcher", ("home", "all", "home")[turn]]
            options += ["--switcher-style", STYLES[number % 4]]
            options += ["--hreflang"] if number % 5 == 0 else []
            options += ["--strip-lang-attr"] if number % 3 == 0 else []
            options += ["--crosslinks", "keep"] if number % 4 == 1 else []
            yield f"det-{family}-{letter}", options


def main() -> None:
    """Build what is missing, and say what there is to ask."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_sites_option(parser)
    build_all(site_builder(parser.parse_args().sites))
    for question in questions():
        print(*question[:6], sep="\t")


if __name__ == "__main__":
    main()
