"""Personal data by its form, and lookalikes."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.timing import processor_seconds

import diptych.corpus.personal_data
from diptych.corpus.personal_data import personal_data, personal_data_of_texts, redacted

# Numbers are those that authorities keep for fiction where there are such; domains are reserved.
EMAILS = """
jane@example.org
Mail: jane.doe+list@mail.example.co.uk.
mailto:jane_doe@example.com
<jane-doe@example.museum>
(jane@example.net)
jane@sub.sub.example.org, please
JANE@EXAMPLE.ORG
j@example.io
jürgen@müller.example
用户@例子.中国
info@xn--mller-kva.example
"Jane Doe" <jane@example.org>
иван@почта.рф
jane (at) example (dot) org
jane [at] example [dot] org
jane(at)example.org
jane [AT] mail [DOT] example [DOT] org
jane {at} example.org
jane AT example DOT org
jane AT mail DOT example DOT org
jana (at) example (punkt) org
juan (arroba) example (punto) org
jane [@] example.org
E-Mail:jane@example.org
Écrivez à jeanne@example.fr !
jane@example.org;john@example.org
jane@example.org/john@example.org
20040110.ABC@mail.example.org
juan@empresa.com.py
name＠example.org
name﹫example.org
jane@example.org:8080
jane@example.org:25.
o'brien.pat@example.org
pat.o’brien@example.org
'jane@example.org'
jane@example.org:john@example.org
""".strip().splitlines()

PHONES = """
+49 30 23125000
+49 (0)30 23125000
+49(30)23125-000
+4930123456
+44 20 7946 0958
+44 (0)20 7946 0958
+44-20-7946-0958
+1 555 234 5678
+1 (555) 234-5678
+1-555-234-5678
+1.555.234.5678
+33 1 23 45 67 89
+33 (0)1 99 00 12 34
+39 06 1234 5678
+34 912 345 678
+351 21 234 5678
+31 20 123 4567
+32 2 123 45 67
+41 44 123 45 67
+43 1 234567
+45 12 34 56 78
+46 8 123 456 78
+47 22 12 34 56
+48 22 123 45 67
+358 9 1234 5678
+420 212 345 678
+36 1 234 5678
+30 21 0123 4567
+7 495 123-45-67
+7 (495) 123-45-67
+380 44 123 45 67
+90 212 123 45 67
+972 3-123-4567
+971 4 123 4567
+91 98765 43210
+86 10 1234 5678
+86 138 0013 8000
+81 3-1234-5678
+82 2-1234-5678
+61 2 5550 1234
+64 4 123 4567
+55 11 91234-5678
+54 11 1234-5678
+52 55 1234 5678
+27 21 123 4567
+234 1 234 5678
tel:+49-30-123456
0049 30 123456
0033 1 23 45 67 89
(030) 12 34 56
(030) 123456
(030) 1234-567
(089) 12345678
(02) 5550 1234
030/1234567
089/12 34 56
030-1234567
0171-1234567
03-1234-5678
0120-123-456
010-1234-5678
011-23456789
01 23 45 67 89
01.99.00.12.34
06-39-98-12-34
020 7946 0958
07700 900123
01632 960123
030 123456
044 123 45 67
0412 345 678
06 1234 5678
06 12345678
02 5550 1234
555-123-4567
(555) 123-4567
(555)123-4567
555.123.4567
1-800-555-0199
1 (800) 555-0199
8 (495) 123-45-67
8-800-123-45-67
(11) 91234-5678
(11) 5550-1234
138 0013 8000
Tel.: 123456
Tel. 12 34 56 78
Tel: 5551234
Tél. : 01 23 45 67 89
Téléphone : 0199001234
Telefon 030/1234567
Telefon: 0301234567
Telefax (0 30) 1 23 45 67
Phone 5550123456
Phone number: 98765 43210
Fax: 123-4567
Mobile: 07700900123
тел. 123-45-67
Телефон: 8 495 1234567
Τηλ. 210 123 4567
電話：03-1234-5678
电话010-12345678
전화: 02-1234-5678
هاتف: ٠٢٠ ١٢٣٤ ٥٦٧٨
फ़ोन: ०११-२३४५६७८९
+٩٦٦ ١١ ١٢٣ ٤٥٦٧
+९१ ९८७६५ ४३२१०
＋８１ ３－１２３４－５６７８
+49 30 23125000
+49 30 231‑25000
Puh. 09 1234 5678
Tlf. 22 33 44 55
Call us at 5550123
(Tel. 030 123456)
0033123456789
00 33 1 23 45 67 89
0049 3023125000
004930231250001
8 800 555-35-35
8 495 123-45-67
""".strip().splitlines()

IBANS = """
DE89 3704 0044 0532 0130 00
DE89370400440532013000
GB82 WEST 1234 5698 7654 32
GB82WEST12345698765432
FR14 2004 1010 0505 0001 3M02 606
NL91ABNA0417164300
CH93 0076 2011 6238 5295 7
ES91 2100 0418 4502 0005 1332
IT60X0542811101000000123456
NO93 8601 1117 947
BE68 5390 0754 7034
AT61 1904 3002 3457 3201
PL61 1090 1014 0000 0712 1981 2874
MT84 MALT 0110 0001 2345 MTLC AST0 01S
SA03 8000 0000 6080 1016 7519
IBAN: DE89-3704-0044-0532-0130-00.
de89370400440532013000
iban de89 3704 0044 0532 0130 00
gb82west12345698765432
gb82 west 1234 5698 7654 32
no93 8601 1117 947
be68 5390 0754 7034 gilt sehr
""".strip().splitlines()

CARDS = """
4111 1111 1111 1111
5500-0000-0000-0004
3400 000000 00009
Visa 4012 8888 8888 1881, valid
4111111111111111
5500000000000004
340000000000009
6011000000000004.
""".strip().splitlines()

NOTHING = """
10.04.2004
04/10/2004
2004-01-10
2004-01-10 12:30:45
Fax 10.04.2004
Tel. 2004-01-10
Phone 1998-2004
Tel. 192.168.100.200
2004-01-10T12:30:45+02:00
10-04-2004
1998-2004
1998–2004
(1998-2004)
1998 - 2004
© 1996, 1997, 1998, 1999 2000
ISBN 0-306-40615-2
ISBN 978-3-16-148410-0
ISBN: 9783161484100
ISSN 0317-8471
0317-8471
2.6.32.5
version 2.4.20-8.1
Linux 2.6.32-5-686
1.0.0.12345
192.168.0.1
10.0.0.255
255.255.255.255/24
192.168.100.200:8080
2001:0db8:85a3:0000:0000:8a2e:0370:7334
doi:10.1000/182
10.1038/nature12373
ports 8080, 8443, 9000
80/443/8080
20 21 22 23 25 53 80 110
1,234,567.89
1 234 567 890
12 345 678
EUR 1.234.567,00
$ 1,000,000
€ 12 345 678
+12.345.678
12:30:45
12.30-14.45
Gen 1:1-2:3
John 3:16-18
Mt 5,3-12; 6,9-13
0x1234567890
deadbeef01234567
01 23 45 67 89 ab cd ef
00 11 22 33 44 55 66 77
00:11:22:33:44:55
550e8400-e29b-41d4-a716-446655440000
1234567890
12345678901234567890
0123456789
#1234567
bug 123456-7
RFC 2822
RFC 5321, 5322
CVE-2014-0160
0000-0002-1825-0097
1/2/3/4/5/6/7
3.14159265358979
6.02214076e23
1e-10 2e-20
-1234567
+0100
UTC+02:00
C++11 2011 2014
a+123456789
x = 555123456
640x480 800x600 1024x768
1024 768 32 24 16
0644 0755
chmod 0644 0755 1777
100-200-300
12-34-56
50%-60%
123456 bytes
10000000 iterations
12345-6789
D-10115 Berlin
75001 Paris 75002
SW1A 1AA
GB82 WEST 1234 5698 7654 33
DE89 3704 0044 0532 0130 01
DE12 3456
XX89 3704 0044 0532 0130 00
4111 1111 1111 1112
1111 2222 3333 4444
4111111111111112
1111111111111117
2221000000000009
id=4111111111111111
4111111111111111.5
x4111111111111111
setup@script.py
site@conf.local.py
user@example.org:8080/path
user@example.org:22:file
de89370400440532013001
de89 370400440532 0130 00
de8937040044053201300a
xx89370400440532013000
00 20 30 40 50 60 70
00 44 55 66 77 88 99
0000123456789
0012345678901
001234567890
8 800 555 100 200
@handle
@handle.example
a@b
user@localhost
package@1.2.3
npm install left-pad@1.3.0
logo@2x.png
getty@tty1.service
git@example.org:group/project.git
user@host.example.org:/srv/files
https://user@example.org/path
ftp://user:secret@ftp.example.org/
svn+ssh://jane@svn.example.org/repo
look (at) this
jane (at) example
meet AT noon DOT
http://example.org/030-1234567
/usr/share/doc/555-123-4567/
file_0171-1234567
v030-1234567
1-2-3-4-5-6-7-8
99.99.99.99.99.99
2004/01/10 - 2004/02/11
II. 1756-1791
1756-1791, 1770-1827
12th 1066-1087
№ 123-456-789
A4 210 297
1.2.3-4.5.6
2000 3000 4000
1 000 000
10 000 000 000
""".strip().splitlines()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (text, kind)
        for kind, texts in (("email", EMAILS), ("phone", PHONES), ("iban", IBANS), ("card", CARDS))
        for text in texts
    ],
)
def test_personal_data_is_found_and_taken_out(text: str, kind: str) -> None:
    for whole in (text, f"{text} "):
        assert personal_data(whole) == (kind,)
        assert f"[{kind.upper()}]" in redacted(whole)
        assert personal_data(redacted(whole)) == ()


@pytest.mark.parametrize("text", NOTHING)
def test_lookalikes_are_left_alone(text: str) -> None:
    for whole in (text, f"See {text}.", f"({text})"):
        assert personal_data(whole) == ()
        assert redacted(whole) == whole


def test_there_are_examples_enough() -> None:
    assert len({*EMAILS, *PHONES, *IBANS, *CARDS}) > 150
    assert len(set(NOTHING)) > 100


def test_exactly_the_personal_data_is_redacted() -> None:
    text = (
        "Jane (jane@example.org, Tel. +49 30 23125000/fax 030/1234567) has DE89370400440532013000."
    )
    assert redacted(text) == "Jane ([EMAIL], Tel. [PHONE]/fax [PHONE]) has [IBAN]."
    assert redacted("jane@example.org;john@example.org") == "[EMAIL];[EMAIL]"
    assert redacted("jane (at) example (dot) org, or call") == "[EMAIL], or call"
    assert redacted("(030 123456)") == "([PHONE])"
    assert redacted("هاتف: ٠٢٠ ١٢٣٤ ٥٦٧٨.") == "هاتف: [PHONE]."


PIECES = st.sampled_from(
    [*EMAILS, *PHONES, *IBANS, *CARDS, *NOTHING, *"0123456789+()-./@: aé٣", "Tel. ", "00",
     "[EMAIL]",
     " AT ", " DOT ", "(at)", "://", "\ud800", "\U0001d7d8", "话"]
)  # fmt: skip


@given(st.lists(PIECES | st.text(max_size=4), max_size=9).map("".join))
@example("Tel. +49 30 23125000+49 30 23125000")
def test_redaction_is_complete_and_idempotent(text: str) -> None:
    once = redacted(text)
    assert personal_data(once) == ()
    assert redacted(once) == once
    assert (once == text) == (personal_data(text) == ())


@given(st.text(st.characters(exclude_categories=("Nd",), exclude_characters="@([{"), max_size=99))
def test_text_without_digits_and_signs_is_as_it_was(text: str) -> None:
    if " AT " not in text:
        assert redacted(text) == text


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ["1", "a@", "a@a.", "+", "(", "0 ", "+1", "1 (", "DE89 ", "a", "a.", "-", "(at)", "a (at) ",
     " AT a DOT", "Tel. ", "Tel. 1", "@", ":", "://", "4111 ", "a@b.c-", "٣", "1.", "(0", ".a@1"],
)  # fmt: skip
def test_a_hundred_thousand_characters_take_little_time(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    with processor_seconds():  # quadratic ones take minutes
        personal_data(text)
        redacted(text)


@pytest.mark.parametrize(
    "piece",
    ["x@a.org:", "Tel. 123456:", "x@a.org:x/", "+49 30 23125000:+", "Tel. 123456.Tel", "o'",
     "o'b@a.org:", "Tel. 123456-Tel. +49 30 23125000:", "\uff20a.org:x", "DE89370400440532013000 ",
     "de89 3704 0044 0532 0130 00 ", "4111111111111111 ", "0033123456789 "],
)  # fmt: skip
def test_nested_hidden_data_is_found_in_a_few_searches(
    piece: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched = []
    search = diptych.corpus.personal_data._search
    monkeypatch.setattr(
        diptych.corpus.personal_data, "_search", lambda text: searched.append(1) or search(text)
    )
    once = redacted(piece * 2_000)
    assert len(searched) <= 12
    assert personal_data(once) == ()
    assert redacted(once) == once


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["x@a.org:", "Tel. 123456:"])
def test_a_million_characters_of_it_take_seconds(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    with processor_seconds(10):  # about one
        redacted(text)


def test_all_of_an_address_is_taken() -> None:
    assert redacted("o'brien.pat@example.org") == "[EMAIL]"
    assert redacted("an 'jane@example.org' und l’jane@example.org") == "an '[EMAIL]' und [EMAIL]"
    assert redacted("all'info@example.org") == "all'[EMAIL]"
    assert redacted("name＠example.org, jane@example.org:8080") == "[EMAIL], [EMAIL]:8080"
    assert redacted("x@a.org:" * 9) == "[EMAIL]:" * 9
    assert redacted("o'b@a.org:" * 9) == "[EMAIL]:" * 9
    assert redacted("Tel. 123456,Fax 123457," * 9) == "Tel. [PHONE],Fax [PHONE]," * 9


def test_texts_without_personal_data_cost_almost_nothing() -> None:
    text = "The keeper of the lighthouse climbed the stairs every evening to light the great lamp."
    with processor_seconds():
        for _ in range(100_000):
            personal_data(text)


def test_many_texts_have_the_personal_data_of_each() -> None:
    texts = [
        *EMAILS, "nothing", "page 12345", "call +44 20 7946 0958", "+٤٤ ٢٠ ٧٩٤٦ ٠٩٥٨",
        "jane (at) example (dot) org", "jane { ÄT } example.org", "jane AT example DOT org",
        "jane＠example.org", "jane [собака] example.org", "see (also) page (5)",
    ]  # fmt: skip
    assert personal_data_of_texts(texts) == [personal_data(text) for text in texts]
