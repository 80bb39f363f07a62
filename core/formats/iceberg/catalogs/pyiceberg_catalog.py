"""Catalogs in pyiceberg's configuration: list their tables, find each one's current metadata, and commit new metadata.

A table is written `iceberg://CATALOG/NAMESPACE/TABLE`; levels of a namespace are joined by dots, and ambiguous
characters are URL-escaped. Invariant: pyiceberg is only the client. Metadata is read and written here, and nothing
that a table's metadata names is imported: neither `py-io-impl` nor a location provider.
`core.formats.iceberg.catalogs.pyiceberg_client` lists what is used of it.
"""

from __future__ import annotations

import gzip
import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote, unquote

from core import credentials, spark_catalogs
from core.errors import Corrupt, ErrorCode, Invalid, NotFound, SnapscopeError, Unsupported
from core.formats import catalog_answers
from core.formats.iceberg import metadata as documents
from core.formats.iceberg import metadata_json as packed
from core.formats.iceberg.catalogs import pyiceberg_client as pyiceberg
from core.formats.iceberg.catalogs import rest
from core.formats.iceberg.catalogs.pyiceberg_client import Identifier
from core.formats.iceberg.file_paths import ABSOLUTE, TableLocation
from core.formats.iceberg.locations import SCHEME
from core.formats.iceberg.metadata import Metadata
from core.formats.iceberg.write import commit, edits
from core.formats.table_format import Unknown
from core.installation import extra_command
from core.messages import message
from core.model.effects import SwapMetadata
from core.storage import time_limits
from core.storage.lent_credentials import Lent
from core.storage.store import Store

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

T = TypeVar("T")
WRITES = ("SqlCatalog", "HiveCatalog", "GlueCatalog", "RestCatalog")
_REFUSALS = (
    *("BadRequestError", "UnauthorizedError", "AuthorizationExpiredError", "ForbiddenError"),  # of a REST catalog
    *("IntegrityError", "ProgrammingError"),  # of a database, which takes the statement back
    *("AccessDeniedException", "InvalidInputException"),  # of Glue
)
"""Errors that say that nothing was committed; any other one may mean that only the answer was lost."""
_OF_NESSIE = "nessie.is-nessie-catalog"
_SECRET = re.compile("token|credential|secret|password|key|authorization", re.IGNORECASE)


def names() -> list[str]:
    """Return the names of the catalogs in pyiceberg's configuration."""
    with _asked("pyiceberg's configuration", {}):
        return sorted(pyiceberg.known())


def url(catalog: str, *levels: str) -> str:
    """Return the name of a catalog, of a namespace, or of a table (its own name last)."""
    parts = [catalog, *([".".join(_escaped(each) for each in levels[:-1]), _escaped(levels[-1])] if levels else [])]
    return SCHEME + "/".join(parts)


def _escaped(level: str) -> str:
    return quote(level, safe="").replace(".", "%2E")


def parts(location: str) -> tuple[str, Identifier, str]:
    """Split a name into catalog, namespace and table; "" and () for missing parts. Raises `Invalid`."""
    words = location.removeprefix(SCHEME).rstrip("/").split("/")
    if len(words) > 3 or not all(words[1:]):
        raise Invalid(
            "{location!r} does not name a table in a catalog.",
            location=location,
            remedy=message("Write {scheme}CATALOG/NAMESPACE/TABLE.", scheme=SCHEME),
        )
    catalog, namespace, name = (*words, "", "")[:3]
    return catalog, tuple(unquote(each) for each in namespace.split(".")) if namespace else (), unquote(name)


def tables(catalog: str, below: Identifier = ()) -> Iterator[Identifier | SnapscopeError]:
    """Yield every table of a catalog or namespace, recursively, by identifier; and the errors of inner namespaces."""
    with _opened(catalog) as (client, conf):
        waiting = [below]
        while waiting:
            namespace = waiting.pop(0)
            try:
                with _asked(catalog, conf):
                    inner = sorted(_limited(catalog, partial(client.list_namespaces, namespace)))
                    own = sorted(_limited(catalog, partial(client.list_tables, namespace))) if namespace else []
            except SnapscopeError as error:
                if namespace == below:
                    raise
                yield error
                continue
            waiting += [each for each in inner if len(each) > len(namespace)]
            yield from own


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """One table in a catalog."""

    catalog: str
    identifier: Identifier

    @classmethod
    def of(cls, location: str) -> CatalogTable:
        catalog, namespace, name = parts(location)
        if not name:
            raise Invalid(
                "{location} is a catalog or a namespace, not a table.",
                location=location,
                remedy=message(
                    "Add the table: {scheme}{catalog}/NAMESPACE/TABLE.", scheme=SCHEME, catalog=catalog or "CATALOG"
                ),
            )
        return cls(catalog, (*namespace, name))

    @property
    def location(self) -> str:
        return url(self.catalog, *self.identifier)

    def current(self) -> str:
        """Return the location of the current metadata according to the catalog."""
        with _opened(self.catalog) as (client, conf), _asked(self.location, conf):
            return self._current(client)

    def _current(self, client: Catalog) -> str:
        location = _limited(self.catalog, lambda: pyiceberg.location(client, self.identifier, self._lent))
        if not location:
            raise Unsupported(
                "The catalog reports no metadata file for this table.",
                path=self.location,
                remedy="Open the table's newest metadata.json by its path.",
            )
        return location

    def _lent(self) -> Lent:
        with _opened(self.catalog) as (client, conf), _asked(self.location, conf):
            return _limited(self.catalog, lambda: pyiceberg.lent(client, self.identifier))

    def refuse_commit(self) -> None:
        """Raise `Unsupported` if this kind of catalog does not support commits from here."""
        with _opened(self.catalog) as (client, conf):
            kind, is_nessie = type(client).__name__, str(client.properties.get(_OF_NESSIE, "")).lower() == "true"
            if kind == "GlueCatalog":
                with _asked(self.location, conf):
                    _limited(self.catalog, lambda: pyiceberg.refuse_glue(client, self.identifier))
        if is_nessie:
            raise Unsupported(
                "Nessie keeps history in its own commits, branches and tags, and ignores changes of a table's own "
                "snapshots and references; nothing was changed.",
                path=self.location,
                remedy="Create branches and tags in Nessie, and delete files that no version needs with nessie-gc.",
            )
        if kind not in WRITES:
            raise Unsupported(
                "Snapscope can only read tables of a {kind}; nothing was changed.",
                kind=kind,
                path=self.location,
                remedy="Make the change with the table's own engine.",
            )

    def commit(self, store: Store, place: TableLocation, found: Metadata, edit: SwapMetadata) -> str | None:
        """Commit new metadata in place of exactly `found`; return its path, or None if another commit came first.

        Raises `Unknown` if the outcome is not known.
        """
        with _opened(self.catalog) as (client, conf):
            if type(client).__name__ == "RestCatalog":
                return self._by_server(client, conf, place, found, edit)
            return self._by_file(client, conf, store, place, found, edit)

    # the catalog keeps a pointer: we write the file ---------------------------------------------------------------

    def _by_file(
        self,
        client: Catalog,
        conf: Mapping[str, str],
        store: Store,
        place: TableLocation,
        found: Metadata,
        edit: SwapMetadata,
    ) -> str | None:
        from pyiceberg.exceptions import CommitFailedException

        path, content = _next(found, edit)
        target = path if ABSOLUTE.match(path) else f"{found.location.rstrip('/')}/{path}"
        try:
            staged = pyiceberg.parsed(packed.unpacked(content, path).decode())
        except Exception as error:
            raise Unsupported(
                ("Snapscope commits to this catalog through pyiceberg, which cannot read this metadata: {error}."),
                error=error,
                path=found.path,
                remedy="Make the change with the table's own engine.",
            ) from error

        def is_current(location: str) -> bool:
            return place.path(location) == found.path

        commit.write_new(store, path, content)
        try:
            # Without a limit: a swap that was given up could still happen after the run was undone.
            if pyiceberg.swapped(client, self.identifier, is_current, target, staged) == target:
                return path
            failed: Exception | str = "it kept another"
        except CommitFailedException:
            commit.withdraw(store, path)
            return None
        except Exception as error:
            if self._is_refusal(error, place, found):
                commit.withdraw(store, path)
                raise self._refused(conf, error) from error
            failed = error
        try:
            now = place.path(self.current())
            log = documents.parse(commit.read_at(store, now), now).metadata_log
            if path in (now, *(place.path(file) for _, file in log)):
                return path
        except SnapscopeError as unread:
            failed = f"{failed}; nor could the table be read: {unread}"
        raise self._unknown(conf, path, failed)

    # the catalog writes the file ------------------------------------------------------------------------------------

    def _by_server(
        self, client: Catalog, conf: Mapping[str, str], place: TableLocation, found: Metadata, edit: SwapMetadata
    ) -> str | None:
        from pyiceberg.exceptions import CommitFailedException

        requirements, updates = rest.asking(found, edit, self.location)
        pyiceberg.read_by_store(client)
        with _asked(self.location, conf):
            table = _limited(self.catalog, lambda: client.load_table(self.identifier))
        if place.path(str(table.metadata_location)) != found.path:
            return None
        made, is_ignored = None, False
        failed: Exception | str = message("it answered that it did, but the table's metadata lacks the change")
        try:
            made = client.commit_table(table, requirements, updates).metadata_location  # without a limit, as a swap
        except CommitFailedException:
            return None
        except Exception as error:
            if self._is_refusal(error, place, found):
                raise self._refused(conf, error) from error
            failed = error
        try:
            now = place.path(made or self.current())
            after = documents.parse(commit.read_at(place.store, now), now)
            if edits.has(after, edit):
                return now
            is_ignored = made is not None and edits.has_none(after, found, edit)
        except SnapscopeError as unread:
            failed = f"{failed}; nor could the table be read: {unread}"
        if is_ignored:
            raise Invalid(
                "The catalog answered that it made the change, but it did not. Nothing was changed.",
                path=self.location,
                remedy="Make the change with the table's own engine, or ask who runs the catalog.",
            )
        raise self._unknown(conf, "the change", failed)

    def _is_refusal(self, error: Exception, place: TableLocation, found: Metadata) -> bool:
        """Return whether the catalog said that it did not commit, at once, and still names the metadata of before."""
        if type(error).__name__ not in _REFUSALS or pyiceberg.was_repeated(error):
            return False
        try:
            return place.path(self.current()) == found.path
        except SnapscopeError:
            return False

    def _refused(self, conf: Mapping[str, str], error: Exception) -> Invalid:
        answer = _masked(str(getattr(error, "orig", None) or error), conf)  # not the statement of a database
        return Invalid(
            "The catalog refused the change: {said}. Nothing was changed.",
            said=answer.rstrip("."),
            path=self.location,
            remedy="Check your rights in this catalog, or make the change with the table's own engine.",
        )

    def _unknown(self, conf: Mapping[str, str], what: str, error: object) -> Unknown:
        return Unknown(
            ("It cannot be determined whether the catalog accepted {what} ({masked}); no file was deleted."),
            what=what,
            masked=_masked(str(error), conf),
            path=self.location,
            remedy=message("Re-check the table, then resume or undo this run."),
        )


def _next(found: Metadata, edit: SwapMetadata) -> tuple[str, bytes]:
    """Return the path and content of the next metadata file, in the directory of the current one."""
    content = edits.written(edits.edited(found, edit, time.time_ns() // 1_000_000), found.path)
    directory, _, name = found.path.rpartition("/")
    number = re.match(r"(\d{1,9})-", name)
    packed = commit.is_packed(found)
    new = f"{int(number[1]) + 1 if number else 0:05d}-{uuid.uuid4()}{'.gz' if packed else ''}.metadata.json"
    return f"{directory}/{new}", gzip.compress(content, mtime=0) if packed else content


@contextmanager
def _opened(name: str) -> Iterator[tuple[Catalog, Mapping[str, str]]]:
    """Open a catalog's client and its current configuration. Raises `NotFound` if it is not configured."""
    conf: dict[str, str] = {}
    with _asked(name, conf):
        found = pyiceberg.configuration(name)
        if found is None and (why := spark_catalogs.current().left_out.get(name)):
            raise spark_catalogs.unusable(name, why)
        if found is None:
            listed = ", ".join(pyiceberg.known()) or "none"
            raise NotFound(
                "The pyiceberg configuration has no catalog {name!r}.",
                name=name,
                remedy=message(
                    ("Catalogs: {listed}. Configure them in .pyiceberg.yaml or with PYICEBERG_CATALOG__NAME__URI."),
                    listed=listed,
                ),
            )
        conf |= found
        client = _limited(name, lambda: pyiceberg.opened(name, conf))
    try:
        yield client, conf
    finally:
        client.close()


def _limited(catalog: str, question: Callable[[], T]) -> T:
    return catalog_answers.ask(catalog, url(catalog), question)


@contextmanager
def _asked(what: str, conf: Mapping[str, str]) -> Iterator[None]:
    """Convert any error of a client to one of ours, without the secrets in its configuration."""
    try:
        with time_limits.asking():
            yield
    except SnapscopeError:
        raise
    except ImportError as error:
        raise Unsupported(
            "Snapscope reaches catalogs through pyiceberg, and a dependency is missing: {error}.",
            error=error,
            path=what,
            remedy=message(
                "Install it, with pyiceberg's own extra of that kind of catalog: {command}",
                command=extra_command("iceberg"),
            ),
            code=ErrorCode.EXTRA_MISSING,
        ) from error
    except Exception as error:
        answer = _masked(f"{type(error).__name__}: {error}", conf)
        if type(error).__name__ in ("NoSuchTableError", "NoSuchNamespaceError", "NoSuchIcebergFormatError"):
            raise NotFound("The catalog has no {what} ({said}).", what=what, said=answer, path=what) from error
        raise Corrupt(
            "The catalog did not answer: {said}.",
            said=answer,
            path=what,
            remedy="Check its configuration (.pyiceberg.yaml, PYICEBERG_*) and the connection; nothing was changed.",
        ) from error


def _masked(text: str, conf: Mapping[str, str]) -> str:
    return credentials.masked(credentials.without(text, [conf[key] for key in conf if _SECRET.search(key)]))
