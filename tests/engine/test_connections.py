"""Bytes of a response that are not in its body."""

from __future__ import annotations

import asyncio

import pytest
from support.serving import Fault, Reply, serve

from diptych.engine.fetch import Fetcher, FetchSettings
from diptych.types import Failure, Kind, Response, Url

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
FEW = 20_000_000  # bytes that fit into the buffers of both sides, and more


def fetched(url: str) -> Response | Failure:
    async def one() -> Response | Failure:
        async with Fetcher(FetchSettings("TestBot/1", allow_private=True, timeout=120.0)) as client:
            return await client.fetch(Url(url), Kind.PAGE)

    return asyncio.run(one())


@pytest.mark.parametrize(
    ("sent", "piece"),
    [
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
        (HEAD + b"5;", b"x" * 65_536),
        (HEAD, b"1\r\nx\r\n" * 10_000),
    ],
    ids=["interim responses", "chunk extension", "tiny chunks"],
)
def test_response_without_end_beside_its_body_fails_early(sent: bytes, piece: bytes) -> None:
    with serve({"/a": Fault(sent, "flood", piece)}) as server:
        found = fetched(server.url + "a")
        assert isinstance(found, Failure)
        assert found.reason == "protocol"
    assert server.flooded["/a"] < FEW


def test_body_in_small_chunks_is_read() -> None:
    chunks = b"8\r\n<p>lamp\n\r\n" * 300_000 + b"0\r\n\r\n"
    with serve({"/a": Fault(HEAD + chunks)}) as server:
        found = fetched(server.url + "a")
    assert isinstance(found, Response), found
    assert found.body == b"<p>lamp\n" * 300_000


def test_each_response_of_a_connection_has_room_of_its_own() -> None:
    headers = tuple((f"X-{number}", "x" * 8000) for number in range(100))

    async def three(url: str) -> list[Response | Failure]:
        async with Fetcher(FetchSettings("TestBot/1", allow_private=True)) as client:
            return [await client.fetch(Url(url), Kind.PAGE) for _ in range(3)]

    with serve({"/a": Reply("lamp", headers=headers)}) as server:
        found = asyncio.run(three(server.url + "a"))
    assert [each.body for each in found if isinstance(each, Response)] == [b"lamp"] * 3
