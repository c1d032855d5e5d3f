"""The demo site served for the user: `diptych demo --serve`."""

from __future__ import annotations

import signal
from urllib.request import urlopen

import pytest
from support.commands import run, start


@pytest.mark.slow
def test_site_is_served_until_ctrl_c(tmp_path):
    process = start("demo", "--serve", "--port", "0", cwd=tmp_path)
    line = process.stderr.readline()
    address = line.removeprefix("serving the demo site at ").rstrip()
    with urlopen(f"{address}sitemap.xml", timeout=60) as answer:
        assert f"<loc>{address}" in answer.read().decode()
    process.send_signal(signal.SIGINT)
    assert process.communicate() == ("", "")
    assert process.returncode == 0
    assert list(tmp_path.iterdir()) == [], "nothing is mined"


def test_port_of_the_site_may_be_given_by_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("DIPTYCH_DEMO_PORT", "65536")
    result = run("demo", "--serve")
    assert result.exit_code == 2
    assert "65536" in result.stderr
