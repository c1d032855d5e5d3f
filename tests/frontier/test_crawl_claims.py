"""No claim is lost: what is claimed is under way, and what is under way ends whatever comes of it.

So a claim needs no time after which it is given back; those that a process did not end, because it
was killed or stopped, or because a fetch has raised, are given back by the next one.
"""

from __future__ import annotations

import random
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.driving import (
    EAGER,
    HOME,
    Answer,
    Drive,
    Script,
    failure,
    page,
    redirect,
    robots,
    sitemap,
    status,
    url,
    web,
)
from support.examples import examples

from diptych.frontier.crawl import Crawl
from diptych.frontier.politeness import Limits
from diptych.frontier.queue import Claim
from diptych.types import Kind, Url


class Watched(Drive):
    """A drive that compares claimed URLs with running fetches after each response."""

    def report(self, crawl: Crawl, claim: Claim) -> None:
        super().report(crawl, claim)
        claimed = crawl.store.db.execute("SELECT url, kind FROM urls WHERE state = 1").fetchall()
        # Sitemaps are taken in part by part.
        assert {found for found, kind in claimed if kind != Kind.SITEMAP} <= under_way(self)
        assert crawl.frontier.active == len(claimed)


def under_way(drive: Drive) -> set[str]:
    """The URLs with more requests than responses."""
    asked = [claim.url for claim in drive.claims]
    answered = [fetched for fetched, _ in drive.ended]
    return {found for found in asked if asked.count(found) > answered.count(found)}


def answer(path: str, chance: random.Random) -> Answer:
    """Draw any response."""
    return chance.choice([
        page(path, *(f"/{chance.randrange(20)}" for _ in range(4))),
        redirect(path, f"/{chance.randrange(20)}"), redirect(path, "http://other.org/"),
        redirect(path, path), redirect(path, "http://["),
        status(path, 404), status(path, 503), status(path, 429, ("Retry-After", "7")),
        status(path, 200, body=b""), status(path, 200, ("Content-Type", "image/png")),
        failure(path, "dns"), failure(path, "timeout"), failure(path, "connect"),
        sitemap(path, *(url(f"/{number}") for number in range(20))),
    ])  # fmt: skip


def any_web(chance: random.Random) -> dict[Url, Script]:
    paths = ["/", *(f"/{number}" for number in range(20)), "/sitemap.xml"]
    answers: dict[Url, Script] = {
        url(path): lambda _, path=path: answer(path, chance) for path in paths
    }
    answers[url("/sitemap.xml")] = sitemap("/sitemap.xml", *map(url, paths))
    answers[url("/robots.txt")] = chance.choice([
        robots("User-agent: *\nDisallow: /1\nSitemap: /sitemap.xml"), status("/robots.txt", 404),
        status("/robots.txt", 503), failure("/robots.txt", "timeout"),
    ])  # fmt: skip
    return answers


@settings(max_examples=examples(12), deadline=None)
@given(seed=st.integers(0, 10**9))
def test_every_claim_ends(seed: int) -> None:
    chance = random.Random(seed)
    limits = Limits(max_pages=chance.choice([None, 3]), max_seconds=chance.choice([None, 20.0]))
    with TemporaryDirectory() as folder:
        drive = Watched(
            Path(folder), any_web(chance), politeness=EAGER, limits=limits,
            latency=lambda: chance.choice([0.0, 0.1, 3.0]),
        ).run()  # fmt: skip
        assert drive.finished
        assert drive.rows("SELECT count(*) FROM urls WHERE state = 1") == [(0,)]
        assert len(drive.ended) == len(drive.claims)


@pytest.mark.parametrize("answers", range(1, 6))
def test_claims_that_a_process_did_not_end_are_given_back_by_the_next(
    tmp_path: Path, answers: int
) -> None:
    small = web(page("/", "/a", "/b", "/c"), *(page(path) for path in ("/a", "/b", "/c")))
    Drive(tmp_path, small, politeness=EAGER).run(kill_after=answers)
    drive = Drive(tmp_path, small, politeness=EAGER)
    with drive.opened() as crawl:
        assert crawl.store.count("SELECT count(*) FROM urls WHERE state = 1") == 0
        drive.steer(crawl)
    assert {found for found, _ in drive.log} <= {HOME + path for path in (
        "/robots.txt", "/sitemap.xml", "/", "/a", "/b", "/c"
    )}  # fmt: skip
    assert drive.rows("SELECT count(*) FROM pages") == [(4,)]
    assert drive.rows("SELECT count(*) FROM urls WHERE state IN (0, 1)") == [(0,)]
