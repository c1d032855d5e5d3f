"""`diptych detect` and `diptych discover` with real servers: each port is a separate site."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.commands import Signal, mistake, query, run, start
from support.linked_sites import BILINGUAL, Web, linked_sites
from support.serving import MISSING, Reply, Request, reserved, serve, url_of
from support.terminal import Terminal


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    with linked_sites(tmp_path) as found:
        yield found


COMMON = ("--langs", "en,es", "--allow-private", "--delay", "0", "--quiet")


def test_detect_prints_a_verdict_for_each_site(web: Web) -> None:
    good, plain = web.good[0].url, web.plain[0].url
    with reserved() as place:
        closed = url_of(place)
        result = run("detect", good, plain, closed, *COMMON)
    lines = {line.split("\t")[0]: line.split("\t") for line in result.stdout.splitlines()}
    assert result.exit_code == 0
    assert lines[good][1] == "bilingual"
    assert lines[good][3] == "2", "the start page, and the one that its switcher leads to"
    assert lines[good][4] == f"en={good} es={good}es/"
    assert lines[plain][1] == "no"
    assert lines[closed][1] == "unknown"
    assert set(web.good[0].paths) == {"/robots.txt", "/", "/es/"}


@pytest.mark.slow
def test_verdicts_in_a_narrow_terminal_are_lines_with_tabs(web: Web) -> None:
    good, plain = web.good[0].url, web.plain[0].url
    terminal = Terminal(["detect", good, plain, *COMMON[:-1]], 40, 24)
    assert terminal.wait() == 0
    written = terminal.written.decode().replace("\r\n", "\n")
    assert f"\t2\ten={good} es={good}es/\n" in written
    assert f"{plain}\tno\t" in written


def test_detect_as_json(web: Web) -> None:
    result = run("detect", web.good[0].url, web.plain[0].url, "--json", *COMMON)
    found = {each["url"]: each for each in map(json.loads, result.stdout.splitlines())}
    good = found[web.good[0].url]
    assert good["bilingual"] is True
    assert good["pages"] == {"en": web.good[0].url, "es": web.good[0].url + "es/"}
    assert 0.0 < good["score"] <= 1.0
    assert found[web.plain[0].url]["bilingual"] is False
    assert found[web.plain[0].url]["reason"]


def test_detect_exits_with_1_if_nothing_is_found(web: Web) -> None:
    assert run("detect", web.plain[0].url, *COMMON).exit_code == 1
    other = run("detect", web.good[0].url, "--langs", "de,fr", *COMMON[2:])
    assert other.exit_code == 1


def test_private_addresses_are_refused_by_default(web: Web, tmp_path: Path) -> None:
    result = run("detect", web.good[0].url, "--langs", "en,es", "--quiet")
    assert result.exit_code == 1
    assert "private address, which is not allowed" in result.stdout
    assert not web.good[0].paths
    advice = "to test private addresses, add --allow-private"
    assert advice not in result.stderr
    for command in (("detect",), ("discover", "--policy", "fc", "--out", tmp_path / "run")):
        told = run(*command, web.good[0].url, "--langs", "en,es")
        assert told.stderr.splitlines()[-1] == advice
    with reserved() as place:
        assert advice not in run("detect", url_of(place), *COMMON[:-1]).stderr


@pytest.mark.parametrize("method", ["triggers", "bits"])
def test_detect_with_the_other_methods(web: Web, method: str) -> None:
    result = run("detect", web.good[0].url, web.plain[0].url, "--method", method, *COMMON)
    answers = {line.split("\t")[0]: line.split("\t")[1] for line in result.stdout.splitlines()}
    assert answers[web.plain[0].url] == "no"
    if method == "bits":
        assert answers[web.good[0].url] == "bilingual"


def test_discover_finds_the_sites_that_are_cited_together(web: Web, tmp_path: Path) -> None:
    command = ("discover", web.good[0].url, "--backlinks", web.source, "--out", tmp_path / "run",
               *COMMON)  # fmt: skip
    result = run(*command)
    assert result.exit_code == 0
    assert set(result.stdout.splitlines()) == {each.url for each in web.good}
    before = web.asked()
    again = run(*command)
    assert set(again.stdout.splitlines()) == {each.url for each in web.good}
    assert web.asked() == before, "what is done is not done again"
    assert max(web.asked().values()) == 1, "nothing is fetched twice"
    for server in web.plain:
        assert "/hours" not in server.paths, "nothing there looks like another language"


def test_discover_continues_with_a_larger_budget(web: Web, tmp_path: Path) -> None:
    command = ("discover", web.good[0].url, "--backlinks", web.source, "--out", tmp_path / "run",
               *COMMON)  # fmt: skip
    few = run(*command, "--max-sites", "1")
    assert len(few.stdout.splitlines()) < 4
    assert len(run(*command).stdout.splitlines()) == 4
    assert max(web.asked().values()) == 1


def test_killed_discover_continues(web: Web, tmp_path: Path) -> None:
    command = ("discover", web.good[0].url, "--backlinks", web.source, "--out", tmp_path / "run",
               *COMMON)  # fmt: skip
    for requests in (1, 2, 4):
        kill = Signal(signal.SIGKILL, requests)
        for server in (*web.good, *web.plain, web.hub):
            server.before = kill
        process = start(*command)
        kill.follow(process)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
    result = run(*command)
    assert set(result.stdout.splitlines()) == {each.url for each in web.good}
    twice = "SELECT url FROM fetches WHERE status = 200 GROUP BY url HAVING count(*) > 1"
    assert query(tmp_path / "run", twice) == []


@pytest.mark.parametrize(
    ("command", "left"),
    [
        (("discover", "--policy", "fc", "--out", "run"),
         "2 leads not followed yet; run the same command again to continue"),
        (("detect", "--out", "run"),
         "2 sites not tested yet; run the same command again to continue"),
        (("detect",), "2 sites not tested yet"),
    ],
)  # fmt: skip
def test_interrupted_search_counts_what_is_left_and_says_how_to_continue(
    web: Web, command: tuple[str, ...], left: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, once = threading.get_ident(), threading.Lock()

    def interrupt(request: Request) -> None:
        if once.acquire(blocking=False):
            signal.pthread_kill(here, signal.SIGINT)

    monkeypatch.chdir(tmp_path)
    sites = web.good[:2]
    for server in sites:
        server.before = interrupt
    given = *command, *(server.url for server in sites), *COMMON[:-1]
    result = run(*given)
    first, second = [line for line in result.stderr.splitlines() if not line.startswith("Stop")]
    assert first.startswith("bilingual: 0 of 0 tested sites; ")
    assert first.endswith(f"; {left.split(' not ')[0]} left")
    assert second == f"interrupted: {left}"


def test_the_list_can_be_piped_to_mine(web: Web, tmp_path: Path) -> None:
    found = run("discover", web.good[0].url, "--backlinks", web.source, "--out", tmp_path / "run",
                *COMMON)  # fmt: skip
    mined = run("mine", "-", "--out", tmp_path / "mined", "--json", *COMMON, stdin=found.stdout)
    sites = {name for (name,) in query(tmp_path / "mined", "SELECT name FROM sites")}
    assert sites == {f"127.0.0.1:{server.port}" for server in web.good}
    assert json.loads(mined.stdout)["pages"] == 8


def test_one_command_finds_and_mines_within_budgets(web: Web, tmp_path: Path) -> None:
    result = run("discover", web.good[0].url, "--backlinks", web.source, "--out", tmp_path / "run",
                 "--mine", "--site-pages", "2", *COMMON)  # fmt: skip
    (folder,) = (tmp_path / "run").glob("mined-*")
    assert query(folder, "SELECT max(n) FROM (SELECT count(*) n FROM pages GROUP BY site)") == [
        (2,)
    ]
    assert len(query(folder, "SELECT name FROM sites")) == 4
    assert set(result.stdout.splitlines()) >= {each.url for each in web.good}


def test_invalid_response_of_a_service_does_not_end_the_search(web: Web, tmp_path: Path) -> None:
    with serve({"/back": Reply("<html>Error 500</html>")}) as service:
        source = tmp_path / "bad.toml"
        source.write_text(f'url = "{service.url}back?u={{url}}"\nlinks = "links"\nsource = "url"\n')
        result = run("discover", web.hub.url + "links.html", "--backlinks", source,
                     "--out", tmp_path / "run", *COMMON[:-1])  # fmt: skip
    assert set(result.stdout.splitlines()) == {each.url for each in web.good}, "of the seed itself"
    assert "failed" in result.stderr


def test_earlier_runs_know_back_links(web: Web, tmp_path: Path) -> None:
    earlier = tmp_path / "earlier"
    run("mine", web.hub.url + "links.html", "--out", earlier, *COMMON)
    result = run("discover", web.good[0].url, "--backlinks", earlier, "--out", tmp_path / "run",
                 *COMMON)  # fmt: skip
    assert set(result.stdout.splitlines()) == {each.url for each in web.good}


def test_search_respects_robots_and_delay(tmp_path: Path) -> None:
    shut = {**BILINGUAL, "/robots.txt": Reply("User-agent: *\nDisallow: /es/", type="text/plain")}
    with serve(shut) as closed, serve(BILINGUAL) as open_:
        result = run("detect", closed.url, open_.url, "--langs", "en,es", "--allow-private",
                     "--delay", "0.3", "--quiet")  # fmt: skip
        assert "/es/" not in closed.paths
        assert min(open_.gaps()) >= 0.29
        agent = open_.log[0].headers["user-agent"]
    answers = {line.split("\t")[0]: line.split("\t")[1] for line in result.stdout.splitlines()}
    assert answers == {closed.url: "no", open_.url: "bilingual"}
    assert agent.startswith("DiptychBot/")


def test_invalid_input_is_reported_in_one_line(tmp_path: Path) -> None:
    assert "--backlinks" in mistake("discover", "http://a.org", "--langs", "en,es")
    assert "--cc-index" in mistake("discover", "--langs", "en,es")
    assert "does not exist" in mistake(
        "discover", "http://a.org", "--langs", "en,es", "--backlinks", tmp_path / "none"
    )
    assert "cobfc" in mistake("discover", "http://a.org", "--langs", "en,es", "--policy", "best")
    assert "predictor" in mistake("detect", "http://a.org", "--langs", "en,es", "--method", "luck")
    assert "not an http" in mistake("detect", "ftp://a.org", "--langs", "en,es")
    assert "specify a site" in mistake("detect", "--langs", "en,es")


def test_404_of_the_start_page_is_reported(tmp_path: Path) -> None:
    with serve({"/": MISSING}) as server:
        result = run("detect", server.url, *COMMON)
    assert result.stdout.split("\t")[1] == "unknown"
    assert "404" in result.stdout


def test_each_given_address_gets_a_line(web: Web) -> None:
    good = web.good[0].url
    with reserved() as place:
        there, nowhere = (Reply("", 301, (("Location", to),)) for to in (good, url_of(place)))
        with serve({"/": there}) as moved, serve({"/": nowhere}) as dead:
            result = run("detect", moved.url, good + "es/", dead.url, good, *COMMON)
    lines = [line.split("\t")[:2] for line in result.stdout.splitlines()]
    assert sorted(lines) == sorted(
        [
            [good, "bilingual"], [good + "es/", "bilingual"], [moved.url, "bilingual"],
            [dead.url, "unknown"],
        ]
    )  # fmt: skip


def test_max_sites_is_respected(web: Web, tmp_path: Path) -> None:
    result = run("discover", web.hub.url + "links.html", "--backlinks", web.source,
                 "--out", tmp_path / "run", "--max-sites", "2", "--mine", "--site-pages", "2",
                 *COMMON)  # fmt: skip
    (folder,) = (tmp_path / "run").glob("mined-*")
    assert len(query(folder, "SELECT name FROM sites")) == 2
    assert result.exit_code in (0, 1)


def test_sites_that_are_found_later_are_mined_apart(web: Web, tmp_path: Path) -> None:
    command = ("discover", web.hub.url + "links.html", "--backlinks", web.source, "--out",
               tmp_path / "run", "--mine", "--site-pages", "2", *COMMON)  # fmt: skip
    run(*command, "--max-sites", "1")
    before = {url: count for url, count in web.asked().items() if url.endswith("/es/")}
    run(*command)
    folders = sorted((tmp_path / "run").glob("mined-*"))
    sites = [query(folder, "SELECT name FROM sites ORDER BY name") for folder in folders]
    assert len(sites) == 2
    assert not set(sites[0]) & set(sites[1])
    assert len(sites[0] + sites[1]) == 4
    again = {url: web.asked()[url] for url in before}
    assert max(again.values()) <= 2, "once to be tested, once to be mined"


def test_incompatible_options_are_refused(tmp_path: Path) -> None:
    index = tmp_path / "part.parquet"
    assert "--backlinks" in mistake("discover", "http://a.org", "--cc-index", index, *COMMON[:2])
    assert "--topic" in mistake("discover", "http://a.org", "--policy", "focc", *COMMON[:2])


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("http://a.org/", "--test"), "--test tests sites of an index"),
        (("http://a.org/", "--suffix", "fr"), "--suffix chooses sites from an index"),
        (("http://a.org/", "--min-pages", 9), "--min-pages chooses sites from an index"),
        (("--cc-index", "x.parquet", "--max-sites", 3), "--max-sites does nothing while sites"),
        (("--cc-index", "x.parquet", "--policy", "fc"), "--policy does nothing while sites"),
        (("--cc-index", "x.parquet", "--out", "run"), "--out does nothing while sites"),
    ],
)
def test_options_that_do_nothing_are_mistakes(more: tuple[object, ...], said: str) -> None:
    assert said in mistake("discover", "--langs", "en,fr", "--quiet", *more)
