"""A pool of worker processes that read answers, so that no page can hold up the crawl.

Workers end with their parent, even when it is killed: their input ends.  A worker that takes too
long over a page is replaced, and that page is given up.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import sys
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import diptych
from diptych.engine.page_worker import FRAME, READY, digest, unpack
from diptych.errors import DiptychError
from diptych.language.identify import learned_languages
from diptych.page.answer import ReadAnswer
from diptych.reason import Reason
from diptych.types import Failure, Kind, Response

Digest = tuple[ReadAnswer, bytes]
PATIENCE = 30.0  # seconds for one page; a page of 10 MB takes less than two


@dataclass(slots=True, eq=False)
class _Task:
    frame: bytes
    answer: asyncio.Future[Digest | None]


@dataclass(slots=True, eq=False)
class _Worker:
    process: asyncio.subprocess.Process
    waiting: deque[_Task] = field(default_factory=deque)
    listener: asyncio.Task[None] | None = None
    busy_since: float = 0.0


class Readers:
    """Use as an asynchronous context manager; with no workers everything is read in place."""

    def __init__(self, count: int, *, patience: float = PATIENCE) -> None:
        self._count = count
        self.patience = patience
        self._workers: list[_Worker] = []
        self._starting = asyncio.Lock()

    async def __aenter__(self) -> Readers:
        self._workers = list(await asyncio.gather(*(self._start() for _ in range(self._count))))
        return self

    async def __aexit__(self, *_: object) -> None:
        for worker in self._workers:
            if worker.listener is not None:
                worker.listener.cancel()
            with suppress(ProcessLookupError):
                worker.process.kill()
        for worker in self._workers:
            await worker.process.wait()
        self._workers.clear()

    async def read(
        self,
        kind: Kind,
        response: Response,
        depth: int,
        langs: tuple[str, ...],
        *,
        with_sketch: bool = False,
    ) -> tuple[ReadAnswer | Failure, bytes]:
        """Parse an answer, and compose its WARC record."""
        job = kind, response, depth, langs, with_sketch
        if not self._count:
            return digest(*job)
        frame = pickle.dumps(job, pickle.HIGHEST_PROTOCOL)
        task = _Task(frame, asyncio.get_running_loop().create_future())
        await self._give(task)
        while not task.answer.done():
            await asyncio.wait([task.answer], timeout=1.0)
            await self._check()
        answer = task.answer.result()
        if answer is None:
            return Failure(response.url, Reason.UNREADABLE, "the page took too long to read"), b""
        return answer

    async def _least_busy(self) -> _Worker:
        async with self._starting:
            idle = [worker for worker in self._workers if not worker.waiting]
            for worker in idle:
                if worker.process.returncode is not None:  # it died without a page to blame
                    self._workers.remove(worker)
            while len(self._workers) < self._count:
                worker = await self._start()  # first: meanwhile the list may have become another
                self._workers.append(worker)
        return min(self._workers, key=lambda worker: len(worker.waiting))

    async def _give(self, task: _Task) -> None:
        """Hand a page to the worker with the least to do."""
        worker = await self._least_busy()
        if not worker.waiting:
            worker.busy_since = time.monotonic()
        worker.waiting.append(task)
        assert worker.process.stdin is not None
        with suppress(ConnectionError):
            worker.process.stdin.write(FRAME.pack(len(task.frame)) + task.frame)

    async def _check(self) -> None:
        """Replace workers that have died or hang; the page they were at is given up."""
        now, left = time.monotonic(), []
        for worker in self._workers:
            late = worker.waiting and now - worker.busy_since > self.patience
            if not late and worker.process.returncode is None:
                continue
            with suppress(ProcessLookupError):
                worker.process.kill()
            left.append(worker)
        # All of it before the first await: others check as well.
        self._workers = [worker for worker in self._workers if worker not in left]
        again: list[_Task] = []
        for worker in left:
            tasks = [task for task in worker.waiting if not task.answer.done()]
            worker.waiting.clear()
            if tasks:
                tasks[0].answer.set_result(None)
                again.extend(tasks[1:])
        for task in again:
            await self._give(task)

    async def _start(self) -> _Worker:
        package = str(Path(diptych.__file__).parent.parent)
        path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "diptych.engine.page_worker",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path}, limit=1 << 20,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        first = pickle.dumps(learned_languages(), pickle.HIGHEST_PROTOCOL)
        try:
            process.stdin.write(FRAME.pack(len(first)) + first)
            await process.stdout.readexactly(len(READY))
        except asyncio.IncompleteReadError as error:
            raise DiptychError("a reader process ended before it was ready; see above") from error
        worker = _Worker(process)
        worker.listener = asyncio.create_task(self._listen(worker))
        return worker

    async def _listen(self, worker: _Worker) -> None:
        stdout = worker.process.stdout
        assert stdout is not None
        with suppress(asyncio.IncompleteReadError):
            while True:
                head = await stdout.readexactly(FRAME.size)
                for step in unpack(await stdout.readexactly(FRAME.unpack(head)[0])):
                    answer = step
                    await asyncio.sleep(0)  # else all that is there already is read in one turn
                worker.busy_since = time.monotonic()
                if worker.waiting:
                    future = worker.waiting.popleft().answer
                    if not future.done():
                        future.set_result(answer)
