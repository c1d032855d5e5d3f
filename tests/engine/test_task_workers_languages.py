"""Languages that were taught are known in worker processes too."""

from __future__ import annotations

import asyncio
from pathlib import Path

from support import strange
from support.pooltasks import Identify
from support.runs import strategies

from diptych.engine.page_workers import Readers
from diptych.engine.task_workers import Pool
from diptych.language.identify import use_learned_languages
from diptych.language.train import pieces_of, train_language
from diptych.steps.tasks import TaskContext
from diptych.types import Kind, LangPair, Response, Url


def test_workers_know_what_their_parent_was_taught(tmp_path: Path) -> None:
    lines = strange.lines()
    page = "".join(f"<p>{line}</p>" for line in lines[100:110])
    answer = Response(Url("http://x.org/"), 200, (("Content-Type", "text/html"),), page.encode(), 0)

    async def read() -> str:
        async with Readers(1) as readers:
            reading, _ = await readers.read(Kind.PAGE, answer, 0, ("en", "qaa"))
            return reading.page.lang

    def pooled() -> str:
        context = TaskContext(tmp_path, strategies(), LangPair("en", "qaa"))
        return next(Pool(context, 1).run([Identify(lines[100])]))

    assert asyncio.run(read()) != "qaa"
    use_learned_languages([train_language("qaa", pieces_of("\n".join(lines[:100]))).language])
    try:
        assert asyncio.run(read()) == "qaa"
        assert pooled() == "qaa"
    finally:
        use_learned_languages(())
