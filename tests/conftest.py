"""Fixtures, and a guard: tests speak to no machine but this one."""

from __future__ import annotations

import ipaddress
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # FastWARC 1.1 warns of its own old classes when imported
    import fastwarc.warc  # noqa: F401

from support.commands import run
from support.corpora import Maker, Told, made_run
from support.crawling import Outcome
from support.crawling import crawl as crawl_into

from diptych.demo import SITE
from diptych.engine.file_server import serve
from diptych.run.store import Store

PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


def _only_loopback(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "socket.connect" or not isinstance(arguments[1], tuple):
        return
    address = str(arguments[1][0])
    if address != "localhost" and not ipaddress.ip_address(address).is_loopback:
        raise RuntimeError(f"a test wants to connect to {address}")


sys.addaudithook(_only_loopback)


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the machine is configured to must not decide a test."""
    for name in PROXY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def crawl(tmp_path: Path) -> Callable[..., Outcome]:
    """`crawling.crawl` into a folder of the test's own."""
    return partial(crawl_into, folder=tmp_path)


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that mined the demo site; to be read, not written."""
    folder = tmp_path_factory.mktemp("recorded") / "run"
    with serve(SITE) as address:
        result = run(
            "mine", address, "--langs", "en,fr", "--out", folder, "--delay", 0, "--allow-private",
            "--quiet",
        )  # fmt: skip
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Maker]:
    """Makes runs with a corpus, each in a folder of its own: `made(pairs)`."""
    with ExitStack() as stack:
        numbers = count(1)

        def make(told: Told, **more: Any) -> Store:
            return stack.enter_context(made_run(tmp_path / f"run{next(numbers)}", told, **more))

        yield make
