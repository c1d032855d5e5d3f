"""`diptych.align`: aligns two lists of sentences or two pages in one call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from diptych.errors import ConfigError

if TYPE_CHECKING:
    from diptych.learn.lexicon.lexicon import Lexicon
    from diptych.protocols import SentenceAligner
    from diptych.types import Bead, LangPair, Page, SegmentPair

METHOD = "length_lexicon"
TREES = "domtree"


@overload
def align(  # type: ignore[overload-overlap]  # a string is a page, not a sequence of letters
    left: str | bytes,
    right: str | bytes,
    langs: str | Sequence[str],
    *,
    lexicon: str | Path | Lexicon | None = None,
    method: str = METHOD,
    trees: str = TREES,
) -> list[SegmentPair]: ...


@overload
def align(
    left: Sequence[str],
    right: Sequence[str],
    langs: str | Sequence[str],
    *,
    lexicon: str | Path | Lexicon | None = None,
    method: str = METHOD,
    trees: str = TREES,
) -> list[Bead]: ...


def align(
    left: str | bytes | Sequence[str],
    right: str | bytes | Sequence[str],
    langs: str | Sequence[str],
    *,
    lexicon: str | Path | Lexicon | None = None,
    method: str = METHOD,
    trees: str = TREES,
) -> list[SegmentPair] | list[Bead]:
    """Align two lists of sentences, or two HTML pages given as strings or bytes.

    The result for two lists is a list of beads, each with the indices of its sentences in both
    lists and a probability.  The result for two pages is a list of segments, in order; a text
    without a counterpart becomes a segment whose other text is empty.  `langs` names the two
    languages, such as "de,fr", and `lexicon` is a file from `diptych lexicon import`.  `method` and
    `trees` name the strategies for the stages align_sentences and align_dom.

    >>> beads = align(["Guten Tag.", "Das ist der K2."], ["Bonjour.", "C'est le K2."], "de,fr")
    >>> [(bead.left, bead.right) for bead in beads]
    [((0,), (0,)), ((1,), (1,))]
    >>> pages = align("<p>In 1956.</p><p>Unpaired</p>", "<p>En 1956.</p>", "en,fr")
    >>> [(segment.left, segment.right) for segment in pages]
    [('In 1956.', 'En 1956.'), ('Unpaired', '')]
    """
    pair = two_languages(langs)
    known = known_words(pair, lexicon)
    if isinstance(left, str | bytes) and isinstance(right, str | bytes):
        return _align_pages(left, right, pair, known, method, trees)
    if isinstance(left, str | bytes) or isinstance(right, str | bytes):
        raise TypeError("specify two lists of sentences or two pages, not one of each")
    from diptych.registry import make

    aligner: SentenceAligner = make("align_sentences", {"use": method})
    found = aligner.align(list(left), list(right), known)
    return found


def two_languages(langs: str | Sequence[str]) -> LangPair:
    """The two requested languages; raises `ConfigError` unless there are exactly two."""
    from diptych.language.codes import parse_langs
    from diptych.types import LangPair

    parsed = parse_langs(langs if isinstance(langs, str) else ",".join(langs))
    if len(parsed) != 2:
        raise ConfigError(f"specify two languages, such as 'de,fr', not '{','.join(parsed)}'")
    return LangPair(*parsed)


def known_words(langs: LangPair, lexicon: str | Path | Lexicon | None) -> Lexicon:
    """Load `lexicon` for the languages `langs`; if it is None, return an empty lexicon.

    A lexicon for the opposite direction is reversed.  A lexicon for other languages raises
    `ConfigError`.
    """
    from diptych.learn.lexicon.lexicon import Lexicon, lexicon_of, read_lexicon

    if lexicon is None:
        return Lexicon.empty(*langs)
    if isinstance(lexicon, str | Path):
        lexicon = read_lexicon(Path(lexicon))
    found = lexicon_of(langs, [lexicon])
    if found is None:
        raise ConfigError(
            f"the lexicon is for {lexicon.left_lang},{lexicon.right_lang}, not {','.join(langs)}"
        )
    return found


def _align_pages(
    left: str | bytes, right: str | bytes, langs: LangPair, known: Lexicon, method: str, trees: str
) -> list[SegmentPair]:
    from diptych.page.file_type import unreadable_type
    from diptych.registry import make
    from diptych.steps.align_pages import align_pages
    from diptych.types import PagePair

    for html, name in ((left, "left"), (right, "right")):
        if isinstance(html, bytes) and (kind := unreadable_type(html)):
            raise ConfigError(f"the {name} page must be HTML, not {kind}")
    ours, theirs = page_of(left, "left"), page_of(right, "right")
    pair = PagePair(ours.url, theirs.url, *langs, 1.0, "given")
    tree_aligner: Any = make("align_dom", {"use": trees})
    sentence_aligner: Any = make("align_sentences", {"use": method})
    return list(align_pages(pair, ours, theirs, tree_aligner, sentence_aligner, known))


def page_of(html: str | bytes, name: str) -> Page:
    """Parse an HTML page, including its text blocks and its DOM tree.

    The page gets a placeholder URL that contains `name`.
    """
    from diptych.page.read import read_page
    from diptych.types import Response, Url

    is_text = isinstance(html, str)
    body = html.encode("utf-8", "replace") if isinstance(html, str) else html
    header = "text/html; charset=utf-8" if is_text else "text/html"
    response = Response(Url(f"http://{name}.invalid/"), 200, (("content-type", header),), body, 0.0)
    return read_page(response, with_blocks=True, with_tree=True)
