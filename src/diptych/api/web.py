"""Options for web requests, and functions that set up the engine and the worker processes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from diptych._version import VERSION
from diptych.api.declare import option
from diptych.errors import ConfigError, option_name

if TYPE_CHECKING:
    from pathlib import Path

    from aiohttp.abc import AbstractResolver

    from diptych.engine.downloads import Downloads
    from diptych.engine.fetch import FetchSettings
    from diptych.engine.live import LiveEngine
    from diptych.engine.workers import Workers
    from diptych.protocols import Watcher

AGENT = f"DiptychBot/{VERSION} (+https://github.com/diptych-corpus/diptych)"


def cluster_option(purpose: str) -> Any:
    """Declare the option for the place where the tasks of a job run."""
    return option(
        f"{purpose} here, pool:N (processes), local:N (Dask on this machine), tcp://HOST:PORT"
        " (Dask scheduler) or FILE.toml (job queue).",
        metavar="WHERE",
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class WebOptions:
    """Options for web requests."""

    delay: float = option(
        "Seconds between requests to a host; a longer Crawl-delay is respected.",
        default=1.0, least=0, metavar="S",
    )  # fmt: skip
    user_agent: str | None = option("User-Agent header to send to servers.", metavar="TEXT")
    proxy: str | None = option(
        "HTTP proxy; default: taken from HTTP_PROXY, HTTPS_PROXY and NO_PROXY.", metavar="URL"
    )
    allow_private: bool = option("Allow requests to private and loopback addresses.", default=False)


@dataclass(frozen=True, kw_only=True)
class Environment:
    """Settings that tests replace: the number of worker processes, and the resolver."""

    workers: int | None = None
    """maximum number of processes that read, pair and align pages; None means one per processor,
    0 means that this process does the work"""
    resolver: AbstractResolver | None = None
    """resolver of host names; None means the system's resolver"""

    def start_workers(self, jobs: int | None = None) -> Workers:
        """Start the worker processes of a run; `jobs` is their maximum number."""
        from diptych.engine.worker_process import processors
        from diptych.engine.workers import Workers

        usual = processors() if self.workers is None else self.workers
        return Workers(jobs or usual)

    def live_engine(
        self, asked: WebOptions, agent: str, *, connections: int = 1, stall: float = 20.0
    ) -> LiveEngine:
        """Make the engine that fetches pages; the arguments are those of `fetch_settings`."""
        from diptych.engine.live import LiveEngine

        return LiveEngine(self.fetch_settings(asked, agent, connections=connections, stall=stall))

    def downloads(
        self, asked: WebOptions, agent: str, watcher: Watcher, shared: Path | None = None
    ) -> Downloads:
        """Make a context that downloads files; `shared` is a folder of all processes of a job."""
        from diptych.engine.downloads import Downloads

        settings = partial(self.fetch_settings, asked, agent)
        return Downloads(settings, asked.delay, shared, watcher=watcher)

    def fetch_settings(
        self, asked: WebOptions, agent: str, *, connections: int = 1, stall: float = 20.0
    ) -> FetchSettings:
        """Make the settings for requests; `agent` is the User-Agent header to send.

        A request fails if no data arrives for `stall` seconds.
        """
        from diptych.engine.fetch import FetchSettings

        return FetchSettings(
            agent=agent, proxy=_proxy(asked.proxy), allow_private=asked.allow_private,
            concurrency=max(64, connections), stall=stall, resolver=self.resolver,
        )  # fmt: skip


def agent_of(text: str | None) -> str:
    """The User-Agent header for requests; raises `ConfigError` if it is not one line of text."""
    if text is not None and (not text.isprintable() or not text.strip()):
        name = option_name("user_agent")
        raise ConfigError(f"{name} must be one line of text, such as 'MyBot/1.0 (+URL)'")
    return text or AGENT


def _proxy(text: str | None) -> str | None:
    """The URL of the proxy; raises `ConfigError` if it is invalid."""
    if text is None:
        return None
    from diptych.engine.proxies import read_proxy

    try:
        read_proxy(text)
    except ValueError as error:
        # It may hold a password, which is not shown.
        name = option_name("proxy")
        said = "is not a valid URL; use one such as http://proxy.example:8080"
        advice = "in a password, write special characters as in %2F" if "@" in text else ""
        raise ConfigError("; ".join(filter(None, (f"{name} {said}", advice)))) from error
    return text
