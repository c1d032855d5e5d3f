"""Step: sketch the pages that have no sketch yet."""

from __future__ import annotations

from collections import Counter

from diptych.engine.worker import Failed
from diptych.engine.workers import Workers
from diptych.protocols import Watcher
from diptych.run.store import Store
from diptych.steps.tasks import SketchTask, TaskContext
from diptych.types import Sketch


def sketch_pages(store: Store, context: TaskContext, workers: Workers, watcher: Watcher) -> None:
    """Compute and save the missing sketches of pages.

    A live crawl does not sketch pages, to save time.
    """
    urls = store.without_sketch(context.langs)
    if not urls:
        return
    watcher.begin("reading", len(urls), "pages")
    tasks = map(SketchTask, urls)
    results = workers.run_tasks(tasks, context.shared(store), tick=watcher.tick)
    failed: Counter[str] = Counter()
    with store.transaction() as transaction:
        for count, (url, read) in enumerate(zip(urls, results, strict=True)):
            watcher.advance()
            if isinstance(read, Failed):  # the next invocation tries again
                failed[read.kind] += 1
            else:
                store.save_sketch(url, *(read or (Sketch("", 0, {}), b"")))
            if count % 64 == 0:
                transaction.checkpoint()
    watcher.notes.extend(
        f"pages that could not be read again: {count:,} ({kind})" for kind, count in failed.items()
    )
