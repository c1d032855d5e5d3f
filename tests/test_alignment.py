"""Both passes over the pairs of a run, and what is left of one that was interrupted."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from commands import mistake, query, rows, run

from diptych import recipes
from diptych.align_dom import domtree
from diptych.alignment import FIRST, SECOND, lexicon_of, verify_and_align
from diptych.learn.lexicon import Lexicon
from diptych.registry import Strategies, build
from diptych.store import Store
from diptych.types import LangPair, PagePair
from diptych.watcher import Watcher

LANGS = LangPair("en", "fr")
PAIRS = 4
BASELINES = {"align_dom": "flat", "align_sentences": "gale_church"}
SEGMENTS = (
    "SELECT l.url, r.url, position, s.left, s.right, left_path, right_path, s.score, s.accept,"
    " s.reason FROM segments s JOIN pairs ON pairs.id = s.pair JOIN urls l ON l.key = pairs.left"
    " JOIN urls r ON r.key = pairs.right ORDER BY l.url, r.url, position"
)


def strategies(**stages: str) -> Strategies:
    return build(recipes.load(recipes.DEFAULT, stages))


@dataclass(slots=True)
class Counting(Watcher):
    """Counts how often it was told, and which stages there were."""

    ticks: int = 0
    stages: tuple[str, ...] = ()

    def tick(self) -> None:
        self.ticks += 1
        if self.stage not in self.stages:
            self.stages += (self.stage,)


class Killed(Exception):
    """The end of a run that is not its own."""


@dataclass(slots=True)
class Killing(Watcher):
    """Ends a run after so many ticks."""

    left: int = 0

    def tick(self) -> None:
        if not self.left:
            raise Killed
        self.left -= 1


@pytest.fixture(scope="module")
def every_pair(recorded: Path) -> list[PagePair]:
    with Store(recorded, write=False) as store:
        return [pair for site, _ in store.sites() for _, pair in store.pairs(site)]


@pytest.fixture
def fresh(recorded: Path, tmp_path: Path, every_pair: list[PagePair]) -> Callable[..., Store]:
    """Makes runs that have been crawled and paired, with some of the demo's pairs in some order."""
    opened: list[Store] = []

    def make(name: str, pairs: list[PagePair]) -> Store:
        folder = tmp_path / name
        shutil.copytree(recorded, folder)
        store = Store(folder)
        opened.append(store)
        for table in ("segments", "decisions", "lexicons", "pairs"):
            store.db.execute(f"DELETE FROM {table}")
        store.replace_pairs(1, pairs)
        return store

    yield make
    for store in opened:
        store.close()


def align(store: Store, watcher: Watcher | None = None, **stages: str) -> Watcher:
    watcher = watcher or Counting()
    verify_and_align(store, strategies(**stages), LANGS, None, watcher)
    return watcher


def state(store: Store) -> tuple:
    return (
        store.db.execute(SEGMENTS).fetchall(),
        store.lexicon(LANGS),
        store.db.execute("SELECT aligned FROM pairs ORDER BY left, right").fetchall(),
    )


# -- two passes --------------------------------------------------------------------------------


def test_first_pass_teaches_the_second(fresh, every_pair) -> None:
    store = fresh("run", every_pair[:PAIRS])
    watcher = align(store)
    assert watcher.stages == ("aligning", "learning words", "aligning again")
    assert watcher.ticks == 2 * PAIRS + 1
    data = store.lexicon(LANGS)
    assert data is not None
    lexicon = Lexicon.from_bytes(data)
    assert (lexicon.left_lang, lexicon.right_lang) == LANGS
    assert lexicon.best("lighthouse")[0][0] == "phare"
    assert store.db.execute("SELECT DISTINCT aligned FROM pairs").fetchall() == [(SECOND,)]
    assert watcher.pairs == PAIRS
    assert watcher.segments == store.count("SELECT count(*) FROM segments WHERE accept")


def test_second_pass_has_the_lexicon(fresh, every_pair, monkeypatch) -> None:
    seen: list[int] = []
    tree = domtree.DomTree.align

    def watched(self, left, right, lexicon):
        seen.append(len(lexicon))
        return tree(self, left, right, lexicon)

    monkeypatch.setattr(domtree.DomTree, "align", watched)
    align(fresh("run", every_pair[:PAIRS]))
    assert seen[:PAIRS] == [0] * PAIRS
    assert min(seen[PAIRS:]) == max(seen[PAIRS:]) > 100


def test_second_run_does_nothing(fresh, every_pair) -> None:
    store = fresh("run", every_pair[:PAIRS])
    done = align(store)
    before = state(store)
    again = align(store)
    assert again.ticks == 0
    assert (again.pairs, again.segments) == (done.pairs, done.segments)
    assert state(store) == before


def test_baselines_learn_nothing(fresh, every_pair) -> None:
    store = fresh("run", every_pair[:PAIRS])
    watcher = align(store, **BASELINES)
    assert watcher.stages == ("aligning",)
    assert watcher.ticks == PAIRS
    assert store.lexicon(LANGS) is None
    assert store.db.execute("SELECT DISTINCT aligned FROM pairs").fetchall() == [(FIRST,)]
    assert align(store, **BASELINES).ticks == 0


@pytest.mark.parametrize("stage", list(BASELINES))
def test_one_aligner_that_uses_words_is_enough_to_learn(fresh, every_pair, stage: str) -> None:
    store = fresh("run", every_pair[:2])
    assert align(store, **{stage: BASELINES[stage]}).ticks == 5
    assert store.lexicon(LANGS) is not None


def test_few_segments_teach_nothing(fresh, every_pair, monkeypatch) -> None:
    monkeypatch.setattr("diptych.alignment._LEAST", 10**6)
    store = fresh("run", every_pair[:2])
    align(store)
    data = store.lexicon(LANGS)
    assert data is not None
    assert len(Lexicon.from_bytes(data)) == 0


def test_rejected_and_unreadable_pairs_are_looked_at_once(fresh, every_pair, monkeypatch) -> None:
    store = fresh("run", every_pair[:3])
    gone = every_pair[0].left
    open_ = store.response
    monkeypatch.setattr(store, "response", lambda url: None if url == gone else open_(url))
    watcher = align(store)
    assert watcher.ticks == 3 + 1 + 2
    assert watcher.pairs == 2
    decisions = "SELECT accept, reason FROM decisions ORDER BY accept"
    assert store.db.execute(decisions).fetchall() == [(0, "unreadable"), (1, ""), (1, "")]
    assert align(store).ticks == 0


def test_what_has_no_counterpart_is_kept_with_its_reason(fresh, every_pair, monkeypatch) -> None:
    store = fresh("run", every_pair[:2])
    pair, alone = every_pair[0], "Nobody over there says a word of this, of 4711 or of 4712."
    open_ = store.response

    def longer(url):
        found = open_(url)
        if url != pair.left:
            return found
        return replace(found, body=found.body.replace(b"<p", f"<p>{alone}</p><p".encode(), 1))

    monkeypatch.setattr(store, "response", longer)
    align(store)
    found = store.db.execute(
        "SELECT position, left, right, left_path != '', right_path, accept, reason FROM segments"
        " WHERE left = '' OR right = ''"
    ).fetchall()
    assert [row[1:] for row in found] == [(alone, "", 1, "", 0, "unaligned")]
    assert found[0][0] > 0  # at its place in the page
    assert all(segment.left and segment.right for segment in store.segments())


# -- the same in the end -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def ended(recorded: Path, tmp_path_factory: pytest.TempPathFactory, every_pair) -> Iterator[tuple]:
    """What a run comes to that is not interrupted."""
    folder = tmp_path_factory.mktemp("ended") / "run"
    shutil.copytree(recorded, folder)
    with Store(folder) as store:
        for table in ("segments", "decisions", "lexicons", "pairs"):
            store.db.execute(f"DELETE FROM {table}")
        store.replace_pairs(1, every_pair[:3])
        align(store)
        yield state(store)


@pytest.mark.parametrize("ticks", range(7))
def test_run_killed_at_any_moment_comes_to_the_same_end(fresh, every_pair, ended, ticks) -> None:
    store = fresh("run", every_pair[:3])
    with pytest.raises(Killed):
        align(store, Killing(left=ticks))
    assert state(store) != ended or ticks == 6  # the last tick comes when all is done
    watcher = align(store)
    assert state(store) == ended
    assert watcher.segments == store.count("SELECT count(*) FROM segments WHERE accept")
    assert watcher.pairs == 3


def test_run_killed_again_and_again_comes_to_the_same_end(fresh, every_pair, ended) -> None:
    store = fresh("run", every_pair[:3])
    for _ in range(7):
        with pytest.raises(Killed):
            align(store, Killing(left=0))
    align(store)
    assert state(store) == ended


def test_new_pairs_begin_both_passes_again(fresh, every_pair, ended) -> None:
    store = fresh("run", every_pair[:2])
    align(store)
    first = state(store)
    store.replace_pairs(1, every_pair[:3])
    assert align(store).ticks == 7
    assert state(store) == ended
    # And the other way: what was learned of a pair that is no more is forgotten.
    store.replace_pairs(1, every_pair[:2])
    assert align(store).ticks == 5
    assert state(store) == first


def test_pages_that_changed_begin_both_passes_again(fresh, every_pair) -> None:
    store = fresh("run", every_pair[:2])
    align(store)
    store.db.execute("UPDATE pages SET digest = digest || 'x'")
    assert align(store).ticks == 5


def test_order_of_pairs_does_not_matter(fresh, every_pair, ended) -> None:
    store = fresh("run", every_pair[2::-1])
    align(store)
    segments, lexicon, _ = state(store)
    assert (segments, lexicon) == ended[:2]


# -- lexicons of the user's --------------------------------------------------------------------

WORDS = Lexicon.of_links("en", "fr", [("zyzzyva", "charançon", 1)])


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


def test_words_of_the_user_are_not_lost_to_what_is_learned(fresh, every_pair) -> None:
    meanings = ["charançon", "calandre", "bruche", "curculion"]
    words = Lexicon.of_links("en", "fr", [("zyzzyva", word, 1) for word in meanings])
    store = fresh("run", every_pair)
    verify_and_align(store, strategies(), LANGS, words, Counting())
    learned = Lexicon.from_bytes(store.lexicon(LANGS))
    assert sorted(word for word, _ in learned.best("zyzzyva")) == sorted(meanings)
    assert len(learned) > len(words)


def test_lexicon_of_the_user_is_used_from_the_beginning(fresh, every_pair, monkeypatch) -> None:
    seen: list[list[tuple[str, float]]] = []
    tree = domtree.DomTree.align

    def watched(self, left, right, lexicon):
        seen.append(lexicon.best("zyzzyva"))
        return tree(self, left, right, lexicon)

    monkeypatch.setattr(domtree.DomTree, "align", watched)
    store = fresh("run", every_pair[:2])
    verify_and_align(store, strategies(), LANGS, WORDS, Counting())
    assert seen[0] == seen[1] == [("charançon", 1.0)]
    # What was known is known still when more is learned.
    assert [word for word, _ in seen[-1]] == ["charançon"]


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
    assert "a lexicon of de,fr is of no use for --langs en,fr" in line
    assert "cannot read" in mistake(*mine(recorded, out, "--lexicon", tmp_path / "no.npz"))
    assert "no lexicon" in mistake(*mine(recorded, out, "--lexicon", recorded / "run.toml"))
    assert not out.exists()
