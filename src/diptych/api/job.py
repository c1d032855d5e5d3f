"""Jobs: mine many sites separately, in this process, in a pool, or on a cluster.

A job is a folder of ordinary runs, one for each registrable domain, with one corpus and one report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, fields, replace
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from diptych.api.export import CorpusChoice, Exported, ExportOptions, terms_of
from diptych.api.job_corpus import export_job, finished_runs, merged_runs, write_job_corpus
from diptych.api.run import PageInfo, Pair, Run
from diptych.errors import ConfigError, for_python, option_name

if TYPE_CHECKING:
    from diptych.api.mine import Cancel, MineOptions
    from diptych.api.web import Environment
    from diptych.corpus.terms import Term
    from diptych.engine.limits import TaskLimits
    from diptych.job.folder import JobFolder, JobTerms
    from diptych.job.ledger import Entry
    from diptych.job.progress import JobMonitor
    from diptych.protocols import Corpus
    from diptych.reports.progress import Progress
    from diptych.reports.summary import Summary
    from diptych.types import Url

_SITE_MINUTES = 24 * 60.0  # an attempt at a site that takes longer is stopped by default


class MinedJob(NamedTuple):
    """The result of a job."""

    folder: Path
    entries: tuple[Entry, ...]
    """the results of all sites"""
    segments: int
    """number of segments in the merged corpus"""
    notes: tuple[str, ...]
    damaged: tuple[str, ...] = ()
    """for each archive that could not be read to the end, the reason"""
    changes: str = ""
    """the changes that an update found, in words"""

    @property
    def failed(self) -> bool:
        """True if the task of a site has failed."""
        return any(not entry.is_done for entry in self.entries)


@dataclass(frozen=True)
class Job(Run):
    """A job folder: many runs, with one corpus.

    The methods are those of a run, and treat all finished runs of the job as one corpus.
    """

    @property
    def langs(self) -> tuple[str, ...]:
        """The requested languages."""
        from diptych.job.folder import read_job

        return read_job(self.folder).langs

    @property
    def summary(self) -> Summary:
        """The figures of all finished runs, added up.

        Segments that several sites share are counted for each site.
        """
        from diptych.reports.summary_total import total

        return total(run.summary for run in self.runs())

    def runs(self) -> Iterator[Run]:
        """The finished runs of the job, sorted by name."""
        return map(Run, finished_runs(self._job()))

    def failed(self) -> dict[str, str]:
        """The tasks that failed, with the reasons."""
        from diptych.job.ledger import Ledger

        return {
            entry.name: entry.reason
            for entry in Ledger(self._job().ledger).entries()
            if not entry.is_done
        }

    def pages(self) -> Iterator[PageInfo]:
        """The pages that were fetched, run by run."""
        return chain.from_iterable(run.pages() for run in self.runs())

    def pairs(self) -> Iterator[Pair]:
        """The page pairs that were verified, run by run."""
        return chain.from_iterable(run.pairs() for run in self.runs())

    def terms(self, **options: Any) -> list[Term]:
        """Raise `ConfigError`, because terms belong to one site."""
        raise ConfigError(f"{self.folder} is a job: use the terms of one of its runs")

    def explain(self, *urls: str) -> str:
        """Explain what the run of a site knows about one or two of its URLs.

        Without a URL, list all rejected pairs of all finished runs.
        """
        if urls:
            return Run(run_of_url(self.folder, urls)).explain(*urls)
        return "\n".join(f"{run.folder.name}: {run.explain()}" for run in self.runs())

    def _job(self) -> JobFolder:
        from diptych.job.folder import JobFolder

        return JobFolder(self.folder)

    def _export(self, options: ExportOptions) -> Exported:
        return export_job(options)

    def _updating(self) -> Callable[..., tuple[str, ...]]:
        update: Callable[..., tuple[str, ...]]
        update = import_module("diptych.api.job_update").update_job_in_python
        return update

    @contextmanager
    def _corpus(self, choice: CorpusChoice) -> Iterator[Corpus]:
        yield merged_runs(self._job(), self.langs, choice)

    def _repr_html_(self) -> str:
        """HTML for notebooks."""
        from html import escape

        count = sum(1 for _ in self.runs())
        return f"<p>Job <code>{escape(str(self.folder))}</code>: {count:,} finished runs</p>"


def open_run(folder: str | Path) -> Run:
    """Open a run folder or a job folder, even while it is being mined.

    Raises `StoreError` if it has neither a run nor a job.

    >>> diptych.open(run.folder).langs
    ('en', 'fr')
    """
    from diptych.job.folder import is_job, read_job
    from diptych.run.store import Store

    path = Path(folder)
    if is_job(path):
        read_job(path)  # raises an error if it is damaged
        return Job(path)
    terms_of(path)  # raises an error if it has no corpus
    with Store(path, write=False):  # raises an error if it cannot be read
        return Run(path)


def run_of_url(folder: Path, urls: Sequence[str]) -> Path:
    """The run folder of the site that URLs belong to; raises `ConfigError` if there is none."""
    from diptych.api.archive_job import partition_of_url
    from diptych.job.folder import ARCHIVES, JobFolder, read_job, task_names
    from diptych.text.sites import parse_site
    from diptych.text.urls import site_name

    terms = read_job(folder)
    if terms.kind == ARCHIVES:
        wanted = {partition_of_url(parse_site(url), terms) for url in urls}
        known = list(wanted)
    else:
        domains = list(dict.fromkeys(site_name(site) for site in terms.inputs))
        names = dict(zip(domains, task_names(domains), strict=True))
        wanted = {site_name(parse_site(url)) for url in urls}
        known = [names[domain] for domain in wanted if domain in names]
    if len(wanted) > 1 or not known:
        what = "belong to several sites" if len(wanted) > 1 else "belongs to no site of the job"
        raise ConfigError(f"{' '.join(urls)} {what}: {folder} mines each site separately")
    run = JobFolder(folder).runs / known[0]
    if not (run / "run.toml").is_file():
        raise ConfigError(f"{folder} has not mined {known[0]} yet")
    return run


def mine_watched_job(
    asked: MineOptions, progress: bool | Callable[[Progress], None], cancel: Cancel | None
) -> Job:
    """Mine a job for users of Python; `progress` and `cancel` are those of `mine`."""
    from diptych.api.watch import watched_job
    from diptych.api.web import Environment

    with watched_job(progress, cancel) as monitor:
        mined = copy_context().run(mine_job, asked, monitor, Environment())
    return Job(mined.folder, tuple(map(for_python, mined.notes)))


def mine_job(asked: MineOptions, monitor: JobMonitor, environment: Environment) -> MinedJob:
    """Mine each site into a run of its own, then merge all runs; or continue the job."""
    from diptych.api.archive_job import mine_archives
    from diptych.api.declare import require_valid
    from diptych.api.job_tasks import site_tasks
    from diptych.api.web import agent_of
    from diptych.engine.executors import executor_of
    from diptych.job.driver import run_tasks
    from diptych.job.folder import JobFolder, opened_job
    from diptych.run.terms import default_folder
    from diptych.sources.archives import archive_names

    require_valid(asked)
    assert asked.cluster is not None
    agent = agent_of(asked.user_agent)
    with environment.downloads(asked, agent, monitor) as downloads:
        archives = archive_names(asked.warc, downloads)
    sites = _sites(asked, archives=bool(archives))
    terms = _terms(asked, sites, archives)
    folder = asked.out or default_folder(sites, asked.warc, terms.langs)
    damaged: list[str] = []
    logs = JobFolder(folder.resolve()).logs
    execution = executor_of(asked.cluster, logs=logs, limits=limits_of(asked.site_minutes))
    with opened_job(folder, terms) as job:
        options = _for_tasks(asked)
        with execution as executor:
            if archives:
                found, damaged = mine_archives(
                    job, archives, sites, terms.settings["partitions"], options, executor, monitor
                )
                entries = tuple(found)
            else:
                tasks = site_tasks(job.path, sites, options, environment)
                entries = tuple(run_tasks(job, tasks, executor, monitor).values())
        choice = CorpusChoice(keep_templates=asked.keep_templates)
        mined = finish_job(job, terms, folder, entries, choice, monitor)
    return mined._replace(damaged=tuple(damaged))


def finish_job(
    job: JobFolder, terms: JobTerms, folder: Path, entries: tuple[Entry, ...],
    choice: CorpusChoice, monitor: JobMonitor,
) -> MinedJob:  # fmt: skip
    """Write the corpus and the report of a job; `folder` is its name for the user."""
    monitor.begin("writing")
    segments = write_job_corpus(job, terms.langs, entries, choice)
    mined = MinedJob(folder, entries, segments, tuple(_notes(entries)))
    write_job_report(job, terms, mined)
    return mined


def _sites(asked: MineOptions, *, archives: bool) -> list[Url]:
    from diptych.api.seeds import seeds_of
    from diptych.sources.site_list import named_sites

    asked.sources()  # options that need a crawl are refused
    if asked.common_crawl:
        raise ConfigError(
            f"{option_name('cluster')} cannot be used with {option_name('common_crawl')}"
        )
    require_no_jobs(asked.jobs)
    if archives:
        return seeds_of(asked, archives=True)
    sites = list(dict.fromkeys(named_sites(asked.sites, ())))
    if not sites:
        raise ConfigError("specify sites, such as https://example.org")
    if asked.also and len(sites) != 1:
        raise ConfigError(f"{option_name('also')} adds hosts to a site: specify exactly one site")
    return sites


def require_no_jobs(jobs: int | None) -> None:
    """Raise `ConfigError` if a number of processes is asked for beside that of the cluster."""
    if jobs is not None:
        raise ConfigError(
            f"{option_name('jobs')} cannot be used for a job, in which each site is mined by one"
            f" process; choose their number with {option_name('cluster')} pool:N"
        )


def _terms(asked: MineOptions, sites: Sequence[Url], archives: Sequence[str]) -> JobTerms:
    from diptych.api.archive_job import partitions_of
    from diptych.api.languages import languages, learned_names
    from diptych.api.recipe import lexicon_name, strategies_of
    from diptych.job.folder import ARCHIVES, SITES, JobTerms
    from diptych.learn.lexicon.lexicon import read_lexicon
    from diptych.learn.libraries import require_libraries
    from diptych.registry import signature

    langs = languages(asked.langs, asked.langid)
    recipe = asked.recipe()
    strategies_of(recipe, is_complete=False)  # a missing library is reported before anything runs
    lexicons = [lexicon_name(read_lexicon(path), langs) for path in asked.lexicon]
    settings: dict[str, Any] = {
        "scope": asked.scope, "also": list(asked.also), "recipe": signature(recipe, langs),
        "lexicons": lexicons, "taught": list(learned_names()),
    }  # fmt: skip
    if not archives:
        return JobTerms(SITES, tuple(langs), tuple(sites), settings)
    require_libraries(["pyarrow"], "a job on archives")
    settings |= {"sites": list(sites), "partitions": partitions_of(asked.out, archives)}
    return JobTerms(ARCHIVES, tuple(langs), tuple(archives), settings)


def _for_tasks(asked: MineOptions) -> MineOptions:
    """The options for tasks, which may run in other folders: with absolute paths."""
    from diptych.api.mine import MineOptions

    # Those of the command line have more options, which are not those of a task.
    given = {each.name: getattr(asked, each.name) for each in fields(MineOptions)}
    return replace(
        MineOptions(**given), out=None, cluster=None, site_minutes=None,
        lexicon=tuple(path.resolve() for path in asked.lexicon),
        langid=tuple(path.resolve() for path in asked.langid),
    )  # fmt: skip


def limits_of(minutes: float | None) -> TaskLimits:
    """The limits of an attempt at a site; `minutes` is that of the user, if any."""
    from diptych.engine.limits import TaskLimits

    return TaskLimits(60 * (minutes or _SITE_MINUTES), None)


def _notes(entries: Sequence[Entry]) -> Iterator[str]:
    for entry in entries:
        if not entry.is_done:
            yield (
                f"{entry.name} failed {entry.attempts} times: {entry.reason}"
                f" (see logs/{entry.name}.log)"
            )


def write_job_report(job: JobFolder, terms: JobTerms, mined: MinedJob) -> None:
    """Write `report.html` to the job folder."""
    from diptych.job.folder import ARCHIVES
    from diptych.reports.job_page import SiteRow, write_job_page

    rows = [
        SiteRow.of(entry.name, entry.result, entry.reason, entry.attempts)
        for entry in mined.entries
    ]
    unit = "partitions of archives" if terms.kind == ARCHIVES else "sites"
    title = f"{len(rows):,} {unit}"
    signature = str(terms.settings.get("recipe", ""))
    write_job_page(job.path, title, terms.langs, signature, rows, mined.segments)
