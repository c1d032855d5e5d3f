"""`diptych.mine`: mines sites or archives into a run folder, or sites into a job folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextvars import copy_context
from pathlib import Path
from typing import TYPE_CHECKING

from diptych.api.arguments import paths, texts
from diptych.api.job import mine_watched_job
from diptych.api.languages import as_text
from diptych.api.mine import Cancel, Mined, MineOptions, mine_sites
from diptych.api.run import Run
from diptych.api.watch import watched
from diptych.api.web import Environment
from diptych.errors import for_python

if TYPE_CHECKING:
    from diptych.reports.progress import Progress


def mine(
    sites: str | Sequence[str] = (),
    *,
    langs: str | Sequence[str],
    out: str | Path | None = None,
    warc: str | Path | Sequence[str | Path] = (),
    strategy: str | None = MineOptions.strategy,
    crawl: str | None = MineOptions.crawl,
    pair: str | None = MineOptions.pair,
    verify: str | None = MineOptions.verify,
    align_dom: str | None = MineOptions.align_dom,
    align_sentences: str | None = MineOptions.align_sentences,
    filter: str | None = MineOptions.filter,
    lexicon: str | Path | Sequence[str | Path] = (),
    langid: str | Path | Sequence[str | Path] = (),
    also: str | Sequence[str] = (),
    scope: str = MineOptions.scope,
    max_pages: int | None = MineOptions.max_pages,
    max_minutes: float | None = MineOptions.max_minutes,
    max_megabytes: float | None = MineOptions.max_megabytes,
    share: float = MineOptions.share,
    patience: float = MineOptions.patience,
    keep_templates: bool = MineOptions.keep_templates,
    connections: int = MineOptions.connections,
    cluster: str | None = MineOptions.cluster,
    site_minutes: float | None = MineOptions.site_minutes,
    jobs: int | None = MineOptions.jobs,
    profile: bool = MineOptions.profile,
    common_crawl: str | Sequence[str] = (),
    cc_base: str = MineOptions.cc_base,
    cc_index: str | Sequence[str] = (),
    min_pages: int = MineOptions.min_pages,
    max_candidates: int | None = MineOptions.max_candidates,
    suffix: str | Sequence[str] = (),
    delay: float = MineOptions.delay,
    user_agent: str | None = MineOptions.user_agent,
    proxy: str | None = MineOptions.proxy,
    allow_private: bool = MineOptions.allow_private,
    progress: bool | Callable[[Progress], None] = False,
    cancel: Cancel | None = None,
) -> Run:
    """Crawl one or more sites and mine their parallel text into a corpus.

    The run is the folder `out`, by default a folder named after the site and the languages.  The
    same call continues an interrupted run.  With `warc`, archives are mined instead of the web;
    with `common_crawl`, the pages of the sites in a crawl of Common Crawl.
    The options are the same as those of `diptych mine`; see [Commands](cli.md#mine).  With
    `cluster`, each site is mined into a run of its own, and the result is a `Job`.

    `progress` is a function that is called with a `Progress` several times a second, possibly in
    another thread, or True to show a display on standard error.  `cancel` is a `threading.Event`:
    once it is set, the run stops and `StoppedError` is raised; the same call continues the run.

    Raises `ConfigError` for an invalid option and `StoreError` for a folder that cannot be used.

    >>> run = diptych.mine(site, langs="en,fr", out=folder / "run", delay=0, allow_private=True)
    >>> run.summary.pairs, run.summary.segments
    (16, 427)
    """
    asked = MineOptions(
        sites=texts(sites), langs=as_text(langs), out=None if out is None else Path(out),
        warc=texts(warc), strategy=strategy, crawl=crawl, pair=pair, verify=verify,
        align_dom=align_dom, align_sentences=align_sentences, filter=filter,
        lexicon=paths(lexicon), langid=paths(langid), also=texts(also), scope=scope,
        max_pages=max_pages, max_minutes=max_minutes, max_megabytes=max_megabytes, share=share,
        patience=patience, keep_templates=keep_templates, connections=connections, cluster=cluster,
        site_minutes=site_minutes, jobs=jobs, profile=profile,
        common_crawl=texts(common_crawl), cc_base=cc_base, cc_index=texts(cc_index),
        min_pages=min_pages, max_candidates=max_candidates, suffix=texts(suffix), delay=delay,
        user_agent=user_agent, proxy=proxy, allow_private=allow_private,
    )  # fmt: skip
    if cluster is not None:
        return mine_watched_job(asked, progress, cancel)
    with watched(progress, cancel) as monitor:
        mined = copy_context().run(mine_sites, asked, monitor, Environment(), keep_empty=True)
    return Run(mined.folder, tuple(map(for_python, _all_notes(mined))))


def _all_notes(mined: Mined) -> Iterator[str]:
    """All notes for users of Python, including those about damaged archives or an empty corpus."""
    from diptych.reports.nothing_found import why_nothing

    yield from mined.notes
    yield from mined.damaged
    if not mined.summary.segments:
        yield f"nothing found: {'; '.join(why_nothing(mined.summary, mined.folder).lines())}"
