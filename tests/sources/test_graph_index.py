"""Web graphs are indexed completely from any kind of files."""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import fsspec
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.waiting import until

from diptych.errors import SourceError
from diptych.sources import edge_runs, graph_files
from diptych.sources import graph_index as web_graph_index
from diptych.sources.edge_runs import Offsets, OffsetWriter, Runs, reversed_edges, write_lists
from diptych.sources.graph_index import GraphFacts, index_graph
from diptych.sources.web_graph import WebGraph

NAMES = ("com.alpha", "com.beta", "com.beta.www", "de.gamma", "org.delta.fr")
EDGES = ((0, 1), (0, 3), (3, 1), (4, 1), (1, 0))


def written(path: Path, text: str | bytes) -> str:
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return str(path)


def vertex_lines(names: tuple[str, ...] = NAMES) -> str:
    return "".join(f"{number}\t{name}\n" for number, name in enumerate(names))


def edge_lines(edges: tuple[tuple[int, int], ...] = EDGES) -> str:
    return "".join(f"{source}\t{target}\n" for source, target in edges)


def indexed(folder: Path, vertices: str = vertex_lines(), edges: str = edge_lines()) -> GraphFacts:
    return index_graph(
        [written(folder / "v.txt", vertices)], [written(folder / "e.txt", edges)], folder / "graph"
    )


def edges_of(folder: Path) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """All edges by name, from the lists of both directions."""
    graph = WebGraph.open(folder / "graph")
    found = []
    for lists in (graph.out, graph.back):
        pairs = []
        for vertex in range(graph.facts.vertices):
            start, end = lists.span(vertex)
            values = lists.ids[start:end].tolist()
            assert values == sorted(set(values))
            pairs += [(graph.name(vertex), graph.name(other)) for other in values]
        found.append(set(pairs))
    return found[0], {(source, target) for target, source in found[1]}


def by_name(edges=EDGES, names=NAMES) -> set[tuple[str, str]]:
    hosts = [".".join(reversed(name.split("."))) for name in names]
    return {(hosts[source], hosts[target]) for source, target in edges if source != target}


def test_both_directions_are_what_the_files_say(tmp_path: Path) -> None:
    facts = indexed(tmp_path)
    assert edges_of(tmp_path) == (by_name(), by_name())
    assert (facts.vertices, facts.edges, facts.level, facts.notes) == (5, 5, "host", ())


vertex = st.integers(0, 11)
names = st.lists(
    st.text("ab.-", min_size=1, max_size=4).filter(lambda name: name.strip(".")),
    min_size=12, max_size=12, unique=True,
)  # fmt: skip


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names, st.booleans(), st.lists(st.tuples(vertex, vertex), max_size=60), st.integers(2, 9),
    st.sampled_from([3, 4, 32]),
)  # fmt: skip
def test_any_graph_comes_out_as_it_went_in(
    tmp_path_factory: pytest.TempPathFactory, names, is_sorted, edges, run, word
) -> None:
    folder = tmp_path_factory.mktemp("graph")
    names = tuple(sorted(names) if is_sorted else names)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Runs.__init__, "__kwdefaults__", {"run": run})
        patch.setattr(Runs.merged, "__kwdefaults__", {"merge": run})
        patch.setattr(edge_runs, "_WORD", word)
        facts = indexed(folder, vertex_lines(names), edge_lines(tuple(edges)))
        assert edges_of(folder) == (by_name(edges, names), by_name(edges, names))
        graph = WebGraph.open(folder / "graph")
        assert (graph.keys is None) == (names == tuple(sorted(names)))
        for number, name in enumerate(names):
            assert graph._find(name.encode()) == [number]
            assert graph._find(name.encode() + b"?") == []
        assert graph.facts == facts
        for lists in (graph.out, graph.back):
            spans = [lists.span(number) for number in range(len(names))]
            lengths = [end - start for start, end in spans]
            assert lists.offsets.lengths(np.arange(len(names))).tolist() == lengths


@given(
    st.lists(st.integers(0, 40), max_size=80), st.integers(1, 7), st.integers(1, 9), st.booleans()
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_runs_are_merged_in_order_each_edge_once(tmp_path, numbers, run, merge, is_sorted) -> None:
    runs = Runs(tmp_path / "runs", run=run)
    runs.add(np.array(sorted(numbers) if is_sorted else numbers, np.uint64))
    pieces = list(runs.merged(merge=merge))
    runs.close()
    assert [number for piece in pieces for number in piece.tolist()] == sorted(set(numbers))
    assert not (tmp_path / "runs").exists()


def test_merging_keeps_little_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_runs, "_MIN_READ", 1)
    runs = Runs(tmp_path / "runs", run=100)
    runs.add(np.random.default_rng(1).integers(0, 1 << 60, 10_000).astype(np.uint64))
    assert max(len(piece) for piece in runs.merged(merge=1000)) <= 1000
    runs.close()


def test_lists_begin_where_they_should_after_many_empty_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge_runs, "RUN", 3)
    edges = np.array([5 << 32 | 1, 5 << 32 | 2, 9 << 32 | 0], np.uint64)
    with (tmp_path / "v").open("wb") as values, (tmp_path / "o").open("wb") as offsets:
        writer = OffsetWriter(offsets)
        assert write_lists(iter([edges[:1], edges[1:]]), 11, values, writer, id) == 3
    assert writer.turns == []
    assert np.fromfile(tmp_path / "o", "<u4").tolist() == [0] * 6 + [2] * 4 + [3, 3]
    assert np.fromfile(tmp_path / "v", "<u4").tolist() == [1, 2, 0]
    assert reversed_edges(reversed_edges(edges)).tolist() == edges.tolist()


@given(
    st.lists(st.integers(0, 1 << 33).map(lambda size: size % 5 if size % 3 else size), max_size=30),
    st.integers(1, 7),
)
@example([5, 1 << 32, 0, 3 << 32, 7], 2)
def test_offsets_of_any_size_take_four_bytes(sizes: list[int], step: int) -> None:
    starts = np.cumsum([0, *sizes], dtype=np.int64)
    stream = io.BytesIO()
    writer = OffsetWriter(stream)
    for place in range(0, len(starts), step):
        writer.add(starts[place : place + step])
    assert len(stream.getvalue()) == 4 * len(starts)
    read = Offsets(np.frombuffer(stream.getvalue(), "<u4"), writer.turns)
    vertices = np.arange(len(sizes))
    assert [read.bounds(vertex) for vertex in vertices.tolist()] == list(pairwise(starts.tolist()))
    assert read.starts(np.arange(len(starts))).tolist() == starts.tolist()
    assert read.lengths(vertices).tolist() == sizes


def test_a_host_takes_twelve_bytes_beside_its_name_and_an_edge_eight(tmp_path: Path) -> None:
    names = tuple(f"com.h{number:05d}" for number in range(1000))
    edges = tuple((number, (7 * number + 1) % 1000) for number in range(1000))
    sizes = indexed(tmp_path, vertex_lines(names), edge_lines(edges)).sizes
    assert sum(sizes.values()) == 1000 * len(names[0]) + 12 * 1001 + 8 * 1000


# -- files --------------------------------------------------------------------------------------


def test_gzip_parts_and_lists_are_read_in_their_order(tmp_path: Path) -> None:
    for name, lines in (("vertices", vertex_lines()), ("edges", edge_lines())):
        folder = tmp_path / "projects" / "graph" / "host" / name
        folder.mkdir(parents=True)
        rows = lines.splitlines(keepends=True)
        written(folder / "part-0.gz", "".join(rows[:2]))
        written(folder / "part-1.gz", "".join(rows[2:]))
        listed = "".join(f"projects/graph/host/{name}/part-{n}.gz\n" for n in range(2))
        written(folder.parent / f"{name}.paths.gz", listed)
    host = tmp_path / "projects" / "graph" / "host"
    index_graph(
        [str(host / "vertices.paths.gz")], [str(host / "edges.paths.gz")], tmp_path / "graph"
    )
    assert edges_of(tmp_path)[0] == by_name()


@pytest.mark.parametrize("folders", ["edges/", ""])
def test_a_copy_may_have_only_the_last_folders_of_a_list(tmp_path: Path, folders: str) -> None:
    (tmp_path / folders).mkdir(exist_ok=True)
    part = written(tmp_path / folders / "part-0.gz", edge_lines())
    path = written(tmp_path / "e.paths", "projects/graph/host/edges/part-0.gz\n")
    assert graph_files.part_files([path]) == [part]


def test_addresses_are_read_by_fsspec(tmp_path: Path) -> None:
    with fsspec.open("memory://graph/v.txt.gz", "wb") as stream:
        stream.write(gzip.compress(vertex_lines().encode()))
    with fsspec.open("memory://graph/e.txt", "wb") as stream:
        stream.write(edge_lines().encode())
    index_graph(["memory://graph/v.txt.gz"], ["memory://graph/e.txt"], tmp_path / "graph")
    assert edges_of(tmp_path)[0] == by_name()
    assert graph_files.size_of("memory://graph/e.txt") == len(edge_lines())
    with pytest.raises(SourceError, match="cannot read memory://graph/none"):
        index_graph(["memory://graph/none"], ["memory://graph/e.txt"], tmp_path / "other")


def test_without_fsspec_an_address_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(SourceError, match="requires fsspec: pip install 'fsspec>="):
        index_graph(["s3://bucket/v.gz"], ["s3://bucket/e.gz"], tmp_path / "graph")
    assert not list(tmp_path.iterdir())


def test_gzip_in_many_members_and_padded_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "many.gz"
    members = [gzip.compress(b"%d\n" % number * 1000) for number in range(2000)]
    path.write_bytes(b"".join(members) + b"\0" * 512)
    whole = b"".join(b"%d\n" % number * 1000 for number in range(2000))
    assert b"".join(graph_files.blocks(str(path))) == whole


def test_a_file_that_inflates_a_thousandfold_comes_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b"0" * (40 << 20)))
    sizes = [len(block) for block in graph_files.blocks(str(path))]
    assert sum(sizes) == 40 << 20
    assert max(sizes) <= graph_files.BLOCK


# -- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["cut", "garbled", "tail"])
def test_lines_before_the_damage_are_used_and_the_damage_reported(tmp_path: Path, how: str) -> None:
    random = np.random.default_rng(3)
    pairs = [(int(a), int(b)) for a, b in random.integers(0, 2000, (40_000, 2))]
    names = tuple(f"com.h{number:05d}" for number in range(2000))
    whole = gzip.compress(edge_lines(tuple(pairs)).encode())
    middle = len(whole) // 2
    damaged = {
        "cut": whole[:middle],
        "garbled": whole[:middle] + b"\xff" * 2000 + whole[middle + 2000 :],
        "tail": whole + b"<html>not found</html>",
    }[how]
    (tmp_path / "e.gz").write_bytes(damaged)
    facts = index_graph(
        [written(tmp_path / "v.txt", vertex_lines(names))], [str(tmp_path / "e.gz")],
        tmp_path / "graph",
    )  # fmt: skip
    found = edges_of(tmp_path)[0]
    note = facts.notes[0]
    assert "e.gz is damaged after" in note
    count = int(note.split("after line ")[1].split(":")[0].replace(",", ""))
    if how == "garbled":  # what is inflated may be wrong for a while before that shows
        assert by_name(pairs[:15_000], names) <= found
        assert count > 15_000
        return
    assert found == by_name(pairs[:count], names)
    assert count == 40_000 if how == "tail" else 15_000 < count < 30_000


def test_a_line_that_was_cut_off_with_its_file_is_not_taken_for_an_edge(tmp_path: Path) -> None:
    data = gzip.compress(b"0\t1\n0\t33")
    (tmp_path / "e.gz").write_bytes(data[:-9])  # neither end nor checksum
    names = tuple(f"com.h{number:02d}" for number in range(40))
    vertices = written(tmp_path / "v.txt", vertex_lines(names))
    index_graph([vertices], [str(tmp_path / "e.gz")], tmp_path / "graph")
    assert edges_of(tmp_path)[0] == {("h00.com", "h01.com")}


def test_lines_that_are_not_edges_are_counted_and_skipped(tmp_path: Path) -> None:
    lines = edge_lines() + "a\tb\n\n7\t1\n0\t99999999999\n2\t2\n0\t1\n0\t1"
    facts = indexed(tmp_path, edges=lines)
    assert edges_of(tmp_path)[0] == by_name()
    assert facts.edges == len(EDGES)
    assert facts.notes == (
        "skipped edge lines that do not consist of two numbers: 1",
        "skipped edges with vertices that are not listed: 2",
    )
    assert json.loads((tmp_path / "graph" / "graph.json").read_text())["notes"] == list(facts.notes)


@pytest.mark.parametrize(
    ("vertices", "edges", "message"),
    [
        ("", edge_lines(), "no vertices in the vertices files"),
        ("<html>\nno\n", edge_lines(), "no vertices in the vertices files"),
        (vertex_lines(), "a b\nc d\n", r"no edges in the edges files \(lines read: 2\)"),
        (vertex_lines(), "70\t80\n", r"no edge connects two listed vertices \(edges read: 1\)"),
        ("0\tcom.a\n5000000000\tcom.b\n", edge_lines(), "but the number of vertices is 2;"),
        ("0\tcom.a\n3000000\tcom.b\n", edge_lines(), "renumber the vertices"),
    ],
)
def test_files_that_are_not_a_graph_are_reported_in_one_line(
    tmp_path: Path, vertices: str, edges: str, message: str
) -> None:
    with pytest.raises(SourceError, match=message) as caught:
        indexed(tmp_path, vertices, edges)
    assert "\n" not in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["e.txt", "v.txt"]


def test_no_edges_are_a_graph_without_links(tmp_path: Path) -> None:
    assert indexed(tmp_path, edges="").edges == 0
    assert WebGraph.open(tmp_path / "graph").back_links("https://alpha.com/", 5) == []


def test_ids_may_be_left_out_and_come_in_any_order(tmp_path: Path) -> None:
    vertices = "4\tcom.a\n0\torg.b\n2\tcom.c\n2\tcom.twice\n"
    facts = indexed(tmp_path, vertices, "4\t0\n2\t4\n1\t0\n0\t3\n")
    assert edges_of(tmp_path)[0] == {("a.com", "b.org"), ("c.com", "a.com")}
    assert facts.notes == (
        "skipped vertices with a duplicate id: 1",
        "unused ids between 0 and 4: 2",
        "skipped edges with vertices that are not listed: 2",
    )
    graph = WebGraph.open(tmp_path / "graph")
    assert [graph._find(name) for name in (b"com.a", b"org.b", b"com.c", b"")] == [
        [4],
        [0],
        [2],
        [],
    ]


def test_names_are_found_whatever_ids_are_left_out(tmp_path: Path) -> None:
    names = {3 * number + 2: f"com.h{number:02d}" for number in range(20)}
    facts = indexed(tmp_path, "".join(f"{id}\t{name}\n" for id, name in names.items()), "2\t5\n")
    assert facts.edges == 1
    graph = WebGraph.open(tmp_path / "graph")
    for id, name in names.items():
        assert graph._find(name.encode()) == [id]


def test_names_are_found_in_files_that_are_each_in_order(tmp_path: Path) -> None:
    paths = [
        written(tmp_path / "v1", "0\tcom.c\n1\tcom.d\n"),
        written(tmp_path / "v2", "2\tcom.a\n3\tcom.b\n"),
    ]
    index_graph(paths, [written(tmp_path / "e", "0\t1\n")], tmp_path / "graph")
    graph = WebGraph.open(tmp_path / "graph")
    found = [graph._find(name) for name in (b"com.a", b"com.b", b"com.c", b"com.d", b"com.e")]
    assert found == [[2], [3], [0], [1], []]


def test_an_endless_line_is_cut() -> None:
    pieces = [b"0\t1\n2\t", *[b"1" * 50_000] * 20, b"\n3\t1\n"]
    found = list(graph_files._whole_lines(pieces))
    assert max(map(len, found)) < 200_000
    assert b"".join(found).endswith(b"\n3\t1\n")


def test_a_line_that_does_not_end_takes_no_memory(tmp_path: Path) -> None:
    endless = "0\t1\n" + "1" * 3_000_000 + "\n3\t1\n"
    facts = indexed(tmp_path, edges=endless)
    assert facts.edges == 2
    assert facts.notes == ("skipped edge lines that do not consist of two numbers: 1",)


@pytest.mark.parametrize("kind", ["file", "folder", "index", "other graph"])
def test_other_folders_are_not_replaced(tmp_path: Path, kind: str) -> None:
    out = tmp_path / "graph"
    if kind == "file":
        out.write_text("mine")
    else:
        if kind == "index":
            indexed(tmp_path)
        out.mkdir(exist_ok=True)
        (out / ("graph.json" if kind == "other graph" else "thesis.txt")).write_text("mine")
    before = sorted(out.iterdir()) if out.is_dir() else []
    with pytest.raises(SourceError, match="choose another folder"):
        indexed(tmp_path)
    if before:
        assert sorted(out.iterdir()) == before
        return
    assert out.read_text() == "mine"


def test_an_index_is_replaced_by_the_same_command(tmp_path: Path) -> None:
    indexed(tmp_path, edges="0\t1\n")
    indexed(tmp_path)
    assert edges_of(tmp_path)[0] == by_name()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["e.txt", "graph", "v.txt"]


def test_killed_build_leaves_no_index_and_can_be_repeated(tmp_path: Path) -> None:
    names = tuple(f"com.h{number:05d}" for number in range(1000))
    vertices = written(tmp_path / "v.txt", vertex_lines(names))
    fifo = tmp_path / "e.fifo"
    os.mkfifo(fifo)
    code = (
        "import sys; from pathlib import Path;"
        "from diptych.sources.graph_index import index_graph;"
        "index_graph([sys.argv[1]], [sys.argv[2]], Path(sys.argv[3]))"
    )
    out = tmp_path / "graph"
    child = subprocess.Popen([sys.executable, "-c", code, vertices, str(fifo), str(out)])
    runs = ".graph.graph-*/new/back.tmp"  # there when vertices are done
    until(lambda: [*tmp_path.glob(runs)] or child.poll() is not None)
    (part,) = tmp_path.glob(".graph.graph-*")
    edges = written(tmp_path / "e.txt", edge_lines())
    index_graph([vertices], [edges], out)  # while the other is at it, whose folder is left alone
    assert part.exists()
    shutil.rmtree(out)
    child.send_signal(signal.SIGKILL)  # it waits for edges
    assert child.wait() == -signal.SIGKILL
    assert not out.exists()
    with pytest.raises(SourceError, match="not a web graph"):
        WebGraph.open(part / "new")
    index_graph([vertices], [edges], out)
    assert WebGraph.open(out).facts.edges == len(EDGES)
    assert not part.exists()


def test_killed_between_two_renames_the_old_index_comes_back(tmp_path: Path) -> None:
    indexed(tmp_path)
    left = tmp_path / ".graph.graph-left"
    left.mkdir()
    (left / web_graph_index.MARKER).write_text("graph")
    (tmp_path / "graph").rename(left / "old")
    with pytest.raises(SourceError, match="lines read: 1"):
        indexed(tmp_path, edges="nonsense\n")
    assert edges_of(tmp_path)[0] == by_name()
    assert not left.exists()


def test_no_folder_of_the_user_is_removed(tmp_path: Path) -> None:
    mine = ("graph.part", "graph.old", ".graph.graph-mine", ".graph.graph-other")
    for name in mine:
        (tmp_path / name).mkdir()
        (tmp_path / name / "thesis.txt").write_text("mine")
    # Of an index with another name.
    (tmp_path / mine[3] / web_graph_index.MARKER).write_text("graph.graph-other")
    for _ in range(2):
        indexed(tmp_path)
    assert [(tmp_path / name / "thesis.txt").read_text() for name in mine] == ["mine"] * 4
    assert edges_of(tmp_path)[0] == by_name()


def test_a_failure_to_change_places_keeps_the_old_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexed(tmp_path)
    replace = os.replace

    def failing(source: Path, target: Path) -> None:
        if source.name == "new":
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(SourceError, match=r"cannot write .*: No space left"):
        indexed(tmp_path, edges="0\t1\n")
    assert edges_of(tmp_path)[0] == by_name()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["e.txt", "graph", "v.txt"]


@pytest.mark.parametrize("edges", ["", "2\t2\n", "\n"])
def test_no_edge_at_all_does_not_replace_an_index(tmp_path: Path, edges: str) -> None:
    indexed(tmp_path)
    with pytest.raises(SourceError, match=r"no edges in the edges files; .* is unchanged"):
        indexed(tmp_path, edges=edges)
    assert edges_of(tmp_path)[0] == by_name()


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd", "file:///etc/passwd", "https://elsewhere.org/part-0.gz", "../part-0.gz",
        "a/../../part-0.gz", "local::part-0.gz", "C:\\part-0.gz", "\\\\host\\part-0.gz",
        "part\x1b[2J.gz",
    ],
)  # fmt: skip
@pytest.mark.parametrize("base", ["", "memory://lists"])
def test_a_list_names_nothing_outside_of_its_own_folder(
    tmp_path: Path, base: str, name: str
) -> None:
    path = f"{base or tmp_path}/e.paths"
    with fsspec.open(path, "wb") as stream:
        stream.write(f"edges/part-1.gz\n{name}\n".encode())
    with pytest.raises(SourceError, match="it may list only files below its own folder") as caught:
        graph_files.part_files([path])
    assert str(caught.value).isprintable()


def test_a_list_names_addresses_on_its_own_host() -> None:
    with fsspec.open("memory://bucket/e.paths", "wb") as stream:
        stream.write(b"memory://bucket/x/part-0.gz\npart-1.gz\n")
    found = graph_files.part_files(["memory://bucket/e.paths"])
    assert found == ["memory://bucket/x/part-0.gz", "memory://bucket/part-1.gz"]
    with fsspec.open("memory://bucket/e.paths", "wb") as stream:
        stream.write(b"memory://other/part-0.gz\n")
    with pytest.raises(SourceError, match="on its own host"):
        graph_files.part_files(["memory://bucket/e.paths"])
