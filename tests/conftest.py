"""Fixtures and the settings of Hypothesis, and a guard: tests speak to no machine but this one."""

from __future__ import annotations

import ipaddress
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from hashlib import blake2b
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from support.corpora import Maker, Told, made_run
from support.crawling import Outcome
from support.crawling import crawl as crawl_into
from support.encoders import import_torch

from diptych.run.store import Store

PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
ASKING = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")

# No clock decides a test, and `make test` runs the same examples everywhere.
settings.register_profile(
    "test",
    deadline=None,
    derandomize=True,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "fuzz", settings.get_profile("test"), derandomize=False, max_examples=1000
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "test"))

# Models that are unpacked once: kept for the next run of the tests, and apart from the user's own.
os.environ["DIPTYCH_CACHE"] = str(Path(__file__).resolve().parent.parent / ".cache")


def _only_loopback(event: str, arguments: tuple[Any, ...]) -> None:
    """Let nothing connect to another machine, nor ask where one is."""
    if event in ASKING:
        address = str(arguments[0] or "127.0.0.1")
    elif event == "socket.connect" and isinstance(arguments[1], tuple):
        address = str(arguments[1][0])
    else:
        return
    with suppress(ValueError):
        if ipaddress.ip_address(address).is_loopback and event != "socket.gethostbyaddr":
            return
    raise RuntimeError(f"a test wants to reach {address}")


sys.addaudithook(_only_loopback)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs PyTorch, and put tests into the order that TEST_ORDER, a number, stands for.

    The tests of a module stay together, as they share what is made once for it.
    """
    for item in items:
        if "torch" in getattr(item, "fixturenames", ()):
            item.add_marker("needs_torch")
    if order := os.environ.get("TEST_ORDER"):

        def place(name: str) -> bytes:
            return blake2b(f"{order} {name}".encode()).digest()

        items.sort(key=lambda item: (place(str(item.path)), place(item.nodeid)))


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the machine is configured to must not decide a test."""
    for name in PROXY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture(scope="session")
def torch() -> ModuleType:
    """PyTorch; tests with this fixture are marked `needs_torch`, and run in `make test-all`."""
    return import_torch()


@pytest.fixture
def crawl(tmp_path: Path) -> Callable[..., Outcome]:
    """`crawling.crawl` into a folder of the test's own."""
    return partial(crawl_into, folder=tmp_path)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Maker]:
    """Makes runs with a corpus, each in a folder of its own: `made(pairs)`."""
    with ExitStack() as stack:
        numbers = count(1)

        def make(told: Told, **more: Any) -> Store:
            return stack.enter_context(made_run(tmp_path / f"run{next(numbers)}", told, **more))

        yield make
