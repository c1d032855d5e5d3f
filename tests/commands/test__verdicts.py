from __future__ import annotations

import json
from io import StringIO

from diptych.commands._verdicts import Printer
from diptych.frontier.leads import Verdict
from diptych.types import Decision, Url

HOME = Url("http://a.org/")
GOOD = Verdict(
    "a.org", HOME, Decision(True, 0.98765), (("en", HOME), ("fr", Url(HOME + "fr"))), 2, HOME
)
BAD = Verdict(
    "b.org", Url("http://b.org/"), Decision(False, 0.1, "one_language"), (), 1, Url("http://b.org/")
)


def said(printer: Printer, *verdicts: Verdict) -> list[str]:
    for verdict in verdicts:
        printer.say(verdict)
    assert isinstance(printer.out, StringIO)
    return printer.out.getvalue().splitlines()


def test_a_line_has_the_verdict_and_its_evidence() -> None:
    assert said(Printer(StringIO()), GOOD, BAD) == [
        "http://a.org/\tbilingual\t0.988\t2\ten=http://a.org/ fr=http://a.org/fr",
        "http://b.org/\tno\t0.100\t1\tin only one of the languages",
    ]


def test_a_list_has_only_bilingual_sites() -> None:
    printer = Printer(StringIO(), is_list=True)
    printer.say_untested("http://c.org/", "http_404")
    assert said(printer, GOOD, BAD) == ["http://a.org/"]


def test_json_has_everything() -> None:
    printer = Printer(StringIO(), as_json=True)
    printer.say_untested("http://c.org/", "http_404")
    untested, good = map(json.loads, said(printer, GOOD))
    assert untested["bilingual"] is None
    assert untested["reason"] == "http_404"
    assert good == {
        "site": "a.org", "url": "http://a.org/", "start": "http://a.org/",
        "bilingual": True, "score": 0.9877, "reason": "",
        "pages": {"en": "http://a.org/", "fr": "http://a.org/fr"}, "downloads": 2,
    }  # fmt: skip


def test_a_reason_stays_in_its_column() -> None:
    printer = Printer(StringIO())
    printer.say_untested("http://c.org/", "it said:\tno\nand \x1b]0;more\x07")
    assert said(printer) == ["http://c.org/\tunknown\t0.000\t0\tit said: no and ]0;more"]
