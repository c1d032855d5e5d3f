"""Secrets of the user reach the proxy or the service, and no file and no line of output."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support import zoo
from support.commands import run
from support.serving import MISSING, Reply, Request, Server, serve

USER, PASSWORD, TOKEN = "anna-7261", "s3same-0pen", "tok-91f0"
BASIC = b64encode(f"{USER}:{PASSWORD}".encode()).decode()
SECRETS = (USER, PASSWORD, TOKEN, BASIC)
SITE = "http://public.example/"
PAGES = {
    "": zoo.page("Home", ["/en/", "/fr/", "/moved", "/gone"]),
    "en/": zoo.page("A page in English about lighthouses and the sea", ["/fr/"]),
    "fr/": zoo.page("Une page en français sur les phares et la mer", ["/en/"], lang="fr"),
}
LANGS = ("--langs", "en,fr", "--delay", 0)


@contextmanager
def authenticating(*, refuses: bool = False) -> Iterator[Server]:
    """A proxy that requires a password and fetches a small site; it may refuse all passwords."""

    def answer(request: Request) -> Reply:
        if refuses or request.headers.get("proxy-authorization") != f"Basic {BASIC}":
            return Reply("who?", 407, (("Proxy-Authenticate", "Basic"),))
        path = request.path.removeprefix(SITE)
        if path == "moved":
            return zoo.redirect(302, "http://other.example/")
        return Reply(PAGES[path]) if path in PAGES else MISSING

    with serve(answer) as server:
        yield server


def with_secrets(proxy: Server, more: str = "") -> str:
    return proxy.url.rstrip("/").replace("://", f"://{USER}:{PASSWORD}@") + more


def content_of(folder: Path) -> bytes:
    """Everything in the files of a folder; what is compressed also uncompressed."""
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            found += [path.name.encode(), data]
            found += [gzip.decompress(data)] if path.suffix == ".gz" else []
    return b"\n".join(found)


def require_no_secret(said: str, folder: Path) -> None:
    data = content_of(folder) + said.encode()
    assert [secret for secret in SECRETS if secret.encode() in data] == []


@pytest.mark.parametrize(
    ("more", "is_given"), [("", True), ("", False), (f"/?token={TOKEN}", True)]
)
def test_the_password_of_a_proxy_is_in_no_file_and_no_output(
    more: str, is_given: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    with authenticating() as proxy:
        address = with_secrets(proxy, more)
        if not is_given:
            monkeypatch.setenv("HTTP_PROXY", address)
        given = ("--proxy", address) if is_given else ()
        said = run("mine", SITE, *LANGS, *given, "--out", out).output
    assert {request.path for request in proxy.log} >= {SITE + path for path in PAGES}
    for command in (("status", out), ("explain", out, SITE), ("check", out)):
        said += run(*command).output
    require_no_secret(said, tmp_path)
    assert b"lighthouses" in content_of(tmp_path), "what a server says is found by this test"


@pytest.mark.parametrize(
    ("site", "more"), [(SITE, ""), ("https://public.example/", f"/?token={TOKEN}")]
)
def test_a_refused_password_is_in_no_file_and_no_output(
    site: str, more: str, tmp_path: Path
) -> None:
    with authenticating(refuses=True) as proxy:
        address = with_secrets(proxy, more)
        said = run("mine", site, *LANGS, "--proxy", address, "--out", tmp_path / "run").output
    assert proxy.log
    require_no_secret(said, tmp_path)


def test_an_invalid_proxy_of_the_environment_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with authenticating() as proxy:
        monkeypatch.setenv("HTTP_PROXY", with_secrets(proxy).replace(PASSWORD, f"{PASSWORD}/x"))
        said = run("mine", SITE, *LANGS, "--out", tmp_path / "run").output
    require_no_secret(said, tmp_path)


def test_credentials_in_links_and_redirects_are_not_kept_in_the_database(tmp_path: Path) -> None:
    link = f"http://{USER}:{PASSWORD}@public.example/in"
    pages = {"/": Reply(zoo.page("Home", [link, "/moved"])), "/moved": zoo.redirect(302, link)}
    out = tmp_path / "run"
    with serve(pages) as server:
        said = run("mine", server.url, *LANGS, "--allow-private", "--out", out).output
    said += run("explain", out, f"{server.url}moved").output
    assert PASSWORD not in said
    for path in out.glob("*.*"):
        assert PASSWORD.encode() not in path.read_bytes(), path


def test_the_key_of_a_link_service_is_in_no_file_and_no_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(request: Request) -> Reply:
        if request.path.startswith("/api"):
            return Reply("no", 403)
        return Reply(PAGES["fr/" if request.path == "/fr/" else "en/"])

    monkeypatch.setenv("LINK_KEY", PASSWORD)
    with serve(answer) as server:
        service = tmp_path / "service.toml"
        service.write_text(
            f'url = "{server.url}api?key={TOKEN}&u={{url}}"\nlinks = "a"\nsource = "b"\n'
            'delay = 0\nretries = 0\nheaders = {Authorization = "Bearer $LINK_KEY"}\n'
        )
        said = run(
            "discover", server.url, *LANGS, "--backlinks", service, "--allow-private",
            "--max-sites", 2, "--out", tmp_path / "run",
        ).output  # fmt: skip
    asked = [request for request in server.log if request.path.startswith("/api")]
    assert {request.headers["authorization"] for request in asked} == {f"Bearer {PASSWORD}"}
    require_no_secret(said, tmp_path / "run")
