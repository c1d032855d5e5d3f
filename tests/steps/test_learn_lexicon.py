"""Learning a lexicon before the final pairing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.commands import mistake, query, rows, run
from support.runs import BASELINES, LANGS, Counting, Killed, Killing, context, crawled

from diptych.engine.workers import Workers
from diptych.frontier.politeness import Limits, Politeness
from diptych.frontier.scope import Scope
from diptych.learn.lexicon.lexicon import Lexicon, lexicon_of
from diptych.pipeline import ROUNDS, Plan, pair_and_learn
from diptych.pipeline import run as run_pipeline
from diptych.protocols import Watcher
from diptych.registry import Strategies
from diptych.run.store import Store
from diptych.steps.tasks import LexiconTask, TaskContext
from diptych.types import LangPair, PagePair, Site

WORDS = Lexicon.of_links("en", "fr", [("zyzzyva", "charançon", 1)])


@pytest.fixture(scope="module")
def every_pair(recorded: Path) -> list[PagePair]:
    with Store(recorded, write=False) as store:
        return [pair for site, _ in store.sites() for _, pair in store.pairs(site)]


@pytest.fixture
def store(recorded: Path, tmp_path: Path) -> Iterator[Store]:
    with crawled(recorded, tmp_path / "run") as opened:
        yield opened


class Pairing:
    """A pairing step that returns the next of given pairs, and records the lexicons it got."""

    is_whole = True

    def __init__(self, store: Store, *rounds: list[PagePair]) -> None:
        self.known: list[dict[LangPair, Lexicon]] = []
        self.only: list[object] = []
        self._store, self._rounds = store, rounds

    def __call__(
        self, store: Store, context: TaskContext, workers: Workers, watcher: Watcher, only: object
    ) -> bool:
        pairs = self._rounds[min(len(self.known), len(self._rounds) - 1)]
        self.known.append(dict(context.lexicons))
        self.only.append(only)
        self._store.replace_pairs(1, pairs)
        return self.is_whole


def learn(
    store: Store, pairing: Callable, known=None, watcher: Watcher | None = None, **stages: str
) -> dict[LangPair, Lexicon]:
    watcher = watcher or Counting()
    own = replace(context(store, **stages), lexicons=known or {})
    return dict(pair_and_learn(store, own, Workers(0), watcher, pair=pairing).lexicons)


def sure(pairs: list[PagePair], score: float = 0.9) -> list[PagePair]:
    return [replace(pair, score=score) for pair in pairs]


# -- rounds ------------------------------------------------------------------------------------


def test_surest_pairs_teach_words_that_pages_are_paired_with(store, every_pair) -> None:
    pairing, watcher = Pairing(store, sure(every_pair)), Counting()
    learned = learn(store, pairing, watcher=watcher)
    assert list(learned) == [LANGS]
    lexicon = learned[LANGS]
    assert (lexicon.left_lang, lexicon.right_lang) == LANGS
    assert lexicon.best("lighthouse")[0][0] == "phare"
    # Paired without words, then with them; no more sure pairs were found, so that was all.
    assert [list(known) for known in pairing.known] == [[], [LANGS]]
    assert watcher.stages == ("pairing", "learning words")
    assert store.lexicons() == {LANGS: lexicon.to_bytes()}


def test_pairing_that_failed_is_tried_again_by_the_next_invocation(store, every_pair) -> None:
    failing, again = Pairing(store, []), Pairing(store, sure(every_pair))
    failing.is_whole = False
    learn(store, failing)
    assert list(learn(store, again)) == [LANGS]
    assert store.count("SELECT count(*) FROM pairs") == len(every_pair)
    third = Pairing(store, [])
    learn(store, third)
    assert third.known == [], "it was whole"


def test_site_that_failed_once_teaches_by_the_next_invocation(store, every_pair) -> None:
    """Its pages taught nothing, although it was paired later."""

    class FailingOnce(Pairing):
        def __call__(self, *given: Any) -> bool:
            return Pairing.__call__(self, *given) and len(self.known) > 1

    learn(store, FailingOnce(store, sure(every_pair[:12]), sure(every_pair)))
    again = Pairing(store, sure(every_pair))
    learn(store, again)
    assert len(again.known) == 2


def test_pair_that_failed_teaches_by_the_next_invocation(store, every_pair, monkeypatch) -> None:
    pairing, asked, run = Pairing(store, sure(every_pair)), [], LexiconTask.run

    def failing(task: LexiconTask, context: TaskContext) -> list[tuple[str, str]]:
        asked.append(task)
        if len(asked) == 1:
            raise MemoryError
        return run(task, context)

    monkeypatch.setattr(LexiconTask, "run", failing)
    first = learn(store, pairing)
    second = learn(store, pairing)
    assert len(asked) == 2 * len(every_pair)
    assert second[LANGS].to_bytes() != first[LANGS].to_bytes()
    learn(store, pairing)
    assert len(asked) == 2 * len(every_pair), "nothing failed any more"


def test_learns_again_while_there_are_more_sure_pairs(store, every_pair) -> None:
    few, more = sure(every_pair[:6]), sure(every_pair[:12])
    pairing = Pairing(store, few, more, sure(every_pair[:12]))
    learned = learn(store, pairing)
    # Two rounds: the first found twice as many, the second no more.
    assert len(pairing.known) == 3
    assert len(pairing.known[1][LANGS]) < len(pairing.known[2][LANGS])
    assert learned[LANGS].to_bytes() == pairing.known[2][LANGS].to_bytes()


def test_only_sites_with_pages_in_doubt_are_paired_again(store, every_pair) -> None:
    pairing = Pairing(store, sure(every_pair))
    learn(store, pairing)
    assert pairing.only == [None, [1]]
    # Without a page in doubt, none is.
    store.db.execute("DELETE FROM learning")
    store.db.execute(
        "DELETE FROM sketches"
        " WHERE url NOT IN (SELECT left FROM pairs UNION SELECT right FROM pairs)"
    )
    pairing = Pairing(store, sure(every_pair, 0.99))
    learn(store, pairing)
    assert pairing.only == [None]


def test_all_sites_are_paired_again_if_one_could_not_be_paired(store, every_pair) -> None:
    pairing = Pairing(store, sure(every_pair))
    pairing.is_whole = False
    learn(store, pairing)
    assert pairing.only == [None, None]


def test_number_of_learning_rounds_is_bounded(store, every_pair) -> None:
    pairing = Pairing(store, *[sure(every_pair[:count]) for count in range(4, 16, 2)])
    learn(store, pairing)
    assert len(pairing.known) == 1 + ROUNDS


def test_more_pairs_that_are_not_sure_teach_nothing_new(store, every_pair) -> None:
    unsure = [*sure(every_pair[:6]), *sure(every_pair[6:], 0.79)]
    pairing = Pairing(store, sure(every_pair[:6]), unsure)
    learn(store, pairing)
    assert len(pairing.known) == 2


def test_learns_once_of_the_same_pages(store, every_pair) -> None:
    first = learn(store, Pairing(store, sure(every_pair[:6])))
    pairing, watcher = Pairing(store, []), Counting()
    again = learn(store, pairing, watcher=watcher)
    assert (pairing.known, watcher.ticks) == ([], 0)
    assert {langs: each.to_bytes() for langs, each in again.items()} == {
        langs: each.to_bytes() for langs, each in first.items()
    }
    store.db.execute("UPDATE pages SET digest = digest || 'x'")
    pairing = Pairing(store, sure(every_pair[:6]))
    learn(store, pairing)
    assert len(pairing.known) == 2


def test_baselines_learn_nothing_but_are_paired(store, every_pair) -> None:
    pairing = Pairing(store, sure(every_pair))
    assert learn(store, pairing, **BASELINES) == {}
    assert pairing.known == [{}]
    assert len(store.pairs(1)) == len(every_pair)


@pytest.mark.parametrize("stage", list(BASELINES))
def test_one_aligner_that_uses_words_is_enough_to_learn(store, every_pair, stage: str) -> None:
    pairing = Pairing(store, sure(every_pair[:6]))
    assert list(learn(store, pairing, **{stage: BASELINES[stage]})) == [LANGS]


def test_few_segments_teach_nothing(store, every_pair, monkeypatch) -> None:
    monkeypatch.setattr("diptych.steps.learn_lexicon._MIN_SEGMENTS", 10**6)
    pairing = Pairing(store, sure(every_pair[:4]))
    assert learn(store, pairing) == {}
    assert learn(store, Pairing(store, [])) == {}  # which is known the second time


def test_without_any_pairs_there_is_nothing_to_learn(store) -> None:
    pairing = Pairing(store, [])
    assert learn(store, pairing) == {}
    assert len(pairing.known) == 2


# -- who teaches -------------------------------------------------------------------------------


def taught(store, pairs, monkeypatch, letters=None) -> list[PagePair]:
    """The pairs used for training, in order."""
    asked: list[PagePair] = []
    monkeypatch.setattr(LexiconTask, "run", lambda self, context: asked.append(self.pair) or [])
    if letters is not None:
        monkeypatch.setattr("diptych.steps.learn_lexicon.MAX_LETTERS", letters)
    learn(store, Pairing(store, pairs))
    store.db.execute("DELETE FROM learning")
    return asked


def test_sample_is_the_same_whatever_the_order(store, every_pair, monkeypatch) -> None:
    pairs = sure(every_pair)
    some = taught(store, pairs, monkeypatch, 10_000)
    assert 1 < len(some) < len(pairs)
    store.replace_pairs(1, [])
    assert taught(store, pairs[::-1], monkeypatch, 10_000) == some
    # It is no part of the site: neither the first nor the last ones by name.
    places = sorted(pair.left for pair in pairs)
    assert {pair.left for pair in some} not in (
        set(places[: len(some)]), set(places[-len(some) :]),
    )  # fmt: skip


def test_a_page_that_repeats_others_does_not_teach(store, every_pair, monkeypatch) -> None:
    pairs = sure(every_pair[:6])
    assert len(set(taught(store, pairs, monkeypatch))) == len(pairs)
    # All pages but one say what the first says; which is the first depends on the sample.
    same, other = (store.sketch(pair.left) for pair in pairs[:2])
    assert {block for block, _ in same.blocks} != {block for block, _ in other.blocks}
    for pair in (pairs[0], *pairs[2:]):
        store.save_sketch(pair.left, same)
    asked = set(taught(store, pairs, monkeypatch))
    assert pairs[1].left in {pair.left for pair in asked}
    assert len(asked) == 2


def test_pages_without_a_sketch_may_teach(store, every_pair, monkeypatch) -> None:
    store.db.execute("DELETE FROM sketches")
    assert taught(store, sure(every_pair[:6]), monkeypatch)


def test_only_so_many_pairs_are_looked_at(store, every_pair, monkeypatch) -> None:
    monkeypatch.setattr("diptych.steps.learn_lexicon._MAX_PAIRS", 3)
    assert len(set(taught(store, sure(every_pair), monkeypatch))) == 3


def test_only_sure_pairs_teach(store, every_pair, monkeypatch) -> None:
    certain, doubtful = sure(every_pair[::2]), sure(every_pair[1::2], 0.6)
    asked = taught(store, [*doubtful, *certain], monkeypatch)
    scores = [pair.score for pair in asked]
    assert scores == [0.9] * len(certain)


def test_texts_teach_once_and_in_one_order(store, every_pair, monkeypatch) -> None:
    seen: list[list[tuple[str, str]]] = []
    monkeypatch.setattr(
        "diptych.steps.learn_lexicon.train_lexicon", lambda texts, *_: seen.append(texts)
    )
    learn(store, Pairing(store, sure(every_pair[:6])))
    assert seen[0] == sorted(set(seen[0]))
    assert len(seen[0]) > 20


# -- what the user knows -----------------------------------------------------------------------


def test_words_of_the_user_are_used_and_not_lost_to_what_is_learned(store, every_pair) -> None:
    meanings = ["charançon", "calandre", "bruche", "curculion"]
    words = Lexicon.of_links("en", "fr", [("zyzzyva", word, 1) for word in meanings])
    pairing = Pairing(store, sure(every_pair))
    learned = learn(store, pairing, {LANGS: words})
    assert pairing.known[0] == {LANGS: words}
    for lexicon in (pairing.known[1][LANGS], learned[LANGS]):
        assert sorted(word for word, _ in lexicon.best("zyzzyva")) == sorted(meanings)
        assert len(lexicon) > len(words)


def test_words_of_the_user_are_all_there_is_where_nothing_is_learned(store) -> None:
    learned = learn(store, Pairing(store, []), {LANGS: WORDS})
    assert learned[LANGS].to_bytes() == WORDS.to_bytes()
    assert learn(store, Pairing(store, []))[LANGS].to_bytes() == WORDS.to_bytes()


@pytest.mark.parametrize(
    ("asked", "known", "is_turned"),
    [
        (("en", "fr"), ("en", "fr"), False),
        (("fr", "en"), ("en", "fr"), True),
        (("en-GB", "fr-CA"), ("en", "fr"), False),
        (("en", "de"), ("en", "fr"), None),
        (("de", "fr"), ("en", "fr"), None),
    ],
)
def test_lexicon_fits_whichever_way_round(asked, known, is_turned) -> None:
    lexicon = Lexicon.of_links(*known, [("sea", "mer", 1)])
    found = lexicon_of(LangPair(*asked), [Lexicon.empty("ja", "ko"), lexicon])
    if is_turned is None:
        assert found is None
    else:
        assert found is not None
        assert (found.left_lang, found.right_lang) == asked
        assert found.best("mer" if is_turned else "sea") == [("sea" if is_turned else "mer", 1.0)]


def test_several_lexicons_are_one() -> None:
    others = [Lexicon.of_links("fr", "en", [("mer", "sea", 1)]), WORDS]
    both = lexicon_of(LANGS, others)
    assert both.best("sea") == [("mer", 1.0)]
    assert both.best("zyzzyva") == WORDS.best("zyzzyva")
    assert lexicon_of(LANGS, []) is None
    assert lexicon_of(LANGS, [WORDS]) is WORDS  # what is kept with it is not made again


@pytest.fixture
def lexicon(tmp_path: Path) -> Path:
    path = tmp_path / "words.npz"
    path.write_bytes(Lexicon.of_links("fr", "en", [("charançon", "zyzzyva", 1)]).to_bytes())
    return path


def mine(recorded: Path, out: Path, *more: object) -> list[object]:
    return ["mine", "--warc", recorded / "warc", "--langs", "en,fr", "--out", out, "--quiet", *more]


def test_mine_with_a_lexicon(recorded: Path, tmp_path: Path, lexicon: Path) -> None:
    out = tmp_path / "run"
    assert run(*mine(recorded, out, "--lexicon", lexicon)).exit_code == 0
    ((data,),) = query(out, "SELECT data FROM lexicons")
    assert [word for word, _ in Lexicon.from_bytes(data).best("zyzzyva")] == ["charançon"]
    assert 'lexicons = [\n    "fr-en:' in (out / "run.toml").read_text("utf-8")
    assert len(rows(out / "corpus.tsv")) > 100
    # Without it, or with another, it would be another run.
    assert "lexicons" in mistake(*mine(recorded, out))
    other = lexicon.with_name("other.npz")
    other.write_bytes(WORDS.to_bytes())
    assert "lexicons" in mistake(*mine(recorded, out, "--lexicon", other))


def test_mine_with_a_lexicon_of_no_use(recorded: Path, tmp_path: Path, lexicon: Path) -> None:
    out = tmp_path / "run"
    other = tmp_path / "other.npz"
    other.write_bytes(Lexicon.of_links("de", "fr", [("haus", "maison", 1)]).to_bytes())
    line = mistake(*mine(recorded, out, "--lexicon", lexicon, "--lexicon", other))
    assert "a lexicon for de,fr cannot be used with --langs en,fr" in line
    assert "cannot read" in mistake(*mine(recorded, out, "--lexicon", tmp_path / "no.npz"))
    assert "not a Diptych lexicon" in mistake(
        *mine(recorded, out, "--lexicon", recorded / "run.toml")
    )
    assert not out.exists()


# -- the same in the end -----------------------------------------------------------------------


class Offline:
    """An engine that fetches nothing: all pages were fetched before."""

    def run(self, crawl, answers, workers, watcher) -> None:
        """Fetch nothing."""


def pipeline(store: Store, strategies: Strategies, watcher: Watcher) -> None:
    """Run all steps after the crawl."""
    site = Site("127.0.0.1", ())
    plan = Plan(
        [site], Scope.of([site], kind="host"), LANGS, Politeness(agent="test"), Limits()
    )  # fmt: skip
    run_pipeline(plan, strategies, store, Offline(), Workers(0), watcher, 0.0)


def results(store: Store) -> tuple[bytes, ...]:
    names = ("pairs.tsv", "corpus.tsv", "corpus.tmx")
    return tuple((store.folder / name).read_bytes() for name in names)


def small(store: Store) -> None:
    """Keep only a few pages without sketches, so that a run has few ticks."""
    urls = sorted(pair["left_url"] for pair in rows(store.folder / "pairs.tsv"))[4:]
    keep = {url for pair in rows(store.folder / "pairs.tsv") if pair["left_url"] not in urls
            for url in (pair["left_url"], pair["right_url"])}  # fmt: skip
    marks = ",".join("?" * len(keep))
    store.db.execute(
        f"DELETE FROM pages WHERE url NOT IN (SELECT key FROM urls WHERE url IN ({marks}))",
        sorted(keep),
    )
    store.db.execute("DELETE FROM sketches")
    for name in ("pairs.tsv", "corpus.tsv", "corpus.tmx"):
        (store.folder / name).unlink()


@pytest.mark.slow
def test_run_killed_at_any_tick_comes_to_the_same_end(recorded: Path, tmp_path: Path) -> None:
    watcher = Counting()
    with crawled(recorded, tmp_path / "whole") as store:
        own = context(store).strategies
        small(store)
        pipeline(store, own, watcher)
        ended, lexicons = results(store), store.lexicons()
        count = store.count("SELECT count(*) FROM segments")
    assert ended[1].count(b"\n") > 20
    assert {
        "reading", "pairing", "learning words", "aligning", "scoring", "writing"
    } == set(watcher.stages)  # fmt: skip
    assert 15 < watcher.ticks < 60
    for ticks in range(watcher.ticks):
        with crawled(recorded, tmp_path / "killed") as store:
            small(store)
            with pytest.raises(Killed):
                pipeline(store, own, Killing(left=ticks))
            store.db.rollback()
        with Store(tmp_path / "killed") as store:
            pipeline(store, own, Watcher())
            assert results(store) == ended, ticks
            assert store.lexicons() == lexicons
            assert store.count("SELECT count(*) FROM segments") == count
        (tmp_path / "killed").rename(tmp_path / f"killed{ticks}")
