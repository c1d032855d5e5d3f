"""The language of a page from its URL: the model, the model without derived data, and rules.

    python -m bench.tasks.url_lang --derived derived.tsv.gz [--data FOLDER]

Domains are divided into five folds.  The first served to choose features and constants and is not
part of any figure; each of the others is tested with a model trained on the remaining four.
`bench/training/url_lang_lists.py` makes the derived URLs; without them, only the model that needs
none is measured, and no results are saved.  Exits with 1 if a floor is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.baselines.url_rules import rule_language
from bench.support.machine import machine
from bench.support.paths import RESULTS
from bench.support.tables import percent
from bench.support.url_lang_rows import DEFAULT, PAPER, Rows, read, read_derived
from diptych.learn.url.data import LabelledUrl, fold_of
from diptych.learn.url.language import UrlLang, load, train

FOLDS = 5
MIN_DOMAINS = 10  # of a language in the macro average
ENOUGH = 50  # examples from which on we must be ahead of the rules
FLOORS = {"macro_f1": 0.72, "urls_per_second": 100_000.0}
FIGURES = ("P", "R", "F1")
PUBLISHED = {"rules": (0.6529, 0.3442, 0.3824), "XLM-RoBERTa": (0.7259, 0.6904, 0.6922)}


class Answer(NamedTuple):
    """The prediction for a URL."""

    row: LabelledUrl
    said: str
    score: float


class Score(NamedTuple):
    """The scores of one language, or their means over several."""

    precision: float
    recall: float
    f1: float
    examples: int


def fold(row: LabelledUrl) -> int:
    """The fold of a row's domain; 0 is for development."""
    return int(fold_of(row.domain) * FOLDS)


def scores(answers: Sequence[Answer]) -> dict[str, Score]:
    """The precision, recall and F1 of each language."""
    gold, said = Counter(a.row.lang for a in answers), Counter(a.said for a in answers)
    right = Counter(a.said for a in answers if a.said == a.row.lang)
    return {
        lang: Score(
            right[lang] / max(said[lang], 1),
            right[lang] / number,
            2 * right[lang] / (said[lang] + number),
            number,
        )
        for lang, number in gold.items()
    }


def macro(found: dict[str, Score], langs: set[str]) -> Score:
    """The mean over languages that have examples in the test folds."""
    chosen = [found[lang] for lang in sorted(langs) if lang in found]
    means = np.array([score[:3] for score in chosen]).mean(axis=0)
    precision, recall, f1 = means.tolist()
    return Score(precision, recall, f1, len(chosen))


def calibration_error(answers: Sequence[Answer], bins: int = 15) -> float:
    """The expected calibration error of the most probable language (Guo et al. 2017)."""
    score = np.array([answer.score for answer in answers])
    right = np.array([answer.said == answer.row.lang for answer in answers], float)
    place = np.minimum((score * bins).astype(int), bins - 1)
    gaps = np.bincount(place, right - score, bins)
    return float(np.abs(gaps).sum() / len(answers))


def answers_of(model: UrlLang, rows: Sequence[LabelledUrl], *, floor: bool) -> list[Answer]:
    """The answers of a model; without the floor, always the most probable language."""
    urls = [row.url for row in rows]
    if floor:
        return [Answer(row, *s) for row, s in zip(rows, model.predict(urls), strict=True)]
    table = model.probabilities(urls)
    best = table.argmax(axis=1)
    return [
        Answer(row, model.labels[label], float(table[place, label]))
        for place, (row, label) in enumerate(zip(rows, best.tolist(), strict=True))
    ]


def cross_validate(rows: Rows, derived: Sequence[LabelledUrl]) -> dict[str, list[Answer]]:
    """Answers on the test folds with and without the floor, and answers on the conflict file."""
    found: dict[str, list[Answer]] = {"named": [], "likeliest": [], "conflict": []}
    for number in range(1, FOLDS):
        everything = [*rows.main, *rows.conflict, *rows.pairs]
        model = train([*(row for row in everything if fold(row) != number), *derived])
        test = [row for row in rows.main if fold(row) == number]
        conflict = [row for row in rows.conflict if fold(row) == number]
        found["named"] += answers_of(model, test, floor=True)
        found["likeliest"] += answers_of(model, test, floor=False)
        found["conflict"] += answers_of(model, conflict, floor=True)
        print(f"fold {number}: {len(test):,} URLs", file=sys.stderr, flush=True)
    return found


def by_rules(rows: Rows) -> dict[str, list[Answer]]:
    """The answers of the rules on the test folds."""
    test = [row for row in rows.main if fold(row)]
    conflict = [row for row in rows.conflict if fold(row)]
    named = [Answer(row, rule_language(row.url), 1.0) for row in test]
    said = [Answer(row, rule_language(row.url), 1.0) for row in conflict]
    return {"named": named, "likeliest": named, "conflict": said}


def languages(rows: Sequence[LabelledUrl]) -> set[str]:
    """The languages with enough domains."""
    domains = Counter(lang for lang, _ in {(row.lang, row.domain) for row in rows})
    return {lang for lang, n in domains.items() if n >= MIN_DOMAINS and lang != "und"}


def summary(found: dict[str, list[Answer]], rows: Rows) -> dict[str, Any]:
    """All figures of one method."""
    out: dict[str, Any] = {}
    strong = [row for row in rows.main if row.weight >= 1]
    for name, chosen in (("all", rows.main), ("strong", strong)):
        is_strong = name == "strong"
        part = [a for a in found["named"] if not is_strong or a.row.weight >= 1]
        out[name] = {
            "macro": macro(scores(part), languages(chosen)),
            "accuracy": sum(a.said == a.row.lang for a in part) / len(part),
            "examples": len(part),
        }
    conflict = found["conflict"]
    out["conflict"] = sum(a.said == a.row.lang for a in conflict) / len(conflict)
    out["ece"] = calibration_error(found["likeliest"])
    out["unknown"] = sum(a.said == "und" for a in found["named"]) / len(found["named"])
    out["likeliest"] = macro(scores(found["likeliest"]), languages(rows.main))
    return out


def speed(model: UrlLang, urls: list[str]) -> float:
    """URLs per second of CPU time, the best of five runs."""
    times = []
    for _ in range(5):
        started = time.process_time()
        model.probabilities(urls)
        times.append(time.process_time() - started)
    return len(urls) / min(times)


def table(results: dict[str, dict[str, Any]]) -> str:
    """The figures as a Markdown table."""
    lines = [
        "| | languages | macro P | macro R | macro F1 | accuracy | conflict file | ECE |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for part in ("all", "strong"):
        for name, result in results.items():
            mean, accuracy = result[part]["macro"], result[part]["accuracy"]
            lines.append(
                f"| {name}, {part} sources | {mean.examples} | {mean.precision:.4f} "
                f"| {mean.recall:.4f} | {mean.f1:.4f} | {accuracy:.4f} | {result['conflict']:.4f} "
                f"| {result['ece']:.4f} |"
            )
    for name, (precision, recall, f1) in PUBLISHED.items():
        lines.append(f"| published {name} | 161 | {precision} | {recall} | {f1} | | | |")
    return "\n".join(lines)


def per_language(ours: Sequence[Answer], rules: Sequence[Answer], langs: set[str]) -> str:
    """The F1 of each language and that of the rules; losing rows are marked."""
    left, right = scores(ours), scores(rules)
    lines = ["| language | examples | F1 | rules | |", "|---|--:|--:|--:|---|"]
    for lang in sorted(langs & set(left), key=lambda lang: -left[lang].examples):
        ahead = "" if left[lang].f1 > right[lang].f1 else "not ahead"
        row = f"| {lang} | {left[lang].examples} | {left[lang].f1:.3f} | {right[lang].f1:.3f} "
        lines.append(f"{row}| {ahead} |")
    return "\n".join(lines)


def tables(
    results: Mapping[str, Any], each: Mapping[str, Sequence[float]]
) -> dict[str, list[dict[str, Any]]]:
    """The tables of the documentation, in percent."""
    rows: list[dict[str, Any]] = [
        {
            "model": f"{name}, {'all sources' if part == 'all' else 'weak sources out'}",
            "languages": results[name][part]["macro"][3],
            **{
                f"macro {figure}": percent(results[name][part]["macro"][place])
                for place, figure in enumerate(FIGURES)
            },
            "accuracy": percent(results[name][part]["accuracy"]),
            "conflict file": percent(results[name]["conflict"]),
            "calibration error": percent(results[name]["ece"]) if name != "rules" else "",
        }
        for part in ("all", "strong")
        for name in ("rules", "ours without derived data", "ours")
    ]
    rows += [
        {"model": f"{name}, published, on other data", "languages": 161}
        | {
            f"macro {figure}": percent(value)
            for figure, value in zip(("P", "R", "F1"), values, strict=True)
        }
        | {"accuracy": "", "conflict file": "", "calibration error": ""}
        for name, values in PUBLISHED.items()
    ]
    by_language = [
        {"language": lang, "URLs": row[0], "ours F1": percent(row[1]), "rules F1": percent(row[2])}
        for lang, row in sorted(each.items(), key=lambda item: item[1][2] - item[1][1])
    ][::-1]
    return {"Macro averages": rows, "Languages, those nearest to the rules first": by_language}


def keep(found: dict[str, list[Answer]], rules: list[Answer], langs: set[str], **more: Any) -> None:
    """Save the results with the examples, the F1 and the rules' F1 of each language."""
    ours, theirs = scores(found["named"]), scores(rules)
    each = {
        lang: [score.examples, round(score.f1, 4), round(theirs[lang].f1, 4)]
        for lang, score in sorted(ours.items())
        if lang in langs
    }
    results = more.pop("results")
    result = {**more, "tables": tables(results, each), "machine": machine(["numpy"])}
    path = RESULTS / "url_lang.json"
    path.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


def behind(ours: Sequence[Answer], rules: Sequence[Answer]) -> list[str]:
    """The languages with enough examples whose F1 is not above that of the rules."""
    left, right = scores(ours), scores(rules)
    return sorted(
        lang
        for lang, score in left.items()
        if score.examples >= ENOUGH and score.f1 <= right[lang].f1 and lang != "und"
    )


def main() -> None:
    """Measure, print and save the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DEFAULT)
    parser.add_argument("--derived", type=Path, help="see bench/training/url_lang_lists.py")
    options = parser.parse_args()
    rows = read(options.data)
    found = {"rules": by_rules(rows), "ours without derived data": cross_validate(rows, [])}
    name = "ours without derived data"
    if options.derived:
        name, everything = "ours", [*rows.main, *rows.conflict, *rows.pairs]
        found[name] = cross_validate(rows, read_derived(options.derived, everything))
    results = {method: summary(answers, rows) for method, answers in found.items()}
    shipped, langs = load(), languages(rows.main)
    rate = speed(shipped, [row.url for row in rows.main[::3]])
    covered = sum(lang in shipped.labels for lang in PAPER)
    print(table(results), end="\n\n")
    print(per_language(found[name]["named"], found["rules"]["named"], langs))
    print(f"\n{covered} of {len(PAPER)} languages of the paper are labels; {rate:,.0f} URLs/s")
    losing = behind(found[name]["named"], found["rules"]["named"])
    if options.derived:
        keep(
            found[name], found["rules"]["named"], langs, results=results, behind_the_rules=losing,
            urls_per_second=round(rate), languages_of_the_paper=covered,
        )  # fmt: skip
    reached = {"macro_f1": results[name]["all"]["macro"].f1, "urls_per_second": rate}
    missed = [what for what, floor in FLOORS.items() if reached[what] < floor]
    if missed or losing:
        sys.exit(f"missed: {', '.join(missed) or 'none'}; behind the rules: {', '.join(losing)}")


if __name__ == "__main__":
    main()
