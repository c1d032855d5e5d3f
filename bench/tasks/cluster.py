"""A job of many sites: this process, a pool and Dask clusters give the same corpus, also if killed.

    python -m bench.tasks.cluster [--sites 200] [--pages 100] [--hosts]
                                  [--out bench/results/cluster.json]

The sites are those of `small_sites.py`, one address each, served on loopback.  `diptych mine
--cluster` mines them in this process, in a pool of two processes, on a local Dask cluster with two
workers, and with a scheduler and two workers that are processes of their own.  The last job is
killed three times in the middle: a worker, then the scheduler, then the driver, each with SIGKILL;
workers and the scheduler are started again, as a batch system does, and so is the driver.
With `--hosts`, scheduler and workers also run on two hosts, which are network namespaces (see
`bench.support.hosts`); that takes the rights of root.

All pages are fetched (`--share 100`): with the default, by which a crawl stops when enough pairs
are probably found, the jobs differed by one page of 2,017.  CPU seconds of Dask's workers are not
all in the table, because the driver does not wait for every process.

Corpora are compared as sorted lines, without the time of download and the place in the archive.
Exits with 1 if a corpus differs, a site is missing, a host had to answer two requests at once, or a
Dask cluster takes more than 1.25 times as long as the pool.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from bench.sites.small_sites import address_of, served
from bench.support.hosts import Host, hosts, why_no_hosts
from bench.support.machine import machine
from bench.support.processes import give_up, last_line
from bench.support.tables import show
from bench.tasks.many_sites import read_log

WORKERS = 2
MAX_RATIO = 1.25  # duration on a Dask cluster, compared with the pool
LATENCY = 0.002  # seconds before each answer
TIMEOUT = 4 * 3600  # seconds
KILLS = {"worker": 0.2, "scheduler": 0.4, "driver": 0.6}
"""share of the sites that are finished when each is killed"""
PLACES = ("fetched", "warc", "offset", "seen")  # ends of the names of columns that differ
POLL = 0.1  # seconds


class Done(NamedTuple):
    """A finished job."""

    where: str
    wall: float
    processor: float
    """seconds of the driver and the processes that it has started"""
    lines: list[tuple[str, ...]]
    pairs: list[str]
    sites: int
    pages: int


def corpus_lines(job: Path) -> list[tuple[str, ...]]:
    """The lines of a corpus, sorted, without times and places."""
    with (job / "corpus.tsv").open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        return sorted(
            tuple(value for name, value in row.items() if not name.endswith(PLACES)) for row in rows
        )


def command(sites: Path, where: str, job: Path) -> list[str]:
    """The command that runs a job."""
    return [
        sys.executable, "-m", "diptych", "mine", "--sites", str(sites), "--langs", "en,fr",
        "--cluster", where, "--out", str(job), "--delay", "0", "--allow-private", "--json",
        "--share", "100",
    ]  # fmt: skip


def finished(job: Path) -> int:
    """The number of sites that a job has finished so far."""
    return sum(1 for _ in (job / "ledger").glob("*.json"))


@dataclass
class Cluster:
    """A scheduler and its workers as processes of their own, each started again when it ends.

    They run on the given hosts in turn, the scheduler on the first, or on this machine.
    """

    folder: Path
    port: int
    hosts: Sequence[Host] = ()
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """The address of the scheduler."""
        return f"tcp://{self._address}:{self.port}"

    @property
    def _address(self) -> str:
        return self.hosts[0].address if self.hosts else "127.0.0.1"

    def keep(self) -> None:
        """Start what does not run."""
        for number, name in enumerate(["scheduler", *(f"worker-{n}" for n in range(WORKERS))]):
            process = self.processes.get(name)
            if process is None or process.poll() is not None:
                self.processes[name] = self._start(name, max(0, number - 1))

    def _start(self, name: str, place: int) -> subprocess.Popen[bytes]:
        if name == "scheduler":
            given = ["scheduler", "--host", self._address, "--port", str(self.port)]
        else:
            given = ["worker", self.url, "--nthreads", "1", "--nworkers", "1"]
            given += ["--local-directory", str(self.folder)]
        whole = [sys.executable, "-m", "dask", *given, "--no-dashboard"]
        if self.hosts:
            whole = self.hosts[place % len(self.hosts)].command(whole)
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(whole, stdout=log, stderr=log, start_new_session=True)

    def kill(self, name: str) -> None:
        """Kill a process and those that it has started in its session."""
        process = self.processes[name]
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def close(self) -> None:
        """End all."""
        for name in list(self.processes):
            if self.processes[name].poll() is None:
                self.kill(name)


@contextmanager
def cluster(folder: Path, on: Sequence[Host] = ()) -> Iterator[Cluster]:
    """Run a scheduler and its workers inside the context."""
    folder.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    made = Cluster(folder, port, on)
    try:
        made.keep()
        yield made
    finally:
        made.close()


def run(given: Sequence[str], meanwhile: Callable[[int], bool]) -> tuple[float, float]:
    """Run a driver; returns its seconds and its CPU seconds.

    `meanwhile` is called with its process id again and again; if it returns True, the driver was
    killed on purpose.
    """
    started = time.monotonic()
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            given, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True
        )
        is_killed = False
        while True:
            ended, status, used = os.wait4(process.pid, os.WNOHANG)
            if ended:
                break
            is_killed = meanwhile(process.pid) or is_killed
            if time.monotonic() - started > TIMEOUT:
                os.killpg(process.pid, signal.SIGKILL)
            time.sleep(POLL)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode and not is_killed:
            errors.seek(0)
            give_up(f"{' '.join(given)} failed: {last_line(errors.read())}")
    return time.monotonic() - started, used.ru_utime + used.ru_stime


def measure(where: str, sites: Path, folder: Path) -> Done:
    """Run one job; `where` is the name of an executor, "tcp", "hosts" or "killed"."""
    job = folder / "job"
    folder.mkdir()
    if where in ("tcp", "hosts", "killed"):
        with ExitStack() as stack:
            on = stack.enter_context(hosts(WORKERS)) if where == "hosts" else ()
            made = stack.enter_context(cluster(folder / "dask", on))
            wall, processor = _with_cluster(made, sites, job, is_killed=where == "killed")
    else:
        wall, processor = run(command(sites, where, job), lambda pid: False)
    entries = [json.loads(path.read_bytes()) for path in (job / "ledger").glob("*.json")]
    done = [entry for entry in entries if not entry["error"]]
    pages = sum(entry["result"]["pages"] for entry in done)
    pairs = sorted((job / "pairs.tsv").read_text("utf-8").splitlines())
    return Done(where, wall, processor, corpus_lines(job), pairs, len(done), pages)


def _with_cluster(made: Cluster, sites: Path, job: Path, *, is_killed: bool) -> tuple[float, float]:
    """Run a job with a scheduler of its own, and kill what is to be killed."""
    count = sum(1 for _ in sites.open(encoding="utf-8"))
    left = dict(KILLS) if is_killed else {}

    def meanwhile(driver: int) -> bool:
        made.keep()
        name = next(iter(left), "")
        if not name or finished(job) < left[name] * count:
            return False
        del left[name]
        print(f"kill the {name} after {finished(job)} of {count} sites", flush=True)
        if name == "driver":
            os.killpg(driver, signal.SIGKILL)
            return True
        made.kill("scheduler" if name == "scheduler" else "worker-0")
        return False

    given = command(sites, made.url, job)
    wall, processor = run(given, meanwhile)
    if is_killed:
        if left:
            give_up(f"the job ended before the {next(iter(left))} was killed: use more sites")
        again = run(given, meanwhile)
        wall, processor = wall + again[0], processor + again[1]
    return wall, processor


def row_of(done: Done, first: Done, pool: float) -> dict[str, Any]:
    """A row of the table."""
    return {
        "where": done.where,
        "sites": done.sites,
        "pages": done.pages,
        "page pairs": len(done.pairs) - 1,
        "segments": len(done.lines),
        "seconds": round(done.wall, 1),
        "beside the pool": round(done.wall / pool, 2) if pool else "",
        "CPU seconds of the driver and its processes": round(done.processor, 1),
        "lines missing": len(set(first.lines) - set(done.lines)),
        "lines more": len(done.lines) - len(set(done.lines) & set(first.lines)),
        "same corpus": done.lines == first.lines and done.pairs == first.pairs,
    }


def faults(rows: Sequence[dict[str, Any]], sites: int) -> Iterator[str]:
    """The reasons why the benchmark fails."""
    for row in rows:
        where = row["where"]
        if not row["same corpus"]:
            yield f"{where}: the corpus is another one than that of this process"
        if row["sites"] != sites:
            yield f"{where}: {sites - row['sites']} sites are missing"
        if where.startswith("local") and row["beside the pool"] > MAX_RATIO:
            yield f"{where}: {row['beside the pool']} times as long as the pool"


def main() -> int:
    """Run all jobs, print and save the results; returns 1 if a requirement is not met."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sites", type=int, default=200, help="20 take a few minutes")
    parser.add_argument("--pages", type=int, default=100, help="of a site")
    parser.add_argument("--hosts", action="store_true", help="also on two hosts; takes root")
    parser.add_argument("--out", type=Path, help="file for the results")
    options = parser.parse_args()
    if options.hosts and (why := why_no_hosts()):
        give_up(why)
    several = ("hosts",) if options.hosts else ()
    ways = ("here", f"pool:{WORKERS}", f"local:{WORKERS}", "tcp", *several, "killed")
    found: list[Done] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log, sites = folder / "log.tsv", folder / "sites.txt"
        # One server for all jobs: its port is part of all URLs, and so of the corpus.
        with served(log, sites=options.sites, latency=LATENCY, pages=options.pages) as port:
            homes = (f"http://{address_of(number)}:{port}/\n" for number in range(options.sites))
            sites.write_text("".join(homes), "utf-8")
            for where in ways:
                found.append(measure(where, sites, folder / where.replace(":", "-")))
                print(f"{where}: {found[-1].wall:.1f} s", flush=True)
        with log.open(encoding="utf-8") as stream:
            at_once = max(seen.at_once for seen in read_log(stream).values())
    pool = next(done.wall for done in found if done.where.startswith("pool"))
    rows = [row_of(done, found[0], pool) for done in found]
    tables = {"A job of many sites": rows}
    show(tables)
    problems = list(faults(rows, options.sites))
    if at_once > 1:
        problems.append(f"a host had to answer {at_once} requests at once")
    if options.out:
        result = {
            "sites": options.sites, "pages per site": options.pages, "kills": KILLS,
            "requests to a host at once": at_once, "faults": problems,
            "machine": machine(["dask", "distributed"]), "tables": tables,
        }  # fmt: skip
        options.out.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    for problem in problems:
        print(f"FAILED: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
