"""Reading parts of files: politeness with a clock of its own, and real files, servers and S3."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

import pytest
from support.clock import Clock
from support.serving import Fault, Reply, Request, reserved, serve, url_of

from bench.support.range_server import Refusal, serve_ranges
from diptych.engine.fetch import FetchSettings
from diptych.engine.patience import REFUSED_TRIES, TRIES, Patience
from diptych.engine.ranges import (
    FileStore,
    Part,
    PoliteReader,
    WebStore,
    open_store,
)
from diptych.errors import ConfigError
from diptych.reason import Reason
from diptych.types import Failure, Url

SETTINGS = FetchSettings(agent="TestBot/1.0 (+http://bot.example)", allow_private=True)
HERE = Part("a.bin", 0, 4)


def nothing() -> None:
    """Do nothing at a tick."""


@dataclass
class Script:
    """A store that answers what it is told to."""

    answers: list[bytes | Failure]
    asked: list[float] = field(default_factory=list)
    clock: Callable[[], float] = time.monotonic

    async def read(self, part: Part) -> bytes | Failure:
        self.asked.append(self.clock())
        return self.answers.pop(0)

    async def size(self, path: str) -> int | Failure:
        raise NotImplementedError

    async def close(self) -> None:
        """Nothing is open."""


def failure(status: int, retry_after: float | None = None) -> Failure:
    return Failure(Url("http://a.example/"), f"http_{status}", "said so", retry_after)


def polite(
    answers: list[bytes | Failure], *, delay: float = 1.0, connections: int = 1
) -> tuple[PoliteReader, Script, Clock]:
    clock = Clock()
    script = Script(answers, clock=clock)
    patience = Patience(delay, clock.sleep, clock)
    return PoliteReader(script, patience, connections), script, clock


# -- politeness ------------------------------------------------------------------------------------


def test_requests_are_a_delay_apart():
    reader, script, _ = polite([b"1", b"2", b"3"], delay=2.0)
    with reader:
        found = list(reader.read_all([HERE, HERE, HERE], nothing))
    assert [data for _, data in found] == [b"1", b"2", b"3"]
    assert script.asked == [100.0, 102.0, 104.0]
    assert (reader.requests, reader.received) == (3, 3)


def test_a_busy_service_is_asked_again_after_growing_pauses():
    reader, script, clock = polite([failure(503), failure(503), failure(500), b"data"], delay=0.0)
    with reader:
        assert reader.read(HERE, nothing) == b"data"
    assert clock.slept == [1.0, 2.0, 4.0]
    assert len(script.asked) == 4


def test_the_pause_that_a_service_asks_for_is_respected():
    reader, _, clock = polite([failure(429, 30.0), b"data"], delay=0.0)
    with reader:
        assert reader.read(HERE, nothing) == b"data"
    assert clock.slept == [30.0]


@pytest.mark.parametrize(
    ("answer", "tries"),
    [
        (failure(503), TRIES),
        (failure(403), REFUSED_TRIES),
        (failure(404), 1),
        (failure(503, 7200.0), 1),
        (Failure(Url("http://a.example/"), Reason.WRONG_SHAPE), 1),
    ],
)
def test_a_request_is_repeated_only_if_that_can_help(answer: Failure, tries: int):
    reader, script, _ = polite([answer] * TRIES, delay=0.0)
    with reader:
        assert reader.read(HERE, nothing) == answer
    assert len(script.asked) == tries


def test_all_connections_wait_while_the_service_is_busy():
    reader, script, _ = polite([failure(503, 60.0), b"1", b"2"], delay=0.0, connections=2)
    with reader:
        found = [data for _, data in reader.read_all([HERE, Part("b", 0, 1)], nothing)]
    assert sorted(found) == [b"1", b"2"]
    # One answer of three is a refusal; what was not under way then comes a minute later.
    assert script.asked[-1] == 160.0


def test_no_more_parts_are_taken_than_there_are_connections():
    reader, _, _ = polite([b"x"] * 10, delay=0.0, connections=2)
    taken: list[int] = []

    def parts():
        for number in range(10):
            taken.append(number)
            yield Part("a.bin", number, 1)

    with reader:
        results = reader.read_all(parts(), nothing)
        next(results)
        assert len(taken) <= 3
        results.close()


def test_an_exception_in_a_tick_ends_the_reading(tmp_path: Path):
    def stop() -> None:
        raise KeyboardInterrupt

    reader, _, _ = polite([b"x"])
    with reader, pytest.raises(KeyboardInterrupt):
        reader.read(HERE, stop)


# -- over HTTP -------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.bin").write_bytes(b"0123456789")
    return tmp_path


def read_from(base: str, part: Part, settings: FetchSettings = SETTINGS) -> bytes | Failure:
    with PoliteReader(open_store(base, settings), Patience(0.0)) as reader:
        return reader.read(part, nothing)


def test_only_the_part_is_fetched_and_we_say_who_we_are(folder: Path):
    with serve_ranges(folder) as server:
        assert read_from(server.url, Part("a.bin", 3, 4)) == b"3456"
        (asked,) = server.log
    assert asked[:3] == ("a.bin", 3, 4)
    assert asked.agent == SETTINGS.agent


def test_a_part_beyond_the_end_is_shorter(folder: Path):
    with serve_ranges(folder) as server:
        assert read_from(server.url, Part("a.bin", 8, 100)) == b"89"
        behind = read_from(server.url, Part("a.bin", 50, 4))
    assert isinstance(behind, Failure)
    assert behind.reason == "http_416"


def test_the_size_of_a_file_costs_one_byte(folder: Path):
    with (
        serve_ranges(folder) as server,
        PoliteReader(WebStore(server.url, SETTINGS), Patience(0.0)) as reader,
    ):
        assert reader.size("a.bin") == 10
        assert server.sent() == 1
        missing = reader.size("b.bin")
    assert isinstance(missing, Failure)
    assert missing.reason == "http_404"


def test_a_response_that_breaks_off_is_asked_for_again(folder: Path):
    cuts = iter([Refusal(cut=2), None])
    clock = Clock()
    with serve_ranges(folder) as server:
        server.refuse = lambda asked: next(cuts)
        store = WebStore(server.url, SETTINGS)
        with PoliteReader(store, Patience(0.0, clock.sleep, clock)) as reader:
            assert reader.read(Part("a.bin", 0, 8), nothing) == b"01234567"
        assert len(server.log) == 2
    assert clock.slept == [1.0]


def test_retry_after_is_read_from_the_response(folder: Path):
    answers = iter([Refusal(503, (("Retry-After", "17"),)), None])
    clock = Clock()
    with serve_ranges(folder) as server:
        server.refuse = lambda asked: next(answers)
        store = WebStore(server.url, SETTINGS)
        with PoliteReader(store, Patience(0.0, clock.sleep, clock)) as reader:
            assert reader.read(HERE, nothing) == b"0123"
    assert clock.slept == [17.0]


def part_of(content_range: str, body: bytes) -> Reply:
    return Reply(body, 206, (("Content-Range", content_range),))


@pytest.mark.parametrize(
    "reply",
    [
        Reply(b"whole file"),
        part_of("bytes 5-8/10", b"5678"),
        part_of("nonsense", b"0123"),
        part_of("bytes 99999999999999999999-3/4", b"0123"),
        Reply(b"0123", 206),
    ],
)
def test_a_server_that_sends_something_else_is_not_believed(reply: Reply):
    with serve({"/a.bin": reply}) as server:
        found = read_from(server.url, HERE)
    assert isinstance(found, Failure)
    assert found.reason == Reason.WRONG_SHAPE


def test_a_whole_file_is_never_read_for_a_part():
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/gzip\r\n\r\n"
    with serve({"/a.bin": Fault(head, "flood")}) as server:
        found = read_from(server.url, HERE)
        assert isinstance(found, Failure)
        assert server.flooded["/a.bin"] < 20_000_000


def test_a_body_without_end_is_cut():
    head = b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-3/10\r\n\r\n"
    with serve({"/a.bin": Fault(head, "flood")}) as server:
        assert read_from(server.url, HERE) == bytes(4)


def test_private_addresses_are_refused(folder: Path):
    with serve_ranges(folder) as server:
        found = read_from(server.url, HERE, FetchSettings(agent="TestBot"))
        assert server.log == []
    assert isinstance(found, Failure)
    assert found.reason == Reason.PRIVATE_ADDRESS


def test_a_server_that_is_not_there_is_a_failure():
    clock = Clock()
    with reserved() as place:
        store = WebStore(url_of(place), SETTINGS)
        with PoliteReader(store, Patience(0.0, clock.sleep, clock)) as reader:
            found = reader.read(HERE, nothing)
    assert isinstance(found, Failure)
    assert found.reason == Reason.CONNECTION_REFUSED
    assert len(clock.slept) == REFUSED_TRIES - 1


def test_connections_run_side_by_side_and_ticks_go_on(folder: Path):
    both, ticks = Event(), []
    arrived: list[str] = []

    def site(request: Request) -> Reply:
        arrived.append(request.path)
        if len(arrived) == 2:
            both.set()
        both.wait(20)
        return part_of("bytes 0-3/10", b"0123")

    with serve(site) as server:
        with PoliteReader(WebStore(server.url, SETTINGS), Patience(0.0), 2) as reader:
            parts = [Part("a", 0, 4), Part("b", 0, 4)]
            assert len(list(reader.read_all(parts, lambda: ticks.append(1)))) == 2
        assert server.busiest == 2
    assert ticks


# -- files and other stores ------------------------------------------------------------------------


def test_a_folder_is_read_with_and_without_a_scheme(folder: Path):
    for base in (str(folder), f"{folder}/", folder.as_uri()):
        assert read_from(base, Part("a.bin", 3, 4)) == b"3456"
        assert read_from(base, Part("a.bin", 8, 100)) == b"89"
    with PoliteReader(open_store(str(folder), SETTINGS), Patience(0.0)) as reader:
        assert reader.size("a.bin") == 10
        missing = reader.read(Part("b.bin", 0, 1), nothing)
    assert isinstance(missing, Failure)
    assert missing.reason == "http_404"


def test_other_stores_are_read_by_fsspec():
    import fsspec

    with fsspec.open("memory://ranges/a.bin", "wb") as stream:
        stream.write(b"0123456789")
    store = open_store("memory://ranges", SETTINGS)
    assert isinstance(store, FileStore)
    with PoliteReader(store, Patience(0.0)) as reader:
        assert reader.read(Part("a.bin", 3, 4), nothing) == b"3456"
        assert reader.read(Part("a.bin", 0, 1000), nothing) == b"0123456789"
        assert reader.size("a.bin") == 10
        missing = reader.read(Part("b.bin", 0, 1), nothing)
    assert isinstance(missing, Failure)
    assert missing.reason == "http_404"


@pytest.mark.parametrize(
    ("base", "said"),
    [
        ("http://", "is not a valid URL"),
        ("/no/such/folder", "there is no folder"),
        ("file:///no/such/folder", "there is no folder"),
        ("nonsense://a", "cannot use nonsense://a"),
        ("memory://a::http://b", "is not a valid URL"),
    ],
)
def test_a_base_that_cannot_be_is_a_mistake(base: str, said: str):
    with pytest.raises(ConfigError, match=said):
        open_store(base, SETTINGS)


def test_without_s3fs_an_address_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(ConfigError, match="requires s3fs: pip install 's3fs>="):
        open_store("s3://commoncrawl/", SETTINGS)
