"""`Run.update`: visits the pages of a run again, and mines those that have changed."""

from __future__ import annotations

import time
from contextlib import ExitStack
from contextvars import copy_context
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diptych.api.arguments import paths
from diptych.api.declare import amount_option, argument, count_option, option, require_valid
from diptych.api.export import keep_templates_option, terms_of
from diptych.api.languages import langid_option, languages, learned_names
from diptych.api.mine import Mined, MineOptions, Mining
from diptych.api.recipe import lexicon_name, strategies_of
from diptych.api.watch import watched
from diptych.api.web import Environment, WebOptions, agent_of, cluster_option
from diptych.errors import ConfigError, StoreError, for_python, option_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from diptych.api.mine import Cancel
    from diptych.reports.progress import Monitor, Progress
    from diptych.run.store import Store
    from diptych.run.terms import Terms


@dataclass(frozen=True, kw_only=True)
class UpdateOptions(WebOptions):
    """Options of `update`; everything else was decided when the run was mined."""

    run: Path = argument()
    max_pages: int | None = count_option("Maximum number of pages to ask for, per site.")
    max_minutes: float | None = amount_option("Maximum duration per site, in minutes.", "M")
    max_megabytes: float | None = amount_option("Maximum data per site, in megabytes.", "MB")
    share: float = option(
        "Ask for new pages until this percentage of a site's pairs has probably been found.",
        default=MineOptions.share, least=0, most=100, metavar="PERCENT",
    )  # fmt: skip
    patience: float = option(
        "Stop at a site when the next pair would probably take more downloads than this;"
        " 0 means never.",
        default=MineOptions.patience, least=0, metavar="N",
    )  # fmt: skip
    lexicon: tuple[Path, ...] = option(
        "The lexicon with which the run was mined, if any (repeatable).",
        default=(), metavar="FILE",
    )  # fmt: skip
    langid: tuple[Path, ...] = langid_option()
    keep_templates: bool = keep_templates_option()
    connections: int = option(
        "Maximum number of simultaneous connections to a host.",
        default=1, least=1, most=64, metavar="N",
    )  # fmt: skip
    cluster: str | None = cluster_option("Where to update the runs of a job (default: here):")
    site_minutes: float | None = amount_option(
        "For a job: stop an attempt at a run after so many minutes.", "M"
    )
    jobs: int | None = option(
        "Maximum number of processes that read, pair and align pages; default: one per processor.",
        least=1, most=256, metavar="N",
    )  # fmt: skip

    def mining(self, terms: Terms) -> MineOptions:
        """The options of `mine` that are the same for this update."""
        common = {each.name for each in fields(self)} & {each.name for each in fields(MineOptions)}
        return MineOptions(
            sites=terms.seeds, langs=",".join(terms.langs), out=self.run, scope=terms.scope,
            **{name: getattr(self, name) for name in common},
        )  # fmt: skip


def update_run(asked: UpdateOptions, monitor: Monitor, environment: Environment) -> Mined:
    """Visit the pages of a run again, and mine those that have changed.

    If an update of the run was interrupted, it is continued.  If the run belongs to a job, the
    ledger of the job gets its new figures.
    """
    from diptych.api.tasks import result_of
    from diptych.files import refuse_links
    from diptych.job.folder import job_of_run
    from diptych.job.ledger import Ledger

    job = job_of_run(asked.run)
    if job is not None:
        refuse_links(job.path, error=StoreError)
    mined = update_pages(asked, monitor, environment)
    known = None if job is None else Ledger(job.ledger).read(asked.run.resolve().name)
    if job is None or known is None or not known.is_done:
        return mined
    Ledger(job.ledger).write(replace(known, result=result_of(mined)))
    note = (
        f"{job.path / 'corpus.tsv'} is older than this update; to write it again, run the command"
        " that mined the job again"
    )
    return mined._replace(notes=[*mined.notes, note])


def update_pages(asked: UpdateOptions, monitor: Monitor, environment: Environment) -> Mined:
    """Visit the pages of a run again, whether or not it belongs to a job."""
    from diptych.learn.lexicon.lexicon import read_lexicon
    from diptych.run.store import SCHEMA_VERSION
    from diptych.run.terms import open_run
    from diptych.run.updates import Updates

    require_valid(asked)
    for name in ("cluster", "site_minutes"):
        if getattr(asked, name) is not None:
            raise ConfigError(f"{option_name(name)} is for jobs, and {asked.run} is a run")
    known = terms_of(asked.run)
    langs = languages(",".join(known.langs), asked.langid)
    lexicons = [read_lexicon(path) for path in asked.lexicon]
    require_same(
        asked.run, is_of_archives=bool(known.archives),
        lexicon=(known.lexicons, [lexicon_name(lexicon, langs) for lexicon in lexicons]),
        langid=(known.taught, learned_names()),
    )  # fmt: skip
    terms = replace(known, schema=SCHEMA_VERSION)
    agent = agent_of(asked.user_agent)
    with ExitStack() as stack:
        workers = stack.enter_context(environment.start_workers(asked.jobs))
        workers.prepare()  # while this process imports the strategies
        strategies = strategies_of(terms.recipe, is_complete=False)
        store = stack.enter_context(open_run(asked.run, terms, agent=agent))
        mine = _with_hosts(asked.mining(terms), store, terms)
        mining = Mining(
            mine, monitor, environment, store, terms, strategies, workers, is_update=True
        )
        mined = mining.run(list, lexicons, agent)
        if not monitor.stopped():
            Updates(store).close(time.time())
    return mined


def require_same(
    folder: Path, *, is_of_archives: bool, **models: tuple[Sequence[str], Sequence[str]]
) -> None:
    """Raise `ConfigError` if a run or job cannot be updated, or if its models are missing.

    `models` are, for each option, the models with which it was mined, and those that are given.
    """
    if is_of_archives:
        raise ConfigError(
            f"{folder} was mined from archives, which do not change; mine newer archives into"
            " another folder"
        )
    for name, (was, now) in models.items():
        if tuple(was) != tuple(now):
            raise ConfigError(
                f"{folder} was mined with {name}={', '.join(was) or 'none'}; specify the same with"
                f" {option_name(name)}"
            )


def _with_hosts(asked: MineOptions, store: Store, terms: Terms) -> MineOptions:
    """Add the seeds after the first as hosts of the site, if the run was mined so."""
    is_one = len(store.sites()) == 1 and len(terms.seeds) > 1
    return replace(asked, also=terms.seeds[1:]) if is_one else asked


def options_of(folder: Path, options: Mapping[str, Any]) -> UpdateOptions:
    """The options that users of Python give; raises `ConfigError` for an unknown name."""
    known = {each.name for each in fields(UpdateOptions)} - {"run"}
    if unknown := sorted(set(options) - known):
        names = ", ".join(sorted(known))
        raise ConfigError(f"unknown option {unknown[0]!r}; available: {names}")
    given: dict[str, Any] = {
        name: paths(value) if name in ("lexicon", "langid") else value
        for name, value in options.items()
    }
    return UpdateOptions(run=folder, **given)


def update_in_python(
    folder: Path, options: Mapping[str, Any], progress: bool | Callable[[Progress], None],
    cancel: Cancel | None,
) -> tuple[str, ...]:  # fmt: skip
    """Do what `update_run` does for `Run.update`, and return the notes for the user."""
    asked = options_of(folder, options)
    with watched(progress, cancel) as monitor:
        mined = copy_context().run(update_run, asked, monitor, Environment())
    return tuple(map(for_python, mined.notes))
