"""Scores of segments by the whole run, and selection among near-duplicates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.corpora import Maker, Said

from diptych.corpus.best_copies import best_of, repeats
from diptych.protocols import Watcher
from diptych.steps.score_segments import score_segments
from diptych.units import Repeats


@dataclass
class Fixed:
    """A filter that returns given scores, and records its input."""

    threshold: float = 0.5
    shift: float = 0.0
    asked: Repeats | None = None

    def rescore(self, scores, repeats):
        self.asked = repeats
        return scores + self.shift


def rows(store) -> list[tuple]:
    return store.db.execute(
        "SELECT left, score, judged, accept, reason, copies FROM segments ORDER BY pair, position"
    ).fetchall()


def test_the_best_near_duplicate_is_kept_with_the_number_of_copies(made: Maker) -> None:
    store = made(
        {
            ("/en/1", "/fr/1"): [Said("Page 1.", "Page 1 !", 0.6), Said("Other.", "Autre.", 0.7)],
            ("/en/2", "/fr/2"): [Said("page 22", "Page 22", 0.8), Said("Page 3", "page 3", 0.8)],
        },
    )
    score_segments(store, Fixed(), Watcher())
    assert rows(store) == [
        ("Page 1.", 0.6, 0.6, 0, "duplicate", 1),
        ("Other.", 0.7, 0.7, 1, "", 1),
        ("page 22", 0.8, 0.8, 1, "", 3),
        ("Page 3", 0.8, 0.8, 0, "duplicate", 1),
    ]


def test_texts_of_segments_that_were_replaced_are_deleted(made: Maker) -> None:
    store = made({("/en/1", "/fr/1"): [Said("Lamp.", "Lampe."), Said("Oil.", "Huile.")]})
    store.db.execute("DELETE FROM occurrences WHERE position = 1")
    score_segments(store, Fixed(), Watcher())
    assert store.db.execute("SELECT left FROM segment_texts").fetchall() == [("Lamp.",)]


def test_segments_that_break_a_rule_are_neither_counted_nor_changed(made: Maker) -> None:
    segments = [
        Said("Same.", "Pareil.", 0.4, "too_long"),
        Said("Same.", "Pareil.", 0.6),
        Said("Alone.", "", 0.0, "unaligned"),
    ]
    store = made({("/en/1", "/fr/1"): segments})
    strategy = Fixed(shift=0.1)
    score_segments(store, strategy, Watcher())
    assert [row[1:] for row in rows(store)] == [
        (0.4, 0.4, 0, "too_long", 1), (0.7, 0.6, 1, "", 1), (0.0, 0.0, 0, "unaligned", 1),
    ]  # fmt: skip
    assert [column.tolist() for column in strategy.asked] == [[1], [1], [1]]


def test_scoring_again_starts_from_the_judged_scores(made: Maker) -> None:
    segments = [Said("One.", "Un.", 0.45), Said("One.", "Un.", 0.4), Said("Two.", "Deux.", 0.3)]
    store = made({("/en/1", "/fr/1"): segments})
    score_segments(store, Fixed(shift=0.1), Watcher())
    assert [row[3:] for row in rows(store)] == [
        (1, "", 2), (0, "duplicate", 1), (0, "low_score", 1),
    ]  # fmt: skip
    once = rows(store)
    before = store.db.total_changes
    score_segments(store, Fixed(shift=0.1), Watcher())
    assert rows(store) == once
    assert store.db.total_changes == before
    score_segments(store, Fixed(shift=0.0), Watcher())
    assert [row[3:] for row in rows(store)] == [
        (0, "low_score", 2), (0, "duplicate", 1), (0, "low_score", 1),
    ]  # fmt: skip


def test_partial_segments_stay_partial_however_often_they_are_scored(made: Maker) -> None:
    segments = [Said("One.", "Un.", 0.45, flags=("partial", "email")), Said("Two.", "Deux.", 0.3)]
    store = made({("/en/1", "/fr/1"): segments})
    for shift, reasons in ((0.1, ["", "low_score"]), (0.0, ["partial", "low_score"])):
        score_segments(store, Fixed(shift=shift), Watcher())
        assert [row[4] for row in rows(store)] == reasons
    assert store.db.execute("SELECT flags FROM segments").fetchall() == [("email",), ("",)]


@dataclass
class Counting(Fixed):
    """A filter that counts how often it is asked."""

    times: ClassVar[list[int]] = []

    def rescore(self, scores, repeats):
        self.times.append(len(scores))
        return scores


def test_segments_are_not_scored_again_unless_they_have_changed(made: Maker) -> None:
    segments = [Said("One.", "Un.", 0.45), Said("Two.", "Deux.", 0.3)]
    store = made({("/en/1", "/fr/1"): segments})
    Counting.times.clear()
    for _ in range(2):
        score_segments(store, Counting(), Watcher())
    assert Counting.times == [2]
    score_segments(store, Counting(threshold=0.4), Watcher())
    assert Counting.times == [2, 2]
    (id, _), *_ = store.pairs(store.sites()[0][0])
    with store.transaction():
        store.save_segments(id, [])
    assert store.is_finished("scores", "") is False
    score_segments(store, Counting(threshold=0.4), Watcher())
    assert rows(store) == []


def test_counterparts_are_counted_by_side(made: Maker) -> None:
    segments = [Said("Home", "Accueil"), Said("Home", "Accueil"), Said("Home", "Plan"),
            Said("Map", "Plan")]  # fmt: skip
    strategy = Fixed()
    score_segments(made({("/en/1", "/fr/1"): segments}), strategy, Watcher())
    assert [column.tolist() for column in strategy.asked] == [
        [2, 2, 1, 1], [3, 3, 3, 1], [2, 2, 2, 2],
    ]  # fmt: skip


def test_run_without_segments(made: Maker) -> None:
    store = made({})
    score_segments(store, Fixed(), Watcher())
    assert rows(store) == []


KEYS = st.lists(st.tuples(st.integers(-3, 3), st.sampled_from([0.1, 0.5, 0.9])), min_size=1)


@given(KEYS)
def test_best_of_keys_is_what_a_loop_finds(segments: list[tuple[int, float]]) -> None:
    keys, scores = (
        np.array([key for key, _ in segments]),
        np.array([score for _, score in segments]),
    )
    best = best_of(keys, scores)
    expected = {}
    for row, (key, score) in enumerate(segments):
        if key not in expected or score > segments[expected[key]][1]:
            expected[key] = row
    assert best.rows.tolist() == sorted(expected.values())
    assert best.copies.tolist() == [
        sum(key == keys[row] for key, _ in segments) for row in best.rows
    ]


@pytest.mark.parametrize("count", [1, 5])
def test_repeats_of_different_keys(count: int) -> None:
    keys = np.arange(3 * count).reshape(count, 3)
    assert [column.tolist() for column in repeats(keys.T)] == [[1] * count] * 3


def tags(count: int, score: float = 0.6) -> list[Said]:
    names = [f"{first}{second}ra" for first in "BDFGK" for second in "aeiou"][:count]
    return [
        Said(f"Round tag {name}", f"Étiquette ronde {name}", score + place / 100)
        for place, name in enumerate(names)
    ]


def reasons(store) -> list[str]:
    query = "SELECT reason FROM segments ORDER BY pair, position"
    return [reason for (reason,) in store.db.execute(query)]


def test_the_three_best_examples_of_a_template_are_kept(made: Maker) -> None:
    store = made({("/en/1", "/fr/1"): [*tags(6), Said("Other.", "Autre.")]})
    score_segments(store, Fixed(), Watcher())
    assert reasons(store) == ["template", "template", "template", "", "", "", ""]
    assert [row[3] for row in rows(store)] == [0, 0, 0, 1, 1, 1, 1]


def test_a_few_similar_segments_are_no_template(made: Maker) -> None:
    store = made({("/en/1", "/fr/1"): tags(5)})
    score_segments(store, Fixed(), Watcher())
    assert reasons(store) == [""] * 5


def test_duplicates_do_not_make_a_template(made: Maker) -> None:
    store = made({("/en/1", "/fr/1"): tags(5) * 2})
    score_segments(store, Fixed(), Watcher())
    assert sorted(reasons(store)) == [""] * 5 + ["duplicate"] * 5


def test_templates_can_be_kept_and_rejected_again(made: Maker) -> None:
    store = made({("/en/1", "/fr/1"): tags(8)})
    for keep_templates, expected in ((False, 5), (True, 0), (False, 5)):
        score_segments(store, Fixed(), Watcher(), keep_templates=keep_templates)
        assert reasons(store).count("template") == expected


def test_examples_below_the_threshold_are_counted(made: Maker) -> None:
    store = made({("/en/1", "/fr/1"): [*tags(4, 0.6), *tags(7, 0.1)[4:]]})
    score_segments(store, Fixed(), Watcher())
    assert reasons(store).count("template") == 4
    assert reasons(store).count("") == 3


def test_examples_of_a_template_are_found_on_all_pages(made: Maker) -> None:
    words = {"red": "rouge", "blue": "bleu", "green": "vert", "black": "noir", "white": "blanc",
             "grey": "gris", "pink": "rose"}  # fmt: skip
    labels = [
        Said(f"Square tag in {left}", f"Étiquette carrée en {right}", 0.9 - place / 10)
        for place, (left, right) in enumerate(words.items())
    ]
    other = [Said("Other.", "Autre."), Said("More than that.", "Plus que cela.")]
    told = {
        ("/en/1", "/fr/1"): [*labels[:2], other[0]],
        ("/en/2", "/fr/2"): other,
        ("/en/3", "/fr/3"): [other[1], labels[2], other[0], labels[3]],
        ("/en/4", "/fr/4"): [],
        ("/en/5", "/fr/5"): labels[4:],
    }
    store = made(told)
    score_segments(store, Fixed(0.0), Watcher())
    query = "SELECT left FROM segments WHERE reason = 'template' ORDER BY pair, position"
    assert [left for (left,) in store.db.execute(query)] == [each.left for each in labels[3:]]
