"""Detection of parallel URLs: precision, recall and F1 on unseen domains.

    python -m bench.tasks.url_pair [--data DIR] [--phrases FILE]

A fifth of the domains, and all domains of WMT16's training set, are held out; the model, its
lexicon and its language model are trained on the others.  Negatives are mixed as in the paper.  A
second table shows one-to-one pairing of all URLs of a domain.  Exits with 1 if a floor is missed.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.support.machine import machine
from bench.support.paths import RESULTS
from bench.support.tables import percent, show
from bench.support.url_data import WMT16, check, learner, options, sources, split
from bench.training.cross_fitting import train
from diptych._version import VERSION
from diptych.learn.url import language as url_lang
from diptych.learn.url.data import LabelledPair, read_pairs
from diptych.learn.url.negatives import METHODS, Negatives
from diptych.learn.url.pair import LANGUAGES, UrlPair, load
from diptych.learn.url.pair_features import NAMES, Features
from diptych.page.url_list import UrlList
from diptych.protocols import Pairer, UrlPairModel
from diptych.registry import strategies
from diptych.stages.pair.langstrip import strip_language
from diptych.stages.pair.url_model import UrlModel
from diptych.text.urls import normalise
from diptych.types import LangScore, Url

RESULT = RESULTS / "url_pair.json"
FLOORS = {"positive F1": 0.85, "macro F1": 0.91, "WMT16 recall": 0.76, "pairs/s": 50_000}
PAPER = {"language stripper": (64.37, 12.78, 21.33, 58.96), "XLM-R": (76.28, 61.79, 68.28, 83.08)}
DOUBTFUL = "slug-only"
_MULTI = 3  # pairs of a domain in two languages, at least, that are paired one to one
_ROWS = 30  # pairs of a domain that are tested, so that no domain decides alone


class Stripper:
    """The paper's baseline: URLs are parallel if they are equal without language marks."""

    def probabilities(self, lefts: Sequence[str], rights: Sequence[str]) -> NDArray[np.float32]:
        """1 or 0 for each pair."""
        return np.array(
            [
                left != right and _stripped(left) == _stripped(right)
                for left, right in zip(lefts, rights, strict=True)
            ],
            np.float32,
        )


@lru_cache(maxsize=1 << 18)
def _stripped(url: str) -> str:
    from diptych.language.marks import LANGUAGES

    return strip_language(url, LANGUAGES).form.lower()


def capped(rows: Iterable[LabelledPair]) -> list[LabelledPair]:
    """At most a number of pairs per domain, spread over its list."""
    groups: defaultdict[str, list[LabelledPair]] = defaultdict(list)
    for row in rows:
        groups[row.domain].append(row)
    return [
        row
        for name in sorted(groups)
        for row in sorted(groups[name])[:: 1 + (len(groups[name]) - 1) // _ROWS]
    ]


def figures(said: NDArray[np.bool_], true: NDArray[np.bool_]) -> dict[str, float]:
    """The precision, recall and F1 of the positive class, and the mean F1 of both classes."""

    def one(said: NDArray[np.bool_], true: NDArray[np.bool_]) -> tuple[float, float, float]:
        right = float((said & true).sum())
        precision, recall = right / max(1, said.sum()), right / max(1, true.sum())
        return precision, recall, 2 * precision * recall / max(1e-9, precision + recall)

    positive, negative = one(said, true), one(~said, ~true)
    names = ("precision", "recall", "positive F1")
    return dict(zip(names, positive, strict=True)) | {"macro F1": (positive[2] + negative[2]) / 2}


def kind(values: Mapping[str, float]) -> str:
    """The kind of difference between the URLs of a pair."""
    marked = values["strong<"] > 0 or values["edge_marks<"] > 0
    if values["rest_same"] or values["tokens_same"]:
        if not values["host_core"] or not values["tld"]:
            return "host or top-level domain"
        return "language mark" if marked else "null mark"
    if values["words>"] == 0:
        return "numbers"
    if values["longest_common_number"] >= 3:
        return "words differ, shared number"
    return "translated slug"


def tested(model: UrlPairModel, rows: Sequence[LabelledPair], tiers: Mapping[Any, str]) -> Any:
    """All figures of a model."""
    negatives = list(Negatives().make(rows))
    lefts = [row.url_a for row in rows] + [row.url_a for row, _ in negatives]
    rights = [row.url_b for row in rows] + [row.url_b for row, _ in negatives]
    started = time.process_time()
    probability = model.probabilities(lefts, rights)
    seconds = time.process_time() - started
    true = np.arange(len(lefts)) < len(rows)
    tier = [tiers.get((row.url_a, row.url_b), "") for row in rows]
    tier += [tiers.get((row.url_a, row.url_b), "") for row, _ in negatives]
    sure = np.array([name != DOUBTFUL for name in tier]) | ~true
    said = probability >= 0.5
    return {
        "without doubtful labels": figures(said[sure], true[sure]),
        "all labels": figures(said, true),
        "recall by label": _by(tier[: len(rows)], said[: len(rows)]),
        "said of negatives": _by([METHODS[m] for _, m in negatives], said[len(rows) :]),
        "calibration error": _calibration(probability, true),
        "pairs": len(rows),
        "negatives": len(negatives),
        "pairs/s": len(lefts) / seconds,
        "said": said[: len(rows)].tolist(),
    }


def _by(names: Sequence[str], said: NDArray[np.bool_]) -> dict[str, tuple[float, int]]:
    """Shares and counts by name, most frequent first."""
    count = Counter(names)
    found = Counter(name for name, yes in zip(names, said.tolist(), strict=True) if yes)
    return {name: (found[name] / n, n) for name, n in count.most_common()}


def _calibration(probability: NDArray[np.float32], true: NDArray[np.bool_]) -> float:
    """The expected calibration error over ten bins."""
    bins = np.minimum((probability * 10).astype(int), 9)
    return float(
        sum(
            abs(probability[bins == b].mean() - true[bins == b].mean()) * (bins == b).mean()
            for b in range(10)
            if (bins == b).any()
        )
    )


def one_to_one(pairer: Pairer, rows: Iterable[LabelledPair]) -> tuple[float, float, int]:
    """The recall and precision of one-to-one pairing of all URLs of a domain in two languages."""
    groups: defaultdict[tuple[str, str, str], set[tuple[str, str]]] = defaultdict(set)
    for row in rows:
        ends = sorted([(row.lang_a, row.url_a), (row.lang_b, row.url_b)])
        left, right = normalise(ends[0][1]), normalise(ends[1][1])
        if left and right and ends[0][0] != ends[1][0]:
            groups[row.domain, ends[0][0], ends[1][0]].add((left, right))
    right_pairs = found_pairs = all_pairs = 0
    for (domain, one, other), pairs in sorted(groups.items()):
        if len(pairs) < _MULTI:
            continue
        urls = {left: one for left, _ in pairs} | {right: other for _, right in pairs}
        listed = [(Url(url), LangScore(lang, 1.0)) for url, lang in sorted(urls.items())]
        found = {
            (pair.left, pair.right)
            for pair in pairer.pair(UrlList.of(domain, listed, [one, other]))
        }
        right_pairs += len(found & pairs)
        found_pairs += len(found)
        all_pairs += len(pairs)
    return right_pairs / max(1, all_pairs), right_pairs / max(1, found_pairs), all_pairs


def pairing(folder: Path, rows: Sequence[LabelledPair], tiers: Mapping[Any, str]) -> Any:
    """The results of one-to-one pairing by each method, on WMT16's domains and on the others."""
    wmt16 = [row for row in rows if tiers.get((row.url_a, row.url_b)) == WMT16]
    sure = [row for row in rows if tiers.get((row.url_a, row.url_b)) not in (WMT16, DOUBTFUL)]
    methods: dict[str, Callable[[], Pairer]] = {
        name: strategies("pair")[name] for name in ("langstrip", "pplocator", "keys")
    }
    methods["url_model, without habits"] = lambda: UrlModel(model=str(folder), habits=False)
    methods["url_model"] = lambda: UrlModel(model=str(folder))
    return {
        name: {"WMT16": one_to_one(make(), wmt16), "others": one_to_one(make(), sure)}
        for name, make in methods.items()
    }


def tables(results: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The tables of the documentation, in percent."""
    names = ("precision", "recall", "positive F1", "macro F1")
    models: list[dict[str, Any]] = [
        {"model": f"{name}, published, on other data", **dict(zip(names, values, strict=True))}
        for name, values in PAPER.items()
    ]
    models += [
        {"model": f"{name}, {part}", **{key: percent(results[name][part][key]) for key in names}}
        for name in ("language stripper", "ours")
        for part in ("without doubtful labels", "all labels")
    ]
    ours = results["ours"]
    return {
        "Are two URLs parallel?": models,
        "Recall by kind of pair": [
            {"kind": name, "pairs": n, "language stripper": percent(one), "ours": percent(other)}
            for name, (n, one, other) in results["recall by kind"].items()
        ],
        "Recall by source of the label": [
            {"label": name or "none", "pairs": n, "recall": percent(share)}
            for name, (share, n) in ours["recall by label"].items()
        ],
        "Negatives taken for parallel": [
            {"made by": name, "pairs": n, "taken for parallel": percent(share)}
            for name, (share, n) in ours["said of negatives"].items()
        ],
        "One-to-one pairing of all URLs of a domain": [
            {
                "pairer": name,
                **{
                    f"{part} {figure}": percent(value)
                    for part in ("WMT16", "others")
                    for figure, value in zip(("recall", "precision"), row[part], strict=False)
                },
            }
            for name, row in results["one-to-one"].items()
        ],
    }


def by_kind(rows: Sequence[LabelledPair], model: UrlPair, said: Mapping[str, list[bool]]) -> Any:
    """The recall of both models for each kind of pair."""
    table = Features(model.features.concepts).of(
        [row.url_a for row in rows], [row.url_b for row in rows]
    )
    kinds = [kind(dict(zip(NAMES, values, strict=True))) for values in table.tolist()]
    shares = [_by(kinds, np.array(answers, bool)) for answers in said.values()]
    return {
        name: (count, *(share[name][0] for share in shares))
        for name, count in Counter(kinds).most_common()
    }


def main() -> int:
    """Train, test, print and save the results."""
    parser = options(__doc__ or "")
    parser.add_argument("--model", type=Path, default=Path("url_pair_model"), help="work folder")
    arguments = parser.parse_args()
    check(arguments)
    tiers = sources(arguments.data)
    rows = list(read_pairs(arguments.data / "url_pairs.tsv.gz"))
    kept, test, domains = split(rows, tiers)
    if arguments.model.is_dir():
        print(f"testing the model in {arguments.model}; remove it to train anew", file=sys.stderr)
        model = load(str(arguments.model))
    else:
        model = train(kept, learner(arguments, kept, domains))
        model.save(str(arguments.model))
        if isinstance(model.languages, url_lang.UrlLang):
            model.languages.save(str(arguments.model / LANGUAGES))
    some = capped(test)
    results: dict[str, Any] = {
        "ours": tested(model, some, tiers),
        "language stripper": tested(Stripper(), some, tiers),
    }
    said = {name: results[name].pop("said") for name in ("language stripper", "ours")}
    results["recall by kind"] = by_kind(some, model, said)
    results["one-to-one"] = pairing(arguments.model, test, tiers)
    kept_figures = {
        "signature": f"url_pair|test:{len(some)}|train:{len(kept)}|v:{VERSION}",
        "pairs per second": round(results["ours"]["pairs/s"]),
        "calibration error": round(results["ours"]["calibration error"], 4),
        "tables": tables(results),
        "machine": machine(["numpy", "scikit-learn"]),
    }
    show(kept_figures["tables"])
    print(f"\n{results['ours']['pairs/s']:,.0f} pairs/s")
    RESULT.write_text(json.dumps(kept_figures, indent=1) + "\n", "utf-8")
    row = results["ours"]["without doubtful labels"]
    reached = {
        "positive F1": row["positive F1"],
        "macro F1": row["macro F1"],
        "WMT16 recall": results["one-to-one"]["url_model"]["WMT16"][0],
        "pairs/s": results["ours"]["pairs/s"],
    }
    missed = {name: value for name, value in reached.items() if value < FLOORS[name]}
    for name, value in missed.items():
        print(f"MISSED: {name} {value:.3f} < {FLOORS[name]}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
