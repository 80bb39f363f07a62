"""pyiceberg as a client of catalogs: the only module that uses its internals.

Of its public API: `load_catalog`; `list_namespaces`, `list_tables`, `load_table`, `commit_table`, `close` of a catalog;
`StagedTable`, `Schema`; its errors; the updates and requirements of `pyiceberg.table.update` (in `rest`). Beyond that,
each with its purpose and checked by a test of its own (`INTERNALS`):

- `utils.config.Config.get_known_catalogs`, `.get_catalog_config`: which catalogs are configured. Only a catalog whose
  name is known can be loaded, and no public function lists the names.
- `Catalog._load_file_io`: imports what a table's own properties name, as code. Nothing may be imported.
- `SqlCatalog._convert_orm_to_iceberg`, `HiveCatalog._convert_hive_into_iceberg`, `RestCatalog._response_to_table`,
  `GlueCatalog._convert_glue_to_iceberg`: `load_table` parses metadata that anybody may have written, without limits.
  These convert the catalog's response to a table; here they return only the location.
- `SqlCatalog._update_and_stage_table`, `._write_metadata`, and the same of `HiveCatalog`: `commit_table` takes the lock
  or does the compare-and-swap, which no public function does for an existing metadata file. Here they stage our file,
  and write none.
- `HiveCatalog._create_lock_request`: fails for a user without a name, as in a container. Here it names the number.
- `HiveCatalog._get_hive_table`: `commit_table` reads the table by it, under the lock, and then replaces its storage
  descriptor, without which Hive cannot query it. A writer of a table with `engine.hive.lock-enabled=false` takes no
  lock and names the metadata that it replaces to the Metastore. Here the Thrift client that it is given keeps the
  descriptor, and names that metadata as well; older Metastores ignore it.
- `GlueCatalog.glue`: boto3's client. `commit_table` derives the columns and parameters of the Glue table from the
  metadata, and its client repeats a request whose answer was lost. Here a commit changes the location alone.
- `table.metadata.TableMetadataUtil.parse_raw`: `commit_table` compares the staged metadata with the current one.

Invariant: if one of these is missing, the catalog is rejected before any request or write, since pyiceberg would then
do what is replaced here. Source: pyiceberg 0.12.
"""

from __future__ import annotations

import copy
import io
import socket
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from core import spark_catalogs
from core.errors import ErrorCode, Invalid, Unsupported
from core.formats.iceberg import metadata_json
from core.formats.iceberg.file_paths import normal
from core.installation import extra_command
from core.messages import message
from core.paths import user_name
from core.storage import lent_credentials, location_options
from core.storage.lent_credentials import Lent
from core.storage.size_limits import TABLE_METADATA
from core.storage.store import Store

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

Identifier = tuple[str, ...]

_UNTIL = "s3.session-token-expires-at-ms"
_BY_FILE = ("_update_and_stage_table", "_write_metadata")
_MORE: Mapping[str, tuple[str, ...]] = {
    "SqlCatalog": _BY_FILE,
    "HiveCatalog": (*_BY_FILE, "_create_lock_request", "_get_hive_table"),
}
_POINTER, _BEFORE = "metadata_location", "previous_metadata_location"
_ANSWERS: Mapping[str, tuple[str, Callable[..., Any]]] = {
    "SqlCatalog": ("_convert_orm_to_iceberg", lambda row: row.metadata_location),
    "HiveCatalog": ("_convert_hive_into_iceberg", lambda table: _of_hive(table.parameters)),
    "GlueCatalog": ("_convert_glue_to_iceberg", lambda table: _of_hive(table.get("Parameters") or {})),
    "RestCatalog": ("_response_to_table", lambda _, response: response),
}
"""By kind of catalog, what converts its response to a table; here to the location, so no metadata is parsed."""
INTERNALS: Mapping[str, tuple[str, ...]] = {
    kind: ("_load_file_io", answer, *_MORE.get(kind, ())) for kind, (answer, _) in _ANSWERS.items()
} | {"": ("_load_file_io",)}
"""By kind of catalog, the names outside its public API that are replaced."""


def known() -> list[str]:
    """Return the names of the catalogs in pyiceberg's configuration and in Spark's settings."""
    from pyiceberg.utils.config import Config

    return [*dict.fromkeys([*Config().get_known_catalogs(), *spark_catalogs.current().iceberg])]


def configuration(name: str) -> dict[str, str] | None:
    """Return the current configuration of a catalog, pyiceberg's first, then Spark's; None if there is none."""
    from pyiceberg.utils.config import Config

    found = Config().get_catalog_config(name) or spark_catalogs.current().iceberg.get(name)
    return None if found is None else {key: str(value) for key, value in found.items()}


def opened(name: str, conf: Mapping[str, str]) -> Catalog:
    """Open a client that reads and writes no file of a table. Raises `Unsupported` if it lacks a name replaced here."""
    from pyiceberg.catalog import load_catalog

    client: Any = load_catalog(name, **{"init_catalog_tables": "false", **conf})
    if missing := [each for each in INTERNALS[_kind(client)] if not hasattr(client, each)]:
        client.close()
        raise Unsupported(
            ("The {kind} of the installed pyiceberg has no {missing}, so it could do more than Snapscope asks for."),
            missing=", ".join(missing),
            kind=type(client).__name__,
            path=name,
            remedy=message("Install the version that Snapscope needs: {command}", command=extra_command("iceberg")),
            code=ErrorCode.EXTRA_MISSING,
        )
    client._load_file_io = lambda *_, **__: None
    return cast("Catalog", client)


def location(client: Catalog, identifier: Identifier, fetch_options: Callable[[], Lent]) -> str | None:
    """Return the location of a table's metadata according to the catalog; the metadata itself is not read.

    A REST catalog may lend credentials for this table; `fetch_options` asks for later ones.
    """
    where, lent = _asked(client, identifier)
    if where is not None:
        options = lent_credentials.renewed(lent, fetch_options)
        location_options.learn(where.rpartition("/")[0].removesuffix("/metadata"), options)
    return where


def lent(client: Catalog, identifier: Identifier) -> Lent:
    """Return the options of a table's store according to the catalog, and when their credentials expire."""
    return _asked(client, identifier)[1]


def _asked(client: Catalog, identifier: Identifier) -> tuple[str | None, Lent]:
    if answer := _ANSWERS.get(_kind(client)):
        setattr(client, *answer)
    found: Any = client.load_table(identifier)
    where: str | None = found if found is None or isinstance(found, str) else found.metadata_location
    if where is None:
        return None, ({}, None)
    options = {**client.properties, **_lent(found, where)}
    until = str(options.get(_UNTIL) or "")
    return where, (location_options.of_iceberg(where, options), int(until) if until.isdecimal() else None)


def _lent(found: Any, where: str) -> dict[str, str]:
    """Return what a REST catalog's response says about the store; of its credentials, those of the nearest prefix."""
    lent = dict(getattr(found, "config", None) or {})
    for each in sorted(getattr(found, "storage_credentials", None) or (), key=lambda each: len(each.prefix)):
        lent |= each.config if where.startswith(each.prefix) else {}
    return lent


def read_by_store(client: Any) -> None:
    """Make the client read metadata through the store and write none, whatever a table's properties ask to import."""
    client._load_file_io = lambda *_, **__: _Files()


def parsed(document: str) -> Any:
    """Parse metadata as a commit needs it. Raises pyiceberg's own error if it cannot read it."""
    from pyiceberg.table.metadata import TableMetadataUtil

    return TableMetadataUtil.parse_raw(document)


def swapped(client: Any, identifier: Identifier, is_current: Callable[[str], bool], target: str, metadata: Any) -> str:
    """Run the catalog's own commit, with its lock or compare-and-swap, for a file that already exists.

    Returns the file that the catalog names afterwards. Raises `CommitFailedException` if `is_current` rejects the file
    that it named before.
    """
    from pyiceberg.schema import Schema
    from pyiceberg.table import StagedTable

    def stage(current: Any, staged: Any, *_: object) -> StagedTable:
        if current is None or not is_current(current.metadata_location):
            raise _failed()
        made = StagedTable(staged, metadata, target, None, client)  # type: ignore[arg-type]
        if _kind(client) == "HiveCatalog":
            made.schema = Schema  # type: ignore[method-assign]  # its columns stay; not all have Hive types
        return made

    read_by_store(client)
    if _kind(client) == "GlueCatalog":
        _swap_in_glue(client, identifier, is_current, target)
        return target
    client._update_and_stage_table = stage
    client._write_metadata = lambda **_: None
    if _kind(client) == "HiveCatalog":
        _swap_in_hive(client, target)
    return str(client.commit_table(_Named(identifier), (), ()).metadata_location)


def _swap_in_hive(client: Any, target: str) -> None:
    """Make the client's next commit replace nothing but parameters, and only of the table that it has read."""
    read = client._get_hive_table

    def tied(thrift: Any, database: str, name: str) -> Any:
        found = read(thrift, database, name)
        alter, descriptor, base = (
            thrift.alter_table_with_environment_context,
            copy.deepcopy(found.sd),
            found.parameters.get(_POINTER),
        )

        def altered(*, new_tbl: Any, environment_context: Any, **named: str) -> None:
            from hive_metastore.ttypes import MetaException

            new_tbl.sd = descriptor
            expected = {"expected_parameter_key": _POINTER, "expected_parameter_value": base}
            environment_context.properties = {**(environment_context.properties or {}), **expected}
            try:
                alter(new_tbl=new_tbl, environment_context=environment_context, **named)
            except MetaException as error:
                if not _came_first(client._convert_hive_into_iceberg(read(thrift, database, name)), base, target):
                    raise
                raise _failed() from error

        thrift.alter_table_with_environment_context = altered
        return found

    client._create_lock_request = _lock_request
    client._get_hive_table = tied


def _lock_request(database: str, name: str) -> Any:
    from hive_metastore import ttypes

    part = ttypes.LockComponent(
        level=ttypes.LockLevel.TABLE,
        type=ttypes.LockType.EXCLUSIVE,
        dbname=database,
        tablename=name,
        isTransactional=True,
    )
    return ttypes.LockRequest(component=[part], user=user_name(), hostname=socket.gethostname())


def refuse_glue(client: Any, identifier: Identifier) -> None:
    """Raise `Unsupported` for a table whose files Glue's database leaves to another service, such as S3 Tables."""
    database, _ = client.identifier_to_database_and_table(identifier)
    if found := client.glue.get_database(Name=database)["Database"].get("FederatedDatabase"):
        raise Unsupported(
            "The database {database} belongs to another service ({service}), which deletes files itself; nothing was "
            "changed.",
            database=database,
            service=found.get("ConnectionType") or found.get("ConnectionName"),
            remedy="Make the change with that service.",
        )


def _swap_in_glue(client: Any, identifier: Identifier, is_current: Callable[[str], bool], target: str) -> None:
    """Replace the location in exactly the version of the Glue table that names the current metadata.

    Source: Glue's `UpdateTable`, whose `VersionId` Iceberg's own client sends for the same purpose.
    """
    glue, (database, name) = client.glue, client.identifier_to_database_and_table(identifier)
    found = glue.get_table(DatabaseName=database, Name=name)["Table"]
    parameters = found.get("Parameters") or {}
    base = _of_hive(parameters)
    if base is None or not is_current(base):
        raise _failed()
    settable = glue.meta.service_model.operation_model("UpdateTable").input_shape.members["TableInput"].members
    kept = {key: value for key, value in found.items() if key in settable}
    try:
        glue.update_table(
            DatabaseName=database,
            TableInput={**kept, "Parameters": {**parameters, _POINTER: target, _BEFORE: base}},
            VersionId=found["VersionId"],
            SkipArchive=str(client.properties.get("glue.skip-archive", "true")).lower() == "true",
        )
    except glue.exceptions.ConcurrentModificationException as error:
        if was_repeated(error):
            now = client._convert_glue_to_iceberg(glue.get_table(DatabaseName=database, Name=name)["Table"])
            if not _came_first(now, base, target):
                raise
        raise _failed() from error


def was_repeated(error: Any) -> bool:
    """Return whether a request to Glue was repeated before this error: what was sent before may have been made, or may
    still be."""
    response = getattr(error, "response", None)
    return isinstance(response, dict) and bool(response.get("ResponseMetadata", {}).get("RetryAttempts"))


def _came_first(now: Any, base: str, target: str) -> bool:
    """Whether another commit on `base` is known to have come before ours: the Metastore may refuse its own retry of a
    swap that was made, and so may Glue. `now`: the table."""
    log = [each.metadata_file for each in now.metadata.metadata_log]
    return now.metadata_location != base and base in log and target not in (now.metadata_location, *log)


def _failed() -> Exception:
    from pyiceberg.exceptions import CommitFailedException

    return CommitFailedException("the table is no longer what the change was made on")


def _kind(client: Catalog) -> str:
    """Return which of the kinds above the client is or derives from."""
    return next((each.__name__ for each in type(client).__mro__ if each.__name__ in INTERNALS), "")


def _of_hive(parameters: Mapping[str, str]) -> str | None:
    if parameters.get("table_type", "").lower() != "iceberg":
        raise Invalid(
            "This is not an Iceberg table; its table_type is {table_type!r}.",
            table_type=parameters.get("table_type", "one of Hive"),
        )
    return parameters.get("metadata_location")


class _Named:
    """All that a commit by file needs of a table."""

    def __init__(self, identifier: Identifier) -> None:
        self._identifier = identifier

    def name(self) -> Identifier:
        return self._identifier


class _Files:
    """A FileIO that reads through the store and writes nothing."""

    properties: Mapping[str, str] = {}

    def new_input(self, location: str) -> _Input:
        return _Input(location)


class _Input:
    def __init__(self, location: str) -> None:
        self.location = location

    def open(self, seekable: bool = True) -> io.BytesIO:
        directory, _, name = normal(self.location).rpartition("/")
        content = Store.named(directory).read(name, TABLE_METADATA)
        metadata_json.unpacked(content, self.location)  # the client would unpack it without a limit
        return io.BytesIO(content)
