"""Real page pairs with known block correspondences, and degraded versions of them.

If two pages of a built site are translations and have the same sequence of block elements, their
blocks are pairs by position.  Pairs are scored if they have at least 25 letters on both sides and
are really translated: the texts differ, and long ones are in their language.

Pages are degraded in their markup, so that the tree changes with the blocks.  A deletion removes an
element that is one block; a swap exchanges two neighbouring elements with the same tag; boilerplate
is added to one side from texts of other pages of the site in the same language: a menu and a cookie
notice before the page, a footer after it.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser, LexborNode

from bench.sites.built import built_site
from diptych.language.codes import same_language
from diptych.language.identify import identify
from diptych.page.charset import decode
from diptych.page.read import read_page
from diptych.stages.align_dom.flat import last_tag
from diptych.types import Block, Page, Response, Url

TRAINING = ("apache2-manual", "gnucash", "live-manual", "maint-guide", "mplayer", "scilab", "xfig")
"""families used for training the shipped parameters or for choosing constants"""
HELD_OUT = (
    "apt-doc", "aptitude", "bibletime", "debian-faq", "debian-history", "debian-install-guide",
    "developers-reference", "dia", "genius", "lilypond", "linux-doc", "nted", "step-objinfo",
    "svn-buildpackage", "transcriber",
)  # fmt: skip
LANGS = (
    ("en", "fr"), ("en", "de"), ("en", "es"), ("en", "ru"), ("en", "ja"), ("en", "zh-cn"),
    ("en", "tr"), ("en", "fi"), ("de", "fr"),
)  # fmt: skip
MIN_LETTERS = 25
LONG = 60  # letters from which a text's language is checked
DELETED, SWAPPED = 0.2, 0.05
KINDS = ("none", "20% deleted", "20% deleted, 5% swapped", "and boilerplate added")


class Sample(NamedTuple):
    """Two pages and the correspondences of their blocks."""

    family: str
    langs: tuple[str, str]
    left: Page
    right: Page
    truth: dict[int, int]
    """scored pairs of block numbers"""
    scored: tuple[frozenset[int], frozenset[int]]
    """numbers of scored blocks, including those whose counterpart was deleted"""


class _Source(NamedTuple):
    """An original page with its markup."""

    page: Page
    markup: str


def page_of(markup: str, url: str) -> Page:
    """A page parsed from its markup."""
    headers = (("content-type", "text/html; charset=utf-8"),)
    body = markup.encode("utf-8", "replace")
    response = Response(Url(url), 200, headers, body, 0.0)
    return read_page(response, with_blocks=True, with_tree=True)


def pairs_of(
    family: str, langs: tuple[str, str], most: int, seed: int, *, alike: bool = True
) -> list[_Pair]:
    """At most a number of page pairs of a family; by default, those with equal block sequences."""
    folder = built_site(family)
    groups: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for line in (folder / "groups.tsv").read_text("utf-8").splitlines():
        key, lang, path, is_fine, _ = line.split("\t")
        if is_fine == "1" and lang in langs:
            groups[key][lang] = path
    both = sorted(key for key, found in groups.items() if len(found) == 2)
    random.Random(f"{seed} {family} {langs}").shuffle(both)
    found: list[_Pair] = []
    for key in both[: 4 * most]:
        sources = [_source(folder, groups[key][lang]) for lang in langs]
        if (
            all(sources)
            and len(found) < most
            and (pair := _pair(family, langs, sources, alike=alike))
        ):
            found.append(pair)
    return found


class _Pair(NamedTuple):
    """Two pages whose blocks correspond by position."""

    family: str
    langs: tuple[str, str]
    sources: tuple[_Source, _Source]
    scored: frozenset[int]


def _source(folder: Path, path: str) -> _Source | None:
    file = folder / "htdocs" / unquote(path).lstrip("/")
    if file.is_dir():
        file /= "index.html"
    if not file.is_file() or file.stat().st_size > 600_000:
        return None
    # Written out and read again, as the pages made worse are.
    markup = LexborHTMLParser(decode(file.read_bytes(), "text/html")[0]).html or ""
    return _Source(page_of(markup, f"http://{folder.name}.test{path}"), markup)


def _pair(
    family: str, langs: tuple[str, str], sources: Sequence[_Source | None], *, alike: bool
) -> _Pair | None:
    left, right = (source for source in sources if source)
    if not alike:
        return _Pair(family, langs, (left, right), frozenset())
    blocks = left.page.blocks, right.page.blocks
    tags = [[last_tag(block.path) for block in side] for side in blocks]
    if tags[0] != tags[1] or len(tags[0]) > 3_000:
        return None
    scored = frozenset(
        number
        for number, (ours, theirs) in enumerate(zip(*blocks, strict=True))
        if is_translated(ours.text, theirs.text, langs)
    )
    return _Pair(family, langs, (left, right), scored) if len(scored) > 2 else None


def is_translated(ours: str, theirs: str, langs: tuple[str, str]) -> bool:
    """True if two texts can be a translation that is worth scoring."""
    if ours == theirs or min(_letters(ours), _letters(theirs)) < MIN_LETTERS:
        return False
    return _is_in(ours, langs, 0) and _is_in(theirs, langs, 1)


def _letters(text: str) -> int:
    """The number of letters; an ideograph or kana counts as three, as its content is similar."""
    return sum(3 if char > "\u2e80" else 1 for char in text if char.isalpha())


def _is_in(text: str, langs: tuple[str, str], side: int) -> bool:
    if _letters(text) < LONG:
        return True
    found = identify(text, langs)
    return not found or same_language(found[0].lang, langs[side])


def degraded(pair: _Pair, kind: str, others: Sequence[_Pair], seed: int) -> Sample | None:
    """A pair with one side degraded; None if the markup did not change as intended."""
    numbers = list(range(len(pair.sources[0].page.blocks)))
    if kind == "none":
        return _sample(pair, [pair.sources[0].page, pair.sources[1].page], [numbers, numbers])
    rng = random.Random(f"{seed} {kind} {pair.sources[0].page.url} {pair.langs}")
    side = rng.randrange(2)
    source = pair.sources[side]
    parser = LexborHTMLParser(source.markup)
    order: list[int] = numbers
    if "swapped" in kind or "boilerplate" in kind:
        order = _swap(parser, source.page.blocks, order, rng)
    order = _delete(parser, source.page.blocks, order, rng)
    markup, texts = parser.html or "", [source.page.blocks[number].text for number in order]
    if "boilerplate" in kind:
        before, after = _boilerplate(others, side, rng)
        markup = _with_boilerplate(markup, before, after)
        order = [-1] * len(before) + order + [-1] * len(after)
        texts = [*before, *texts, *after]
    page = page_of(markup, source.page.url)
    made = _numbered(page, texts, order)
    if made is None:
        return None
    pages, orders = [pair.sources[0].page, pair.sources[1].page], [numbers, numbers]
    pages[side], orders[side] = page, made
    return _sample(pair, pages, orders)


def _numbered(page: Page, texts: Sequence[str], order: Sequence[int]) -> list[int] | None:
    """The original numbers of blocks; texts are compared as a list, as head blocks come first."""
    waiting: defaultdict[str, list[int]] = defaultdict(list)
    for text, number in zip(texts, order, strict=True):
        waiting[text].append(number)
    made = []
    for block in page.blocks:
        if not waiting[block.text]:
            return None
        made.append(waiting[block.text].pop(0))
    return made if len(made) == len(order) else None


def _sample(pair: _Pair, pages: Sequence[Page], orders: Sequence[Sequence[int]]) -> Sample:
    places = {number: place for place, number in enumerate(orders[1])}
    truth = {
        place: places[number]
        for place, number in enumerate(orders[0])
        if number in pair.scored and number in places
    }
    left, right = (
        frozenset(place for place, number in enumerate(order) if number in pair.scored)
        for order in orders
    )
    return Sample(pair.family, pair.langs, pages[0], pages[1], truth, (left, right))


def _elements(
    parser: LexborHTMLParser, blocks: Sequence[Block], order: Sequence[int]
) -> dict[int, LexborNode]:
    """The elements in the body that contain exactly one block."""
    found = {}
    paths = [blocks[number].path for number in order]
    inner = {path.rpartition("/")[0] for path in paths}
    above = {path[: path.rindex("/", 0, len(path))] for path in inner if path.count("/") > 1}
    holders = inner | above
    for number, path in zip(order, paths, strict=True):
        if path in holders or not path.startswith("/html/body/") or path.endswith(")"):
            continue
        node = _resolve(parser, path)
        text = " ".join(node.text().split()) if node is not None else ""
        if node is not None and node.tag not in ("img", "input", "area") and text:
            found[number] = node
    return found


def _resolve(parser: LexborHTMLParser, path: str) -> LexborNode | None:
    node = parser.body
    for part in path.split("/")[3:]:
        tag, _, number = part.rstrip("]").partition("[")
        if node is None or not number.isdigit():
            return None
        same = [child for child in node.iter() if child.tag == tag]
        node = same[int(number) - 1] if int(number) <= len(same) else None
    return node


def _delete(
    parser: LexborHTMLParser, blocks: Sequence[Block], order: list[int], rng: random.Random
) -> list[int]:
    count = round(DELETED * len(order))
    # Elements that were swapped have other paths now: by text, each once.
    nodes = _by_text(parser, blocks, order)
    chosen = sorted(rng.sample(sorted(nodes), min(count, len(nodes))))
    for number in chosen:
        nodes[number].decompose()
    return [number for number in order if number not in set(chosen)]


def _by_text(
    parser: LexborHTMLParser, blocks: Sequence[Block], order: Sequence[int]
) -> dict[int, LexborNode]:
    page = page_of(parser.html or "", "http://x.test/")
    made = _numbered(page, [blocks[number].text for number in order], order)
    if made is None:
        return {}
    elements = _elements(parser, page.blocks, range(len(page.blocks)))
    return {made[place]: node for place, node in elements.items()}


def _swap(
    parser: LexborHTMLParser, blocks: Sequence[Block], order: list[int], rng: random.Random
) -> list[int]:
    nodes = _elements(parser, blocks, order)
    places = [place for place in range(len(order) - 1) if _are_neighbours(nodes, order, place)]
    rng.shuffle(places)
    swapped, used = list(order), set[int]()
    for place in places:
        if len(used) >= 2 * max(1, round(SWAPPED * len(order))):
            break
        if not used & {place - 1, place, place + 1}:
            used |= {place, place + 1}
            first, second = nodes[order[place]], nodes[order[place + 1]]
            first.insert_before(second)
            second.decompose()
            swapped[place], swapped[place + 1] = order[place + 1], order[place]
    return swapped


def _are_neighbours(nodes: dict[int, LexborNode], order: Sequence[int], place: int) -> bool:
    first, second = nodes.get(order[place]), nodes.get(order[place + 1])
    if first is None or second is None or first.tag != second.tag:
        return False
    after = first.next
    while after is not None and after.tag == "-text" and not (after.text_content or "").strip():
        after = after.next
    return after is not None and after.mem_id == second.mem_id


def _boilerplate(
    others: Sequence[_Pair], side: int, rng: random.Random
) -> tuple[list[str], list[str]]:
    """Boilerplate from texts of other pages: menu and cookie notice, footer."""
    pool = [
        block.text
        for pair in rng.sample(others, min(6, len(others)))
        for block in pair.sources[side].page.blocks
    ]
    short = sorted({text for text in pool if 3 < len(text) < 30})
    long = sorted({text for text in pool if 60 < len(text) < 600})
    menu = rng.sample(short, min(12, len(short)))
    notes = rng.sample(long, min(4, len(long)))
    return [*menu[:9], *notes[:2]], [*menu[9:], *notes[2:]]


def _with_boilerplate(markup: str, before: Sequence[str], after: Sequence[str]) -> str:
    head, body, rest = markup.partition("<body")
    opened, end, inside = rest.partition(">")
    inside, close, tail = inside.rpartition("</body>")
    return "".join(
        [head, body, opened, end, _box(before, "menu"), inside, _box(after, "footer"), close, tail]
    )


def _box(texts: Sequence[str], name: str) -> str:
    parts = []
    for text in texts:
        safe = text.replace("&", "&amp;").replace("<", "&lt;")
        is_item = len(text) < 30
        parts.append(f"<li><a href='/{name}'>{safe}</a></li>" if is_item else f"<p>{safe}</p>")
    items = "".join(part for part in parts if part.startswith("<li>"))
    notes = "".join(part for part in parts if part.startswith("<p>"))
    return f"<div class={name}><ul>{items}</ul><div>{notes}</div></div>"


def samples(pairs: Sequence[_Pair], kind: str, seed: int) -> Iterator[Sample]:
    """All pairs with one kind of degradation."""
    for pair in pairs:
        others = [other for other in pairs if other is not pair] or [pair]
        sample = degraded(pair, kind, others, seed)
        if sample is not None and sample.truth:
            yield sample
