"""Tasks about one page, or one pair of pages."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.bilingual import documents
from support.fakes import make_page
from support.runs import LANGS, context, crawled

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.page.content import READER, unpack_outline
from diptych.run.segments import LOW_SCORES
from diptych.run.store import Store
from diptych.stages.align_dom.domtree.document import Document, document
from diptych.steps.sure_segments import SURE_SEGMENTS
from diptych.steps.tasks import (
    AlignTask,
    LexiconTask,
    SketchTask,
    TaskContext,
    VerifyTask,
    split_page,
)
from diptych.types import Block, Decision, LangPair, NodePair, Page, PagePair, Url

NOWHERE = Url("http://127.0.0.1/nowhere")
TIDES = next(document for document in documents() if document.name == "tides")


@pytest.fixture(scope="module")
def store(recorded: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with crawled(recorded, tmp_path_factory.mktemp("tasks") / "run") as opened:
        yield opened


@pytest.fixture(scope="module")
def own(store: Store) -> TaskContext:
    return context(store).of(store)


@pytest.fixture(scope="module")
def pair(recorded: Path) -> PagePair:
    with Store(recorded, write=False) as store:
        return next(pair for _, pair in store.pairs(1) if pair.left.endswith("/tides.html"))


# -- context -----------------------------------------------------------------------------------


def test_context_sent_to_a_process_opens_its_own_store(store: Store) -> None:
    made = context(store)
    again = pickle.loads(pickle.dumps(made))
    assert again.folder == store.folder
    assert again.strategies == made.strategies
    opened = again.store
    assert opened is again.store
    assert opened is not store
    assert opened._lock is None, "only one process writes"
    opened.close()


def test_work_with_an_open_store_opens_no_other(own: TaskContext, store: Store) -> None:
    assert own.store is store


def test_lexicon_of_unknown_languages_is_empty(own: TaskContext) -> None:
    assert len(own.lexicon(LANGS)) == 0
    words = Lexicon.of_links("en", "fr", [("sea", "mer", 1)])
    knowing = replace(own, lexicons={LANGS: words})
    assert knowing.lexicon(LANGS) is words
    assert len(knowing.lexicon(LangPair("en", "de"))) == 0


def test_pages_have_their_content(own: TaskContext, pair: PagePair) -> None:
    pages = own.pages(pair)
    assert pages is not None
    for page, url, lang in zip(pages, (pair.left, pair.right), LANGS, strict=True):
        assert (page.url, page.lang) == (url, lang)
        assert {*TIDES[lang]} & {block.text for block in page.blocks}
        assert page.tree is not None
        assert page.sketch is not None


def test_pages_are_read_from_the_archive_only_if_their_content_is_not_stored(
    recorded: Path, tmp_path: Path, pair: PagePair, monkeypatch
) -> None:
    with crawled(recorded, tmp_path / "run") as store:
        opened: list[Url] = []
        open_ = store.response
        monkeypatch.setattr(store, "response", lambda url: (opened.append(url), open_(url))[1])
        stored = context(store).of(store).pages(pair)
        assert opened == []
        for change in (
            f"UPDATE contents SET reader = {READER - 1}",
            "DELETE FROM contents",
            f"INSERT INTO contents SELECT url, {READER}, x'00' FROM pages",
        ):
            store.db.execute(change)
            pages = context(store).of(store).pages(pair)
            for page, other in zip(pages, stored, strict=True):
                assert replace(page, tree=None) == replace(other, tree=None)
                assert columns(document(page)) == columns(document(other))
            assert opened == [pair.left, pair.right]
            opened.clear()


def columns(tree: Document) -> tuple[object, ...]:
    return tree.tags, tree.texts, tree.hrefs, tree.blocks, tree.leftmost.tolist()


@pytest.mark.parametrize("missing", ["left", "right"])
def test_missing_pages_are_none(own: TaskContext, pair: PagePair, missing: str) -> None:
    gone = replace(pair, **{missing: NOWHERE})
    assert own.pages(gone) is None
    assert LexiconTask(gone).run(own) == []
    assert AlignTask(gone).run(own) == (Decision(False, 0.0, "unreadable"), [])


# -- a page in two languages -------------------------------------------------------------------


def halves(*texts: str) -> tuple[list[str], list[str]]:
    page = make_page("/both", "en", *texts)
    left, right = split_page(page, LANGS)
    assert left.url == right.url == page.url
    assert left.tree is right.tree is None
    return [block.text for block in left.blocks], [block.text for block in right.blocks]


def test_languages_one_after_the_other_are_split() -> None:
    assert halves(*TIDES.en, *TIDES.fr) == ([*TIDES.en], [*TIDES.fr])
    assert halves(*TIDES.fr, *TIDES.en) == ([*TIDES.en], [*TIDES.fr])


def test_languages_in_turn_are_split() -> None:
    texts = [text for both in zip(TIDES.en, TIDES.fr, strict=True) for text in both]
    assert halves(*texts) == ([*TIDES.en], [*TIDES.fr])


def test_blocks_too_short_to_tell_go_with_the_one_before() -> None:
    found = halves("1.", TIDES.fr[0], "2.", TIDES.en[0], "3.")
    assert found == ([TIDES.en[0], "3."], ["1.", TIDES.fr[0], "2."])


def test_unidentifiable_blocks_go_to_the_left_page() -> None:
    assert halves() == ([], [])
    assert halves("1.", "2.") == (["1.", "2."], [])


def test_blocks_of_a_half_keep_their_paths() -> None:
    blocks = [Block(text, f"/body/p[{n}]") for n, text in enumerate((*TIDES.en, *TIDES.fr))]
    left, right = split_page(make_page("/both", "en", *blocks), LANGS)
    assert [*left.blocks, *right.blocks] == blocks


# -- tasks -------------------------------------------------------------------------------------


def test_sketch_is_that_of_the_crawl(own: TaskContext, store: Store, pair: PagePair) -> None:
    for url in (pair.left, pair.right):
        read = SketchTask(url).run(own)
        assert read is not None
        sketch, content = read
        assert sketch.words > 100
        assert sketch == store.sketch(url)
        assert unpack_outline(content) == store.content(url) is not None
    assert SketchTask(NOWHERE).run(own) is None


def test_page_in_no_requested_language_has_an_empty_sketch(
    own: TaskContext, pair: PagePair
) -> None:
    read = SketchTask(pair.left).run(replace(own, langs=("ja", "ko")))
    assert read is not None
    sketch, content = read
    assert (sketch.words, sketch.blocks, content) == (0, (), b"")


def test_sure_segments_teach(own: TaskContext, pair: PagePair) -> None:
    taught = LexiconTask(pair).run(own)
    assert len(taught) > 5
    whole = {segment for segment in AlignTask(pair).run(own).segments}
    # A score is low for want of words, which these are to teach: only rules are minded.
    sure = {
        (seg.left, seg.right)
        for seg, decision in whole
        if (decision.accept or decision.reason in LOW_SCORES) and seg.score >= 0.7
    }
    assert {*taught} == sure
    assert {(seg.left, seg.right) for seg, _ in whole if seg.score >= 0.7} > sure


def test_wrong_pair_teaches_less_than_a_right_one(
    own: TaskContext, pair: PagePair, recorded
) -> None:
    with Store(recorded, write=False) as store:
        other = next(found.right for _, found in store.pairs(1) if found.right != pair.right)
    assert (
        len(LexiconTask(replace(pair, right=other)).run(own)) < len(LexiconTask(pair).run(own)) / 2
    )


def test_accepted_pair_has_aligned_and_unaligned_segments(own: TaskContext, pair: PagePair) -> None:
    decision, segments = AlignTask(pair).run(own)
    assert decision.accept
    assert decision.score > 0.9
    for segment, judged in segments:
        assert (segment.left_url, segment.right_url) == (pair.left, pair.right)
        assert judged.accept or judged.reason
        if not (segment.left and segment.right):
            assert judged == Decision(False, 0.0, "unaligned")


def test_rejected_pair_has_none(own: TaskContext, pair: PagePair, recorded: Path) -> None:
    with Store(recorded, write=False) as store:
        other = next(found.right for _, found in store.pairs(1) if found.right != pair.right)
    decision, segments = AlignTask(replace(pair, right=other)).run(own)
    assert (decision.accept, segments) == (False, [])
    assert decision.reason


def test_tasks_and_results_pass_between_processes(own: TaskContext, pair: PagePair) -> None:
    for task in (SketchTask(pair.left), LexiconTask(pair), AlignTask(pair)):
        assert pickle.loads(pickle.dumps(task)) == task
        found = task.run(own)
        assert pickle.loads(pickle.dumps(found)) == found


class Linked:
    """A tree aligner whose result depends on whether links are asked for."""

    uses_lexicon = True

    def align(self, left: Page, right: Page, lexicon: Lexicon) -> list[NodePair]:
        return self.align_with_links(left, right, lexicon)[0][1:]

    def align_with_links(
        self, left: Page, right: Page, lexicon: Lexicon
    ) -> tuple[list[NodePair], list[tuple[str, str, float]]]:
        sides = zip(left.blocks, right.blocks, strict=False)
        return [NodePair((one,), (other,), 0.95) for one, other in sides], []


def test_words_are_learned_from_the_same_segments_in_another_process(
    own: TaskContext, pair: PagePair
) -> None:
    linked = replace(own, strategies=replace(own.strategies, align_dom=Linked()))
    SURE_SEGMENTS.clear()
    anew = LexiconTask(pair).run(linked)
    assert VerifyTask(pair).run(linked).aligned.decision.accept
    assert LexiconTask(pair).run(linked) == anew
    assert anew


def test_workers_need_no_event_loop() -> None:
    code = (
        "import sys, diptych.engine.reading, diptych.steps.align_pairs;"
        "import diptych.steps.check_declarations;"
        "print(sorted({'asyncio', 'ssl', 'ftfy', 'aiohttp'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
