"""Servers whose connections, heads, lengths and chunks misbehave."""

from __future__ import annotations

from support.misbehaviour.row import HASTY, HTML, OK, Misbehaviour, raw
from support.serving import Fault, Reply
from support.zoo import LARGE, page

_TEXT = page("Told")
_WHOLE = Reply(_TEXT).raw()
_CHUNKED = Reply("<p>A lamp.", type="text/html", framing="chunked").raw()
_SIZED = Reply("<p>A lamp.", type="text/html").raw()


def _dropped(name: str, does: str, whole: bytes) -> Misbehaviour:
    """A site with an answer that breaks off at each of its bytes, and a page after each."""
    answers: dict[str, Fault | Reply] = {}
    becomes: dict[str, str] = {}
    for place in range(len(whole)):
        answers |= {f"/cut/{place}": Fault(whole[:place]), f"/whole/{place}": Reply(_TEXT)}
        becomes |= {f"/cut/{place}": "disconnected", f"/whole/{place}": "page"}
    return Misbehaviour(name, does, answers, becomes, requests=6 * len(whole))


SLOW = (
    Misbehaviour(
        "No answer", "takes the request and says nothing",
        {"/bad": Fault(then="stall")}, {"/bad": "timeout"}, crawled=HASTY,
    ),
    Misbehaviour(
        "Slow head", "sends a byte of a header every 0.1 s, for ever",
        {"/bad": Fault(b"HTTP/1.1 200 OK\r\nX-Slow: ", then="drip")}, {"/bad": "timeout"},
        crawled=HASTY,
    ),
    Misbehaviour(
        "Half a head", "stops in the middle of the head",
        {"/bad": Fault(_WHOLE[:40], then="stall")}, {"/bad": "timeout"}, crawled=HASTY,
    ),
    Misbehaviour(
        "Half a body", "stops in the middle of the body",
        {"/bad": Fault(_WHOLE[:-40], then="stall")}, {"/bad": "timeout"}, crawled=HASTY,
    ),
    Misbehaviour(
        "Slow body", "sends a byte of the body every 0.1 s, for ever",
        {"/bad": raw(OK, HTML, then="drip")}, {"/bad": "timeout"}, crawled=HASTY,
    ),
    Misbehaviour(
        "Interim responses", "sends `100 Continue` for ever, and no answer",
        {"/bad": Fault(then="drip", piece=b"HTTP/1.1 100 Continue\r\n\r\n" * 200)},
        {"/bad": "timeout"}, crawled=HASTY,
    ),
    Misbehaviour(
        "Slow robots.txt", "never ends its robots.txt",
        {"/robots.txt": raw(OK, "Content-Type: text/plain", then="drip")},
        {"/robots.txt": "timeout", "/": "queued"}, stopped="timed out", crawled=HASTY,
    ),
    Misbehaviour(
        "Late answer", "answers after 0.3 s", {"/bad": Reply(_TEXT, wait=0.3)}, {"/bad": "page"},
    ),
)  # fmt: skip

ENDLESS = (
    Misbehaviour(
        "Endless body", "sends a body without length and without end",
        {"/bad": raw(OK, HTML, "Connection: close", then="flood")}, {"/bad": "too_large"},
    ),
    Misbehaviour(
        "Endless chunks", "sends chunks without end",
        {"/bad": raw(OK, HTML, "Transfer-Encoding: chunked", then="flood",
                     piece=b"10000\r\n" + bytes(65_536) + b"\r\n")},
        {"/bad": "too_large"},
    ),
    Misbehaviour(
        "Tiny chunks", "sends a body in chunks of one byte, without end",
        {"/bad": raw(OK, HTML, "Transfer-Encoding: chunked", then="flood",
                     piece=b"1\r\nx\r\n" * 10_000)},
        {"/bad": "protocol"},
    ),
    Misbehaviour(
        "Endless chunk extension", "sends the first line of a chunk, and never ends it",
        {"/bad": raw(OK, HTML, "Transfer-Encoding: chunked", body=b"5;", then="flood",
                     piece=b"x" * 65_536)},
        {"/bad": "protocol"},
    ),
    Misbehaviour(
        "Endless trailers", "sends header lines after the last chunk, without end",
        {"/bad": raw(OK, HTML, "Transfer-Encoding: chunked", body=b"1\r\nx\r\n0\r\n", then="flood",
                     piece=b"X-More: 1\r\n" * 1000)},
        {"/bad": "protocol"},
    ),
    Misbehaviour(
        "Flood of interim responses", "sends `100 Continue` without end, as fast as it can",
        {"/bad": Fault(then="flood", piece=b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)},
        {"/bad": "protocol"},
    ),
    Misbehaviour(
        "Header flood", "sends header lines without end",
        {"/bad": Fault(f"{OK}\r\n".encode(), "flood", b"X-More: 1\r\n" * 1000)},
        {"/bad": "protocol"},
    ),
    Misbehaviour(
        "Huge header", "sends a header of 200 kB",
        {"/bad": raw(OK, HTML, "X-Long: " + "x" * 200_000, "Content-Length: 0")},
        {"/bad": "protocol"},
    ),
    Misbehaviour(
        "Many headers", "sends 1,000 headers",
        {"/bad": raw(OK, HTML, *["X-Header: 1"] * 1000, "Content-Length: 0")},
        {"/bad": "protocol"},
    ),
    Misbehaviour(
        "60 kB of headers", "sends 100 headers of 600 bytes",
        {"/bad": raw(OK, HTML, *[f"X-Header-{n:03}: {'x' * 585}" for n in range(100)],
                     f"Content-Length: {len(_TEXT.encode())}", body=_TEXT)},
        {"/bad": "page"},
    ),
    Misbehaviour(
        "Announced large body", "announces 50 MB and sends them",
        {"/bad": raw(OK, HTML, f"Content-Length: {LARGE}", then="flood")}, {"/bad": "too_large"},
    ),
)  # fmt: skip

LENGTHS = (
    Misbehaviour(
        "Length too long", "announces more bytes than it sends",
        {"/bad": raw(OK, HTML, "Content-Length: 9000", body=_TEXT)}, {"/bad": "disconnected"},
    ),
    Misbehaviour(
        "Length too short", "sends more bytes than it announces",
        {"/bad": raw(OK, HTML, f"Content-Length: {len(_TEXT.encode())}", body=_TEXT + "x" * 50)},
        {"/bad": "protocol"},
    ),
    Misbehaviour(
        "Two lengths", "announces two lengths",
        {"/bad": raw(OK, HTML, "Content-Length: 5", "Content-Length: 500", body=_TEXT)},
        {"/bad": "protocol"},
    ),
    Misbehaviour(
        "Negative length", "announces a length of -1",
        {"/bad": raw(OK, HTML, "Content-Length: -1", body=_TEXT)}, {"/bad": "protocol"},
    ),
    Misbehaviour(
        "Absurd length", "announces a length of 30 digits",
        {"/bad": raw(OK, HTML, f"Content-Length: {'9' * 30}", body=_TEXT)}, {"/bad": "protocol"},
    ),
    Misbehaviour(
        "Length and chunks", "announces a length and sends chunks",
        {"/bad": raw(OK, HTML, "Content-Length: 5", "Transfer-Encoding: chunked",
                     body=b"5\r\nhello\r\n0\r\n\r\n")},
        {"/bad": "protocol"},
    ),
    Misbehaviour(
        "Chunks that are none", "announces chunks and sends the plain body",
        {"/bad": raw(OK, HTML, "Transfer-Encoding: chunked", body=_TEXT)}, {"/bad": "protocol"},
    ),
    Misbehaviour(
        "Negative chunk", "sends a chunk of -5 bytes",
        {"/bad": raw(OK, HTML, "Transfer-Encoding: chunked", body=b"-5\r\nhello\r\n0\r\n\r\n")},
        {"/bad": "protocol"},
    ),
    Misbehaviour(
        "Huge chunk", "announces a chunk of 2^64 bytes",
        {"/bad": raw(OK, HTML, "Transfer-Encoding: chunked",
                     body=b"10000000000000000\r\nhello\r\n0\r\n\r\n")},
        {"/bad": "protocol"},
    ),
)  # fmt: skip

PROTOCOLS = (
    Misbehaviour(
        "HTTP/0.9", "sends the page without status line and headers",
        {"/bad": Fault(_TEXT.encode())}, {"/bad": "protocol"},
    ),
    Misbehaviour(
        "Garbage", "sends random bytes",
        {"/bad": Fault(bytes(range(255, 0, -1)) * 4)}, {"/bad": "protocol"},
    ),
    Misbehaviour(
        "Another protocol", "greets like an SSH server",
        {"/bad": Fault(b"SSH-2.0-OpenSSH_9.6\r\n")}, {"/bad": "protocol"},
    ),
    Misbehaviour(
        "HTTP/2", "answers with frames of HTTP/2",
        {"/bad": Fault(b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" + bytes(18))}, {"/bad": "protocol"},
    ),
    Misbehaviour(
        "Status in words", "sends `HTTP/1.1 OK`",
        {"/bad": raw("HTTP/1.1 OK", HTML, body=_TEXT)}, {"/bad": "protocol"},
    ),
    Misbehaviour(
        "Endless status line", "never ends the status line",
        {"/bad": Fault(b"HTTP/1.1 200 ", "flood", b"x" * 65_536)}, {"/bad": "protocol"},
    ),
    Misbehaviour(
        "Unknown status", "answers with the status 999",
        {"/bad": raw("HTTP/1.1 999 Request denied", HTML, "Content-Length: 0")},
        {"/bad": "http_999"},
    ),
    Misbehaviour(
        "Not modified", "answers 304 although nothing was asked conditionally",
        {"/bad": raw("HTTP/1.1 304 Not Modified", "ETag: \"a\"")}, {"/bad": "http_304"},
    ),
    Misbehaviour(
        "Part of a page", "answers 206 with a part that was not asked for",
        {"/bad": raw("HTTP/1.1 206 Partial Content", HTML, "Content-Range: bytes 0-9/5000",
                     "Content-Length: 10", body=b"<p>A lamp.")},
        {"/bad": "http_206"},
    ),
    Misbehaviour(
        "Switching protocols", "answers 101 Switching Protocols",
        {"/bad": raw("HTTP/1.1 101 Switching Protocols", "Upgrade: websocket",
                     "Connection: Upgrade")},
        {"/bad": "http_101"},
    ),
    Misbehaviour(
        "NUL in a header", "sends a header with a NUL",
        {"/bad": raw(OK, HTML, "X-Nul: a\0b", "Content-Length: 0")}, {"/bad": "protocol"},
    ),
    Misbehaviour(
        "Bare line feeds", "ends the lines of the head with a line feed only",
        {"/bad": Fault(f"{OK}\n{HTML}\nConnection: close\n\n{_TEXT}".encode())}, {"/bad": "page"},
    ),
    Misbehaviour(
        "Header without a name", "sends a header line without a colon",
        {"/bad": raw(OK, HTML, "no colon here", "Content-Length: 0")}, {"/bad": "protocol"},
    ),
)  # fmt: skip

DROPPED = (
    Misbehaviour(
        "Closed at once", "closes each connection before it answers",
        {"/bad": Fault()}, {"/bad": "disconnected"},
    ),
    Misbehaviour(
        "Reset at once", "resets each connection before it answers",
        {"/bad": Fault(then="reset")}, {"/bad": "disconnected"},
    ),
    _dropped(
        "Dropped at each byte", "closes the connection at each byte of an answer with a length",
        _SIZED,
    ),
    _dropped(
        "Dropped at each byte of chunks", "closes the connection at each byte of a chunked answer",
        _CHUNKED,
    ),
    Misbehaviour(
        "Nobody listens", "refuses connections", {}, {"/robots.txt": "connection_refused"},
        stopped="connection refused", origin="http://{host}:{closed}",
    ),
    Misbehaviour(
        "Unknown host", "has a name that is not known", {}, {"/robots.txt": "dns"},
        stopped="unknown host", addresses={"{host}": ()},
    ),
    Misbehaviour(
        "Untrusted certificate", "shows a certificate that it signed itself", {},
        {"/robots.txt": "bad_certificate"}, stopped="bad certificate",
        origin="https://{host}:{tls}",
    ),
    Misbehaviour(
        "No TLS", "speaks plain HTTP on the port of HTTPS", {}, {"/robots.txt": "tls"},
        stopped="TLS error", origin="https://{host}:{plain}",
    ),
    Misbehaviour(
        "TLS that stalls", "takes the connection and never answers the handshake", {},
        {"/robots.txt": "timeout"}, stopped="timed out", origin="https://{host}:{mute}",
        crawled=HASTY,
    ),
    Misbehaviour(
        "TLS that breaks off", "closes the connection in the handshake", {},
        {"/robots.txt": "connect"}, stopped="connection failed",
        origin="https://{host}:{closing}",
    ),
)  # fmt: skip

ROWS = (*SLOW, *ENDLESS, *LENGTHS, *PROTOCOLS, *DROPPED)
