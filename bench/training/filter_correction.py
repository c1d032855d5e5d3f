"""Train the correction of segment scores on judged segments of real sites, and ship it.

    python -m bench.training.filter_correction --runs DIR [--verdicts FILE...]

DIR holds run folders named after the site and the languages, and a file of verdicts is as in
`bench.tasks.judged`.  A logistic regression over the measures in `correction.NAMES` of judged
segments that break no rule; good segments count as much as partial and wrong ones together.
Segments of `filter_pairs` with made noise count half as much as the judged ones: real sites of
today have little spam and few shuffled words, which must not be forgotten.  How often a segment and
its sides occur in the run are two more inputs, whose weights are stored apart.  Cross-validation
leaves out one site after the other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.support.filter_pairs import GOOD, TRAINING, cases
from bench.support.paths import SOURCE
from bench.support.verify_scores import area, calibration
from bench.tasks.judged import read_verdicts, runs_and_verdicts, text_key
from diptych.corpus.best_copies import repeats
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.logistic import sigmoid
from diptych.reason import Reason
from diptych.run.segments import LOW_SCORES
from diptych.run.store import Store
from diptych.stages.filter.quality.correction import NAMES, Correction, Regression
from diptych.stages.filter.quality.measures import NAMES as FOREST_NAMES
from diptych.stages.filter.quality.measures import measure_columns, rows_of
from diptych.stages.filter.quality.model import repeat_measures, share_right, shipped
from diptych.stages.filter.rules import Rules
from diptych.stages.filter.shared.segments import Segments, read_segments
from diptych.types import LangPair, SegmentPair, Url

WEIGHTS = SOURCE / "stages/filter/quality/weights"
RIDGE = 10.0  # of weights of standardised measures
SOUND = ("", *LOW_SCORES, Reason.DUPLICATE)
MADE = 0.5  # weight of all segments with made noise, relative to all judged segments
PAGES, LANG_PAIRS = 4, 3  # page pairs of a language pair, and language pairs, of a family
THRESHOLDS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
Floats = NDArray[np.float64]
_PAIRS = (
    "SELECT pairs.id, left_lang, right_lang FROM pairs JOIN decisions ON decisions.pair = pairs.id "
    "WHERE accept ORDER BY pairs.id"
)
_SEGMENTS = (
    "SELECT left, right, left_path, right_path, alignment, reason, key, left_key, right_key "
    "FROM segments WHERE pair = ? AND left <> '' AND right <> '' ORDER BY position"
)
CARD = """# Correction of segment scores

`correction.json`: a logistic regression over {count} measures: {measures}.
Trained by `python -m bench.training.filter_correction` on {rows} segments of {sites} real sites in
{langs} language pairs, each read and judged: {good} good, {partial} partial, {wrong} wrong.
Good segments count as much as all others together; {made} segments of manuals with made noise count
half as much as these.
Cross-validated over sites: area under the curve {area:.4f} ({before:.4f} without the correction),
calibration error {calibration:.4f} at the share of good segments in each run.

| threshold | good kept, % | partial kept, % | wrong kept, % |
|---|---|---|---|
{table}

A pair that occurs again: {again:.3f}; sides that occur with others: {apart:.3f}.
None of the texts is here.
"""


def segments_of(run: Path, verdicts: Mapping[int, str]) -> Iterator[dict[str, Any]]:
    """Yield the measures, keys and verdicts of a run's segments that break no rule."""
    store = Store(run, write=False)
    lexicons = store.learned_lexicons()
    for pair, left, right in store.db.execute(_PAIRS).fetchall():
        rows = store.db.execute(_SEGMENTS, (pair,)).fetchall()
        if not rows:
            continue
        segs = [
            SegmentPair(
                left=row[0], right=row[1], left_lang=left, right_lang=right, left_url=Url(""),
                right_url=Url(""), left_path=row[2], right_path=row[3], score=row[4],
            )
            for row in rows
        ]  # fmt: skip
        lexicon = lexicons.get(LangPair(left, right)) or Lexicon.empty(left, right)
        values = measured(read_segments(segs), lexicon)
        for row, own in zip(rows, values, strict=True):
            if row[5] in SOUND:
                verdict = verdicts.get(text_key(row[0], row[1]), "")
                yield {"values": own, "keys": row[6:9], "verdict": verdict}


def read_run(run: Path, verdicts: Mapping[int, str]) -> dict[str, NDArray[Any]]:
    """Read all segments of a run, with their repeats."""
    found = list(segments_of(run, verdicts))
    keys = np.array([each["keys"] for each in found], np.int64).reshape(-1, 3)
    counts = repeats(list(keys.T))
    return {
        "values": np.stack([each["values"] for each in found]),
        "repeats": np.stack(repeat_measures(counts), axis=1),
        "key": keys[:, 0],
        "verdict": np.array([each["verdict"] for each in found]),
    }


class Labelled(NamedTuple):
    """Inputs of a regression, one row per segment, with labels and weights."""

    inputs: Floats
    labels: NDArray[np.bool_]
    weights: Floats

    def beside(self, other: Labelled, share: float) -> Labelled:
        """These rows and others, whose total weight is the given share of the weight of these."""
        weights = other.weights * share * self.weights.sum() / other.weights.sum()
        parts = zip(self, other._replace(weights=weights), strict=True)
        return Labelled._make(np.concatenate(each) for each in parts)


def balanced(inputs: Floats, labels: NDArray[np.bool_]) -> Labelled:
    """Give both classes the same weight."""
    weights = np.where(labels, 0.5 / labels.mean(), 0.5 / (1 - labels.mean()))
    return Labelled(inputs, labels, weights)


def made_noise() -> Labelled:
    """Segments of `filter_pairs`, half of the right ones made worse; all occur once."""
    values, labels = [], []
    for case in cases(TRAINING, most=PAGES, lang_pairs=LANG_PAIRS, seed=0):
        segments = read_segments(case.segs)
        passed = np.array(Rules().broken_rules(segments)) == ""
        chosen = passed & (np.array(case.labels) != "")
        values.append(measured(segments, case.lexicon)[chosen])
        labels.append(np.array(case.labels)[chosen] == GOOD)
    inputs = np.concatenate(values)
    repeats_of_one = np.zeros((len(inputs), 2))
    return balanced(np.column_stack([inputs, repeats_of_one]), np.concatenate(labels))


def measured(segments: Segments, lexicon: Lexicon) -> Floats:
    """The measures in `NAMES` of the segments of two pages, one row per segment."""
    columns = measure_columns(segments, lexicon)
    columns["odds"] = shipped("quality", FOREST_NAMES).odds(rows_of(columns))
    return np.stack([columns[name] for name in NAMES], axis=1)


def fitted(rows: Labelled) -> tuple[Floats, float]:
    """Fit weights and offset by Newton's method."""
    inputs, labels, counts = rows
    mean, spread = inputs.mean(0), inputs.std(0) + 1e-9
    columns = np.column_stack([(inputs - mean) / spread, np.ones(len(inputs))])
    ridge = np.r_[np.full(inputs.shape[1], RIDGE), 0.0]
    found = np.zeros(columns.shape[1])
    for _ in range(50):
        chance = sigmoid(columns @ found)
        gradient = columns.T @ (counts * (chance - labels)) + ridge * found
        bend = (columns * (counts * chance * (1 - chance))[:, None]).T @ columns
        found = found - np.linalg.solve(bend + np.diag(ridge + 1e-9), gradient)
    weights = found[:-1] / spread
    return weights, float(found[-1] - weights @ mean)


def final_odds(run: Mapping[str, NDArray[Any]], weights: Floats, offset: float) -> Floats:
    """The log odds of all segments of a run, as at the end of a run."""
    own = run["values"] @ weights[: len(NAMES)] + offset
    share = share_right(sigmoid(own))
    odds: Floats = own + np.log(share / (1 - share)) + run["repeats"] @ weights[len(NAMES) :]
    return odds


def judged(run: Mapping[str, NDArray[Any]]) -> NDArray[np.int64]:
    """The rows of judged segments that are not useless, one per text."""
    rows = np.flatnonzero(np.isin(run["verdict"], ("g", "p", "w")))
    _, first = np.unique(run["key"][rows], return_index=True)
    return rows[np.sort(first)]


def main() -> None:
    """Train, cross-validate, write the model and its card."""
    options = runs_and_verdicts(__doc__.partition("\n")[0])
    verdicts = read_verdicts(options.verdicts)
    runs = {
        path.parent.name: read_run(path.parent, verdicts[path.parent.name])
        for path in sorted(options.runs.glob("*/corpus.tsv"))
        if path.parent.name in verdicts
    }
    train_and_ship(runs)


def _inputs(runs: Sequence[Mapping[str, NDArray[Any]]]) -> Labelled:
    parts = [
        (np.column_stack([run["values"], run["repeats"]])[rows], run["verdict"][rows] == "g")
        for run in runs
        for rows in [judged(run)]
    ]
    return balanced(
        np.concatenate([each for each, _ in parts]), np.concatenate([each for _, each in parts])
    )


def partial_or_wrong(runs: Sequence[Mapping[str, NDArray[Any]]]) -> Regression:
    """Fit the regression that tells partial segments from wrong ones."""
    values, verdicts = [], []
    for run in runs:
        rows = judged(run)
        rows = rows[run["verdict"][rows] != "g"]
        values.append(run["values"][rows])
        verdicts.append(run["verdict"][rows] == "p")
    weights, offset = fitted(balanced(np.concatenate(values), np.concatenate(verdicts)))
    return Regression(tuple(map(float, weights)), offset)


def train_and_ship(runs: Mapping[str, Mapping[str, NDArray[Any]]]) -> None:
    """Fit the model on all runs, and cross-validate it over sites."""
    odds, plain, verdict = [], [], []
    made = made_noise()
    site_of = {name: name.rsplit("-", 2)[0] for name in runs}
    for name, run in runs.items():
        others = [runs[other] for other in runs if site_of[other] != site_of[name]]
        rows = judged(run)
        odds.append(final_odds(run, *fitted(_inputs(others).beside(made, MADE)))[rows])
        plain.append(run["values"][rows, NAMES.index("odds")])
        verdict.append(run["verdict"][rows])
    said, first, verdicts = map(np.concatenate, (odds, plain, verdict))
    chance = sigmoid(said)
    weights, offset = fitted(_inputs(list(runs.values())).beside(made, MADE))
    again, apart = (max(0.0, float(each)) for each in weights[len(NAMES) :])
    model = Correction(
        Regression(tuple(map(float, weights[: len(NAMES)])), offset),
        partial_or_wrong(list(runs.values())), again, apart,
    )  # fmt: skip
    (WEIGHTS / "correction.json").write_text(json.dumps(model.to_json(), indent=1) + "\n", "utf-8")
    table = "\n".join(
        f"| {threshold} | "
        + " | ".join(
            f"{100 * (chance[verdicts == each] >= threshold).mean():.1f}" for each in "gpw"
        )
        + " |"
        for threshold in THRESHOLDS
    )
    is_good = verdicts == "g"
    card = CARD.format(
        count=len(NAMES), measures=", ".join(NAMES), rows=len(verdicts),
        sites=len(set(site_of.values())), langs=len({name.split("-", 1)[1] for name in runs}),
        good=is_good.sum(), partial=(verdicts == "p").sum(), wrong=(verdicts == "w").sum(),
        area=area(is_good, said), before=area(is_good, first),
        calibration=calibration(is_good, chance), table=table, again=again, apart=apart,
        made=len(made.labels),
    )  # fmt: skip
    (WEIGHTS / "correction.md").write_text(card, "utf-8")
    print(card)


if __name__ == "__main__":
    main()
