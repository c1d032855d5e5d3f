"""Families of pages: manuals in several languages, as packages of Debian 12 ship them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FAMILIES", "Family"]

_CODE = r"[a-z]{2,3}(?:[_-][A-Za-z]{2,4})?(?:@[a-z]+)?(?:\.[A-Za-z0-9-]+)?"
"""names of folders and files that may be a language"""


@dataclass(frozen=True)
class Family:
    """A manual in several languages: where its pages are, and which translate each other.

    A pattern is matched with the path of a page below `folder`.  It has the groups `key`, or `key1`
    and `key2`, and `lang` unless its pages are English.  Pages of different languages with the same
    key are a pair.
    """

    name: str
    packages: tuple[str, ...]
    folder: str
    patterns: tuple[str, ...]
    home: tuple[str, ...] = ("index.html",)
    """keys of the start page of a language; the first that exists is taken"""
    langs: frozenset[str] = frozenset()
    """languages that are taken; all if there are none"""
    skip: str = ""
    """pattern of paths that are left out"""
    prefixes: tuple[str, ...] = ()
    """beginnings of links that mean the root of the site"""
    endings: tuple[str, ...] = ()
    """endings that links leave out"""
    by_contents: bool = False
    """pages are paired by their place in the table of contents, not by their names"""
    is_archive: bool = False
    """pages are in `*_help.jar` files"""


def _folders(langs: str = _CODE) -> str:
    """Pattern of paths that begin with the language."""
    return rf"^(?P<lang>{langs})/(?P<key>.*\.html)$"


def _each(prefix: str, langs: str) -> tuple[str, ...]:
    """Packages of a manual that has one for each language."""
    return tuple(prefix + lang for lang in langs.split())


_FAMILIES = (
    Family(
        "amc",
        ("auto-multiple-choice-doc",),
        "usr/share/doc/auto-multiple-choice/html/",
        (r"^(?P<key1>auto-multiple-choice)\.(?P<lang>en|fr|ja)/(?P<key2>.*\.html)$",),
        home=("auto-multiple-choice/index.html",),
    ),
    Family(
        "apache2-manual",
        ("apache2-doc",),
        "usr/share/doc/apache2-doc/manual/",
        (_folders("da|de|en|es|fr|ja|ko|pt-br|ru|tr|zh-cn"),),
    ),
    Family(
        "apt-doc",
        ("apt-doc",),
        "usr/share/doc/apt-doc/",
        (
            rf"^(?P<key1>guide|offline)\.(?P<lang>{_CODE})(?P<key2>\.html/.*\.html)$",
            r"^(?P<key>(?:guide|offline)\.html/.*\.html)$",
        ),
        home=("guide.html/index.html",),
    ),
    Family(
        "aptitude",
        _each("aptitude-doc-", "en cs es fi fr it ja nl ru"),
        "usr/share/doc/aptitude/html/",
        (_folders(),),
        by_contents=True,
    ),
    Family(
        "bibletime",
        ("bibletime-data",),
        "usr/share/doc/bibletime-data/",
        (rf"^(?P<key1>handbook|howto)/html/(?P<lang>{_CODE})/(?P<key2>.*\.html)$",),
        home=("handbook/index.html", "handbook/hdbk-intro.html"),
    ),
    Family(
        "brltty",
        ("brltty",),
        "usr/share/doc/brltty/",
        (_folders("English|French|German|Spanish|Polish"),),
        home=("BRLTTY.html", "BRLTTY-1.html"),
    ),
    Family(
        "debian-faq",
        ("debian-faq", *_each("debian-faq-", "de fr it ja ko nl pt ru zh-cn")),
        "usr/share/doc/debian/FAQ/",
        (rf"^(?:[a-z-]+/)?(?P<key1>[^/]+)\.(?P<lang>{_CODE})(?P<key2>\.html)$",),
    ),
    Family(
        "debian-history",
        ("debian-history",),
        "usr/share/doc/debian-history/docs/",
        (rf"^(?P<key1>.*)\.(?P<lang>{_CODE})(?P<key2>\.html)$",),
    ),
    Family(
        "debian-install-guide",
        ("installation-guide-amd64",),
        "usr/share/doc/installation-guide-amd64/",
        (_folders(),),
    ),
    Family(
        "developers-reference",
        ("developers-reference", *_each("developers-reference-", "de fr it ja ru")),
        "usr/share/developers-reference/",
        (_folders("de|fr|it|ja|ru"), r"^(?P<key>[^/]+\.html)$"),
        skip=r"genindex|search\.html|_static",
    ),
    Family("dia", ("dia-common",), "usr/share/doc/dia/html/", (_folders("de|en|fr"),)),
    Family(
        "eviacam",
        ("eviacam",),
        "usr/share/eviacam/help/",
        (r"^(?P<lang>ca|de|en|es|gl|ru|[a-z]{2})/(?P<key>.*\.html?)$",),
        home=("index.htm", "index.html", "calibration.htm"),
    ),
    Family(
        "eyes17",
        ("eyes17",),
        "usr/share/eyes17/helpFiles/",
        (_folders(),),
        langs=frozenset({"en", "fr", "ml"}),
    ),
    Family(
        "freedombox",
        ("freedombox-doc-en", "freedombox-doc-es"),
        "usr/share/freedombox/manual/",
        (_folders("en|es"),),
        home=("freedombox-manual.part.html", "freedombox-manual.html"),
        prefixes=("/plinth/help/manual/",),
        endings=(".part.html",),
    ),
    Family(
        "genius",
        ("genius-common",),
        "usr/share/genius/help/",
        (rf"^(?P<lang>C|{_CODE})/html/(?P<key>.*\.html)$",),
    ),
    Family(
        "gfxboot",
        ("gfxboot-themes",),
        "usr/share/gfxboot/themes/openSUSE/",
        (rf"^help-(?P<key1>boot|install)/(?P<lang>{_CODE})/(?P<key2>.*\.html)$",),
        home=("install/main.html", "boot/main.html"),
    ),
    Family(
        "gimp-help",
        _each(
            "gimp-help-",
            "en ca cs da de el es fa fi fr hr hu it ja ko lt nl nn pt pt-br ro ru sl sv zh-cn",
        ),
        "usr/share/gimp/2.0/help/",
        (_folders(),),
    ),
    Family(
        "glpeces",
        ("glpeces-data",),
        "usr/share/games/glpeces/help/",
        (r"^(?P<lang>ca|en|es|fr|gl|it|pt)/(?P<key>.*\.html?)$",),
    ),
    Family(
        "gnucash",
        ("gnucash-docs",),
        "usr/share/doc/gnucash-docs/",
        (r"^(?P<key1>gnucash-(?:guide|help))-(?P<lang>[a-z]{2})/(?P<key2>.*\.html)$",),
        home=("gnucash-guide/index.html",),
    ),
    Family(
        "kicad",
        _each("kicad-doc-", "en ca de es fr id it ja pl ru zh"),
        "usr/share/doc/kicad/help/",
        (_folders(),),
        home=("getting_started_in_kicad.html",),
    ),
    Family(
        "liferea",
        ("liferea-data",),
        "usr/share/liferea/doc/html/",
        (r"^(?P<key1>.*)_(?P<lang>de|en|it)(?P<key2>\.html)$",),
        home=("index.html", "topics.html", "about.html"),
    ),
    Family(
        "lilypond",
        ("lilypond-doc-html", *_each("lilypond-doc-html-", "ca cs de es fr hu it ja nl pt zh")),
        "usr/share/doc/lilypond/html/",
        (
            r"^(?P<key1>.*?)\.(?P<lang>ca|cs|de|es|fr|hu|it|ja|nl|pt|zh)(?P<key2>\.html)$",
            r"^(?P<key>.*?\.html)$",
        ),
        home=("Documentation/web/index.html", "Documentation/index.html", "index.html"),
        skip=r"big-page|/ly-examples/|css/",
    ),
    Family(
        "linux-doc",
        ("linux-doc-6.1",),
        "usr/share/doc/linux-doc-6.1/html/",
        (
            r"^translations/(?P<lang>zh_CN|zh_TW|it_IT|ja_JP|ko_KR|sp_SP)/(?P<key>.*\.html)$",
            r"^(?!translations/)(?P<key>.*\.html)$",
        ),
        skip=r"_static/|genindex|^search\.html$|^translations/index\.html$",
    ),
    Family(
        "live-manual",
        ("live-manual-html",),
        "usr/share/doc/live-manual/html/",
        (
            rf"^(?P<key1>live-manual/.*)\.(?P<lang>{_CODE})(?P<key2>\.html)$",
            rf"^(?P<key1>live-manual)\.(?P<lang>{_CODE})(?P<key2>\.html)$",
        ),
        home=("live-manual/toc.html", "live-manual/the-basics.html", "live-manual.html"),
    ),
    Family(
        "maint-guide",
        ("maint-guide", *_each("maint-guide-", "ca de es fr it ja ru vi zh-cn zh-tw")),
        "usr/share/doc/",
        (rf"^maint-guide(?:-[a-z-]+)?/html/(?P<key1>[^/]+)\.(?P<lang>{_CODE})(?P<key2>\.html)$",),
    ),
    Family("mplayer", ("mplayer-doc",), "usr/share/doc/mplayer/HTML/", (_folders(),)),
    Family("nagvis", ("nagvis",), "usr/share/nagvis/docs/", (_folders("de_DE|en_US"),)),
    Family("nted", ("nted-doc",), "usr/share/doc/nted/", (_folders(),)),
    Family(
        "scilab",
        ("scilab-doc", *_each("scilab-doc-", "fr ja pt-br")),
        "usr/share/scilab/modules/helptools/jar/",
        (r"^scilab_(?P<lang>en_US|fr_FR|ja_JP|pt_BR)_help/(?P<key>.*\.html)$",),
        home=("index.html", "ScilabHelp.html"),
        is_archive=True,
    ),
    Family(
        "scribus",
        ("scribus-doc",),
        "usr/share/scribus/doc/",
        (r"^(?P<lang>en|de|it|ru|fr)/(?P<key>.*\.html?)$",),
        home=("index.html", "about1.html", "scribus-short-words.html", "WwwScribus.html"),
    ),
    Family("sgt-puzzles", ("sgt-puzzles",), "usr/share/sgt-puzzles/help/", (_folders("de|en"),)),
    Family("solfege", ("solfege-doc",), "usr/share/doc/solfege/help/", (_folders(f"C|{_CODE}"),)),
    Family(
        "step-objinfo",
        ("step",),
        "usr/share/step/objinfo/",
        (rf"^l10n/(?P<lang>{_CODE})/(?P<key>.*\.html)$", r"^(?P<key>[^/]+\.html)$"),
        home=("world.html", "particle.html"),
    ),
    Family(
        "svn-buildpackage",
        ("svn-buildpackage",),
        "usr/share/doc/svn-buildpackage/html/",
        (_folders("de|fr|pt"), r"^(?P<key>[^/]+\.html)$"),
    ),
    Family(
        "transcriber", ("transcriber",), "usr/share/doc/transcriber/html/", (_folders("de|en|fr"),)
    ),
    Family(
        "tupi",
        ("tupi-data",),
        "usr/share/tupi/data/help/",
        (_folders(),),
        home=("tupi_short_description.html", "index.html"),
    ),
    Family("webissues", ("webissues",), "usr/share/doc/webissues/doc/", (_folders("en|pl"),)),
    Family(
        "xfig",
        ("xfig-doc",),
        "usr/share/doc/xfig/html/",
        (_folders("japanese"), r"^(?P<key>[^/]+\.html)$"),
    ),
)
FAMILIES = {family.name: family for family in _FAMILIES}
