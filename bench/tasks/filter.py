"""Filters: how well they separate translations from the noise of the web.

The segments are those of `filter_pairs`: real pages of families that nothing was trained on,
aligned as a run aligns them, half of the right segments made worse, beside the real errors of the
aligners.

    python -m bench.tasks.filter [--encoder] [--hardrules /path/to/bicleaner-hardrules] [--out FILE]

Beside the filters of Diptych stand the alignment score, the ratio of lengths, chance, and
bicleaner-hardrules where it is installed, without its language models and language identifier,
which are downloads.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.support.filter_pairs import HELD, Case, cases, textberg_case
from bench.support.filter_rows import Rows, column, microseconds, rows_of
from bench.support.machine import machine
from bench.support.paths import SHARED
from bench.support.processes import give_up
from bench.support.tables import Tables, percent, show
from bench.support.verify_scores import area, calibration
from bench.tasks.sentences import textberg
from diptych._version import VERSION
from diptych.language.codes import primary
from diptych.learn.encoder.load import load_encoder
from diptych.stages.filter.quality.measures import NAMES
from diptych.stages.filter.quality.model import shipped
from diptych.stages.filter.quality.strategy import Quality
from diptych.units import Repeats

SHARES = (0.5, 0.2)  # of noise
RUNS = (0.5, 0.2, 0.05)  # the same of whole runs
Said = NDArray[np.float64]


def said_by(found: Rows, seed: int) -> dict[str, tuple[Said, float]]:
    """For each filter, its scores and its threshold."""
    model, threshold = shipped("quality", NAMES), Quality().threshold
    passed = found.broken_rules == ""
    rescored = settled_runs(found, found.scores, np.ones(len(passed), bool))
    return {
        "quality": (found.scores, threshold),
        "quality, settled": (rescored, threshold),
        "quality without correction": (
            np.where(passed, model.probabilities(found.values), 0),
            0.95,
        ),
        "rules": (passed.astype(np.float64), 0.5),
        "alignment score": (column(found, "alignment"), 0.9),
        "ratio of lengths": (np.exp(-column(found, "length_ratio")), 0.75),
        "chance": (np.random.default_rng(seed).random(len(passed)), 0.5),
    }


def settled_runs(found: Rows, scores: Said, chosen: NDArray[np.bool_]) -> Said:
    """Scores as at the end of a run; each site and language pair is a run.

    Segments that are not chosen are ignored; their scores do not change.
    """
    moved = scores.copy()
    runs = np.char.add(np.char.add(found.family, " "), found.langs)
    for run in np.unique(runs):
        here = chosen & (runs == run) & (found.broken_rules == "")
        moved[here] = Quality().rescore(scores[here], Repeats(*found.repeats[here].T))
    return moved


def by_share(found: Rows, scores: Said, threshold: float, seed: int) -> list[dict[str, Any]]:
    """The quality of runs with a given share of noise, before and after rescoring whole runs."""
    rng, right = np.random.default_rng(seed), found.right
    told = []
    for noise in RUNS:
        least = right.sum() * noise / (1 - noise) / max((~right).sum(), 1)
        chosen = right | (rng.random(len(right)) < least)
        rescored = settled_runs(found, scores, chosen)
        row: dict[str, Any] = {
            "noise, %": percent((chosen & ~right).sum() / chosen.sum()),
            "segments": int(chosen.sum()),
        }
        for name, said in (("by itself", scores), ("settled", rescored)):
            kept = chosen & (said >= threshold)
            row[f"precision, {name}"] = percent((kept & right).sum() / max(kept.sum(), 1))
            row[f"recall, {name}"] = percent((kept & right).sum() / right.sum())
            row[f"calibration error, {name}"] = round(calibration(right[chosen], said[chosen]), 4)
        told.append(row)
    return told


def weights_for(right: NDArray[np.bool_], noise: float) -> Said:
    """The weight of each segment for a given share of noise."""
    share = float(right.mean())
    return np.where(right, (1 - noise) / max(share, 1e-9), noise / max(1 - share, 1e-9))


def average_precision(right: NDArray[np.bool_], said: Said, weights: Said) -> float:
    """The mean precision over correct segments, from the best score down; ties count together.

    >>> average_precision(np.array([True, False]), np.array([0.9, 0.1]), np.ones(2))
    1.0
    """
    values, place = np.unique(-said, return_inverse=True)
    hits = np.bincount(place.reshape(-1), np.where(right, weights, 0.0), len(values))
    every = np.bincount(place.reshape(-1), weights, len(values))
    share = np.cumsum(hits) / np.cumsum(every)
    return float((share * hits).sum() / hits.sum())


def figures(found: Rows, said: Said, threshold: float) -> dict[str, Any]:
    """The columns of the first table."""
    right, kept = found.right, said >= threshold
    told: dict[str, Any] = {"area under the curve": round(area(right, said), 4)}
    for noise in SHARES:
        weights = weights_for(right, noise)
        title = f"{round(100 * noise)}% noise"
        precise = weights[kept & right].sum() / max(weights[kept].sum(), 1e-9)
        told[f"average precision, {title}"] = round(average_precision(right, said, weights), 4)
        told[f"precision, {title}"] = percent(precise)
    return told | {
        "recall": percent((kept & right).sum() / right.sum()),
        "calibration error": round(calibration(right, said), 4),
    }


def by_group(
    found: Rows, said: Said, threshold: float, title: str, groups: Mapping[str, NDArray[np.bool_]]
) -> list[dict[str, Any]]:
    """The figures of the default filter on parts of the segments."""
    return [
        {title: name, "segments": int(chosen.sum())}
        | figures(found.part(chosen), said[chosen], threshold)
        for name, chosen in groups.items()
        if 0 < found.right[chosen].sum() < chosen.sum()
    ]


def by_noise(found: Rows, filters: Mapping[str, tuple[Said, float]]) -> list[dict[str, Any]]:
    """The area under the curve for each kind of noise, and the share of that noise that is kept."""
    told = []
    for kind in sorted(set(found.label[~found.right].tolist())):
        here = found.right | (found.label == kind)
        row: dict[str, Any] = {"noise": kind, "segments": int((found.label == kind).sum())}
        row |= {
            f"area, {name}": round(area(found.right[here], said[here]), 4)
            for name, (said, _) in filters.items()
        }
        said, threshold = filters["quality"]
        row["kept by quality, %"] = percent((said[found.label == kind] >= threshold).mean())
        told.append(row)
    return told


def without_resources(found: Rows, filters: Mapping[str, tuple[Said, float]]) -> Tables:
    """All tables that need no encoder."""
    said, threshold = filters["quality"]
    lengths = np.expm1(column(found, "length"))
    bounds = ((0, 30), (30, 60), (60, 150), (150, 10_000))
    groups = {
        "lexicon": {name: found.known == name for name in ("whole", "few pages", "none")},
        "letters": {
            f"{low} to {high}": (lengths >= low) & (lengths < high) for low, high in bounds
        },
        "family": {name: found.family == name for name in sorted(set(found.family.tolist()))},
        "languages": {name: found.langs == name for name in sorted(set(found.langs.tolist()))},
    }
    return {
        "Filters on families nothing was trained on": [
            {"filter": name, "threshold": limit} | figures(found, each, limit)
            for name, (each, limit) in filters.items()
        ],
        "Runs with so much noise": by_share(found, said, threshold, 0),
        "By kind of noise": by_noise(found, filters),
        **{
            f"The default by {title}": by_group(found, said, threshold, title, parts)
            for title, parts in groups.items()
        },
    }


def with_encoder(found: Sequence[Case]) -> list[dict[str, Any]]:
    """The default filter with and without an encoder, on a third of the pages that it supports."""
    encoder = load_encoder("")
    some = [case for case in found[::3] if {*map(primary, case.langs)} <= encoder.langs]
    told = []
    for name, judged in (("quality", rows_of(some)), ("quality_encoder", rows_of(some, encoder))):
        row: dict[str, Any] = {"filter": name, "segments": len(judged.scores)}
        told.append(row | figures(judged, judged.scores, Quality().threshold))
    return told


def hardrules(program: str, found: Sequence[Case]) -> Said:
    """The verdicts of bicleaner-hardrules on judged segments, 1 or 0, in the order of `rows_of`."""
    runs: dict[tuple[str, tuple[str, str]], list[Case]] = {}
    for case in found:
        runs.setdefault((case.family, case.langs), []).append(case)
    said: list[float] = []
    for (_, langs), some in runs.items():
        lines = [
            f"{seg.left}\t{seg.right}"
            for case in some for seg, label in zip(case.segs, case.labels, strict=True) if label
        ]  # fmt: skip
        said += _hardrules_on(program, lines, langs)
    return np.array(said)


def _hardrules_on(program: str, lines: Sequence[str], langs: tuple[str, str]) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "in.tsv", Path(folder) / "out.tsv"
        source.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        command = [
            program, str(source), str(out), "-s", primary(langs[0]), "-t", primary(langs[1]),
            "--scol", "1", "--tcol", "2", "--disable_lm_filter", "--disable_lang_ident",
            "--disable_porn_removal", "-p", "1", "-q",
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            give_up(f"{program} did not run: {done.stderr.strip().splitlines()[-1:]}")
        return [float(line.rsplit("\t", 1)[1]) for line in out.read_text("utf-8").splitlines()]


def main() -> None:
    """Measure, print and save the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--shared", type=Path, default=SHARED, metavar="DIR",
        help="folder with data/textberg-dev (default: ../shared, seen from the repository)",
    )  # fmt: skip
    parser.add_argument("--most", type=int, default=10, help="page pairs of a pair of languages")
    parser.add_argument("--lang-pairs", type=int, default=6, help="of a site")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--encoder", action="store_true", help="quality_encoder as well")
    parser.add_argument("--hardrules", default="", help="the program bicleaner-hardrules")
    parser.add_argument("--out", type=Path, help="where to keep the results")
    options = parser.parse_args()
    text = textberg(options.shared)
    found = list(cases(HELD, most=options.most, lang_pairs=options.lang_pairs, seed=options.seed))
    found += [textberg_case(text, known, options.seed) for known in ("whole", "none")]
    judged = rows_of(found)
    filters = said_by(judged, options.seed)
    if options.hardrules:
        filters["bicleaner-hardrules"] = (hardrules(options.hardrules, found), 0.5)
    shown = without_resources(judged, filters)
    if options.encoder:
        shown["With an encoder, where it knows both languages"] = with_encoder(found)
    show(shown)
    result = {
        "signature": f"filter:quality({Quality().threshold})|pages:{options.most}"
        f"x{options.lang_pairs}|seed:{options.seed}|v:{VERSION}",
        "segments": len(judged.label),
        "right": int(judged.right.sum()),
        "microseconds_per_segment": round(
            microseconds([case for case in found if case.known == "whole"]), 1
        ),
        "tables": shown,
        "machine": machine(["numpy", "scikit-learn", "py3langid"]),
    }
    print(result["microseconds_per_segment"], "microseconds a segment", file=sys.stderr)
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
