"""The errors that Diptych raises on purpose.

    DiptychError            an error that the user can correct; the command line exits with code 2,
    |                       or with code 3 if the machine is at fault (`is_of_machine`)
    +-- ConfigError         an invalid language, URL, strategy, parameter or option
    +-- StoreError          a run folder that cannot be opened, read or written
    +-- ArchiveError        a WARC file that cannot be read
    +-- SourceError         a source of links or of candidates that cannot be read
    +-- CorpusError         a corpus file that cannot be read
    +-- MachineError        a full or unreadable disk, missing permission, too many open files
    +-- StoppedError        the user stopped a run, which can be continued

Failed requests are not errors: they are values (`types.Failure`) that are counted and shown.

The same message is read by people who use the command line and by people who use Python.  A message
names an option with `option_name("max_pages")`, which is shown as `--max-pages` or as `max_pages`.
"""

from __future__ import annotations

import errno
import re
import sys

__all__ = [
    "ArchiveError",
    "ConfigError",
    "CorpusError",
    "DiptychError",
    "MachineError",
    "SourceError",
    "StoppedError",
    "StoreError",
    "for_command_line",
    "for_python",
    "in_one_line",
    "is_of_machine",
    "is_system_fault",
    "machine_advice",
    "message_of",
    "option_name",
    "without_password",
]

# Control characters, which terminals obey, and characters that change the direction of text.
# Marks of direction that texts in Arabic or Hebrew have, and joiners, stay.
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_TURNING = re.compile(r"[\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_USER = re.compile(r"(?<=://)[^\s/]*@")  # a password may contain any other character


# Around the name of an option; text from outside cannot have them, see `in_one_line`.
_BEFORE, _BEHIND = "\x0e", "\x0f"
_OPTION = re.compile(f"{_BEFORE}([a-z_]+){_BEHIND}")


class DiptychError(Exception):
    """Base class of all errors; the message states the problem, what is allowed and what to do."""

    def __init__(self, message: str = "") -> None:
        super().__init__(for_python(message))
        self._message = message

    def for_command_line(self) -> str:
        """The message for users of the command line."""
        return for_command_line(self._message)

    def with_context(self, context: str) -> str:
        """The message, preceded by `context`, for use in the message of another error."""
        return f"{context}: {self._message}"


def message_of(error: DiptychError) -> str:
    """The message of an error with placeholders for the names of options, to be kept for later."""
    return error._message


def option_name(name: str) -> str:
    """The placeholder for the name of an option in an error message.

    >>> message = f"raise {option_name('max_pages')} to continue"
    >>> for_command_line(message), for_python(message)
    ('raise --max-pages to continue', 'raise max_pages to continue')
    """
    return f"{_BEFORE}{name}{_BEHIND}"


def for_command_line(message: str) -> str:
    """Replace the option placeholders in a message with names such as `--max-pages`."""
    return _OPTION.sub(lambda found: "--" + found[1].replace("_", "-"), message)


def for_python(message: str) -> str:
    """Replace the option placeholders in a message with names such as `max_pages`."""
    return _OPTION.sub(lambda found: found[1], message)


class ConfigError(DiptychError):
    """Raised for an invalid language, URL, strategy, parameter or option."""


class StoreError(DiptychError):
    """Raised if a run folder is missing, in use, unwritable, or of an incompatible version."""


class ArchiveError(DiptychError):
    """Raised if an archive is missing, damaged, truncated or not a WARC file."""


class SourceError(DiptychError):
    """Raised for a web graph, WAT file, link table or index that cannot be read."""


class CorpusError(DiptychError):
    """Raised for a corpus file that is damaged or truncated."""


class MachineError(DiptychError):
    """Raised if the machine fails: a full disk, no permission, too many open files, no memory."""


class StoppedError(DiptychError):
    """Raised when the user stops a run; nothing saved is lost, and the run can be continued."""


_AGAIN = ", then run the same command again"
_SPACE = f"free some disk space{_AGAIN}"
_DISK = f"check the disk and the log of the system{_AGAIN}"
_PERMISSION = "check who may read and write there, or choose another place"
_MEMORY = f"free some memory{_AGAIN}"
_FILES = f"raise the limit of open files (ulimit -n){_AGAIN}"
_BY_NUMBER = {
    errno.ENOSPC: _SPACE, errno.EDQUOT: _SPACE,
    errno.EFBIG: f"raise the limit of file sizes (ulimit -f), or use another disk{_AGAIN}",
    errno.EIO: _DISK, errno.ENXIO: _DISK, errno.ENODEV: _DISK, errno.ESTALE: _DISK,
    errno.EACCES: _PERMISSION, errno.EPERM: _PERMISSION, errno.EROFS: _PERMISSION,
    errno.EMFILE: _FILES, errno.ENFILE: _FILES,
    errno.ENOMEM: _MEMORY, errno.ENOBUFS: _MEMORY,
}  # fmt: skip
_BY_NAME = {
    "SQLITE_FULL": _SPACE, "SQLITE_IOERR": _DISK, "SQLITE_NOMEM": _MEMORY,
    "SQLITE_READONLY": _PERMISSION, "SQLITE_PERM": _PERMISSION,
    "SQLITE_CANTOPEN": f"check that you may write to its folder, and ulimit -n{_AGAIN}",
    "SQLITE_BUSY": f"wait until no other process uses it{_AGAIN}",
    "SQLITE_PROTOCOL": f"wait until no other process uses it{_AGAIN}",
}  # fmt: skip
"""advice by the name of the primary error; the names of others begin with it"""


def machine_advice(fault: BaseException | None) -> str | None:
    """Advice for an error of the system or of SQLite; None if the machine is not at fault.

    >>> machine_advice(OSError(errno.ENOSPC, "No space left on device"))
    'free some disk space, then run the same command again'
    >>> machine_advice(FileNotFoundError(errno.ENOENT, "No such file or directory"))
    """
    if isinstance(fault, OSError):
        return _BY_NUMBER.get(fault.errno or 0)
    name = "_".join(getattr(fault, "sqlite_errorname", "").split("_")[:2])
    return _BY_NAME.get(name)


def is_system_fault(error: BaseException | None) -> bool:
    """True for a fault of the machine, of memory or of a database.

    >>> is_system_fault(OSError(errno.EIO, "Input/output error")), is_system_fault(ValueError())
    (True, False)
    >>> is_system_fault(OSError(errno.ENAMETOOLONG, "File name too long"))
    False
    """
    if isinstance(error, OSError):
        return machine_advice(error) is not None
    sqlite = sys.modules.get("sqlite3")  # if it is not loaded, it has raised nothing
    is_of_database = sqlite is not None and (
        isinstance(error, sqlite.OperationalError) or type(error) is sqlite.DatabaseError
    )
    return isinstance(error, MemoryError) or is_of_database


def is_of_machine(error: DiptychError) -> bool:
    """True if an error is a fault of the machine, such as a full disk or a damaged run.

    >>> is_of_machine(MachineError()), is_of_machine(ConfigError())
    (True, False)
    """
    cause = error.__cause__
    if isinstance(error, MachineError) or machine_advice(cause) is not None:
        return True
    if isinstance(cause, DiptychError):
        return is_of_machine(cause)
    return isinstance(error, StoreError) and is_system_fault(cause)


def in_one_line(text: object) -> str:
    r"""Make external text safe to quote in a message: one line without control characters.

    >>> in_one_line("a\r\n b \x1b[2Jc\u202ed")
    'a b [2Jcd'
    """
    return " ".join(_TURNING.sub("", _CONTROLS.sub(" ", str(text))).split())


def without_password(text: str) -> str:
    """Hide the user names and passwords of the URLs in a text.

    >>> without_password("407, url='http://me:secret@proxy.example:8080'")
    "407, url='http://***@proxy.example:8080'"
    >>> without_password("https://example.org/@me")
    'https://example.org/@me'
    """
    return _USER.sub("***@", text)
