"""A process that has too many open files: no host is blamed, and no page is lost."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp.connector
import pytest
from support.commands import run
from support.crawling import crawl
from support.serving import Reply, serve

from diptych.errors import MachineError

SITE = {f"/{name}": Reply(f"<p>{name * 99}</p>") for name in "abcdef"}
LINKS = "".join(f'<a href="{path}">{path}</a>' for path in SITE)
CONNECT = aiohttp.connector.aiohappyeyeballs.start_connection


def failing(error: int, at: int) -> Callable[..., Any]:
    calls = 0

    async def connect(*given: Any, **more: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == at:
            raise OSError(error, os.strerror(error))
        return await CONNECT(*given, **more)

    return connect


@pytest.mark.parametrize("error", [errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM])
def test_fault_of_this_machine_ends_the_run_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    headers = (("Connection", "close"),)  # each page needs a new connection
    site = {path: Reply(reply.body, headers=headers) for path, reply in SITE.items()}
    with serve({"/": Reply(f"<p>{LINKS}", headers=headers), **site}) as server:
        with monkeypatch.context() as patch:
            patch.setattr(aiohttp.connector.aiohappyeyeballs, "start_connection", failing(error, 4))
            with pytest.raises(MachineError, match=r"^cannot connect to 127.0.0.1: .*; \w"):
                crawl(server.url, folder=tmp_path)
        found = crawl(server.url, folder=tmp_path)
    assert set(found.pages) == {"/", *SITE}
    assert not found.stopped


def test_command_says_so_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect = failing(errno.EMFILE, 1)
    monkeypatch.setattr(aiohttp.connector.aiohappyeyeballs, "start_connection", connect)
    with serve(SITE) as server:
        said = run(
            "mine", server.url, "--langs", "en,fr", "--out", tmp_path / "run", "--allow-private",
            "--quiet",
        )  # fmt: skip
    line = (
        "error: cannot connect to 127.0.0.1: Too many open files; raise the limit of open files"
        " (ulimit -n), then run the same command again\n"
    )
    assert (said.exit_code, said.stderr) == (3, line)


def test_faults_of_the_web_are_no_faults_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = failing(errno.EHOSTUNREACH, 1)
    monkeypatch.setattr(aiohttp.connector.aiohappyeyeballs, "start_connection", connect)
    with serve({"/": Reply(f"<p>{LINKS}"), **SITE}) as server:
        assert crawl(server.url, folder=tmp_path).pages
