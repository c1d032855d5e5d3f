from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from publicsuffixlist import PublicSuffixList
from support.timing import processor_seconds

from diptych.files import shipped_text
from diptych.text.urls import (
    MAX_LENGTH,
    _normalised,
    _targets,
    extension,
    host_of,
    normalise,
    origin_of,
    resolve,
    resolver,
    site_name,
    url_key,
)

NORMAL = [
    ("http://example.org", "http://example.org/"),
    ("http://example.org/", "http://example.org/"),
    ("  https://example.org/a\n", "https://example.org/a"),
    ("HTTP://Example.ORG/Path", "http://example.org/Path"),
    ("http://example.org./a", "http://example.org/a"),
    ("http://my_host.example.org/", "http://my_host.example.org/"),
    # ports
    ("http://example.org:80/a", "http://example.org/a"),
    ("https://example.org:443/a", "https://example.org/a"),
    ("http://example.org:443/a", "http://example.org:443/a"),
    ("https://example.org:80/a", "https://example.org:80/a"),
    ("http://example.org:8080/a", "http://example.org:8080/a"),
    ("http://example.org:080/a", "http://example.org/a"),
    ("http://example.org:/a", "http://example.org/a"),
    # dot segments (RFC 3986, 5.2.4 and 5.4)
    ("http://example.org/a/b/c/./../../g", "http://example.org/a/g"),
    ("http://example.org/./a", "http://example.org/a"),
    ("http://example.org/../../a", "http://example.org/a"),
    ("http://example.org/a/..", "http://example.org/"),
    ("http://example.org/a/.", "http://example.org/a/"),
    ("http://example.org/a/%2e%2E/b", "http://example.org/b"),
    ("http://example.org/a/.hidden/b..c", "http://example.org/a/.hidden/b..c"),
    ("http://example.org/a?x=/../b", "http://example.org/a?x=/../b"),
    # escapes
    ("http://example.org/%7euser/%e9", "http://example.org/~user/%E9"),
    ("http://example.org/é?q=é", "http://example.org/%C3%A9?q=%C3%A9"),
    ("http://example.org/a b\tc", "http://example.org/a%20bc"),
    ("http://example.org/100%", "http://example.org/100%25"),
    ("http://example.org/%zz", "http://example.org/%25zz"),
    ("http://example.org/a%2Fb", "http://example.org/a%2Fb"),
    ("http://example.org/a%3Fb", "http://example.org/a%3Fb"),
    ('http://example.org/"<>', "http://example.org/%22%3C%3E"),
    ("http://example.org/a//b", "http://example.org/a//b"),
    ("http://example.org/\U0001f600", "http://example.org/%F0%9F%98%80"),
    ("http://example.org/\ud800", "http://example.org/%3F"),
    # query and fragment
    ("http://example.org/a?", "http://example.org/a"),
    ("http://example.org?x=1", "http://example.org/?x=1"),
    ("http://example.org/a#b?c", "http://example.org/a"),
    ("http://example.org/a?b=1#c", "http://example.org/a?b=1"),
    ("http://example.org/a?x=1?y", "http://example.org/a?x=1?y"),
    ("http://example.org/a?b&c=", "http://example.org/a?b&c="),
    # sessions and campaigns
    ("http://example.org/a;jsessionid=1A2B/b", "http://example.org/a/b"),
    ("http://example.org/a;JSessionID=1A2B?x=1", "http://example.org/a?x=1"),
    ("http://example.org/a;lang=fr", "http://example.org/a;lang=fr"),
    ("http://example.org/?PHPSESSID=abc&lang=fr", "http://example.org/?lang=fr"),
    ("http://example.org/?lang=fr&utm_source=x&utm_medium=y", "http://example.org/?lang=fr"),
    ("http://example.org/?gclid=1&fbclid=2&mc_cid=3", "http://example.org/"),
    ("http://example.org/?sid=0123456789abcdef0", "http://example.org/"),
    ("http://example.org/?sid=12&s=term", "http://example.org/?sid=12&s=term"),
    ("http://example.org/?s=internationalisation", "http://example.org/?s=internationalisation"),
    ("http://example.org/?assets=1", "http://example.org/?assets=1"),
    # names in other scripts
    ("http://Bücher.example/", "http://xn--bcher-kva.example/"),
    ("http://пример.испытание/", "http://xn--e1afmkfd.xn--80akhbyknj4f/"),
    ("http://例え。テスト/", "http://xn--r8jz45g.xn--zckzah/"),
    ("http://XN--BCHER-KVA.example/", "http://xn--bcher-kva.example/"),
    # addresses
    ("http://127.0.0.1:8000/a", "http://127.0.0.1:8000/a"),
    ("http://93.184.216.34/", "http://93.184.216.34/"),
    ("http://[::1]/", "http://[::1]/"),
    ("http://[2001:DB8:0::1]:8080/a", "http://[2001:db8::1]:8080/a"),
    ("http://[::1]:80/", "http://[::1]/"),
]


@pytest.mark.parametrize(("url", "normal"), NORMAL)
def test_one_form_for_all_spellings_of_a_url(url: str, normal: str) -> None:
    assert normalise(url) == normal
    assert normalise(normal) == normal


REFUSED = [
    "",
    " ",
    "example.org/a",
    "//example.org/a",
    "/a",
    "mailto:a@example.org",
    "javascript:alert(1)",
    "data:text/html,a",
    "ftp://example.org/a",
    "file:///etc/passwd",
    "http:",
    "http://",
    "http:///a",
    "http://:80/",
    "http://?x",
    "http://exa mple.org/",
    "http://ex%61mple.org/",
    "http://example.org:port/",
    "http://example.org:-1/",
    "http://[::1/",
    "http://[::g]/",
    "http://[not-an-address]/",
    "http://a\u2100b.org/",
    # a name and a password are never sent, nor taken for a host
    "http://user@example.org/",
    "http://user:secret@example.org/",
    "http://@example.org/",
    "http://example.org\\@evil.example/",
    # addresses in disguise: what a resolver takes for 127.0.0.1
    "http://127.1/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://2130706433/",
    "http://2130706433./",
    "http://2130706433:8080/a",
    "http://017700000001/",
    "http://127.0.0.1.1/",
    "http://127.0.0.256/",
    "http://１２７.１/",
]


SESSION = "0123456789abcdef"


@pytest.mark.parametrize(
    "name",
    "jsessionid PHPSESSID aspsessionidqq cfid cftoken sessionid session_id osCsid zenid"
    " utm_campaign gclid fbclid mc_cid mc_eid _ga".split(),
)
def test_parameter_of_a_session_or_a_campaign_is_dropped_whatever_its_value(name: str) -> None:
    assert normalise(f"http://example.org/?{name}=x&lang=fr") == "http://example.org/?lang=fr"
    assert normalise(f"http://example.org/?{name}x=x") == (
        f"http://example.org/?{name}x=x"
        if name[:3] not in ("utm", "asp")
        else "http://example.org/"
    )


@pytest.mark.parametrize("name", ["s", "sid", "session", "sess", "SID"])
def test_parameter_that_may_be_a_session_is_dropped_only_for_a_session_number(name: str) -> None:
    def kept(value: str) -> bool:
        return normalise(f"http://example.org/?{name}={value}") != "http://example.org/"

    assert not kept(SESSION)
    assert not kept(SESSION.upper() + "0")
    assert kept(SESSION[:-1]), "an identifier of an article is shorter"
    assert kept("abcdefabcdefabcdef"), "a word has no digit"
    assert kept(SESSION + "-a")
    assert normalise(f"http://example.org/?{name}s={SESSION}") != "http://example.org/"


@pytest.mark.parametrize("name", ["jsessionid", "PHPSESSID", "sid"])
def test_session_in_a_path_is_dropped(name: str) -> None:
    assert normalise(f"http://example.org/a;{name}=12;v=1/b") == "http://example.org/a;v=1/b"


@pytest.mark.parametrize("url", REFUSED)
def test_anything_but_an_http_url_is_refused(url: str) -> None:
    assert normalise(url) is None


@pytest.mark.parametrize("host", ["0x7f000001", "0x7f.0x1", "0X7F000001", "1.0x7f", "127.0.0.0x1"])
def test_hexadecimal_addresses_in_disguise_are_refused(host: str) -> None:
    assert normalise(f"http://{host}/") is None


@pytest.mark.parametrize(
    "authority",
    [
        "a..b",
        ".a.org",
        "a.org:99999",
        "a.org:65536",
        "[::1]x",
        "[v1.a]",
        "xn--0.example",
        "a" * 300,
        "a" * 64 + ".org",
        "abcdefgh." * 30 + "org",
    ],
)
def test_bad_authority_is_refused_whatever_follows_it(authority: str) -> None:
    assert [normalise(f"http://{authority}{rest}") for rest in ("/", "/é", "/a/../b")] == [None] * 3
    assert normalise(f"HTTP://{authority}/") is None


@pytest.mark.parametrize("zone", ["é", "eth0", "25eth0", "<a>"])
def test_ipv6_addresses_with_a_zone_are_refused(zone: str) -> None:
    assert normalise(f"http://[fe80::1%{zone}]/") is None


URL_ALPHABET = [
    *"/?#&=;:@.%~-_ \\[]<>'\"+!$,*()|^`{}\t\n\r\x00\x7f",
    *["http://", "https://", "HTTP://", "//", "..", "./", "%2e", "%2F", "%", "%e", "%C3%A9", "é"],
    *["sid=", "jsessionid=", "utm_a=1", "s=", "%6a", "%73", "0123456789abcdef", "ſ", "\u0130"],
    *["example.org", "bücher.example", "a", "b", "xn--", "1", "0x", "127.0.0.1", "[::1]", "%25"],
    *[":80", ":443", ":8080", ":0", ":", "。", "．", "\u00ad", "\u200b", "ß", "日本", "\ud800"],
]
url_like = st.lists(st.sampled_from(URL_ALPHABET), max_size=14).map("".join)
with_scheme = st.builds(
    "{}{}{}".format,
    st.sampled_from(["http://", "https://", "HTTP://"]),
    st.sampled_from(["example.org", "a.b", "Bücher.example", "[::1]", "1.2.3.4", "a.org:8080"]),
    st.lists(st.sampled_from(URL_ALPHABET), max_size=12).map(lambda parts: "/" + "".join(parts)),
)
any_url = st.one_of(st.text(max_size=60), url_like, with_scheme, url_like.map("http://{}".format))


@given(any_url)
@example("http://h/a;%6asessionid=1")
@example("http://bücher.example。/")
@example("http://h/a;%73id=1/..")
def test_normalise_is_idempotent_and_never_raises(url: str) -> None:
    normal = normalise(url)
    if normal is not None:
        assert normalise(normal) == normal


@given(any_url)
@example("http://[fe80::1%é]/")
@example("http://[::1%\x7f]/")
def test_normal_form_is_plain_ascii_with_scheme_host_and_path(url: str) -> None:
    normal = normalise(url)
    if normal is not None:
        assert normal.isascii()
        assert normal.isprintable()
        assert not set(normal) & set(' "<>\\^`{|}#')
        assert len(normal) <= MAX_LENGTH
        scheme, _, rest = normal.partition("://")
        assert scheme in ("http", "https")
        assert "/" in rest
        assert "@" not in rest.partition("/")[0]
        assert origin_of(normal) + "/" == normalise(origin_of(normal))


@given(with_scheme)
def test_letter_case_of_scheme_and_host_makes_no_difference(url: str) -> None:
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    assert normalise(f"{scheme.upper()}://{host.upper()}{slash}{path}") == normalise(url)


@given(st.text(max_size=20))
def test_control_characters_at_the_ends_make_no_difference(text: str) -> None:
    url = f"http://example.org/{text.strip()}"
    assert normalise(f" \n\t{url}\r\n ") == normalise(url)


@pytest.mark.parametrize(
    "huge",
    [
        "http://example.org/" + "a" * 1_000_000,
        "http://example.org/" + "../" * 333_333,
        "http://example.org/?" + "&" * 1_000_000,
        "http://" + "a." * 500_000 + "org/",
        "http://" + "é" * 1_000_000,
        "%" * 1_000_000,
        " " * 1_000_000,
        "http://example.org/" + "a" * 1_000 + " " * 1_000_000,
    ],
    ids=["path", "dots", "query", "host", "idn", "percent", "blank", "trailing"],
)
def test_a_million_characters_are_handled_quickly(huge: str) -> None:
    with processor_seconds():
        normal = normalise(huge)
        resolved = resolve("http://example.org/", huge)
    for url in (normal, resolved):
        assert url is None or len(url) <= MAX_LENGTH


@pytest.mark.parametrize("host", ["é" * 8_000, "é." * 4_000, "\u0300" * 8_000, "🦊" * 2_000])
def test_long_hosts_in_other_scripts_are_refused_quickly(host: str) -> None:
    with processor_seconds():
        assert normalise(f"http://{host}/") is None


def test_url_at_the_length_limit_is_kept_and_a_longer_one_refused() -> None:
    head = "http://example.org/"
    longest = head + "a" * (2048 - len(head))
    assert normalise(longest) == longest
    assert normalise(longest + "a") is None
    # Escaping makes it longer: what counts is what would be sent.
    assert normalise(longest[:-1] + "é") is None


def test_url_that_gets_shorter_by_normalising_may_have_four_times_the_limit() -> None:
    head, dots = "http://example.org/", "a/../"
    for times, target in [(4, head + "b"), (4.01, None)]:
        written = head + dots * (int(times * MAX_LENGTH - len(head) - 1) // len(dots)) + "b"
        assert normalise(written) == resolve(BASE, written) == target


@pytest.mark.parametrize(
    "function",
    [normalise, lambda url: resolve("http://example.org/", url)],
    ids=["normalise", "resolve"],
)
def test_long_hostile_urls_are_not_cached(function: Callable[[str], object]) -> None:
    tracemalloc.start()
    try:
        for number in range(100):
            function(f"http://example.org/{number}/" + "a" * 200_000)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 5_000_000


BASE = "http://example.org/b/c/d.html?q"
RESOLVED = [
    # RFC 3986, 5.4, with the fragment dropped
    ("g", "http://example.org/b/c/g"),
    ("./g", "http://example.org/b/c/g"),
    ("g/", "http://example.org/b/c/g/"),
    ("/g", "http://example.org/g"),
    ("//other.org/g", "http://other.org/g"),
    ("?y", "http://example.org/b/c/d.html?y"),
    ("g?y", "http://example.org/b/c/g?y"),
    ("#s", "http://example.org/b/c/d.html?q"),
    ("g#s", "http://example.org/b/c/g"),
    ("", "http://example.org/b/c/d.html?q"),
    (".", "http://example.org/b/c/"),
    ("..", "http://example.org/b/"),
    ("../g", "http://example.org/b/g"),
    ("../../..", "http://example.org/"),
    ("../../../../g", "http://example.org/g"),
    (";x=1", "http://example.org/b/c/;x=1"),
    ("g?y=/../x", "http://example.org/b/c/g?y=/../x"),
    # as found in pages
    (" g \n", "http://example.org/b/c/g"),
    ("HTTPS://Other.org", "https://other.org/"),
    ("http:g", "http://example.org/b/c/g"),
    ("\\\\other.org\\g", "http://other.org/g"),
    ("/\\other.org", "http://other.org/"),
    ("a/b/c/d\\e", "http://example.org/b/c/a/b/c/d/e"),
    ("a/b/c/de\\f", "http://example.org/b/c/a/b/c/de%5Cf"),
    ("page one.html", "http://example.org/b/c/page%20one.html"),
    ("?lang=fr&amp;x", "http://example.org/b/c/d.html?lang=fr&amp;x"),
    ("g?utm_source=a", "http://example.org/b/c/g"),
    ("mailto:a@example.org", None),
    ("javascript:void(0)", None),
    ("tel:+33", None),
    ("data:,", None),
    ("ftp://example.org/", None),
    ("http://[bad", None),
    ("//user@other.org/", None),
    ("http://127.1/", None),
]


@pytest.mark.parametrize(("href", "target"), RESOLVED)
def test_links_are_resolved_against_their_page(href: str, target: str | None) -> None:
    assert resolve(BASE, href) == target


PAGE = "https://a.org/en/dir/page.html?x=1"
# As browsers resolve them (WHATWG URL), normalised; None for what is not fetched by HTTP.
FORMS = [
    ("/switch/fr?return=https://a.org/", "https://a.org/switch/fr?return=https://a.org/"),
    (
        "/switch/fr?return=https://a.org/en/a?b=c",
        "https://a.org/switch/fr?return=https://a.org/en/a?b=c",
    ),
    ("?return=https://a.org/fr/", "https://a.org/en/dir/page.html?return=https://a.org/fr/"),
    ("switch?to=http://b.org", "https://a.org/en/dir/switch?to=http://b.org"),
    ("../fr/?next=https://a.org/en/dir/", "https://a.org/en/fr/?next=https://a.org/en/dir/"),
    ("//b.org/?u=https://a.org/", "https://b.org/?u=https://a.org/"),
    ("//a.org/switch?u=//a.org/fr", "https://a.org/switch?u=//a.org/fr"),
    ("https://a.org/go?url=https://a.org/fr/", "https://a.org/go?url=https://a.org/fr/"),
    (
        "http://a.org/go?url=https%3A%2F%2Fa.org%2Ffr",
        "http://a.org/go?url=https%3A%2F%2Fa.org%2Ffr",
    ),
    ("/go/https://a.org/fr/", "https://a.org/go/https://a.org/fr/"),
    ("go/https://a.org/fr/", "https://a.org/en/dir/go/https://a.org/fr/"),
    ("/go?u=a:b", "https://a.org/go?u=a:b"),
    ("go?u=a:b", "https://a.org/en/dir/go?u=a:b"),
    ("#https://a.org/", "https://a.org/en/dir/page.html?x=1"),
    ("/a#https://b.org/", "https://a.org/a"),
    ("/login;to=https://a.org/fr", "https://a.org/login;to=https://a.org/fr"),
    ("mailto:a@b.org?body=https://a.org/", None),
    ("javascript:location='https://a.org/'", None),
    ("data:text/html,https://a.org/", None),
    ("tel:+33-1", None),
    ("ftp://a.org/x", None),
    ("https:fr.html", "https://a.org/en/dir/fr.html"),
    ("https:/fr/a", "https://a.org/fr/a"),
    ("HTTPS://A.ORG/FR", "https://a.org/FR"),
    ("http:\\\\a.org\\fr", "http://a.org/fr"),
    ("\\fr\\a", "https://a.org/fr/a"),
    ("/\\b.org/x", "https://b.org/x"),
    ("//b.org", "https://b.org/"),
    ("//b.org:443/x", "https://b.org/x"),
    ("//b.org:8080/x", "https://b.org:8080/x"),
    ("///b.org/x", "https://b.org/x"),
    ("https:///b.org/x", "https://b.org/x"),
    (".", "https://a.org/en/dir/"),
    ("..", "https://a.org/en/"),
    ("./", "https://a.org/en/dir/"),
    ("../", "https://a.org/en/"),
    ("../../..", "https://a.org/"),
    ("../../../../x", "https://a.org/x"),
    ("/", "https://a.org/"),
    ("/./a/../b", "https://a.org/b"),
    ("/a/%2e%2e/b", "https://a.org/b"),
    ("/a//b", "https://a.org/a//b"),
    ("//", None),
    ("?", "https://a.org/en/dir/page.html"),
    ("#", "https://a.org/en/dir/page.html?x=1"),
    ("?lang=fr", "https://a.org/en/dir/page.html?lang=fr"),
    ("?lang=fr#top", "https://a.org/en/dir/page.html?lang=fr"),
    ("?a=1&&b=2", "https://a.org/en/dir/page.html?a=1&&b=2"),
    ("?a", "https://a.org/en/dir/page.html?a"),
    ("/a?", "https://a.org/a"),
    ("/a?#x", "https://a.org/a"),
    ("a b", "https://a.org/en/dir/a%20b"),
    ("%E9t%E9", "https://a.org/en/dir/%E9t%E9"),
    ("été", "https://a.org/en/dir/%C3%A9t%C3%A9"),
    ("/a?q=é", "https://a.org/a?q=%C3%A9"),
    ("http://a.org:80/", "http://a.org/"),
    ("http://user:pw@a.org/", None),
    ("http://a.org:99999/", None),
    ("https://[::1]/x", "https://[::1]/x"),
    ("https://a.org?lang=fr", "https://a.org/?lang=fr"),
    ("https://a.org#top", "https://a.org/"),
    ("http://", None),
    ("https://fr.a.org/x?y=http://z", "https://fr.a.org/x?y=http://z"),
    ("page.html:fr", None),
    ("fr:page.html", None),
]


@pytest.mark.parametrize(("href", "target"), FORMS)
def test_every_form_of_a_link_leads_where_a_browser_goes(href: str, target: str | None) -> None:
    assert resolve(PAGE, href) == target


def test_at_least_sixty_forms_of_links_are_tested() -> None:
    assert len(FORMS) >= 60


def test_long_urls_are_not_cached() -> None:
    tracemalloc.start()
    try:
        for number in range(5_000):
            resolve("http://example.org/", f"/{number}?{'a' * 4_000}")
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 2_000_000


@pytest.mark.parametrize(
    ("base", "href", "target"),
    [
        ("http://example.org/a?next=/x/y", "b", "http://example.org/b"),
        ("http://example.org/a?next=/x/y", "?b", "http://example.org/a?b"),
        ("http://example.org/", "b", "http://example.org/b"),
        ("https://example.org:8443/a/", "//b.org/c", "https://b.org/c"),
        ("https://example.org:8443/a/", "/c", "https://example.org:8443/c"),
        ("http://[::1]:8080/a", "b", "http://[::1]:8080/b"),
        ("http://example.org/a//b", "c", "http://example.org/a//c"),
    ],
)
def test_parts_of_a_page_url_that_matter_for_resolving(base: str, href: str, target: str) -> None:
    assert resolve(base, href) == target


@given(with_scheme, any_url)
def test_resolve_never_raises_and_gives_normal_urls(base: str, href: str) -> None:
    page = normalise(base)
    if page is not None:
        target = resolve(page, href)
        assert target is None or normalise(target) == target


SAME_HOST = ["http://a.org/", "http://a.org/fr/x.html", "http://a.org/en/?q=/", "https://a.org/"]


@given(st.sampled_from(SAME_HOST), st.sampled_from(SAME_HOST), any_url)
@example(SAME_HOST[0], SAME_HOST[1], "x.html")
@example(SAME_HOST[1], SAME_HOST[2], "/x.html")
@example(SAME_HOST[0], SAME_HOST[3], "//a.org/x.html")
@example(SAME_HOST[1], SAME_HOST[2], "?q=1")
def test_a_link_has_its_own_target_on_each_page(first: str, second: str, href: str) -> None:
    _targets.cache_clear()
    resolver.cache_clear()
    alone = resolve(second, href)
    _targets.cache_clear()
    resolver.cache_clear()
    resolve(first, href)
    assert resolve(second, href) == resolve(second, href) == alone


@given(with_scheme)
def test_absolute_links_are_resolved_to_their_own_normal_form(url: str) -> None:
    normal = normalise(url)
    if normal is not None:
        assert resolve(BASE, normal) == normal


@pytest.mark.parametrize(
    ("url", "origin", "host"),
    [
        ("http://example.org/a?b", "http://example.org", "example.org"),
        ("https://example.org:8443/", "https://example.org:8443", "example.org"),
        ("http://[::1]:80/", "http://[::1]:80", "::1"),
        ("http://127.0.0.1:9/a", "http://127.0.0.1:9", "127.0.0.1"),
        ("http://example.org?x=/y:z", "http://example.org", "example.org"),
    ],
)
def test_origin_and_host(url: str, origin: str, host: str) -> None:
    assert origin_of(url) == origin
    assert host_of(url) == host


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://example.org/", "example.org"),
        ("https://fr.example.org/a", "example.org"),
        ("https://a.b.c.example.co.uk/", "example.co.uk"),
        ("https://www.gouv.qc.ca/", "gouv.qc.ca"),
        ("http://co.uk/", "co.uk"),
        ("http://localhost/", "localhost"),
        ("http://localhost:8080/", "localhost:8080"),
        ("http://example.org:8080/", "example.org:8080"),
        ("http://fr.example.org:8080/", "example.org:8080"),
        ("https://alice.github.io/", "alice.github.io"),
        ("http://127.0.0.1/", "127.0.0.1"),
        ("http://127.0.0.1:9001/", "127.0.0.1:9001"),
        ("http://[::1]:9001/", "[::1]:9001"),
        ("http://xn--bcher-kva.example/", "xn--bcher-kva.example"),
        ("http://fr.xn--bcher-kva.de/", "xn--bcher-kva.de"),
        ("http://host.unknown-suffix/", "host.unknown-suffix"),
        ("http://host.xn--zzzzzz/", "host.xn--zzzzzz"),
        ("http://a.b.xn--55qx5d.cn/", "b.xn--55qx5d.cn"),
        ("http://a.b.xn--41a.xn--p1acf/", "b.xn--41a.xn--p1acf"),
        ("http://a.b.city.kawasaki.jp/", "city.kawasaki.jp"),
        ("http://c.b.a.kawasaki.jp/", "b.a.kawasaki.jp"),
        ("http://a.co.uk/", "a.co.uk"),
    ],
)
def test_site_is_the_registrable_domain_with_its_port(url: str, name: str) -> None:
    assert site_name(url) == name


def test_site_is_the_same_as_by_the_whole_list_of_public_suffixes() -> None:
    whole = PublicSuffixList()
    listed = shipped_text("publicsuffixlist", "public_suffix_list.dat").split("\n")
    rules = [rule for rule in listed if rule and not rule.startswith("//")][::50]
    hosts = [
        f"c.b.{rule.removeprefix('!').removeprefix('*.')}".encode("idna").decode() for rule in rules
    ]
    assert len(hosts) > 100
    for host in hosts:
        assert site_name(f"http://{host}/") == whole.privatesuffix(host)


@given(with_scheme)
def test_site_of_a_url_is_the_site_of_its_host(url: str) -> None:
    normal = normalise(url)
    if normal is not None:
        assert site_name(normal) == site_name(origin_of(normal))


@pytest.mark.parametrize(
    ("path", "found"),
    [("a.html", "html"), ("a.tar.GZ", "gz"), ("a.b/c", ""), ("", ""), ("a.", ""), ("c?x=/d.e", "")],
)
def test_extension_is_that_of_the_last_part_of_the_path(path: str, found: str) -> None:
    assert extension(f"http://example.org/{path}") == found
    assert extension("http://example.org") == ""


def test_keys_are_the_same_in_every_run() -> None:
    # The store of an earlier invocation is full of them: they may never change.
    assert url_key("http://example.org/") == 2689016738534627648
    assert url_key("http://example.org/fr/") == -2566934981934535655


@given(st.text())
@example("http://example.org/\ud800")
def test_keys_are_signed_64_bit_numbers(url: str) -> None:
    assert -(2**63) <= url_key(url) < 2**63
    assert url_key(url) == url_key(str(url))


def test_keys_of_many_urls_differ() -> None:
    keys = {url_key(f"http://example.org/{number}") for number in range(100_000)}
    assert len(keys) == 100_000
    assert any(key < 0 for key in keys)
    assert any(key > 0 for key in keys)


@given(
    st.lists(st.sampled_from(["a", "", "b.html", "%2e", "c;d"]), max_size=5),
    st.lists(st.sampled_from(["..", ".", "", "x", "%2E%2e", "..y", "?q=../z"]), min_size=1),
)
@example(["", "a"], ["..", "..", "x"])
@example(["a", "", ""], ["..", "", "x"])
@example([], ["..", "..", "x"])
@example(["a"], ["..", "", "..", "x"])
def test_links_upwards_lead_where_the_dots_of_the_whole_address_lead(
    above: list[str], link: list[str]
) -> None:
    base = normalise("/".join(["http://example.org", *above, ""]))
    href = "../" + "/".join(link)
    assert base is not None
    assert resolve(base, href) == normalise(base[: base.rfind("/") + 1] + href)


URL_PARTS = [
    "http://", "https://", "example.org", "a-b.co.uk", "127.0.0.1", "1.2", "a..b", ":80", ":8080",
    ":99999", "/", "//", "/.", "..", "a", "b.html", "-", "%2F", "%2f", "%2D", "%2E", "%41", "%5F",
    "%7E", "%3A", "%C3%A9", "%", "?", "&", "=", ";", "sid=a1", "utm_source=x",
    "?s=0123456789abcdef", "#", "'", "[", "~", "@",
]  # fmt: skip


@given(st.lists(st.sampled_from(URL_PARTS), max_size=8).map("".join))
@example("example.org/a%2Db")
@example("example.org/a/../b")
@example("example.org/a?utm_source=x")
@example("1.2/")
@example("example.org:80#a")
def test_url_that_is_nearly_normal_has_the_form_that_its_parts_give(rest: str) -> None:
    url = f"http://{rest}"
    assert normalise(url) == _normalised(url)


@pytest.mark.parametrize("base", ["http://example.org/a;", "http://example.org/b/?q=1"])
@pytest.mark.parametrize("href", ["", "c", "/c", "../c", "?q=2", "//example.com", "mailto:c"])
def test_fragment_of_a_link_makes_no_difference(base: str, href: str) -> None:
    assert resolve(base, f"{href}#part") == resolve(base, href)
    assert resolve(base, f" {href}#http://x/ ") == resolve(base, href)


@given(st.lists(st.sampled_from(URL_PARTS[4:]), max_size=6).map("".join))
@example("a%2e%2e")
def test_path_leads_where_it_leads_with_its_host(path: str) -> None:
    if not path.startswith("/") and "#" not in path:
        assert resolve("http://example.org/a/b", f"/{path}") == normalise(
            f"http://example.org/{path}"
        )


@pytest.mark.parametrize(
    ("href", "target"),
    [("c #part", "c%20"), ("/c ?#part", "c%20"), ("c\u00a0#part", "c%C2%A0"), ("c/#part", "c/")],
)
def test_white_space_before_a_fragment_is_part_of_the_path(href: str, target: str) -> None:
    assert resolve("http://example.org/b", href) == f"http://example.org/{target}"


def test_domains_that_do_not_exist_take_no_longer_than_others() -> None:
    with processor_seconds():
        for number in range(3_000):
            host = f"www.a.domain{number}"
            assert site_name(f"http://{host}/") == f"a.domain{number}"
