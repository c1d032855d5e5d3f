"""Downloads of whole files: honest, polite, guarded, and continued where they broke off."""

from __future__ import annotations

import errno
import io
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from support.clock import Clock
from support.names import Names
from support.serving import Answer, Fault, Reply, Request, reserved, secure_server, serve, url_of

from diptych.engine.downloads import Downloads
from diptych.engine.fetch import FetchSettings
from diptych.engine.patience import REFUSED_TRIES, TRIES, Patience, unreadable
from diptych.errors import ArchiveError, StoppedError
from diptych.protocols import Watcher
from diptych.reason import Reason
from diptych.sources.archives import archive_names
from diptych.types import Failure

SETTINGS = FetchSettings(agent="TestBot/1.0 (+http://bot.example)", allow_private=True)
DATA = bytes(range(256)) * 400


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
        for text in ("x", "nan", "9e99"):
            note.write_text(text)
            before = time.time()
            found = all_got([f"{server.url}a"], delay=50.0, clock=clock, shared=tmp_path)
            assert found == [DATA]
            assert before + 49 < float(note.read_text()) < time.time() + 171
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


def test_a_redirect_to_an_invalid_address_is_a_failure():
    with serve({"/a": Reply(status=302, headers=(("Location", "http://[::1"),))}) as server:
        found = got(f"{server.url}a")
    assert isinstance(found, Failure)
    assert found.reason == Reason.BAD_REDIRECT


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


def limited(size: int, *headers: tuple[str, str], first: int = 0) -> Callable[[Request], Answer]:
    """A server that breaks off after `first` bytes, and then sends at most `size` at a time."""

    def answer(request: Request) -> Answer:
        asked = request.headers.get("range", "")
        if not asked and first:
            raw = Reply(DATA, headers=headers, type="").raw()
            return Fault(raw[: len(raw) - len(DATA) + first])
        start = int(asked.removeprefix("bytes=").removesuffix("-") or 0)
        sent = DATA[start : start + size]
        place = f"bytes {start}-{start + len(sent) - 1}/{len(DATA)}"
        return Reply(sent, 206, (("Content-Range", place), *headers), type="")

    return answer


@pytest.mark.parametrize("first", [0, 50_000])
def test_parts_that_end_early_are_put_together(first: int):
    clock = Clock()
    with serve(limited(5_000, ("ETag", '"1"'), first=first)) as server:
        assert got(f"{server.url}a", clock=clock) == DATA
    assert len(server.log) > TRIES, "these are no failures"
    assert len(clock.slept) <= 1


def test_a_server_that_drips_is_given_up():
    hasty = replace(SETTINGS, rate_seconds=0.15)
    site = {"/a": Fault(b'HTTP/1.1 200 OK\r\nETag: "1"\r\n\r\n', "drip")}
    with serve(site) as server:
        found = got(f"{server.url}a", hasty)
        assert len(server.log) == TRIES
    assert isinstance(found, Failure)
    assert found.reason == Reason.TIMEOUT
    assert "fewer than 5,000 bytes per second" in found.detail


def test_a_slow_server_is_waited_for():
    slow = replace(SETTINGS, rate_seconds=0.15, min_rate=2.0)
    with serve({"/a": Fault(Reply(b"x" * 9).raw()[:-9], "drip")}) as server:
        assert got(f"{server.url}a", slow) == b" " * 9
        assert len(server.log) == 1


def test_tiny_parts_have_an_end():
    with serve(limited(1000, ("ETag", '"1"'))) as server:
        found = got(f"{server.url}a")
        assert len(server.log) == TRIES
    assert isinstance(found, Failure)
    assert found.detail == "the server sends the file in very small parts"


@dataclass
class Impatient(Watcher):
    """Stops a download when a megabyte has arrived."""

    seen: list[tuple[str, int, int | None, str]] = field(default_factory=list)

    def tick(self) -> None:
        self.seen.append((self.stage, self.done, self.total, self.unit))
        if self.done:
            raise StoppedError("Stopped.")


def test_a_download_is_watched_and_can_be_stopped():
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 90000000\r\n\r\n"
    watcher = Impatient()
    with (
        serve({"/a": Fault(head + bytes(1_500_000), "stall")}) as server,
        Downloads(lambda: SETTINGS, watcher=watcher) as downloads,
        pytest.raises(StoppedError),
    ):
        downloads.download(f"{server.url}a", io.BytesIO())
    assert watcher.seen[-1] == ("downloading", 1, 90, "MB")


def test_parts_without_bytes_or_without_a_version_have_an_end():
    for site in (limited(0, ("ETag", '"1"'), first=9), limited(1000)):
        with serve(site) as server:
            found = got(f"{server.url}a")
        assert isinstance(found, Failure)
        assert len(server.log) <= TRIES


def test_a_part_goes_on_with_the_date_of_the_file():
    date = "Wed, 21 Oct 2026 07:28:00 GMT"
    headers = (("ETag", 'W/"1"'), ("Last-Modified", date))
    with serve(limited(200_000, *headers, first=60_000)) as server:
        assert got(f"{server.url}a") == DATA
    assert [each.headers.get("if-range") for each in server.log] == [None, date]


def test_a_part_beside_an_etag_need_not_repeat_the_date():
    dated = limited(200_000, ("ETag", '"1"'), ("Last-Modified", "Wed, 21 Oct"), first=60_000)
    plain = limited(200_000, ("ETag", '"1"'))
    with serve(lambda request: plain(request) if request.nth else dated(request)) as server:
        assert got(f"{server.url}a") == DATA
    assert [each.headers.get("range") for each in server.log] == [None, "bytes=60000-"]


def test_a_file_that_becomes_shorter_is_fetched_anew():
    raw = Reply(DATA, headers=(("ETag", '"1"'),), type="").raw()
    other = DATA[:60_000][::-1]

    def site(request: Request) -> Answer:
        if request.nth == 0:
            return Fault(raw[: len(raw) - len(DATA) + 60_000])
        if "range" in request.headers:
            return Reply("", 416, (("Content-Range", "bytes */60000"),))
        return Reply(other)

    with serve(site) as server:
        assert got(f"{server.url}a") == other


def test_without_a_validator_a_file_is_fetched_anew():
    raw = Reply(DATA, type="").raw()

    def site(request: Request) -> Answer:
        if request.nth == 0:
            return Fault(raw[:-1000])
        return limited(200_000)(request) if "range" in request.headers else Reply(DATA[::-1])

    with serve(site) as server:
        assert got(f"{server.url}a") == DATA[::-1]
    assert [each.headers.get("range") for each in server.log] == [None, None]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [("ETag", '"1"', '"2"'), ("ETag", '"1"', ""), ("Last-Modified", "Wed, 21 Oct", "Thu, 22 Oct"),
     ("Content-Range", "", f"bytes 60000-{len(DATA) - 1}/999999")],
)  # fmt: skip
def test_a_part_of_another_version_is_not_joined(name: str, old: str, new: str):
    """The server ignores `If-Range`."""
    same = () if name == "ETag" else (("ETag", '"0"'),)
    raw = Reply(DATA, headers=(*same, (name, old)), type="").raw()
    other = DATA[::-1]

    def site(request: Request) -> Answer:
        if request.nth == 0:
            return Fault(raw[: len(raw) - len(DATA) + 60_000])
        if "range" not in request.headers:
            return Reply(other, headers=((name, new),) if name != "Content-Range" else ())
        place = ("Content-Range", f"bytes 60000-{len(DATA) - 1}/{len(DATA)}")
        headers = (*same, (name, new)) if name == "Content-Range" else (*same, place, (name, new))
        return Reply(other[60_000:], 206, headers, type="")

    with serve(site) as server:
        assert got(f"{server.url}a") == other
    assert len(server.log) == 3


def test_a_file_that_always_changes_is_a_failure():
    def site(request: Request) -> Answer:
        etag = ("ETag", f'"{request.nth // 3}"')
        return limited(6000, etag, first=6000)(request) if request.nth < 99 else Reply(status=404)

    with serve(site) as server:
        found = got(f"{server.url}a")
    assert isinstance(found, Failure)
    assert found.reason == Reason.UNREADABLE
    assert len(server.log) <= 3 * TRIES + 1


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


def test_a_host_that_never_answered_is_not_waited_for():
    clock = Clock()
    with reserved() as place, secure_server() as secure:
        for url in (url_of(place), "http://unknown.example/", secure):
            settings = FetchSettings("TestBot/1.0", allow_private=True, resolver=Names({}))
            clock.slept.clear()
            found = got(f"{url}a", settings, clock=clock)
            assert isinstance(found, Failure)
            assert found.reason in (Reason.CONNECTION_REFUSED, Reason.DNS, Reason.BAD_CERTIFICATE)
            assert len(clock.slept) < REFUSED_TRIES


@pytest.mark.parametrize("answer", [Reply("no", 503), Fault(Reply(DATA).raw()[:-1000])])
def test_a_host_that_answered_is_waited_for(answer: Answer):
    class Ending(Clock):
        async def sleep(self, seconds: float) -> None:
            await super().sleep(seconds)
            server.stop()

    clock = Ending()
    with serve(lambda request: answer) as server:
        found = got(f"{server.url}a", clock=clock)
    assert isinstance(found, Failure)
    assert found.reason == Reason.CONNECTION_REFUSED
    assert len(clock.slept) == TRIES - 1


def test_the_password_of_a_proxy_is_not_shown():
    with serve(lambda request: Reply("no", 407)) as proxy:
        address = proxy.url.replace("://", "://me:secret@").rstrip("/")
        settings = FetchSettings("TestBot/1.0", proxy=address, allow_private=True)
        found = got("https://public.example/a", settings)
    assert isinstance(found, Failure)
    assert "407" in found.detail
    assert "secret" not in found.detail
    assert "secret" not in unreadable("https://me:secret@a.example/", found)


@pytest.mark.parametrize("name", ["a.warc.gz", "warc.paths"])
def test_a_user_name_in_a_url_is_refused(name: str):
    url = f"https://user:secret@host.example/{name}"
    with pytest.raises(ArchiveError, match="a user name in the URL is not supported") as error:
        archive_names([url], Downloads(lambda: SETTINGS, 0.0))
    assert "secret" not in str(error.value)
    found = got(url)
    assert isinstance(found, Failure)
    assert found.detail == "a user name in the URL is not supported"
