"""A crawl that is killed goes on as if it had not been, whatever policy guides it.

What a policy has in memory is lost with the process; what it was told is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from support.bilingual import HOST, documents, html, trilingual, write_archive
from support.runs import Killed, state
from support.stores import begin, commit
from support.watching import Watching

from diptych import recipes
from diptych.engine.replay import ReplayEngine, index_archives
from diptych.engine.workers import Workers
from diptych.frontier import guides
from diptych.frontier.crawl import Crawl
from diptych.frontier.guides import Guides, PairQuestion
from diptych.frontier.politeness import Limits, Politeness
from diptych.frontier.scope import Scope
from diptych.protocols import GuidedPolicy
from diptych.registry import STRATEGIES, Strategies, build
from diptych.run.encoding import read_snapshot
from diptych.run.guide_memory import GuideMemory
from diptych.run.store import Store
from diptych.steps.guide_answers import GuideAnswers
from diptych.steps.tasks import TaskContext
from diptych.text.urls import normalise
from diptych.types import Site

LANGS = ("en", "fr")
RECIPES = {"pplocator": "pplocator", "parallel_links": "dom"}
"""policies that ask others, and the recipes in which those are what their papers say"""
NAMES = 12  # of documents
UNTRANSLATED = 4
KEPT = 2  # answers between two commits
KILLS = (1, 2, 3, 4, 5, 7, 10, 13, 16, 19)  # answers after which a process ends


def strategies_of(name: str) -> Strategies:
    return build(recipes.load(RECIPES.get(name, recipes.DEFAULT), {"crawl": name}))


GUIDED = [
    name for name in STRATEGIES["crawl"] if isinstance(strategies_of(name).crawl, GuidedPolicy)
]
"""policies with a memory"""


def pages() -> dict[str, str]:
    """A site with all that guides hear of: switchers, redirects, what is missing, a third language.

    Some pages declare their translations, of some only keys or what they say tell, some have none.
    """
    chosen = documents()[:NAMES]
    made: dict[str, str] = {}
    for lang, own, other in (("en", "Home", "Français"), ("fr", "Accueil", "English")):
        there = "fr" if lang == "en" else "en"
        order = chosen if lang == "en" else tuple(reversed(chosen))
        menu = "".join(f'<li><a href="/{lang}/{each.name}">{each.name}</a>' for each in order)
        more = '<a href="/gone">1</a> <a href="/de/">Deutsch</a> <a href="/paper.pdf">2</a>'
        head = f'<ul><li><a href="/{there}/">{other}</a>{menu}</ul>{more}'
        made[f"/{lang}/"] = html(chosen[0][lang][:2], lang=lang, body=head)
        for number, document in enumerate(chosen):
            if lang == "fr" and number >= NAMES - UNTRANSLATED:
                continue
            switch = f'<a href="/{there}/{document.name}">{other}</a>' if number < 3 else ""
            body = f'<a href="/{lang}/">{own}</a> {switch}'
            made[f"/{lang}/{document.name}"] = html(document[lang], lang=lang, body=body)
    made["/de/"] = html(trilingual()[0]["de"], lang="de")
    return {"/": html([], body='<a href="/en/">English</a> <a href="/fr/">Français</a>'), **made}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_archive(tmp_path_factory.mktemp("archive") / "site.warc.gz", pages())


@dataclass
class Run:
    """A run of one policy on the archive, in as many processes as it takes."""

    folder: Path
    archive: Path
    policy: str
    leaves: list[int] = field(default_factory=list)
    """answers that were known when each process began"""

    @contextmanager
    def opened(self) -> Iterator[tuple[Store, Crawl]]:
        """The store and the crawl of one process; what is not committed is lost with it."""
        self.folder.mkdir(exist_ok=True)
        home = normalise(HOST + "/")
        assert home is not None
        site = Site("phares.example", (home,))
        store = Store(self.folder)
        try:
            index_archives(store, [self.archive])
            crawl = Crawl(
                store, [site], Scope.of([site]), strategies_of(self.policy).crawl, LANGS,
                politeness=Politeness("test", delay=0.0, obey_robots=False), limits=Limits(),
                now=0.0,
            )  # fmt: skip
            self.leaves.append(store.count("SELECT count(*) FROM fetches"))
            yield store, crawl
        finally:
            if store.db.in_transaction:
                store.db.execute("ROLLBACK")
            store.close()

    def go(self, *, until: int = 10**9, kept: int = KEPT) -> bool:
        """Crawl to the end, or die with a download; whether the end was reached."""
        with self.opened() as (store, crawl):

            def tick() -> None:
                fetched = store.count("SELECT count(*) FROM fetches")
                if fetched >= until:
                    raise Killed
                if fetched % kept == 0:
                    crawl.guides.save(crawl.hosts.sites.values(), lambda site: False)
                    commit(store)
                    begin(store)

            context = TaskContext(self.folder, strategies_of(self.policy), LANGS)
            try:
                here = Workers(0)
                answers = GuideAnswers(crawl, context, here)
                ReplayEngine().run(crawl, answers, here, Watching(on_tick=tick))
            except Killed:
                return False
        return True

    def fetched(self) -> list[str]:
        """What was asked for, in order."""
        return [path for (path,) in self.rows(
            "SELECT replace(urls.url, ?, '') FROM fetches JOIN urls ON urls.key = fetches.url"
            " ORDER BY fetches.id", HOST,
        )]  # fmt: skip

    def rows(self, query: str, *values: str) -> list[tuple]:
        with Store(self.folder, write=False) as store:
            return store.db.execute(query, values).fetchall()

    def outcome(self) -> tuple[object, ...]:
        """All that the crawl left behind."""
        with Store(self.folder, write=False) as store:
            found = state(store)
        return (
            found,
            [read_snapshot(data) for (data,) in self.rows("SELECT data FROM guides") if data],
            self.rows("SELECT url, state, priority, depth, reason FROM urls ORDER BY url"),
        )


@pytest.fixture(scope="module", params=STRATEGIES["crawl"])
def whole(request: pytest.FixtureRequest, archive: Path, tmp_path_factory) -> Run:
    """A crawl that nothing disturbed."""
    run = Run(tmp_path_factory.mktemp("whole") / "run", archive, request.param)
    assert run.go()
    return run


def test_the_site_has_something_for_every_policy(whole: Run) -> None:
    fetched = whole.fetched()
    assert len(fetched) > max(KILLS)
    assert len(set(fetched)) == len(fetched)
    assert {"/en/", "/fr/"} <= set(fetched)


def test_killed_crawl_goes_on_in_the_same_order(whole: Run, tmp_path: Path) -> None:
    goes_on_in_the_same_order(whole, tmp_path)


@pytest.mark.parametrize("whole", GUIDED, indirect=True)
def test_crawl_with_a_snapshot_at_every_commit_goes_on_in_the_same_order(
    whole: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guides, "MIN_WORK", -1)
    monkeypatch.setattr(guides, "WORK_PER_BYTE", 0.0)
    goes_on_in_the_same_order(whole, tmp_path)


def goes_on_in_the_same_order(whole: Run, tmp_path: Path) -> None:
    run = Run(tmp_path / "run", whole.archive, whole.policy)
    for until in KILLS:
        assert not run.go(until=until)
    assert run.go()
    lost = [until - known for until, known in zip(KILLS, run.leaves[1:], strict=True)]
    assert max(lost) > 0, "some of what was fetched must be fetched again"
    assert run.fetched() == whole.fetched()
    assert run.outcome() == whole.outcome()


@pytest.mark.parametrize("until", [5, 11, 18])
def test_crawl_that_lost_all_but_its_last_commit_goes_on_from_there(
    whole: Run, tmp_path: Path, until: int
) -> None:
    run = Run(tmp_path / "run", whole.archive, whole.policy)
    assert not run.go(until=until, kept=max(1, until - 2))
    assert run.go()
    assert run.fetched() == whole.fetched()
    assert run.outcome() == whole.outcome()


def test_crawl_that_reached_its_end_has_nothing_left_to_do(whole: Run, tmp_path: Path) -> None:
    before = whole.outcome()
    assert whole.go()
    assert whole.outcome() == before


# -- that all of this can fail ---------------------------------------------------------------------


@pytest.mark.parametrize("whole", GUIDED, indirect=True)
def test_guide_that_is_not_told_everything_crawls_otherwise(
    whole: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal: Callable[[GuideMemory, int], list[tuple[str, str]]] = GuideMemory.journal
    monkeypatch.setattr(
        GuideMemory,
        "journal",
        lambda memory, site: [entry for entry in journal(memory, site) if entry[0] != "page"],
    )
    run = Run(tmp_path / "run", whole.archive, whole.policy)
    for until in KILLS:
        run.go(until=until)
    run.go()
    assert run.fetched() != whole.fetched()


def test_question_that_was_not_answered_is_asked_again(archive: Path, tmp_path: Path) -> None:
    run = Run(tmp_path / "run", archive, "hybrid")
    asked: list[PairQuestion] = []
    taken = Guides.questions

    def dying(guides: Guides, now: float) -> list[PairQuestion]:
        asked.extend(taken(guides, now))
        if asked:
            raise Killed
        return []

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Guides, "questions", dying)
        assert not run.go(kept=1)
    with run.opened() as (_, crawl):
        assert crawl.questions(0.0) == asked != []
        assert crawl.questions(0.0) == []
