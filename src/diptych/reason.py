"""Reasons for failures, for rejections and for the end of a crawl, and the kinds of downloads.

A failure is a URL without a page.  Page pairs, segments and sites can be rejected.
"""

from __future__ import annotations

from enum import StrEnum

__all__ = [
    "DownloadKind",
    "Reason",
    "SiteEnd",
    "alias_reason",
    "alias_rules",
    "fault_type",
    "http_status",
]


class Reason(StrEnum):
    """Reason why a URL has no page, or why a pair, segment or site was rejected.

    A reason is stored and exported as its value; `reports.reasons` has the texts for users.  The
    reasons for HTTP errors (`http_404`; see `http_status`), internal errors (`failed:MemoryError`;
    see `fault_type`) and aliases (`alias slash`; see `alias_rules`) are not members.
    """

    # a URL that was not requested
    ROBOTS = "robots"
    NOT_HTML = "not_html"
    OUTSIDE = "outside"
    NOT_ARCHIVED = "not_archived"
    TRAP_CALENDAR = "trap_calendar"
    TRAP_DATES = "trap_dates"
    TRAP_SORT_ORDER = "trap_sort_order"
    TRAP_REPEATING_PATH = "trap_repeating_path"
    TRAP_DEEP_PATH = "trap_deep_path"
    TRAP_PARAMETERS = "trap_parameters"
    # a request without a response
    DNS = "dns"
    CONNECTION_REFUSED = "connection_refused"
    CONNECT = "connect"
    """the connection failed for any other reason"""
    TIMEOUT = "timeout"
    DISCONNECTED = "disconnected"
    BAD_CERTIFICATE = "bad_certificate"
    TLS = "tls"
    """a secure connection failed for any other reason"""
    PROTOCOL = "protocol"
    PRIVATE_ADDRESS = "private_address"
    # a response without a page
    BAD_REDIRECT = "bad_redirect"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    CONTENT_TYPE = "content_type"
    TOO_LARGE = "too_large"
    CUT_OFF = "cut_off"
    EMPTY = "empty"
    UNREADABLE = "unreadable"
    # a service for backlinks
    NO_CONNECTION = "no_connection"
    NOT_ASKED = "not_asked"
    NOT_JSON = "not_json"
    WRONG_SHAPE = "wrong_shape"
    # a lead in the search for sites
    MOVED = "moved"
    NOT_TRIED = "not tried"
    LEAD_NOT_FETCHED = "not fetched"
    # a site that is not bilingual
    NOT_FETCHED = "not_fetched"
    ONE_LANGUAGE = "one_language"
    OTHER_LANGUAGES = "other_languages"
    NO_CANDIDATE = "no_candidate"
    TOO_FEW_PAGES = "too_few_pages"
    SINGLE_PAGE = "single_page"
    # a page without a pair
    OTHER_LANGUAGE = "other_language"
    NO_LANGUAGE = "no_language"
    NO_PARTNER = "no_partner"
    # a pair of pages
    COPY = "copy"
    NOT_PARALLEL = "not_parallel"
    PARTIAL = "partial"
    """a page, or a side of a segment with a low score, says more than the other"""
    SAME_LANGUAGE = "same_language"
    TOO_LITTLE_TEXT = "too_little_text"
    UNKNOWN_LANGUAGE = "unknown_language"
    # a segment; some also apply to pairs
    COPIED = "copied"
    DUPLICATE = "duplicate"
    IDENTICAL = "identical"
    LANGUAGE_NAMES = "language_names"
    LENGTH_RATIO = "length_ratio"
    LOW_SCORE = "low_score"
    """the item would be accepted with a lower threshold"""
    MOJIBAKE = "mojibake"
    MOSTLY_DIGITS = "mostly_digits"
    MOSTLY_MARKUP = "mostly_markup"
    NO_LETTERS = "no_letters"
    TEMPLATE = "template"
    """the item differs from many others of the site only in a word, names, numbers or addresses"""
    TOO_LONG = "too_long"
    UNALIGNED = "unaligned"
    WRONG_LANGUAGE = "wrong_language"
    # a text that cannot be rebuilt from archives
    NO_ARCHIVE = "no_archive"
    NO_RECORD = "no_record"
    OTHER_CONTENT = "other_content"
    NO_TEXT = "no_text"


class DownloadKind(StrEnum):
    """The kind of a successful download; any other download has a `Reason` instead."""

    PAGE = "page"
    DUPLICATE = "duplicate"
    """a page with the same text as another"""
    FETCHED_AGAIN = "fetched_again"
    NOT_MODIFIED = "not_modified"
    """a page or sitemap that has not changed since it was fetched, as the server says"""
    REDIRECT = "redirect"
    REFRESH = "refresh"
    """a page without text that only redirects to another"""
    ROBOTS_TXT = "robots.txt"
    SITEMAP = "sitemap"
    MISSING_SITEMAP = "missing_sitemap"
    """a missing sitemap that robots.txt announced or that was tried at the usual path"""
    OTHER = "other"


class SiteEnd(StrEnum):
    """Reason why the crawl of a site ended; stored as its value (texts: `reports.reasons`)."""

    PAGE_LIMIT = "page_limit"
    BYTE_LIMIT = "byte_limit"
    TIME_LIMIT = "time_limit"
    ENOUGH = "enough_pairs"
    """the requested share of the site's pairs has probably been found"""
    UNLIKELY = "more_pairs_unlikely"
    """another pair would probably take more downloads than the user allows"""
    NO_PAIRS = "no_pairs"
    """no pair was found, and none is expected"""
    HOSTS_STOPPED = "hosts_stopped"
    INTERRUPTED = "interrupted"
    """the user stopped the crawl"""
    NOTHING_LEFT = "nothing_left"

    @property
    def is_limit(self) -> bool:
        """True if a limit set by the user was reached."""
        return self in (SiteEnd.PAGE_LIMIT, SiteEnd.BYTE_LIMIT, SiteEnd.TIME_LIMIT)

    @property
    def is_decided(self) -> bool:
        """True if the crawl stopped on its own although more URLs were queued."""
        return self.is_limit or self in (SiteEnd.ENOUGH, SiteEnd.UNLIKELY, SiteEnd.NO_PAIRS)


def alias_reason(rules: str) -> str:
    """The reason for an alias of another URL; `rules` are the alias rules, joined by ` + `."""
    return f"alias {rules}"


def alias_rules(reason: str) -> list[str]:
    """The alias rules that a reason names; empty if it is not the reason for an alias.

    >>> alias_rules("alias https + slash"), alias_rules(Reason.TIMEOUT)
    (['https', 'slash'], [])
    """
    rules = reason.removeprefix("alias ")
    return rules.split(" + ") if rules != reason else []


def fault_type(reason: str) -> str:
    """The exception type in the reason for an internal error; empty for any other reason.

    >>> fault_type("failed:MemoryError"), fault_type(Reason.TIMEOUT)
    ('MemoryError', '')
    """
    kind = reason.removeprefix("failed:")
    return kind if kind != reason else ""


def http_status(reason: str) -> int | None:
    """The HTTP status in the reason for an HTTP error; None for any other reason.

    >>> http_status("http_404"), http_status(Reason.TIMEOUT)
    (404, None)
    """
    status = reason.removeprefix("http_")
    return int(status) if status != reason else None
