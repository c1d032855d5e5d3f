"""Built sites served on loopback."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener

import pytest

from bench.sites.built import serve


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site of two hosts, one of which has no index."""
    folder = tmp_path / "two"
    for lang in ("en", "fr"):
        (folder / "htdocs" / lang).mkdir(parents=True)
        page = f"<p>{lang}</p><a href='http://__HOST:en__/x.html'>en</a>"
        (folder / "htdocs" / lang / "x.html").write_text(page, "utf-8")
    meta = {"hosts": ["en", "fr"], "pivot": "fr", "home": "//fr/"}
    (folder / "meta.json").write_text(json.dumps(meta), "utf-8")
    routes = {"routes": {}, "redirects": {"//fr/": "/x.html", "//fr/en": "//en/x.html"}}
    (folder / "routes.json").write_text(json.dumps(routes), "utf-8")
    return folder


def test_hosts_answer_on_ports_of_their_own_and_every_answer_is_logged(site, tmp_path):
    fetch = build_opener(ProxyHandler({})).open
    with serve([site], logs=tmp_path) as served:
        home, (english, french) = served["two"]
        assert home == f"{french}/"
        with fetch(home) as answer:
            assert answer.url == f"{french}/x.html"
            assert answer.headers["Content-Type"] == "text/html"
            assert answer.read().decode() == f"<p>fr</p><a href='{english}/x.html'>en</a>"
        with fetch(f"{french}/en") as answer:
            assert answer.url == f"{english}/x.html"
            assert b"<p>en</p>" in answer.read()
        with pytest.raises(HTTPError, match="404"):
            fetch(f"{english}/gone.html")
    lines = (tmp_path / "two.log").read_text("utf-8").splitlines()
    assert [line.split('"')[1] for line in lines] == [
        "GET //fr/ HTTP/1.1", "GET //fr/x.html HTTP/1.1", "GET //fr/en HTTP/1.1",
        "GET //en/x.html HTTP/1.1", "GET //en/gone.html HTTP/1.1",
    ]  # fmt: skip
    assert [line.split('"')[2].split()[0] for line in lines] == ["302", "200", "302", "200", "404"]
