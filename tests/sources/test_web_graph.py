"""Back links and out links from a web graph."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.timing import processor_seconds

from diptych.errors import SourceError
from diptych.sources import web_graph
from diptych.sources.graph_index import index_graph
from diptych.sources.web_graph import WebGraph
from diptych.types import Link


def graph_of(folder: Path, names: list[str], edges: list[tuple[str, str]], **options) -> WebGraph:
    """A graph of named hosts, numbered in the order of the list."""
    ids = {name: number for number, name in enumerate(names)}
    vertices = "".join(f"{id}\t{'.'.join(name.split('.')[::-1])}\n" for name, id in ids.items())
    lines = "".join(f"{ids[source]}\t{ids[target]}\n" for source, target in edges)
    (folder / "v").write_text(vertices)
    (folder / "e").write_text(lines)
    index_graph([str(folder / "v")], [str(folder / "e")], folder / "graph", **options)
    return WebGraph.open(folder / "graph")


def ordered(names: list[str]) -> list[str]:
    return sorted(names, key=lambda name: name.split(".")[::-1])


def hosts(links) -> list[str]:
    return [link.url.removeprefix("https://").removesuffix("/") for link in links]


@pytest.mark.parametrize("is_sorted", [True, False])
def test_a_host_is_found_with_and_without_www(tmp_path: Path, is_sorted: bool) -> None:
    names = ordered(["a.com", "b.com", "www.b.com", "c.de", "www.d.org", "x.c.de"])
    edges = [("a.com", "b.com"), ("c.de", "www.b.com"), ("c.de", "b.com"), ("b.com", "www.d.org")]
    graph = graph_of(tmp_path, names if is_sorted else names[::-1], edges)
    assert (graph.keys is None) is is_sorted
    for asked in ("https://b.com/", "http://www.b.com/page?x", "https://b.com:8080/"):
        assert sorted(hosts(graph.back_links(asked, 10))) == ["a.com", "c.de"]
        assert hosts(graph.out_links(asked, 10)) == ["www.d.org"]
    assert hosts(graph.back_links("https://d.org/", 10)) == ["b.com"]
    assert graph.back_links("https://d.org/", 10)[0] == Link("https://b.com/", "back")


def test_unknown_hosts_must_be_fetched(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, ["a.com", "x.b.com"], [("a.com", "x.b.com")])
    assert graph.out_links("https://none.com/", 10) is None
    assert graph.out_links("https://b.com/", 10) is None
    assert graph.back_links("https://none.com/", 10) == []
    assert graph.out_links("https://x.b.com/", 10) == []
    assert graph.out_links("https://[::1]/", 10) is None
    assert graph.out_links("http://127.0.0.1:80/", 10) is None


@pytest.mark.parametrize("is_sorted", [True, False])
def test_hosts_of_the_same_site_are_left_out(tmp_path: Path, is_sorted: bool) -> None:
    own = [f"h{number:03d}.big.co.uk" for number in range(300)]
    names = ordered(["big.co.uk", "bigger.co.uk", "xbig.co.uk", "a.com", "z.org", *own])
    target = "h007.big.co.uk"
    linking = [name for name in names if name != target]
    names = names if is_sorted else names[::-1]
    graph = graph_of(tmp_path, names, [(name, target) for name in linking])
    # Those of the site itself are so many that a sample of all would hardly have any other.
    found = hosts(graph.back_links(f"https://{target}/", 400 if not is_sorted else 4))
    assert sorted(found) == ["a.com", "bigger.co.uk", "xbig.co.uk", "z.org"]


def test_pages_of_one_provider_are_sites_of_their_own(tmp_path: Path) -> None:
    names = ordered(["one.github.io", "two.github.io", "github.io"])
    edges = [("two.github.io", "one.github.io"), ("github.io", "one.github.io")]
    graph = graph_of(tmp_path, names, edges)
    found = hosts(graph.back_links("https://one.github.io/", 9))
    assert sorted(found) == ["github.io", "two.github.io"]


def test_a_graph_of_domains_is_asked_for_the_domain(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, ["a.com", "b.com"], [("a.com", "b.com")])
    assert graph.facts.level == "domain"
    assert hosts(graph.back_links("https://fr.shop.b.com/x", 10)) == ["a.com"]
    other = graph_of(tmp_path, ["a.com", "b.com"], [("a.com", "b.com")], level="host")
    assert other.back_links("https://fr.shop.b.com/x", 10) == []
    hosted = graph_of(tmp_path, ["a.com", "x.b.com"], [("a.com", "x.b.com")])
    assert hosted.facts.level == "host"


def test_hubs_come_last(tmp_path: Path) -> None:
    others = [f"s{number}.net" for number in range(20)]
    names = ordered(["few.com", "hub.com", "some.com", "aim.org", *others])
    edges = [("few.com", "aim.org"), ("hub.com", "aim.org"), ("some.com", "aim.org")]
    edges += [("hub.com", other) for other in others] + [("some.com", "s1.net")]
    graph = graph_of(tmp_path, names, edges)
    assert hosts(graph.back_links("https://aim.org/", 10)) == ["few.com", "some.com", "hub.com"]
    assert hosts(graph.back_links("https://aim.org/", 1)) == ["few.com"]
    assert graph.back_links("https://aim.org/", 0) == []
    # What everyone links to says least of the host that links there.
    assert hosts(graph.out_links("https://some.com/", 10)) == ["s1.net", "aim.org"]


@pytest.mark.slow
def test_a_host_with_very_many_back_links_is_sampled_all_over_in_no_time(tmp_path: Path) -> None:
    count = 300_000
    names = "".join(f"{n}\tcom.h{n:07d}\n" for n in range(count))
    (tmp_path / "v").write_text(names)
    (tmp_path / "e").write_text("".join(f"{n}\t150000\n" for n in range(count)))
    index_graph([str(tmp_path / "v")], [str(tmp_path / "e")], tmp_path / "graph", level="host")
    graph = WebGraph.open(tmp_path / "graph")
    graph.back_links("https://h0000001.com/", 1)
    with processor_seconds():
        for _ in range(20):
            found = hosts(graph.back_links("https://h0150000.com/", 50))
    numbers = sorted(int(name[1:8]) for name in found)
    assert len(set(numbers)) == 50
    assert 150_000 not in numbers
    assert found == hosts(WebGraph.open(tmp_path / "graph").back_links("https://h0150000.com/", 50))


def test_a_sample_is_from_the_whole_list(tmp_path: Path) -> None:
    names = [f"h{number:04d}.com" for number in range(1000)]
    graph = graph_of(tmp_path, names, [(name, names[500]) for name in names if name != names[500]])
    sample = graph._sample(graph.back, 500, "h0500.com", 10).tolist()
    assert len(sample) == 10
    assert max(np.diff(sample)) < 120
    assert sample[0] < 120
    assert sample[-1] > 880


@pytest.mark.parametrize(
    "name", ["names", "names.offsets", "back", "back.offsets", "out", "out.offsets"]
)
def test_a_truncated_or_missing_file_is_reported_at_once(tmp_path: Path, name: str) -> None:
    graph_of(tmp_path, ["a.com", "b.com"], [("a.com", "b.com")])
    path = tmp_path / "graph" / name
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(SourceError, match=f"damaged: {name} is missing or has the wrong size"):
        WebGraph.open(tmp_path / "graph")
    path.unlink()
    with pytest.raises(SourceError, match=f"damaged: {name} is missing or has the wrong size"):
        WebGraph.open(tmp_path / "graph")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"graph\.json is not a readable description of a web graph"),
        ("[]", "index the files again"),
        ("{}", "'format' is missing"),
        ('{"format": 99}', "format 99"),
    ],
)
def test_a_graph_with_an_invalid_description_is_refused(tmp_path, text, message) -> None:
    graph_of(tmp_path, ["a.com", "b.com"], [("a.com", "b.com")])
    (tmp_path / "graph" / "graph.json").write_text(text)
    with pytest.raises(SourceError, match=message):
        WebGraph.open(tmp_path / "graph")


@pytest.mark.parametrize("name", ["back", "back.offsets", "names.offsets"])
def test_wrong_numbers_in_an_index_are_an_error_and_not_an_answer(tmp_path, name) -> None:
    graph_of(tmp_path, ["a.com", "b.com"], [("a.com", "b.com")])
    path = tmp_path / "graph" / name
    path.write_bytes(b"\xfe" * len(path.read_bytes()))
    with pytest.raises(SourceError, match="damaged"):
        WebGraph.open(tmp_path / "graph").back_links("https://b.com/", 10)


def test_facts_that_do_not_fit_the_files_are_refused(tmp_path: Path) -> None:
    graph_of(tmp_path, ["a.com", "b.com"], [("a.com", "b.com")])
    path = tmp_path / "graph" / "graph.json"
    facts = json.loads(path.read_text())
    path.write_text(json.dumps(facts | {"vertices": 3}))
    with pytest.raises(SourceError, match="damaged"):
        WebGraph.open(tmp_path / "graph")
    assert web_graph.POOL >= 2
