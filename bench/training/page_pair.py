"""Train the page pair model that comes with the package, on families that nothing is measured on.

    python -m bench.training.page_pair SITE... [--cache DIR] [--out FOLDER]

SITE are names of built sites.  Each is weighed without a lexicon and with one, with what its links
and URLs say and without; candidates that are right or wrong are rows, what is neither is left out.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.sites.built import built_folder, built_site
from bench.sites.stored import Truth, languages, read_site, read_truth, true_lexicons, view_of
from bench.support.paths import SOURCE
from bench.support.processes import give_up
from diptych.learn.trees import Forest
from diptych.run.store import Store
from diptych.stages.pair.shared.page_languages import page_languages
from diptych.stages.pair.union import model as page_pair
from diptych.stages.pair.union.candidate_table import FEATURES
from diptych.stages.pair.union.model import PagePairModel
from diptych.stages.pair.union.strategy import Union, _proposals

RISING = {"sizes": -1, "copied": -1, "text": 0, "knows_words": 0}
"""features that do not speak for a pair the more the greater they are"""
GUESS = {
    "declared": 3, "reciprocal": 1, "url": 3, "url_model": 2, "shared": 4, "amount": 2,
    "translated": 5, "tags": 3, "sizes": -2, "text": 0, "copied": -6, "knows_words": -1.5,
    "lead": 8, "translated_lead": 8, "neighbours": 2, "siblings": 2, "title": 1,
    "usual_shared": 1, "usual_translated": 1, "usual_tags": 1, "usual_title": 1,
}  # fmt: skip
"""weights to begin with, by hand; the trees take their place"""


MOST_LANGUAGES = 4  # of a site
MEASURED = frozenset(
    "gimp-help mplayer gnucash lilypond debian-install-guide scilab debian-faq linux-doc"
    " apache2-manual aptitude".split()
)
"""families that benchmarks measure on: nothing is trained on them"""
BROKEN = 0.15  # of what is declared, where some is wrong
CONDITIONS = ((Union(), 0.0), (Union(), BROKEN), (Union(pairers=(), url_model=False), 0.0))
"""with all evidence, with some of it wrong, with content alone"""
PAGES = 24  # of each language on such a part


class Small:
    """A part of a site: few pages of each language, many without their counterpart."""

    def __init__(self, view: Any, seed: int) -> None:
        self._view, self.site, self.langs = view, view.site, view.langs
        lang_of = page_languages(view)
        kept = []
        for lang in view.langs:
            urls = sorted(url for url, own in lang_of.items() if own == lang)
            begin = int(np.random.default_rng(seed).integers(0, max(1, len(urls) - PAGES)))
            some = np.random.default_rng([seed, len(lang)]).random(PAGES)
            kept += [
                url for url, chance in zip(urls[begin : begin + PAGES], some, strict=False)
                if chance < (0.5, 0.9)[seed % 2]
            ]  # fmt: skip
        self.pages = {url: view.pages[url] for url in sorted(kept)}

    def links(self, *, rel: str | None = None) -> Any:
        """The links of its pages."""
        return (item for item in self._view.links(rel=rel) if item[0] in self.pages)

    def resolve(self, url: Any) -> Any:
        """The page that a URL leads to, if it is a part of this."""
        found = self._view.resolve(url)
        return found if found in self.pages else None

    def sketches(self) -> Any:
        """The sketches of its pages."""
        return (item for item in self._view.sketches() if item[0] in self.pages)

    def lexicon(self, left: str, right: str) -> Any:
        """As on the whole site."""
        return self._view.lexicon(left, right)


class Rows(NamedTuple):
    """Candidates with their labels, and the family each is of."""

    features: NDArray[np.float32]
    labels: NDArray[np.bool_]
    family: NDArray[np.int64]


class Guess(NamedTuple):
    """A model by hand."""

    base: float = -6.0

    def probabilities(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """As those of a `PagePairModel`."""
        weights = np.array([GUESS[name] for name in FEATURES])
        odds: NDArray[np.float64] = rows.astype(np.float64) @ weights + self.base
        return np.asarray(1 / (1 + np.exp(-odds)), np.float64)


def rows_of(name: str, cache: Path, model: Any) -> list[tuple[NDArray[np.float32], list[int]]]:
    """The candidates of a site under several conditions; each is 1, 0, or -1 for neither."""
    folder, site = read_site(name, cache), built_folder() / name
    truth, langs = read_truth(site), languages(site)[:MOST_LANGUAGES]
    found = []
    with Store(folder, write=False) as store:
        learned = lexicons_of(store, langs, truth, folder)
        conditions: list[Any] = [{}, learned]
        for lexicons in conditions:
            view = view_of(store, langs, lexicons)
            for union, broken in CONDITIONS:
                for part in (view, Small(view, seed=len(name) % 2)):
                    for table in with_model(union, part, model, broken):
                        marks = [label(pair, truth) for pair in table.urls()]
                        found.append((table.rows, marks))
    return found


def lexicons_of(store: Store, langs: list[str], truth: Truth, folder: Path) -> Any:
    """The lexicons that the true pairs of a site teach, kept beside its store."""
    from diptych.learn.lexicon.lexicon import Lexicon
    from diptych.types import LangPair

    kept = folder / "lexicons"
    if not (kept / "done").exists():
        kept.mkdir(exist_ok=True)
        for langs_of, lexicon in true_lexicons(store, langs, truth, 30).items():
            (kept / f"{'_'.join(langs_of)}.npz").write_bytes(lexicon.to_bytes())
        (kept / "done").touch()
    return {
        LangPair(*path.stem.split("_")): Lexicon.from_bytes(path.read_bytes())
        for path in sorted(kept.glob("*.npz"))
    }


def with_model(union: Union, view: Any, model: Any, broken: float) -> Any:
    """The tables of a site, weighed by a model that is not shipped yet."""
    before = page_pair.load
    page_pair.load = lambda names, folder="": model
    said = _proposals(union._proposed(view))
    try:
        return union._tables(view, misled(said, broken) if broken else said, page_languages(view))
    finally:
        page_pair.load = before


def misled(said: Any, share: float) -> Any:
    """The same with some pages led to the counterpart of another, as on sites with faults."""
    chance = np.random.default_rng(len(said))
    pairs = sorted(said)
    others = [pairs[place] for place in chance.permutation(len(pairs))]
    found = {}
    for pair, other in zip(pairs, others, strict=True):
        wrong = chance.random() < share
        found[(pair[0], other[1]) if wrong else pair] = said[pair]
    return found


def label(pair: tuple[str, str], truth: Truth) -> int:
    """1 for a right pair, 0 for a wrong one, -1 for what is neither."""
    both = frozenset(pair)
    return 1 if both in truth.right else -1 if both in truth.neutral else 0


def gather(names: list[str], cache: Path, model: Any) -> Rows:
    """The rows of all sites."""
    features, labels, family = [], [], []
    families: dict[str, int] = {}
    for name in names:
        meta = json.loads((built_site(name) / "meta.json").read_text("utf-8"))
        if meta["family"] in MEASURED:
            give_up(f"{name} is of a family that is measured on: {meta['family']}")
        number = families.setdefault(meta["family"], len(families))
        for rows, marks in rows_of(name, cache, model):
            kept = np.array(marks, np.int64) >= 0
            features.append(rows[kept])
            labels.append(np.array(marks, np.int64)[kept] == 1)
            family.append(np.full(int(kept.sum()), number))
        print(name, sum(map(len, labels)), file=sys.stderr, flush=True)
    return Rows(np.concatenate(features), np.concatenate(labels), np.concatenate(family))


def fit(rows: Rows) -> PagePairModel:
    """Boosted trees, monotone in what speaks for a pair; every family counts the same."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    sizes = np.bincount(rows.family)
    weights = np.minimum(1.0, 3000 / np.maximum(sizes, 1))[rows.family]
    model = HistGradientBoostingClassifier(
        max_iter=200, learning_rate=0.08, max_leaf_nodes=12, min_samples_leaf=60,
        l2_regularization=2.0, random_state=0, early_stopping=False,
        monotonic_cst=[RISING.get(name, 1) for name in FEATURES],
    )  # fmt: skip
    model.fit(rows.features, rows.labels, sample_weight=weights)
    return PagePairModel(FEATURES, Forest.from_boosting(model))


def report(model: PagePairModel, rows: Rows) -> str:
    """How well candidates are told, by themselves."""
    said = model.probabilities(rows.features) >= 0.5
    right = int((said & rows.labels).sum())
    return (
        f"{len(rows.labels):,} candidates, {int(rows.labels.sum()):,} right: precision "
        f"{right / max(1, said.sum()):.4f}, recall {right / max(1, rows.labels.sum()):.4f}"
    )


def cross_validated(rows: Rows, folds: int = 5) -> str:
    """The same, each family by a model that has not seen it."""
    said = np.zeros(len(rows.labels), bool)
    for fold in range(folds):
        out = rows.family % folds == fold
        if out.any() and (~out).any():
            part = Rows(rows.features[~out], rows.labels[~out], rows.family[~out])
            said[out] = fit(part).probabilities(rows.features[out]) >= 0.5
    right = int((said & rows.labels).sum())
    return (
        f"families not seen: precision {right / max(1, said.sum()):.4f}, "
        f"recall {right / max(1, rows.labels.sum()):.4f}"
    )


def main() -> None:
    """Train twice: what neighbours and siblings say depends on the model itself."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sites", nargs="+")
    parser.add_argument("--cache", type=Path, default=built_folder().parent / "stores")
    default = SOURCE / "stages/pair/union/weights"
    parser.add_argument("--out", type=Path, default=default)
    parser.add_argument("--quick", action="store_true", help="do not cross-validate")
    arguments = parser.parse_args()
    model: Any = Guess()
    for _ in range(2):
        rows = gather(arguments.sites, arguments.cache, model)
        model = fit(rows)
        print(report(model, rows), flush=True)
    if not arguments.quick:
        print(cross_validated(rows))
    model.save(str(arguments.out))
    print(f"-> {arguments.out}")


if __name__ == "__main__":
    main()
