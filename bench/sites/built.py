"""Build and serve the real multilingual sites the benchmarks crawl."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

ROOT = Path(__file__).resolve().parents[2]
DEFAULT_FOLDER = ROOT.parent / "shared" / "sites"
BUILDER_MODULES = ("lxml", "pycld2", "unidecode")
PORTS = range(20000, 32000)  # below the ports Linux hands out by itself


class Site(NamedTuple):
    """A served site: its home page, the URL of each of its hosts, and where it lies on disk."""

    home: str
    hosts: dict[str, str]
    dir: Path


class Served(NamedTuple):
    """Sites that are being served, by name, and the folder with their access logs."""

    sites: dict[str, Site]
    logs: Path


def give_up(message: str) -> NoReturn:
    """Say in one line why a benchmark cannot be run, and leave with status 2."""
    print(f"error: {message}", file=sys.stderr)
    raise SystemExit(2)


def add_sites_option(parser: argparse.ArgumentParser) -> None:
    """Give a benchmark the option that says where the site builder is."""
    parser.add_argument(
        "--sites",
        type=Path,
        default=DEFAULT_FOLDER,
        metavar="DIR",
        help="folder with build_sites.py and serve.py (default: ../shared/sites, "
        "seen from the repository)",
    )


def site_tools(folder: Path) -> Path:
    """Check that a folder is that of the site builder."""
    for name in ("build_sites.py", "serve.py"):
        if not (folder / name).is_file():
            shown = os.path.relpath(folder)
            give_up(f"no {name} in {shown}: say where the site builder is with --sites DIR")
    return folder.resolve()


def built_folder() -> Path:
    """Say where the builder puts its sites: below $SITES_DIR, or its cache in the home folder."""
    work = os.environ.get("SITES_DIR") or Path.home() / ".cache" / "diptych-sites"
    return Path(work).resolve() / "built"


def build_native(tools: Path, family: str) -> Path:
    """Build a family of pages as its authors shipped it, unless that was done before."""
    return _build(tools, family, ["native", family])


def build_variant(tools: Path, name: str, options: Sequence[str]) -> Path:
    """Build a family under another URL scheme or in fewer languages, unless done before."""
    return _build(tools, name, ["variant", name, *options])


def _build(tools: Path, name: str, arguments: Sequence[str]) -> Path:
    site = built_folder() / name
    if (site / "meta.json").is_file():  # the builder writes it last
        return site
    missing = [module for module in BUILDER_MODULES if importlib.util.find_spec(module) is None]
    if missing:
        give_up(
            f"building {name} needs {', '.join(missing)}: pip install -r bench/requirements.txt"
        )
    print(f"building {name} (once) ...", file=sys.stderr)
    command = [sys.executable, str(tools / "build_sites.py"), *arguments]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode or not (site / "meta.json").is_file():
        give_up(f"build_sites.py could not build {name}: {last_line(built.stderr)}")
    return site


def last_line(text: str) -> str:
    """Take the last line of what a program wrote: mostly its error."""
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it said nothing"


@contextmanager
def serve(
    tools: Path, sites: Sequence[Path], *, logs: Path | None = None, options: Sequence[str] = ()
) -> Iterator[Served]:
    """Serve built sites on loopback, one port for each host, while the block runs.

    logs: folder for the access logs; without one they are gone when the block ends.
    options: further options of serve.py, such as --latency 0.05.
    """
    with tempfile.TemporaryDirectory() as scratch:
        log_folder = Path(scratch) if logs is None else logs
        base = free_base_port(sum(_host_count(site) for site in sites))
        command = [sys.executable, str(tools / "serve.py"), "--mode", "ports"]
        command += ["--base-port", str(base), "--logs", str(log_folder), *options, *map(str, sites)]
        with running(command, ready="ready,"):
            yield Served(_site_map(log_folder / "map.json"), log_folder)


def _host_count(site: Path) -> int:
    meta: dict[str, Any] = json.loads((site / "meta.json").read_text(encoding="utf-8"))
    return len(meta.get("hosts") or [""])


def _site_map(file: Path) -> dict[str, Site]:
    entries: dict[str, dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return {
        name: Site(entry["home"], entry["hosts"], Path(entry["dir"]))
        for name, entry in entries.items()
    }


def free_base_port(count: int) -> int:
    """Find so many free ports in a row; each process starts to look at another place."""
    choices = len(PORTS) - count
    for step in range(choices):
        base = PORTS.start + (os.getpid() * 37 + step) % choices
        if all(_is_free(base + port) for port in range(count)):
            return base
    give_up(f"no {count} free ports in a row between {PORTS.start} and {PORTS.stop}")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


@contextmanager
def running(command: Sequence[str], *, ready: str) -> Iterator[str]:
    """Run a server while the block runs; yields the line with which it says that it is ready."""
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            assert process.stdout is not None
            line = next((text for text in process.stdout if text.startswith(ready)), None)
            if line is None:
                errors.seek(0)
                give_up(f"{Path(command[1]).name} did not start: {last_line(errors.read())}")
            yield line.strip()
        finally:
            _stop(process)


def _stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
