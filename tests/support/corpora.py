"""Runs with a corpus that was never crawled, for tests of what is made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from diptych import recipes
from diptych.corpus.from_run import Choice, RunCorpus
from diptych.files import replace_file
from diptych.frontier.queue import Entry, Frontier
from diptych.run.store import Store
from diptych.run.terms import Terms
from diptych.run.warc import Pointer, compose
from diptych.text.urls import url_key
from diptych.types import Decision, Page, PagePair, PageRecord, Response, SegmentPair, Url
from diptych.units import Side, Unit
from support.stores import begin, commit

HOST = "http://example.org"
SIGNATURE = "filter:rules|langs:en-fr|v:1"


@dataclass(frozen=True)
class Said:
    """A segment of a page pair, as a test tells it."""

    left: str
    right: str
    score: float = 0.9
    reason: str = ""
    flags: tuple[str, ...] = ()
    at: tuple[str, str] = ("", "")
    """where it is, if that is not by its place in the pair"""


Maker = Callable[..., Store]
"""makes a run of page pairs in a folder of its own: `made_run` without its first argument"""
Told = Mapping[tuple[str, str], Sequence[Said]]
"""by the paths of two pages, whose first folder is their language"""


def url(path: str) -> Url:
    return Url(f"{HOST}{path}")


def lang(path: str) -> str:
    return path.split("/")[1]


def made_run(
    folder: Path,
    told: Told,
    *,
    langs: Sequence[str] = ("en", "fr"),
    flags: Mapping[str, tuple[str, ...]] | None = None,
    marks: tuple[str, ...] = (),
) -> Store:
    """A run with such page pairs, all verified, open; its `run.toml` is there too."""
    folder.mkdir(parents=True, exist_ok=True)
    recipe = recipes.load(recipes.DEFAULT, {"filter": "rules"})
    terms = Terms(tuple(langs), (url("/"),), "site", recipe)
    import tomli_w

    replace_file(folder / "run.toml", tomli_w.dumps(terms.to_toml()).encode())
    store = Store(folder)
    store.site_id("example.org")
    store.archive.add("warc/diptych-00001.warc.gz", 0)
    paths = sorted({path for pair in told for path in pair})
    begin(store)
    Frontier(store.db).add([Entry(url(path), 1, 0.0) for path in paths])
    for number, path in enumerate(paths):
        record = PageRecord(
            url(path), lang(path), (), f"title of {path}", 1, 10, 100, f"sha1:{path}",
            fetched_at=1_700_000_000.0 + number, flags=(flags or {}).get(path, ()),
        )  # fmt: skip
        store.save_page(1, Page(record, ()), Pointer(1, 1000 * number, 500))
    commit(store)
    store.replace_pairs(1, [_pair(*paths) for paths in told])
    begin(store)
    for id, pair in store.pairs(1):
        said = told[pair.left.removeprefix(HOST), pair.right.removeprefix(HOST)]
        store.save_decision(id, Decision(True, 0.8, "", marks))
        store.save_segments(id, [_segment(pair, place, each) for place, each in enumerate(said)])
    commit(store)
    return store


def with_archive(made: Maker, told: Told, **more: Any) -> Store:
    """A run as of `made`, with pages in its archive that contain the texts of the segments."""
    placed = {
        pair: [
            replace(each, at=(f"/html/body/p[{place}]",) * 2)
            for place, each in enumerate(segments, 1)
        ]
        for pair, segments in told.items()
    }
    store = made(placed, **more)
    path = store.folder / "pages.warc.gz"
    archive = store.archive.add(str(path), 0)
    data = b""
    for (left, right), segments in told.items():
        for page, texts in (
            (left, [s.left for s in segments]),
            (right, [s.right for s in segments]),
        ):
            row = (archive, len(data), url_key(url(page)))
            store.db.execute("UPDATE pages SET warc = ?, offset = ? WHERE url = ?", row)
            body = "<body>" + "".join(f"<p>{text}</p>" for text in texts)
            headers = (("Content-Type", "text/html; charset=utf-8"),)
            data += compose(Response(url(page), 200, headers, body.encode(), 0.0))
    path.write_bytes(data)
    return store


def _pair(left: str, right: str) -> PagePair:
    return PagePair(url(left), url(right), lang(left), lang(right), 0.9, "hreflang+keys")


def _segment(pair: PagePair, place: int, said: Said) -> tuple[SegmentPair, Decision]:
    left_path, right_path = (path or f"/p[{place}]" for path in said.at)
    segment = SegmentPair(
        said.left, said.right, pair.left_lang, pair.right_lang, pair.left, pair.right,
        left_path, right_path, 0.7, f"0-{len(said.left)}", f"0-{len(said.right)}",
    )  # fmt: skip
    return segment, Decision(not said.reason, said.score, said.reason, said.flags)


def corpus_of(store: Store, choice: Choice | None = None, **more: str) -> RunCorpus:
    """The corpus of a run, all of it unless a choice is made."""
    langs = tuple(dict.fromkeys(lang for pair in store.lang_pairs() for lang in pair))
    return RunCorpus(store, langs, SIGNATURE, choice or Choice(0.0), **more)


def said(units: Iterable[Unit]) -> list[tuple[str, ...]]:
    """The texts of units."""
    return [tuple(side.text for side in unit.sides) for unit in units]


def side(lang: str, text: str, page: str = "1", path: str = "/p[1]") -> Side:
    """A text at a place of a page."""
    where = Url(f"{HOST}/{lang}/{page}")
    return Side(lang, text, where, path, f"0-{len(text)}", 1.7e9, "sha1:A", "warc/a.gz", 7)


def unit(*sides: Side, score: float = 0.9, **more: object) -> Unit:
    """A line of a corpus."""
    return Unit(sides, score, 0.7, 0.8, "hreflang")._replace(**more)
