"""Real sites by their folders, and a small one crawled by a policy to the picture."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.bilingual import documents, html

from bench.sites.archive import site_url
from bench.sites.real_sites import QUESTIONS, Question, RealSite, questions
from bench.support.crawl_figures import Curve
from bench.support.real_chart import draw
from bench.support.real_figures import RealCrawl, tables
from bench.tasks.real_sites import crawl_all, read_crawls, write_crawls

DOCUMENTS = documents()[:3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One site: three documents in two languages, a copy, a redirect and a dead link."""
    docs = tmp_path / "small" / "htdocs"
    links, groups = ["/fr", "/gone", "/en/copy.html"], []
    for lang in ("en", "fr"):
        (docs / lang).mkdir(parents=True)
        for document in DOCUMENTS:
            path = f"/{lang}/{document.name}.html"
            (docs / path[1:]).write_text(html(document[lang], lang=lang), "utf-8")
            links.append(path)
            is_fine = int(document is not DOCUMENTS[2])
            groups.append(f"{document.name}\t{lang}\t{path}\t{is_fine}\tok")
    (docs / "en" / "copy.html").symlink_to(f"{DOCUMENTS[0].name}.html")
    (docs / "fr" / "index.html").write_text(html(DOCUMENTS[0].fr[:1], lang="fr"), "utf-8")
    anchors = "".join(f'<a href="{link}">{link}</a> ' for link in links)
    (docs / "index.html").write_text(html(["Welcome."], lang="en", body=anchors), "utf-8")
    meta = {"hosts": None, "pivot": "en", "home": "/", "pairs": {"en-fr": 2, "en-de": 1}}
    (docs.parent / "meta.json").write_text(json.dumps(meta), "utf-8")
    (docs.parent / "groups.tsv").write_text("\n".join(groups) + "\n", "utf-8")
    return tmp_path


def test_usual_questions_are_those_of_the_real_sites() -> None:
    asked = [Question.parse(text) for text in QUESTIONS]
    assert len({each.name for each in asked}) == len(asked) == 21 + 7 + 6
    assert Question.parse("sofastack:en,zh:en,zh-cn") in asked


def test_unusual_site_is_asked_for_the_languages_with_most_pairs(folder: Path) -> None:
    assert questions(folder, []) == [Question("small", ("en", "fr"), ("en", "fr"))]
    assert questions(folder, ["small:fr,en"]) == [Question("small", ("fr", "en"), ("fr", "en"))]


@pytest.mark.parametrize("asked", [["other:en,fr"], ["small"], ["small:en"]])
def test_what_cannot_be_asked_is_said(folder: Path, asked: list[str]) -> None:
    with pytest.raises(SystemExit):
        questions(folder, asked)


def test_folder_without_sites_is_said(tmp_path: Path, capsys) -> None:
    with pytest.raises(SystemExit):
        questions(tmp_path, [])
    assert "unpack the real sites" in capsys.readouterr().err


def test_pairs_are_right_wrong_or_neither(folder: Path) -> None:
    site = RealSite(folder / "small")
    en, fr = (
        [site_url(f"/{lang}/{each.name}.html") for each in DOCUMENTS] for lang in ("en", "fr")
    )
    assert len(site.true_pairs(("en", "fr"))) == 2
    copy, unknown = site_url("/en/copy.html"), site_url("/fr/")
    assert site.score([(copy, fr[0]), (en[1], fr[1])], ("en", "fr")) == (2, 0)
    assert site.score([(en[0], fr[1]), (en[0], unknown)], ("en", "fr")) == (0, 2)
    assert site.score([(en[2], fr[2]), (en[2], unknown)], ("en", "fr")) == (0, 0)


def test_crawl_of_a_site_is_counted_and_drawn(folder: Path) -> None:
    question = questions(folder, [])[0]
    (crawl,) = crawl_all(folder, question, ["bfs"], None, mine=True)
    # robots.txt is not counted; sitemap.xml is dead, too
    assert crawl.curve.downloads == 1 + 1 + 2 + 2 + 6
    assert (crawl.redirects, crawl.dead, crawl.copies) == (1, 2, 1)
    assert (crawl.recall, crawl.estimated, crawl.right, crawl.wrong) == (1.0, None, 2, 0)
    file = folder / "crawls.json"
    write_crawls(file, [crawl])
    assert read_crawls(file) == [crawl]
    assert draw([crawl]).count('class="line line1 thin"') == 1


def crawl_of(policy: str, *found: int, estimated: float | None = None) -> RealCrawl:
    return RealCrawl(Curve("a:en,fr", policy, 4, 20, found), 2, 4, 1, estimated, "nothing_left")


def test_tables_say_what_is_lost() -> None:
    guided, bfs = crawl_of("hybrid", 2, 4, 6, 8, estimated=0.96), crawl_of("bfs", 2, 4, 6)
    in_vain = bfs._replace(curve=Curve("b:en,fr", "bfs", 0, 33, ()))
    found = tables([guided, bfs, in_vain])
    ours, other = found["Policies"]
    assert (ours["mean recall"], other["mean recall"]) == ("1.000", "0.750")
    assert (ours["downloads per pair"], other["downloads per pair"]) == ("2.00", "20.00")
    assert (ours["of bfs"], ours["worse than bfs"]) == ("0.10", 0)
    assert (ours["worst"], ours["estimate within 5 points"]) == ("35%", "1 of 1")
    assert (other["estimate within 5 points"], other["downloads without pairs, median"]) == (
        "-",
        "33",
    )
    assert ours.keys() == other.keys()
    assert found["Downloads on sites without true pairs"] == [
        {"site": "b:en,fr", "hybrid": "-", "bfs": 33}
    ]
