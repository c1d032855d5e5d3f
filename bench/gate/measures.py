"""What the gate measures: the code of the benchmarks, on sites and texts of the repository."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from bench.gate.floors import Figure
from bench.gate.sites import DEMO, LANGS, OPAQUE, SMALL
from bench.sites.archive import write_archive
from bench.sites.built import built_folder
from bench.sites.detect_sites import Question
from bench.sites.engine import BuiltSite, Readings
from bench.sites.stored import Counts, read_site, read_truth
from bench.support.block_pairs import KINDS, pairs_of, samples
from bench.support.crawl_figures import OURS
from bench.support.filter_pairs import cases
from bench.support.filter_rows import rows_of
from bench.support.ladder import score
from bench.support.sentence_sets import SentenceSet
from bench.support.verify_scores import area
from bench.tasks import archive_mining, blocks, crawl_curves, detect, page_pairs, sentences
from bench.tasks.filter import said_by
from bench.tasks.url_pair import figures
from diptych.learn.url import language, pair
from diptych.registry import make
from diptych.run.store import Store
from diptych.types import Bead

__all__ = ["MEASURES"]

Figures = Iterator[Figure]

_TEXTS = Path(__file__).parent / "texts"
_BREAK = " ¶ "  # between the sentences of a bead
_SEED = 0
_MOST = 16  # page pairs: all of the demo site


def crawl() -> Figures:
    """The default policy on all sites, replayed: how early it has pairs, and what they cost."""
    curves = []
    for name in (DEMO, *SMALL):
        site = BuiltSite(built_folder() / name)
        readings = Readings(site.folder, LANGS, None)
        curves.append(crawl_curves.crawl_site(site, LANGS, OURS, readings))
    areas = [curve.area(curve.downloads) for curve in curves]
    costs = [curve.cost for curve in curves]
    cost = sum(each.downloads for each in costs) / sum(each.pairs for each in costs)
    yield Figure("sites with 95% of their pairs", sum(each.reached for each in costs) / len(costs))
    yield Figure("downloads per pair", cost, lower_is_better=True)
    yield Figure("area under the curve of pairs", sum(areas) / len(areas))


def mine() -> Figures:
    """The demo site mined from an archive by the command line: page pairs and segments."""
    site = built_folder() / DEMO
    truth = read_truth(site)
    with tempfile.TemporaryDirectory() as scratch:
        archive, run = Path(scratch) / "demo.warc.gz", Path(scratch) / "run"
        write_archive(site, archive)
        archive_mining.mine(archive, run, jobs=1)
        yield from _of_pairs(truth.judge(archive_mining.found_pairs(run)))
        with (run / "corpus.tsv").open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    # Pages of the demo that translate each other have the same elements.
    right = [
        row
        for row in rows
        if frozenset((row["left_url"], row["right_url"])) in truth.right
        and row["left_path"] == row["right_path"]
    ]
    yield Figure("segments kept", len(rows))
    yield Figure("segment precision", len(right) / max(len(rows), 1))


def pairs() -> Figures:
    """Page pairs of the small sites, from pages to verified pairs."""
    yield from _of_pairs(_paired(SMALL))


def pairs_by_content() -> Figures:
    """Page pairs where nothing but the text of a page tells."""
    yield from _of_pairs(_paired([OPAQUE]))


def _paired(sites: Iterable[str]) -> Counts:
    total = Counts(0, 0, 0)
    with tempfile.TemporaryDirectory() as cache:
        for name in sites:
            with Store(read_site(name, Path(cache)), write=False) as store:
                found = list(page_pairs.whole_run(jobs=1)(store, list(LANGS)))
            truth = read_truth(built_folder() / name)
            total += truth.judge(frozenset((each.left, each.right)) for each in found)
    return total


def _of_pairs(counts: Counts) -> Figures:
    yield Figure("page pair precision", counts.precision)
    yield Figure("page pair recall", counts.recall)


def aligned_blocks() -> Figures:
    """Blocks of demo pages with deletions, swaps and boilerplate, by trees with a lexicon."""
    site = list(samples(pairs_of(DEMO, LANGS, _MOST, _SEED), KINDS[-1], _SEED))
    found = blocks.METHODS["domtree, lexicon"](site)
    counts = [blocks.judged(sample, some) for sample, some in zip(site, found, strict=True)]
    right, wrong, true = (sum(c[name] for c in counts) for name in ("right", "wrong", "true"))
    yield Figure("block precision", right / max(right + wrong, 1))
    yield Figure("block recall", right / max(true, 1))


def aligned_sentences() -> Figures:
    """Sentences of a text that was aligned by hand, without a lexicon."""
    text = _text(_TEXTS / "hut.de-en.tsv")
    for name in ("length_lexicon", "gale_church", "ibm1"):
        beads = sentences.align_with(make("align_sentences", {"use": name}), text)
        yield Figure(f"{name} F1", score(beads, text.gold_beads).f1)


def _text(file: Path) -> SentenceSet:
    """A text of which each line is a bead."""
    heading, *lines = file.read_text("utf-8").splitlines()
    langs = heading.split("\t")
    left: list[str] = []
    right: list[str] = []
    beads = []
    for line in lines:
        ours, theirs = ([each for each in side.split(_BREAK) if each] for side in line.split("\t"))
        places = range(len(left), len(left) + len(ours))
        others = range(len(right), len(right) + len(theirs))
        beads.append(Bead(tuple(places), tuple(others), 1.0))
        left, right = left + ours, right + theirs
    return SentenceSet(file.stem, langs[0], langs[1], tuple(left), tuple(right), tuple(beads))


def quality() -> Figures:
    """Segments of demo pages, half of the right ones made worse: which are told by the filter."""
    rows = rows_of(list(cases([DEMO], most=_MOST, lang_pairs=1, seed=_SEED)))
    said, threshold = said_by(rows, _SEED)["quality"]
    kept = said >= threshold
    yield Figure("area under ROC", area(rows.right, said))
    yield Figure("kept segments that are right", float(rows.right[kept].mean()))


def url_languages() -> Figures:
    """The language of URLs of a fixed list."""
    rows = [line.split("\t") for line in _lines("url_languages.tsv")]
    said = language.load().predict([url for _, url in rows])
    right = sum(each.lang == lang for each, (lang, _) in zip(said, rows, strict=True))
    yield Figure("accuracy", right / len(rows))


def url_pairs() -> Figures:
    """Parallel URLs of a fixed list, and others."""
    rows = [line.split("\t") for line in _lines("url_pairs.tsv")]
    said = pair.load().probabilities([row[1] for row in rows], [row[2] for row in rows])
    found = figures(said >= 0.5, np.array([row[0] == "1" for row in rows]))
    yield Figure("precision", found["precision"])
    yield Figure("recall", found["recall"])


def _lines(name: str) -> list[str]:
    return (_TEXTS / name).read_text("utf-8").splitlines()


def detected() -> Figures:
    """Are the sites bilingual: in their languages, in others, and with altered answers."""
    asked = [
        Question(name, langs, is_bilingual=langs == LANGS, kind="")
        for name in (DEMO, *SMALL)
        for langs in (LANGS, ("en", "de"), ("fr", "es"))
    ]
    asked += [
        Question(DEMO, LANGS, is_bilingual=True, kind="", begin=begin)
        for begin in ("home", "inner")
    ]
    asked += [
        Question(DEMO, LANGS, is_bilingual=False, kind="", altered=altered)
        for altered in ("broken", "copies", "untranslated")
    ]
    found = detect.figures(detect.run(make("detect", {"use": "predictor"}), asked))
    yield Figure("precision", found.precision)
    yield Figure("recall", found.recall)
    yield Figure("downloads per site", found.downloads, lower_is_better=True)


MEASURES: Mapping[str, Callable[[], Figures]] = {
    "crawl": crawl,
    "mine": mine,
    "pairs": pairs,
    "content": pairs_by_content,
    "blocks": aligned_blocks,
    "sentences": aligned_sentences,
    "filter": quality,
    "url_lang": url_languages,
    "url_pair": url_pairs,
    "detect": detected,
}
