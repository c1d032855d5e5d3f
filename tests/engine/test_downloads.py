"""Downloads of whole files: honest, polite, guarded, and continued where they broke off."""

from __future__ import annotations

import errno
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from support.serving import Answer, Fault, Reply, Request, serve

from diptych.engine.downloads import Downloads
from diptych.engine.fetch import FetchSettings
from diptych.engine.patience import TRIES, Patience
from diptych.reason import Reason
from diptych.types import Failure

SETTINGS = FetchSettings(agent="TestBot/1.0 (+http://bot.example)", allow_private=True)
DATA = bytes(range(256)) * 400


@dataclass
class Clock:
    """Time that passes only while something sleeps."""

    now: float = 100.0
    slept: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 6))
        self.now += seconds

    def __call__(self) -> float:
        return self.now


def got(
    url: str, settings: FetchSettings = SETTINGS, *, delay: float = 0.0, clock: Clock | None = None
) -> bytes | Failure:
    [found] = all_got([url], settings, delay=delay, clock=clock)
    return found


def all_got(
    urls: list[str], settings: FetchSettings = SETTINGS, *, delay: float = 0.0,
    clock: Clock | None = None, shared: Path | None = None,
) -> list[bytes | Failure]:  # fmt: skip
    own = clock or Clock()
    patience = lambda delay: Patience(delay, own.sleep, own)  # noqa: E731
    found: list[bytes | Failure] = []
    with Downloads(lambda: settings, delay, shared, patience) as downloads:
        for url in urls:
            out = io.BytesIO()
            found.append(downloads.download(url, out) or out.getvalue())
    return found


def file(request: Request) -> Answer:
    return Reply(DATA, type="application/gzip")


def in_parts(break_at: list[int], *, etags: list[str] | None = None) -> Callable[[Request], Answer]:
    """A server that sends parts, and breaks off after so many bytes of each answer."""

    def answer(request: Request) -> Answer:
        start, etag = 0, (etags or ['"1"'])[min(request.nth, len(etags or "1") - 1)]
        asked = request.headers.get("range", "")
        is_same = request.headers.get("if-range", etag) == etag
        if asked and is_same:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
        sent = DATA[start:]
        place = (("Content-Range", f"bytes {start}-{len(DATA) - 1}/{len(DATA)}"),) if start else ()
        reply = Reply(sent, 206 if start else 200, (*place, ("ETag", etag)), type="")
        if request.nth < len(break_at):
            raw = reply.raw()
            return Fault(raw[: len(raw) - len(sent) + break_at[request.nth]])
        return reply

    return answer


def test_a_file_is_fetched_whole_with_the_agent_of_the_user():
    with serve(file) as server:
        assert got(f"{server.url}a.gz?sid=ab12cd34ef56ab78") == DATA
    [asked] = server.log
    assert asked.headers["user-agent"] == SETTINGS.agent
    assert asked.path == "/a.gz?sid=ab12cd34ef56ab78", "a signature in a URL is kept"


def test_requests_to_a_host_are_a_delay_apart():
    clock = Clock()
    with serve(file) as one, serve(file) as other:
        urls = [f"{one.url}a", f"{other.url}a", f"{one.url}b", f"{one.url}c"]
        assert all_got(urls, delay=5.0, clock=clock) == [DATA] * 4
    assert clock.slept == [5.0, 5.0]


def test_processes_of_a_job_share_the_delay(tmp_path: Path):
    clock = Clock()
    with serve(file) as server:
        for _ in range(3):
            all_got([f"{server.url}a"], delay=50.0, clock=clock, shared=tmp_path)
    assert clock.slept[0] == 0
    assert [round(each, -1) for each in clock.slept[1:]] == [50, 100]
    assert len(list(tmp_path.iterdir())) == 1


def test_a_note_of_another_process_that_makes_no_sense_is_no_obstacle(tmp_path: Path):
    clock = Clock()
    with serve(file) as server:
        all_got([f"{server.url}a"], shared=tmp_path)
        [note] = tmp_path.iterdir()
        for text in ("x", "9e99"):
            note.write_text(text)
            assert all_got([f"{server.url}a"], clock=clock, shared=tmp_path) == [DATA]
    assert max(clock.slept) <= 120


def test_private_addresses_are_refused_also_behind_a_redirect():
    closed = FetchSettings(agent="TestBot/1.0")
    with serve(file) as server:
        found = got(f"{server.url}a", closed)
        assert isinstance(found, Failure)
        assert found.reason == Reason.PRIVATE_ADDRESS
    assert server.log == []


def test_redirects_are_followed_to_an_end():
    with serve(file) as target:
        with serve({"/a": Reply(status=302, headers=(("Location", f"{target.url}b"),))}) as server:
            assert got(f"{server.url}a") == DATA
        with serve(lambda request: Reply(status=301, headers=(("Location", "/a"),))) as server:
            found = got(f"{server.url}a")
    assert isinstance(found, Failure)
    assert found.reason == Reason.TOO_MANY_REDIRECTS
    with serve({"/a": Reply(status=302, headers=(("Location", "file:///etc/passwd"),))}) as server:
        found = got(f"{server.url}a")
    assert isinstance(found, Failure)
    assert found.reason == Reason.WRONG_SHAPE


def test_retry_after_is_respected():
    clock = Clock()
    busy = Reply("slow down", 429, (("Retry-After", "30"),))
    with serve(lambda request: busy if request.nth == 0 else file(request)) as server:
        assert got(f"{server.url}a", clock=clock) == DATA
    assert clock.slept == [30.0]


@pytest.mark.parametrize(("status", "tries"), [(503, TRIES), (404, 1)])
def test_what_cannot_be_read_is_a_failure(status: int, tries: int):
    with serve(lambda request: Reply("no", status)) as server:
        found = got(f"{server.url}a")
    assert isinstance(found, Failure)
    assert found.reason == f"http_{status}"
    assert len(server.log) == tries


def test_a_broken_transfer_goes_on_where_it_ended():
    with serve(in_parts([60_000, 10_000])) as server:
        assert got(f"{server.url}a") == DATA
    assert [each.headers.get("range") for each in server.log] == [
        None, "bytes=60000-", "bytes=70000-"
    ]  # fmt: skip


def test_a_file_that_changes_meanwhile_is_fetched_anew():
    with serve(in_parts([60_000], etags=['"1"', '"2"'])) as server:
        assert got(f"{server.url}a") == DATA
    assert [each.headers.get("if-range") for each in server.log] == [None, '"1"']


def test_a_server_without_parts_sends_the_file_again():
    raw = Reply(DATA, type="").raw()
    broken, shorter = Fault(raw[: len(raw) - 1000]), DATA[:-2000]
    with serve(lambda request: broken if request.nth == 0 else Reply(shorter)) as server:
        assert got(f"{server.url}a") == shorter
    assert len(server.log) == 2


def test_a_disk_that_is_full_is_no_fault_of_the_server():
    class Full(io.BytesIO):
        def write(self, data: object) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    with (
        serve(file) as server,
        Downloads(lambda: SETTINGS, 0.0) as downloads,
        pytest.raises(OSError, match="No space left"),
    ):
        downloads.download(f"{server.url}a", Full())
    assert len(server.log) == 1
