"""What Spark raises as our errors: one sentence in Spark's own words, never a stack trace."""

from __future__ import annotations

import re

from py4j.protocol import Py4JNetworkError

from core.errors import Corrupt, Invalid, SnapscopeError, Unsupported
from core.formats import undecoded
from core.messages import message
from core.spark.session import cluster
from core.spark.session.session import cluster_name
from core.spark.session.task_errors import error_text, received

TOO_LARGE = message("The query needs more memory than Spark has.")
TOO_LARGE_TOGETHER = message("Spark ran out of memory and exited: this query or a concurrent one needs more.")
TOO_LARGE_NEXT = message("Ask for fewer rows or columns, or give Spark more memory with spark.driver.memory.")
_CHECKSUM = re.compile(r"ChecksumException: Checksum error: (?:file:)?(/.+?) at \d+ exp:")


def refusal(error: BaseException) -> SnapscopeError:
    """Convert any Spark failure to one of our errors, in Spark's own words. Errors of ours pass through."""
    if isinstance(error, SnapscopeError):
        return error
    text, master = str(error), cluster_name()
    if ours := received(text):
        return cluster.unseen(ours, master) if master else ours
    if master and (failed := cluster.failure(text, master)) is not None:
        return failed
    if isinstance(error, Py4JNetworkError | ConnectionError):
        return Invalid("Spark's process exited while the query ran.", remedy="Run it again: Spark is restarted.")
    if "OutOfMemoryError" in text:
        return Invalid(TOO_LARGE, remedy=TOO_LARGE_NEXT)
    if "doesn't contain any field Ids" in text:
        return Unsupported(
            "A data file's columns have no field ids, though those of other files of its commit have. {said}",
            said=error_text(error),
            remedy="Read the table with its own engine.",
        )
    if "[FAILED_READ_FILE" in text:
        path = found[1] if (found := re.search(r"reading file (\S+?)\.? ", text)) else None
        if undecoded.is_lack(error):
            return undecoded.lack(error_text(error), path if master else None)
        unread = _unread(text, path if master else None)
        return cluster.unseen(unread, master) if master else unread
    return Invalid("Spark could not run this query. {said}", said=error_text(error))


def _unread(text: str, path: str | None) -> Corrupt:
    """The error for a data file that Spark could not read, with the innermost cause, which says why."""
    causes = re.findall(r"^Caused by: (.+)$", text, re.MULTILINE)
    if wrong := next((found for each in causes if (found := _CHECKSUM.search(each))), None):
        return Corrupt(
            "A data file does not match the checksums in {crc}, which Hadoop wrote beside it.",
            crc=_crc(wrong[1]),
            path=wrong[1],
            remedy="Restore the data file. If it was replaced on purpose, delete the checksum file.",
        )
    text_of_error = error_text(RuntimeError(text))
    why = error_text(RuntimeError(re.sub(r"^[\w.$]+: ", "", causes[-1]))) if causes else ""
    if not why or why in text_of_error:
        return Corrupt("Spark could not read a data file. {said}", said=text_of_error, path=path)
    return Corrupt("Spark could not read a data file. {said} {why}", said=text_of_error, why=why, path=path)


def _crc(path: str) -> str:
    directory, _, name = path.rpartition("/")
    return f"{directory}/.{name}.crc"
