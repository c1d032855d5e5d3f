"""Link sources opened by path, merged sources, and the command line for them."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.serving import Fault, Reply, serve

from diptych.commands.backlinks import backlinks
from diptych.engine.link_service import LinkService
from diptych.errors import SourceError
from diptych.run.store import Store
from diptych.sources.link_index import LinkIndex, LinkWriter
from diptych.sources.many import MAX_FAULTS, MergedSources
from diptych.sources.open import open_source, open_sources
from diptych.sources.web_graph import WebGraph
from diptych.types import Failure, Link, Url

PAGE = Url("http://aim.com/")


def link(host: str, anchor: str = "") -> Link:
    return Link(Url(f"http://{host}/"), "back", anchor=anchor)


@dataclass
class Known:
    """A source with fixed answers."""

    back: list[Link] | Failure = field(default_factory=list)
    out: list[Link] | Failure | None = None

    def back_links(self, url: Url, limit: int) -> list[Link] | Failure:
        return self.back if isinstance(self.back, Failure) else self.back[:limit]

    def out_links(self, url: Url, limit: int) -> list[Link] | Failure | None:
        return self.out[:limit] if isinstance(self.out, list) else self.out


FAILED = Known(Failure(PAGE, "http_500"), Failure(PAGE, "http_500"))


def test_the_best_of_each_come_first_and_none_twice() -> None:
    one = Known([link("a.org"), link("b.org"), link("c.org")])
    two = Known([link("d.org"), link("a.org", "text"), link("e.org")])
    merged = MergedSources((one, two))
    assert merged.back_links(PAGE, 9) == [
        link("a.org", "text"), link("d.org"), link("b.org"), link("c.org"), link("e.org")
    ]  # fmt: skip
    assert merged.back_links(PAGE, 2) == [link("a.org", "text"), link("d.org")]
    assert merged.back_links(PAGE, 0) == []


def test_it_fails_only_if_all_fail() -> None:
    assert MergedSources((FAILED, Known([link("a.org")]))).back_links(PAGE, 9) == [link("a.org")]
    assert MergedSources((FAILED, Known())).back_links(PAGE, 9) == []
    assert MergedSources((FAILED, FAILED)).back_links(PAGE, 9) == FAILED.back
    assert MergedSources((FAILED, FAILED)).out_links(PAGE, 9) == FAILED.out
    assert MergedSources(()).back_links(PAGE, 9) == []


def test_a_page_must_be_fetched_if_none_knows_it() -> None:
    assert MergedSources((Known(), Known())).out_links(PAGE, 9) is None
    assert MergedSources((Known(), FAILED)).out_links(PAGE, 9) is None
    assert MergedSources((Known(), Known(out=[]))).out_links(PAGE, 9) == []
    assert MergedSources((Known(), Known(out=[link("a.org")]))).out_links(PAGE, 9) == [
        link("a.org")
    ]


def test_failures_are_counted_even_if_another_source_answers() -> None:
    detailed = Known(Failure(PAGE, "http_429", "the service returned\x1b[2J 429"))
    merged = MergedSources((FAILED, Known([link("a.org")]), detailed))
    assert merged.faults == {}
    assert merged.back_links(PAGE, 9) == [link("a.org")]
    assert merged.out_links(PAGE, 9) is None
    assert merged.faults == {"http_500": 2, "the service returned [2J 429": 1}
    alone = MergedSources((FAILED,))
    assert alone.back_links(PAGE, 9) == FAILED.back
    assert alone.faults == {"http_500": 1}
    assert alone == MergedSources((FAILED,))


def test_number_of_different_faults_is_bounded() -> None:
    failing = Known()
    merged = MergedSources((failing,))
    for number in range(50):
        failing.back = Failure(PAGE, "http_500", f"{number:03}" * 1000)
        merged.back_links(PAGE, 9)
    failing.back = Failure(PAGE, "http_500", "001" * 1000)
    merged.back_links(PAGE, 9)
    assert len(merged.faults) == MAX_FAULTS == 20
    assert sum(merged.faults.values()) == 51
    assert merged.faults["001" * 100] == 2
    assert merged.faults["other failures"] == 31
    assert max(map(len, merged.faults)) == 300


def call(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(backlinks, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    (tmp_path / "v").write_text("0\tcom.a\n1\tcom.b\n2\torg.c\n")
    (tmp_path / "e").write_text("0\t1\n2\t1\nx\n")
    arguments = ("--vertices", tmp_path / "v", "--edges", tmp_path / "e", "--out")
    code, out, err = call("graph", *arguments, tmp_path / "g")
    assert (code, out) == (0, "")
    assert "2 links between 3 domains" in err
    assert "note: skipped edge lines that do not consist of two numbers: 1" in err
    return tmp_path / "g"


def test_a_graph_is_made_and_asked(graph: Path) -> None:
    assert call("show", graph, "b.com")[:2] == (0, "https://a.com/\nhttps://c.org/\n")
    assert call("show", graph, "https://www.b.com/x", "--limit", 1)[:2] == (0, "https://a.com/\n")
    code, out, _ = call("show", graph, "b.com", "--json")
    assert json.loads(out.splitlines()[0])["url"] == "https://a.com/"
    code, out, err = call("show", graph, "a.com")
    assert (code, out) == (1, "")
    assert "has no links to a.com" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "{g}", "a b c"), "is not a host or URL"),
        (("show", "{g}/none", "a.com"), "does not exist"),
        (("show", "{g}/../v", "a.com"), "diptych backlinks graph"),
        (("show", "{g}/..", "a.com"), "neither a web graph nor a run"),
        (("wat", "{g}/none.gz", "--out", "{g}/i.sqlite"), "cannot read"),
        (("graph", "--vertices", "{g}/none", "--edges", "x", "--out", "{g}2"), "cannot read"),
    ],
)
def test_mistakes_are_one_clear_line(graph: Path, arguments, message) -> None:
    code, out, err = call(*(argument.format(g=graph) for argument in arguments))
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1


def test_a_source_is_what_its_path_is(graph: Path, tmp_path: Path) -> None:
    assert isinstance(open_source(str(graph)), WebGraph)
    assert call("wat", "--out", tmp_path / "i.sqlite", tmp_path / "v")[0] == 1
    assert isinstance(open_source(str(tmp_path / "i.sqlite")), LinkIndex)
    (tmp_path / "run").mkdir()
    Store(tmp_path / "run", agent="test").close()
    assert isinstance(open_source(str(tmp_path / "run")), LinkIndex)
    (tmp_path / "api.toml").write_text(
        'url = "http://127.0.0.1/{host}"\nlinks = ""\nsource = "url"\n'
    )
    assert isinstance(open_source(str(tmp_path / "api.toml")), LinkService)
    several = open_sources([str(graph), str(tmp_path / "run")])
    assert [found.url for found in several.back_links(Url("http://b.com/"), 5)] == [
        "https://a.com/", "https://c.org/"
    ]  # fmt: skip
    alone = open_sources([str(graph)])
    assert isinstance(alone.sources[0], WebGraph)
    assert alone.faults == {}
    proxied = open_sources([str(tmp_path / "api.toml")], "http://127.0.0.1:3128").sources[0]
    assert isinstance(proxied, LinkService)
    assert proxied.proxy == "http://127.0.0.1:3128"
    with pytest.raises(SourceError, match="the proxy is not a valid URL"):
        open_sources([str(tmp_path / "api.toml")], "nonsense")
    with pytest.raises(SourceError, match="does not exist"):
        open_sources([str(graph), "none"])


def described(folder: Path, url: str, more: str = "") -> Path:
    path = folder / "api.toml"
    path.write_text(
        f'url = "{url}?t={{host}}"\nlinks = ""\nsource = "url"\nanchor = "anchor"\n{more}'
    )
    return path


EVIL = "\x1b]0;title\x07\x9b2J\x7f\u202e\u2066red\r\nline"
PLAIN = "]0;title 2J red line"


def test_a_service_says_nothing_to_the_terminal(tmp_path: Path) -> None:
    items = json.dumps([{"url": "http://a.org/\x9b2J", "anchor": EVIL}])
    with serve(lambda request: Reply(items, type="application/json")) as server:
        path = described(tmp_path, server.url)
        code, out, _ = call("show", path, "b.com")
        assert (code, out) == (0, f"http://a.org/%C2%9B2J\t{PLAIN}\n")
        code, out, _ = call("show", path, "b.com", "--json")
        assert json.loads(out)["anchor"] == PLAIN
        assert out.strip().isprintable()
    evil = Fault(b"HTTP/1.1 404 \x1b[2J\xc2\x9b\x9b\x07no\r\nContent-Length: 0\r\n\r\n")
    with serve(lambda request: evil) as server:
        code, out, err = call("show", described(tmp_path, server.url), "b.com")
    assert (code, out) == (2, "")
    assert "the service returned 404 [2J" in err
    assert err.strip().isprintable()


def test_anchors_of_an_index_say_nothing_to_the_terminal(tmp_path: Path) -> None:
    with LinkWriter(tmp_path / "i.sqlite") as writer:
        writer.add(Url("http://a.org/\x1b[2J"), [Link(Url("http://b.com/"), "a", anchor=EVIL)])
        writer.save_file("\x1b[2J.wat", 1, 1, "")
        writer.commit()
    code, out, _ = call("show", tmp_path / "i.sqlite", "b.com")
    assert (code, out) == (0, f"http://a.org/ [2J\t{PLAIN}\n")


def test_notes_say_nothing_to_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "\x1b[2J.wat").write_text("nothing")
    _, _, err = call("wat", tmp_path / "\x1b[2J.wat", "--out", tmp_path / "i.sqlite")
    assert " [2J.wat: damaged after page 0" in err
    assert all(line.isprintable() for line in err.splitlines())


def test_a_person_gets_an_error_instead_of_a_long_wait(tmp_path: Path) -> None:
    wait = Reply("", 429, (("Retry-After", "100"),))
    with serve(lambda request: wait) as server:
        started = time.monotonic()
        code, _, err = call("show", described(tmp_path, server.url), "b.com")
        assert time.monotonic() - started < 60
    assert code == 2
    assert "429 Too Many Requests; no retry within 10 s (requested: 100 s)" in err
    assert len(server.log) == 1


def test_lookup_loads_no_heavy_library() -> None:
    import subprocess

    code = (
        "import sys, diptych.commands.backlinks, diptych.sources.open;"
        "print({'numpy', 'fsspec', 'fastwarc', 'aiohttp'} & set(sys.modules) or 'none')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "none"
