"""`diptych update` of a job: all its finished runs are updated, then its corpus is written again.

While an update goes on, JOB/update/ has a ledger of the runs that it has updated, so that the same
command goes on after an interruption.  The ledger of the job keeps the signatures of mining.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextvars import copy_context
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diptych.api.declare import require_valid
from diptych.api.export import CorpusChoice
from diptych.api.job import MinedJob, finish_job, limits_of, require_no_jobs
from diptych.api.job_corpus import finished_runs
from diptych.api.languages import languages, learned_names
from diptych.api.recipe import lexicon_name
from diptych.api.tasks import RunTask, digest_of
from diptych.api.update import UpdateOptions, options_of, require_same, update_pages
from diptych.api.watch import watched_job
from diptych.api.web import Environment
from diptych.errors import StoreError, for_python

if TYPE_CHECKING:
    from diptych.api.mine import Cancel, Mined
    from diptych.job.folder import JobTerms
    from diptych.job.ledger import Entry, Ledger
    from diptych.job.progress import JobMonitor
    from diptych.reports.progress import Monitor, Progress
    from diptych.run.updates import UpdateCounts

_CHANGES = ("changed", "new", "vanished", "new_segments", "gone_segments")


class UpdateTask(RunTask[UpdateOptions]):
    """Updates a run of the job."""

    __slots__ = ()

    @property
    def signature(self) -> str:
        """A digest of the options that change the result."""
        asked = self.asked
        limits = (asked.max_pages, asked.max_minutes, asked.max_megabytes)
        ends = (asked.share, asked.patience)
        return digest_of(limits, ends, asked.keep_templates, asked.allow_private)

    def _mine(self, folder: Path, monitor: Monitor, environment: Environment) -> Mined:
        return update_pages(replace(self.asked, run=folder), monitor, environment)

    def _more(self, mined: Mined) -> dict[str, Any]:
        return _changes(mined.summary.update)


def _changes(update: UpdateCounts | None) -> dict[str, int]:
    """The changes that an update found: pages, and segments."""
    if update is None:
        return {}
    segments = {"new_segments": update.new_segments, "gone_segments": update.gone_segments}
    return {name: update.pages.get(name, 0) for name in _CHANGES[:3]} | segments


def update_job(asked: UpdateOptions, monitor: JobMonitor, environment: Environment) -> MinedJob:
    """Update all finished runs of a job, and write its corpus again.

    If an update of the job was interrupted, it is continued.
    """
    from diptych.engine.executors import HERE, executor_of
    from diptych.job.driver import run_tasks
    from diptych.job.folder import JobFolder, opened_job, read_job
    from diptych.job.ledger import Ledger

    terms = read_job(asked.run)
    _require_possible(asked, terms)
    logs = JobFolder(asked.run.resolve()).logs
    execution = executor_of(asked.cluster or HERE, logs=logs, limits=limits_of(asked.site_minutes))
    with opened_job(asked.run, terms) as job:
        runs = finished_runs(job)
        if not runs:
            raise StoreError(f"{asked.run} has no finished site; mine it first")
        options = _for_tasks(asked)
        tasks = [UpdateTask(run.name, job.path, options, environment) for run in runs]
        updates, ledger = Ledger(job.update), Ledger(job.ledger)
        updates.folder.mkdir(exist_ok=True)
        with execution as executor:
            updated = run_tasks(job, tasks, executor, monitor, stage="updating", ledger=updates)
        entries = tuple(_recorded(ledger, updated))
        choice = CorpusChoice(keep_templates=asked.keep_templates)
        mined = finish_job(job, terms, asked.run, entries, choice, monitor)
        if all(entry.is_done for entry in updated.values()):
            updates.clear()  # otherwise the same command updates only those that failed
    return mined._replace(changes=_in_words(updated.values()))


def _require_possible(asked: UpdateOptions, terms: JobTerms) -> None:
    """Raise `ConfigError` if a job cannot be updated with these options."""
    from diptych.job.folder import ARCHIVES
    from diptych.learn.lexicon.lexicon import read_lexicon

    require_valid(asked)
    require_no_jobs(asked.jobs)
    langs = languages(",".join(terms.langs), asked.langid)
    lexicons = [lexicon_name(read_lexicon(path), langs) for path in asked.lexicon]
    known = {name: terms.settings.get(name, ()) for name in ("lexicons", "taught")}
    require_same(
        asked.run, is_of_archives=terms.kind == ARCHIVES,
        lexicon=(known["lexicons"], lexicons), langid=(known["taught"], learned_names()),
    )  # fmt: skip


def _for_tasks(asked: UpdateOptions) -> UpdateOptions:
    """The options for tasks, which may run in other folders: with absolute paths."""
    # Those of the command line have more options, which are not those of a task.
    given = {each.name: getattr(asked, each.name) for each in fields(UpdateOptions)}
    given |= {name: tuple(p.resolve() for p in given[name]) for name in ("lexicon", "langid")}
    return UpdateOptions(**given | {"cluster": None, "site_minutes": None})


def _recorded(ledger: Ledger, updated: dict[str, Entry]) -> Iterable[Entry]:
    """Record the figures of updated runs, and yield all entries, with those of failed updates."""
    for entry in list(ledger.entries()):
        now = updated.get(entry.name)
        if now is None:
            yield entry
        elif now.is_done:
            yield (known := replace(entry, result=now.result))
            ledger.write(known)
        else:
            yield now


def _in_words(entries: Iterable[Entry]) -> str:
    from diptych.job.running import count_of

    counts = Counter[str]()
    for entry in entries:
        counts.update({name: count_of(entry.result, name) for name in _CHANGES})
    return (
        f"pages: {counts['changed']:,} changed, {counts['new']:,} new,"
        f" {counts['vanished']:,} vanished; segments: {counts['new_segments']:,} new,"
        f" {counts['gone_segments']:,} gone"
    )


def update_job_in_python(
    folder: Path, options: Mapping[str, Any], progress: bool | Callable[[Progress], None],
    cancel: Cancel | None,
) -> tuple[str, ...]:  # fmt: skip
    """Do what `update_job` does for `Job.update`, and return the notes for the user."""
    asked = options_of(folder, options)
    with watched_job(progress, cancel) as monitor:
        mined = copy_context().run(update_job, asked, monitor, Environment())
    return tuple(map(for_python, mined.notes))
