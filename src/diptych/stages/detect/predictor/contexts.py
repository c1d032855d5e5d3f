"""Features of a link from its five contexts, for the link predictor (Barbosa et al. 2011).

The paper's features are the tokens of the URL, the anchor, the text around it, and the `alt` and
`src` of an image, learned for one pair of languages.  Here, a token that is a language name or code
is replaced with the role of that language: `missing` (requested, but not found yet), `shown`
(already found) or `third` (not requested).  A model learned from French and English thus applies to
Korean and Portuguese.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from diptych.language.codes import hreflang_language, primary, same_language
from diptych.language.identify import identify, learned_languages
from diptych.language.learned import LearnedLanguage
from diptych.language.marks import Mark, mark_table
from diptych.language.switchers import declared_language
from diptych.stages.detect.shared import naming
from diptych.stages.detect.shared.site_pages import main_language
from diptych.text.urls import origin_of
from diptych.types import LangScore, Link, Page

_MIN_SURE, _MIN_LIKELY = 0.9, 0.6  # minimum probabilities of the language of a text or URL
_INDEX = re.compile(r"(?:index|default|home|main|welcome)?(?:\.\w{2,5})?\Z", re.IGNORECASE)
_FILLER_WORDS = frozenset(
    "version versione versao verze verzia wersja versija versio versjon versiyon site page home web"
    " in en auf pa na po em the this to read view switch change language lang langue idioma lingua"
    " sprache sprak jezyk website webseite sitio sito strona по на версия версія 版 edition"
    " read leer lire ler lesen leggi lees las laes les czytaj cist citeste oku olvas lue llegir"
    " читать читати view ver voir veure ansehen vedi bekijk zobacz click here for cliquez ici pour"
    " clic aqui para hier klicken klik see this also available disponible pagina seite nettsted"
    " sida verzio valtozat versiunea versija surum".split()
)
"""words that accompany the name of a language in a switcher"""
_PREPOSITIONS = frozenset("in en em auf pa po на по i na a im el het o του με".split())
"""prepositions that may precede a language name, as in `read in English`"""
_FLAGS = ("flag", "drapeau", "bandera", "bandiera", "bandeira", "flagge", "fahne", "vlag")
_PHOTO = re.compile(r"\.(?:jpe?g|webp)\b")
_TECHNICAL = frozenset("html htm xhtml shtml php asp aspx jsp cgi index default www http".split())
_IN_URL = {"code": "code", "code3": "code3", "endonym": "name", "name": "name"}


class Question(NamedTuple):
    """The requested languages, and those of them in which no page has been found yet."""

    wanted: tuple[str, ...]
    missing: frozenset[str]

    @classmethod
    def of(cls, langs: Sequence[str], shown: Iterable[str] = ()) -> Question:
        """Create a question from the requested languages and those already found.

        >>> sorted(Question.of(["en", "fr-CA"], ["en"]).missing)
        ['fr']
        """
        wanted = tuple(dict.fromkeys(primary(lang) for lang in langs))
        seen = tuple(shown)
        missing = (each for each in langs if not any(same_language(each, lang) for lang in seen))
        return cls(wanted, frozenset(map(primary, missing)))

    def role(self, langs: Iterable[str]) -> str:
        """The role of a word that may name any of the given languages.

        >>> question = Question.of(["en", "fr"], ["en"])
        >>> question.role(["fr"]), question.role(["en"]), question.role(["de"]), question.role([])
        ('missing', 'shown', 'third', '')
        """
        some = set(langs)
        if some & self.missing:
            return "missing"
        return "shown" if some & set(self.wanted) else "third" if some else ""


class _PageContext(NamedTuple):
    """The properties of a page that its links are compared with."""

    question: Question
    url: str
    bare: str
    """URL of the page without language marks"""
    lang: str
    scripts: frozenset[str]
    peers: int
    """number of languages that the page's links name"""


def features_of_links(
    page: Page, links: Sequence[Link], question: Question
) -> list[frozenset[str]]:
    """The feature names of each link on a page."""
    page_context = _page_context(page, links, question)
    by_model = _by_url_model([link.url for link in links], question)
    return [
        frozenset(features(link, page_context) | model)
        for link, model in zip(links, by_model, strict=True)
    ]


def _page_context(page: Page, links: Sequence[Link], question: Question) -> _PageContext:
    best = main_language(page)
    lang = primary(best.lang) if best else ""
    named = {naming.declared_by(link, question.wanted) for link in links} - {"", lang}
    shown = [each for each in (*question.wanted, lang) if each and each not in question.missing]
    scripts = frozenset(script for each in shown for script in naming.scripts_of(each))
    return _PageContext(question, page.url, _bare(page.url), lang, scripts, len(named))


def features(link: Link, page_context: _PageContext) -> set[str]:
    """The features of a link, except those from the URL language model."""
    question = page_context.question
    found = {f"rel:{link.rel}" if link.rel in ("alternate", "area", "frame") else "rel:a"}
    if link.hreflang:
        role = question.role(filter(None, [primary(hreflang_language(link.hreflang))])) or "none"
        found |= {f"hreflang:{role}", f"{found.pop()}:hreflang:{role}"}
    found |= _of_url(link.url, page_context)
    for name, text in (("anchor", link.anchor), ("alt", link.alt)):
        found |= set(_of_text(name, text, question))
    found |= set(_of_around(link.around, question))
    found |= set(_of_image(link.src, question, is_alone=not (link.anchor or link.alt)))
    found |= _of_language(link, page_context)
    said = question.role(filter(None, [naming.declared_by(link, question.wanted)]))
    if said:
        found.add(f"says:{said}:peers:{min(page_context.peers, 3)}")
    found.add(f"page:{question.role([page_context.lang]) if page_context.lang else 'silent'}")
    return found


def _of_url(url: str, page_context: _PageContext) -> set[str]:
    """Features from the language marks in a URL, and from comparing it with the page's URL."""
    question = page_context.question
    found: set[str] = set()
    role = "none"
    for mark in naming.marks_in(url):
        role = question.role(each.lang for each in mark.marks)
        kind = _IN_URL.get(_kind(mark.marks, question), "habit")
        found.add(f"url:{naming.mark_place(url, mark)}:{kind}:{role}")
    path = url.partition("://")[2].partition("/")[2]
    found |= {f"url={word}" for word in _plain(naming.words_of(path))}
    if origin_of(url) != origin_of(page_context.url):
        found.add("url:host")
    bare = _bare(url)
    if bare == page_context.bare and url != page_context.url:
        found.add(f"url:swap:{role}")  # role of the last mark, because marks in the host come first
    if _INDEX.match(bare.rpartition("/")[2]) and bare.count("/") <= 1:
        found.add("url:entry")
    return found


def _kind(marks: Sequence[Mark], question: Question) -> str:
    """Of all marks for a word, the kind of the mark that determines the role of the word.

    This is a mark for a missing language, if there is one, or else for any requested language.
    """
    for some in (question.missing, question.wanted):
        for mark in marks:
            if mark.lang in some:
                return mark.kind
    return marks[0].kind


@lru_cache(maxsize=8192)
def _bare(url: str) -> str:
    """Remove the scheme, the language marks and their separators, so that URLs can be compared.

    >>> _bare("http://x.org/fr/a.html"), _bare("http://x.org/a.en.html")
    ('x.org/a.html', 'x.org/a.html')
    """
    text = url.partition("://")[2]
    kept, end = [], 0
    for mark in naming.marks_in(url):
        if mark.marks[0].kind not in ("code", "endonym", "name", "habit"):
            continue
        kept.append(text[end : mark.start].rstrip("._-=/"))
        end = mark.end
    kept.append(text[end:])
    return "".join(kept).removeprefix("www").lstrip(".")


def _of_text(context: str, text: str, question: Question) -> Iterator[str]:
    """Features from a link text or an image's `alt` text: language names and other words."""
    words = naming.words_of(text)
    yield f"{context}:words:{min(len(words), 5)}"
    if not words:
        return
    if whole := naming.whole_marks(text):
        yield f"{context}:is:{question.role(mark.lang for mark in whole)}"
    link = Link(url=naming.NOWHERE, anchor=text)
    if said := declared_language(link, question.wanted).lang:
        yield f"{context}:is:{question.role([primary(said)])}"
    if len(words) > naming.MAX_SHORT:
        yield from (f"{context}:mentions:{role}" for role in _roles(words, question))
    else:
        yield from (f"{context}:{kind}" for kind in _short_text(words, question))
    yield from (f"{context}={word}" for word in _plain(words))


def _short_text(words: Sequence[str], question: Question) -> Iterator[str]:
    """Features from a short text with a language name, like `English version` or `English wine`."""
    yield from (f"has:{role}" for role in _roles(words, question))
    for lang in sorted(question.missing):
        own = [word for word in words if naming.is_endonym(word, lang)]
        named = [word for word in words if naming.is_foreign_name(word, lang)]
        if own:
            yield "own:missing"  # rare on a page in another language, unless it is a switcher
        if len(words) > 1 and words[-1] in own and words[-2] in _PREPOSITIONS:
            yield "into:missing"  # as in `Leer en español`, after any verb
        if (own or named) and all(
            word in _FILLER_WORDS for word in words if word not in (*own, *named)
        ):
            yield "only:missing"


def _of_around(text: str, question: Question) -> Iterator[str]:
    words = naming.words_of(text)
    yield from (f"around:has:{role}" for role in _roles(words, question))
    yield from (f"around={word}" for word in _plain(words))


def _of_image(source: str, question: Question, *, is_alone: bool) -> Iterator[str]:
    """Features from the file names of images; a flag stands for the language of its country."""
    if not source:
        return
    yield "src"
    lowered = source.casefold()
    kind = "flag" if any(word in lowered for word in _FLAGS) else "alone" if is_alone else "has"
    # Photographs are often named after countries too, but flags have other file formats.
    country_kind = "photo" if _PHOTO.search(lowered) and kind != "flag" else kind
    for name in naming.image_names(source):
        for word in re.split(r"[\W_]+", name.casefold()):
            if country := naming.country_languages().get(naming.folded(word)):
                yield f"src:{country_kind}:land:{question.role([country])}"
            elif marks := mark_table().get(naming.folded(word)):
                yield f"src:{kind}:{question.role(mark.lang for mark in marks)}"
            elif word not in _TECHNICAL:
                yield f"src={word}"


def _of_language(link: Link, page_context: _PageContext) -> set[str]:
    """Features from the language of a link's text, which is usually the language of its target."""
    question = page_context.question
    found: set[str] = set()
    text = f"{link.anchor} {link.alt}".strip()
    scores = _language_of(text, question.wanted)
    if not scores and link.around:
        scores = _language_of(f"{text} {link.around}", question.wanted)
    if scores and scores[0].score >= _MIN_LIKELY:
        sure = "sure" if scores[0].score >= _MIN_SURE else "likely"
        found.add(f"text:{question.role([primary(scores[0].lang)])}:{sure}")
    scripts = naming.scripts_in(text)
    if scripts and not scripts & page_context.scripts and page_context.scripts:
        own = any(scripts & naming.scripts_of(lang) for lang in question.missing)
        # Pages in any script contain Latin letters: names, brands, commands.
        kind = "latin" if scripts == {"LATIN"} else "script"
        found.add(f"{kind}:{'missing' if own else 'third'}")
    return found


def _by_url_model(urls: Sequence[str], question: Question) -> list[set[str]]:
    """Features from the languages that the URL language model predicts."""
    from diptych.learn.url import language as url_lang

    found: list[set[str]] = []
    for lang, score in url_lang.load().predict(urls):
        sure = "sure" if score >= _MIN_SURE else "likely"
        is_told = lang != "und" and score >= _MIN_LIKELY
        found.append({f"model:{question.role([primary(lang)])}:{sure}"} if is_told else set())
    return found


def _roles(words: Iterable[str], question: Question) -> set[str]:
    """The roles of the languages that these words name."""
    named = (
        [mark.lang for mark in mark_table().get(word, ()) if mark.kind in naming.NAMES]
        for word in words
    )
    return {role for langs in named if (role := question.role(langs))}


def _language_of(text: str, wanted: tuple[str, ...]) -> tuple[LangScore, ...]:
    return _identified(text, wanted, learned_languages())


@lru_cache(maxsize=1 << 13)
def _identified(
    text: str, wanted: tuple[str, ...], learned: tuple[LearnedLanguage, ...]
) -> tuple[LangScore, ...]:
    """Identify the languages of a text.

    `learned` is a parameter only because the cached results depend on the learned languages.
    """
    return identify(text, wanted, closed=False)


def _plain(words: Iterable[str]) -> list[str]:
    """Drop short words, language marks and file types, which are not used as features."""
    return [
        word
        for word in words
        if len(word) > 2 and word not in mark_table() and word not in _TECHNICAL
    ]
