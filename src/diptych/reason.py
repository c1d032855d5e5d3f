"""Reasons why a URL has no page, why a pair, segment or site was rejected, why a crawl ended."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Reason", "SiteEnd", "alias_reason", "alias_rules", "fault_type", "http_status"]


class Reason(StrEnum):
    """Reason why a URL has no page, or why a pair, segment or site was rejected.

    It is stored and exported as its value; `reports.reasons` has words for people.  The reason of
    an HTTP error is no member (`http_404`, see `http_status`), nor is that of a fault of ours
    (`failed:MemoryError`, see `fault_type`), nor that of an alias (`alias slash`, see
    `alias_rules`).
    """

    # a URL that was not asked for
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
    # a request without an answer
    DNS = "dns"
    CONNECTION_REFUSED = "connection_refused"
    CONNECT = "connect"
    """no connection for any other reason"""
    TIMEOUT = "timeout"
    DISCONNECTED = "disconnected"
    BAD_CERTIFICATE = "bad_certificate"
    TLS = "tls"
    """a secure connection failed for any other reason"""
    PROTOCOL = "protocol"
    PRIVATE_ADDRESS = "private_address"
    # an answer without a page
    BAD_REDIRECT = "bad_redirect"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    CONTENT_TYPE = "content_type"
    TOO_LARGE = "too_large"
    CUT_OFF = "cut_off"
    EMPTY = "empty"
    UNREADABLE = "unreadable"
    # a service of back links
    NO_CONNECTION = "no_connection"
    NOT_ASKED = "not_asked"
    NOT_JSON = "not_json"
    WRONG_SHAPE = "wrong_shape"
    # a lead of a search for sites
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
    SAME_LANGUAGE = "same_language"
    TOO_LITTLE_TEXT = "too_little_text"
    UNKNOWN_LANGUAGE = "unknown_language"
    # a segment; some are reasons of pairs, too
    DUPLICATE = "duplicate"
    IDENTICAL = "identical"
    LENGTH_RATIO = "length_ratio"
    LOW_SCORE = "low_score"
    """another threshold would reverse the decision"""
    MOJIBAKE = "mojibake"
    MOSTLY_DIGITS = "mostly_digits"
    MOSTLY_MARKUP = "mostly_markup"
    NO_LETTERS = "no_letters"
    TOO_LONG = "too_long"
    UNALIGNED = "unaligned"
    WRONG_LANGUAGE = "wrong_language"
    # a text that cannot be rebuilt from archives
    NO_ARCHIVE = "no_archive"
    NO_RECORD = "no_record"
    OTHER_CONTENT = "other_content"
    NO_TEXT = "no_text"


class SiteEnd(StrEnum):
    """Reason why the crawl of a site ended; stored as its value, in words by `reports.reasons`."""

    PAGE_LIMIT = "page_limit"
    BYTE_LIMIT = "byte_limit"
    TIME_LIMIT = "time_limit"
    ENOUGH = "enough_pairs"
    """the share of its pairs that was asked for is probably found"""
    UNLIKELY = "more_pairs_unlikely"
    """one more pair would cost more downloads than the user would pay"""
    NO_PAIRS = "no_pairs"
    """none was found, and what is known of the site promises none"""
    HOSTS_STOPPED = "hosts_stopped"
    INTERRUPTED = "interrupted"
    """the user has stopped it"""
    NOTHING_LEFT = "nothing_left"

    @property
    def is_limit(self) -> bool:
        """True if a limit of the user was reached."""
        return self in (SiteEnd.PAGE_LIMIT, SiteEnd.BYTE_LIMIT, SiteEnd.TIME_LIMIT)

    @property
    def is_decided(self) -> bool:
        """True if the crawl itself has left off, though there was more to fetch."""
        return self.is_limit or self in (SiteEnd.ENOUGH, SiteEnd.UNLIKELY, SiteEnd.NO_PAIRS)


def alias_reason(rules: str) -> str:
    """The reason of a URL that is the same page as another, by rules with ` + ` between them."""
    return f"alias {rules}"


def alias_rules(reason: str) -> list[str]:
    """The rules by which a URL is the same page as another; none for all other reasons.

    >>> alias_rules("alias https + slash"), alias_rules(Reason.TIMEOUT)
    (['https', 'slash'], [])
    """
    rules = reason.removeprefix("alias ")
    return rules.split(" + ") if rules != reason else []


def fault_type(reason: str) -> str:
    """The type of the fault by which something could not be processed; else nothing.

    >>> fault_type("failed:MemoryError"), fault_type(Reason.TIMEOUT)
    ('MemoryError', '')
    """
    kind = reason.removeprefix("failed:")
    return kind if kind != reason else ""


def http_status(reason: str) -> int | None:
    """The HTTP status of an error that is a reason; None for all other reasons.

    >>> http_status("http_404"), http_status(Reason.TIMEOUT)
    (404, None)
    """
    status = reason.removeprefix("http_")
    return int(status) if status != reason else None
