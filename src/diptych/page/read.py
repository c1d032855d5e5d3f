"""Parse an HTML page into title, text, links, blocks, languages, flags and sketch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from diptych.language.codes import (
    MIN_PAGE_SHARE,
    are_close,
    asked_language,
    hreflang_language,
    same_language,
    wanted_language,
)
from diptych.language.identify import can_identify, identify, identify_all, is_identifiable
from diptych.page.blocks import Walk
from diptych.page.body import decompress, is_html
from diptych.page.charset import decode
from diptych.page.content import Content
from diptych.page.elements import visible
from diptych.page.fast_walk import PageContent, page_content, walked_content
from diptych.page.flags import page_flags
from diptych.page.links import header_links, meta_refresh, page_links
from diptych.page.nesting import bounded_markup
from diptych.page.scripts import SCRIPTED, is_made_by_scripts
from diptych.page.sketch import make_sketch
from diptych.text.digests import body_digest, signed_hash
from diptych.text.urls import resolve
from diptych.types import (
    LangScore,
    Link,
    Page,
    PageRecord,
    Response,
    Sketch,
    Url,
)

_UNREAD = ["script", "style", "template", "noscript", "svg", "math", "textarea", "select"]
_MAX_TITLE = 2_000  # characters
_MIN_TEXT = 40  # characters; shorter texts do not distinguish pages
_SAMPLE = 320  # characters; identification time grows with the sample
_LONG_SAMPLE = 1_000
_CERTAIN = 0.97  # score of a language above which more text changes nothing
_DECLARED_SCORE = 0.9  # score of a declared language that cannot be identified from text
_SAMPLE_BLOCKS = 8  # places sampled, so that one untranslated paragraph does not decide
_MIN_RUNNING_TEXT = 60  # characters; shorter blocks are menu items rather than running text
_CODE = ["pre", "code", "samp", "kbd", "tt", "var"]
_MIN_PROSE = 200  # characters of prose that are enough to identify a page's language
_MAIN = ("main", "[role=main]", "article")
_DIALOGS = {
    b"dialog": "dialog,[role=dialog],[role=alertdialog]",
    b"aria-modal": "[aria-modal=true]",
    b"cookie": "[id*=cookie i],[class*=cookie i]",
    b"consent": "[id*=consent i],[class*=consent i]",
}  # often left untranslated, and longer than the text of a short page
_DIALOG_WORDS = ("dialog", "aria-modal", "ookie", "onsent")
_MAX_LINES = 40  # lines identified one by one on a page in several languages


_NOT_WALKED: tuple[Walk | None, PageContent | None] = (None, None)


class _Prose(NamedTuple):
    """The texts of a page for language identification, with one line per text node."""

    main: str = ""
    """text of the main elements (`_MAIN`); empty if there are none"""
    rest: str = ""
    """text outside dialogs"""
    text: str = ""
    """all text"""


def read_page(
    response: Response,
    *,
    depth: int = 0,
    langs: Sequence[str] = (),
    with_blocks: bool = False,
    with_tree: bool = False,
    with_sketch: bool = False,
) -> Page:
    """Parse a response as a page; if its body is not HTML, the page has no links and no blocks.

    `langs` are the requested languages, which are preferred if the text is ambiguous.  Blocks and
    tree are extracted only on request; a page with a sketch has them as bytes to store (`content`).
    """
    body, _ = decompress(response.body, response.header("content-encoding"))
    content_type = response.header("content-type")
    links: list[Link] = _from_headers(response)
    walk, content = _NOT_WALKED
    html_lang = title = text = content_language = ""
    prose, flags = _Prose(), tuple[str, ...]()
    if is_html(content_type, body[:4096]):
        markup = bounded_markup(decode(body, content_type)[0])
        parser = LexborHTMLParser(markup)
        base = _base(parser, response.url)
        walk = Walk(parser, base, markup) if with_blocks or with_tree else None
        content = _content(walk, parser, base, markup) if with_sketch else None
        html_lang, content_language = _html_lang(parser), _meta_language(parser, markup)
        title, text = _title(parser), _text(parser)  # before links: removes scripts around them
        links += page_links(parser, base)
        flags = page_flags(parser, response.headers, response.url, links) + _scripted(markup, text)
        prose = _prose(parser, markup, text)
    content_language = response.header("content-language").strip() or content_language
    scores = _with_declared(prose, html_lang or content_language, langs)
    sketch: Sketch | None = None
    if content is not None and (wanted := wanted_language(scores, langs)):
        sketch = make_sketch(parser, *content[:2], links, response.url, wanted, langs)
    record = PageRecord(
        url=response.url,
        lang=scores[0].lang if scores else "",
        langs=scores,
        title=title,
        depth=depth,
        size=len(response.body),
        text_length=len(text),
        digest=body_digest(body),
        html_lang=html_lang,
        content_language=content_language,
        canonical=_canonical(links, response.url),
        fetched_at=response.fetched_at,
        flags=flags,
        text_key=_text_key(text),
    )
    own = _requested(walk, with_blocks=with_blocks, with_tree=with_tree)
    return Page(record, tuple(links), *own, sketch, content.pack() if content and sketch else b"")


def _content(walk: Walk | None, parser: LexborHTMLParser, base: str, markup: str) -> PageContent:
    return walked_content(walk) if walk is not None else page_content(parser, base, markup)


def _requested(walk: Walk | None, *, with_blocks: bool, with_tree: bool) -> Content:
    blocks = tuple(walk.blocks) if walk and (with_blocks or with_tree) else ()
    return blocks, walk.tree if walk and with_tree else None


def read_content(response: Response) -> Content:
    """The blocks and the tree of a page, which are all that an aligner needs."""
    body, _ = decompress(response.body, response.header("content-encoding"))
    content_type = response.header("content-type")
    if not is_html(content_type, body[:4096]):
        return (), None
    markup = bounded_markup(decode(body, content_type)[0])
    parser = LexborHTMLParser(markup)
    walk = Walk(parser, _base(parser, response.url), markup)
    return tuple(walk.blocks), walk.tree


def _base(parser: LexborHTMLParser, url: Url) -> str:
    element = parser.css_first("base[href]")
    href = element.attributes["href"] if element is not None else None
    return (resolve(url, href) if href else None) or url


def _title(parser: LexborHTMLParser) -> str:
    element = parser.css_first("title")
    return visible(element.text()[:_MAX_TITLE]) if element is not None else ""


def _meta_language(parser: LexborHTMLParser, markup: str) -> str:
    if "ontent-" not in markup:
        return ""
    element = parser.css_first("meta[http-equiv=content-language i]")
    return (element.attributes.get("content") or "").strip() if element is not None else ""


def _text(parser: LexborHTMLParser) -> str:
    """Remove scripts and other unread elements from the tree, and return the visible text.

    The text has one line per text node.
    """
    parser.strip_tags(_UNREAD)
    return _text_of(parser.body)


def _text_of(node: LexborNode | None) -> str:
    return node.text(separator="\n", strip=True) if node is not None else ""


def _texts_of(parser: LexborHTMLParser, selector: str, size: int) -> Iterator[str]:
    """Yield the texts of the elements that match a selector, up to about `size` characters."""
    for node in parser.css(selector):
        if node.tag in ("html", "body"):  # some cookie plug-ins mark them
            continue
        part = _text_of(node)
        yield part
        size -= len(part)
        if size < 0:
            return


def _scripted(markup: str, text: str) -> tuple[str, ...]:
    """The flag `scripted` if scripts create the text of a page, otherwise no flag."""
    return (SCRIPTED,) if is_made_by_scripts(markup, text) else ()


def _from_headers(response: Response) -> list[Link]:
    links: list[Link] = []
    for name, value in response.headers:
        lowered = name.lower()
        if lowered == "link":
            links.extend(header_links(response.url, value))
        elif lowered == "refresh":
            link = meta_refresh(response.url, value)
            links.extend([link] if link else [])
    return links


def _html_lang(parser: LexborHTMLParser) -> str:
    own = parser.root.attributes if parser.root is not None else {}
    return (own.get("lang") or own.get("xml:lang") or "").strip()


def _canonical(links: Sequence[Link], url: Url) -> Url | None:
    canonical = next((link.url for link in links if link.rel == "canonical"), None)
    return None if canonical == url else canonical


def _prose(parser: LexborHTMLParser, markup: str, text: str) -> _Prose:
    """The texts for language identification, without code unless there is little other text."""
    if parser.css_first(",".join(_CODE)) is not None:
        parser.strip_tags(_CODE)
        prose = _text_of(parser.body)
        text = prose if len(prose) >= _MIN_PROSE else text
    parts = ("\n".join(_texts_of(parser, each, len(text))) for each in _MAIN)
    main = next((part for part in parts if len(part) >= _MIN_PROSE), "")
    return _Prose(main, _without_dialogs(parser, markup, text), text)


def _without_dialogs(parser: LexborHTMLParser, markup: str, text: str) -> str:
    """The text of a page without dialogs, such as those for cookie consent."""
    if not any(word in markup for word in _DIALOG_WORDS):
        return text
    lowered = parser.raw_html.lower()
    # Each part of a selector takes as long as a walk over the page.
    dialogs = ",".join(selector for word, selector in _DIALOGS.items() if word in lowered)
    if not dialogs:
        return text
    said = {line for part in _texts_of(parser, dialogs, len(text)) for line in part.split("\n")}
    rest = "\n".join(line for line in text.split("\n") if line not in said)
    return rest if said and len(rest) >= _MIN_PROSE else text


def _languages(lines: Sequence[str], langs: Sequence[str]) -> tuple[LangScore, ...]:
    """Identify the languages of a page from a short sample, or a long one if the result is unclear.

    If menus and headings are in a different requested language than the running text, the page is
    partly translated.  Each score is then the language's share of the text.
    """
    long, rest = _by_length(lines)
    scores = identify(language_sample(long, rest), langs, closed=False)
    is_clear = bool(scores) and scores[0].score >= _CERTAIN
    if not is_clear:
        scores = identify(language_sample(long, rest, _LONG_SAMPLE), langs, closed=False)
    if len(langs) < 2 or not wanted_language(scores, langs):
        return scores
    short = "\n".join(rest[:_SAMPLE])[:_SAMPLE]
    own = identify(short, langs)
    if is_clear and (not long or not own or same_language(own[0].lang, scores[0].lang)):
        return scores
    shares = _shares([short, *long[:: len(long) // _MAX_LINES + 1]], langs)
    several = [LangScore(lang, share) for lang, share in shares.items() if share >= MIN_PAGE_SHARE]
    if len(several) < 2:
        return scores
    return tuple(sorted(several, key=lambda item: (-item.score, item.lang)))


def _with_declared(prose: _Prose, declared: str, langs: Sequence[str]) -> tuple[LangScore, ...]:
    """The languages of a page, corrected by its declared language.

    The declared language counts if it was requested and the identifier does not support it or
    easily confuses it with the language found.  A text that is clearly in another requested
    language overrides the declaration.
    """
    scores = _main_first(prose, langs)
    said = hreflang_language(declared)
    lang = asked_language(said, langs)
    best = scores[0] if scores else LangScore("", 0.0)
    if lang and are_close(lang, best.lang) and not asked_language(best.lang, langs):
        return LangScore(lang, best.score), *scores
    if not lang or can_identify(lang) or not is_identifiable(prose.text[:_LONG_SAMPLE]):
        return scores
    is_other = any(
        score >= _CERTAIN and same_language(best, each) for best, score in scores for each in langs
    )
    return scores if is_other else (LangScore(lang, _DECLARED_SCORE),)


def _main_first(prose: _Prose, langs: Sequence[str]) -> tuple[LangScore, ...]:
    """The languages of a page; the language of its main text comes first if it is clear.

    The other parts of a page, such as dialogs, are often untranslated and may be longer.
    """
    main = _languages(prose.main.split("\n"), langs)[:1] if prose.main else ()
    if main and main[0].score >= _CERTAIN:
        return _with_rest(main[0], prose, langs)
    scores = _languages(prose.text.split("\n"), langs)
    if prose.rest == prose.text:
        return scores
    best = _languages(prose.rest.split("\n"), langs)[:1]
    same = [score for score in scores if best and score.lang == best[0].lang]
    return (*same, *(score for score in scores if score not in same)) if same else best or scores


def _with_rest(main: LangScore, prose: _Prose, langs: Sequence[str]) -> tuple[LangScore, ...]:
    """The main language, and that of the other text if it is clearly another requested language.

    If there are two languages, their scores are their shares of the text.
    """
    own = set(prose.main.split("\n"))
    rest = [line for line in prose.text.split("\n") if line not in own]
    sample = language_sample(*_by_length(rest))
    other = next(iter(identify(sample, langs, closed=False)), LangScore("", 0.0))
    share = sum(map(len, rest)) / max(1, len(prose.text))
    is_other = asked_language(other.lang, langs) and not same_language(other.lang, main.lang)
    is_part = other.score >= _CERTAIN and share >= MIN_PAGE_SHARE
    if not is_other or not is_part or not asked_language(main.lang, langs):
        return (main,)
    return LangScore(main.lang, max(MIN_PAGE_SHARE, 1 - share)), LangScore(other.lang, share)


def _text_key(text: str) -> int:
    """A hash of a page's text; 0 if the page has almost no text."""
    return signed_hash(text.encode("utf-8", "surrogatepass")) if len(text) >= _MIN_TEXT else 0


def _by_length(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """The long lines and the other lines."""
    long: list[str] = []
    short: list[str] = []
    for line in lines:
        (long if _is_long(line) else short).append(line)
    return long, short


def _is_long(line: str) -> bool:
    """True if a line is long enough, in bytes, to be running text.

    Bytes are counted because an ideograph carries more content than a letter.
    """
    if line.isascii() or len(line) >= _MIN_RUNNING_TEXT:
        return len(line) >= _MIN_RUNNING_TEXT
    return len(line.encode("utf-8", "surrogatepass")) >= _MIN_RUNNING_TEXT


def _shares(lines: Sequence[str], langs: Sequence[str]) -> dict[str, float]:
    """The share of each language in the lines, measured in characters."""
    letters: Counter[str] = Counter()
    found = identify_all([line[:_SAMPLE] for line in lines], langs)
    for line, scores in zip(lines, found, strict=True):
        for lang, _ in scores[:1]:
            letters[lang] += len(line)
    return {lang: count / (letters.total() or 1) for lang, count in letters.items()}


def language_sample(long: Sequence[str], short: Sequence[str], size: int = _SAMPLE) -> str:
    """Sample long lines from all over a page, and add short lines if the sample is too short.

    `size` is the number of characters to sample.

    >>> language_sample(["word " * 20], ["Menu"]).split()[-2:]
    ['word', 'Menu']
    """
    step = max(1, len(long) // _SAMPLE_BLOCKS)
    # Skip half a step: pages often start and end with untranslated notices.
    chosen = long[step // 2 :: step]
    share = size // max(1, min(_SAMPLE_BLOCKS, len(chosen)))
    sample = [text[:share] for text in chosen[: _SAMPLE_BLOCKS + 1]]
    missing = size - sum(map(len, sample))
    for line in reversed(short):
        if missing <= size // 2:
            break
        sample.append(line)
        missing -= len(line)
    return "\n".join(sample)
