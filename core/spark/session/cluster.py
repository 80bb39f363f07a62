"""Spark on other machines: which cluster is named, what its workers are sent, and what their failures mean.

Invariant: workers need a Python with our third-party packages; our own code and the credentials of stores reach them
without being installed. A failure of theirs becomes one sentence and what to do, never a stack trace.
"""

from __future__ import annotations

import os
import re
import stat
import zipfile
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import Any

import core
from core import urls
from core.errors import Invalid, SnapscopeError, Unsupported
from core.messages import message
from core.spark_settings import MASTER

PYTHON = "spark.pyspark.python"
_SENT = (  # variables by which stores' clients find credentials, and our own time limit
    *(f"AWS_{name}" for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN", "REGION", "DEFAULT_REGION")),
    *(f"AWS_{name}" for name in ("ENDPOINT_URL", "ENDPOINT_URL_S3")),
    *(f"AZURE_STORAGE_{name}" for name in ("ACCOUNT_NAME", "ACCOUNT_KEY", "SAS_TOKEN", "CONNECTION_STRING")),
    *("OSS_ACCESS_KEY_ID", "OSS_ACCESS_KEY_SECRET", "OSS_SESSION_TOKEN", "OSS_ENDPOINT", "SNAPSCOPE_READ_TIMEOUT"),
)
_SET = """
import os

for name in {replaced!r}:
    os.environ.pop(name, None)
os.environ |= {variables!r}
"""
_AGAIN = message("Check that the cluster is running and has free workers, then run it again.")
ASK_SERVER = message("Check the server's address, its token and that it is running, then run it again.")
_LOGS = message("Run it again. If that fails too, look at the workers' logs, or give them more spark.executor.memory.")


def sent() -> dict[str, str]:
    """The variables by which stores' clients find their credentials, as they are here."""
    return {name: os.environ[name] for name in _SENT if os.environ.get(name)}


def sent_variables() -> dict[str, str]:
    """The properties that give them to executors."""
    return {f"spark.executorEnv.{name}": value for name, value in sent().items()}


def send_code(context: Any, folder: Path) -> None:
    """Send our code to the workers of a Spark context, as a zip file in this directory."""
    context.addPyFile(str(zipped(folder, {})))


def zipped(folder: Path, variables: Mapping[str, str]) -> Path:
    """Our code as a zip file in this directory; what imports it gets these variables, in the place of its own."""
    root = Path(core.__file__).parent
    path = folder / "snapscope.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for file in sorted(root.rglob("*.py")):
            content = file.read_bytes()
            if variables and file == root / "__init__.py":
                groups = {name.partition("_")[0] for name in variables}
                replaced = [
                    name for name in _SENT if name.partition("_")[0] in groups
                ]  # those of one store go together
                content += _SET.format(replaced=replaced, variables=dict(variables)).encode()
            entry = zipfile.ZipInfo(file.relative_to(root.parent).as_posix())
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            made.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return path


# failures -----------------------------------------------------------------------------------------------------------


def failure(text: str, master: str) -> SnapscopeError | None:
    """What a failure on a cluster means; None if it is not the cluster's."""
    if module := re.search(r"No module named '([\w.]+)'|\[PACKAGE_NOT_INSTALLED\] (\w+)", text):
        package = _distribution((module[1] or module[2].lower()).partition(".")[0])
        said = message("Python on the workers of {master} has no package {package}.", master=master, package=package)
        remedy = message(
            "Install it on every worker (pip install {wanted}), or name a Python there that has it: {setting}=PATH.",
            wanted=_wanted(package),
            setting=_python(master),
        )
        return Unsupported(said, remedy=remedy)
    if program := re.search(r'Cannot run program "([^"]+)"', text):
        said = message("The workers of {master} have no Python at {path}.", master=master, path=program[1])
        return Unsupported(
            said, remedy=message("Name one that every worker has: {setting}=PATH.", setting=_python(master))
        )
    if versions := re.search(r"\[PYTHON_VERSION_MISMATCH\][^:]*: ([\d.]+\d)[^:]*: ([\d.]+\d)", text):
        said = message(
            "The workers of {master} run Python {theirs}; this one is {ours}.",
            master=master,
            theirs=versions[1],
            ours=versions[2],
        )
        remedy = message(
            "Name a Python {ours} that every worker has: {setting}=PATH.", ours=versions[2], setting=_python(master)
        )
        return Unsupported(said, remedy=remedy)
    if reason := re.search(r"ExecutorLostFailure \(.*?Reason: ([^\n]+)|\bFetchFailed\(|Remote RPC client dis", text):
        why = (reason[1] or "").partition(". Check driver logs")[0].strip(" .)") or message("it does not answer")
        said = message("{master} lost an executor while the query ran: {why}.", master=master, why=why)
        return Invalid(said, remedy=_LOGS)
    return ended(text, master)


def _python(master: str) -> str:
    """What names the Python of the workers: a client of Spark Connect cannot."""
    return message("PYSPARK_PYTHON of the Connect server") if master.startswith("sc://") else PYTHON


def ended(text: str, master: str) -> SnapscopeError | None:
    """What a text says of the end of a whole session on a cluster: the reason that its master or server gave."""
    if said := re.search(r'status = StatusCode\.(\w+)\s+details = "([^"\n]*)', text):
        if said[1] in ("UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED"):
            return Invalid(
                "{master} does not answer: {why}.", master=master, why=said[2].strip(" ."), remedy=ASK_SERVER
            )
        return Invalid("{master} refused: {why}.", master=master, why=said[2].strip(" .") or said[1], remedy=ASK_SERVER)
    if lost := re.search(r"\[INVALID_HANDLE\.SESSION_\w+\] ([^\n]+?)(?: SQLSTATE|\n|$)", text):
        return Invalid("{master} ended this session: {why}.", master=master, why=lost[1].strip(" ."), remedy=ASK_SERVER)
    if reason := re.search(r"Application has been killed\. Reason: ([^\n]+)|(All masters are unresponsive)", text):
        why = reason[1] or reason[2]
    elif re.search(r"SparkContext was shut ?down|stopped SparkContext|SparkContext has been shutdown", text):
        why = message("the session was stopped")
    else:
        return None
    return Invalid("{master} ended this session: {why}.", master=master, why=why.strip(" .!"), remedy=_AGAIN)


def unseen(error: SnapscopeError, master: str) -> SnapscopeError:
    """The error, or a better one if workers did not find a file that this machine has on its disk."""
    path = urls.local_path(error.path or "") or error.path
    if not path or not path.startswith("/"):
        return error
    try:
        os.stat(path)
    except OSError:
        return error
    return Unsupported(
        "The workers of {master} do not have this file, which is on the disk of this machine.",
        master=master,
        path=path,
        remedy=message(
            "Use a store or a directory that every worker reaches, or Spark on this machine: {variable}=local[*].",
            variable=MASTER,
        ),
    )


def _distribution(module: str) -> str:
    return packages_distributions().get(module, [module])[0]


def _wanted(package: str) -> str:
    try:
        return f"{package}=={version(package)}"
    except PackageNotFoundError:
        return package
