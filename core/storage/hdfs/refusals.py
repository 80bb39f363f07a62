"""What errors of HDFS mean, and what to do about them, where a client only passes on what a server in Java said."""

from __future__ import annotations

import re

from core.errors import Corrupt, SnapscopeError
from core.messages import message

_STANDBY = re.compile("StandbyException")
_REFUSED = re.compile("Connection refused")
_UNKNOWN_HOST = re.compile("failed to lookup address|Name or service not known|nodename nor servname|name resolution")


def of_client(error: Exception, place: str, path: str) -> SnapscopeError | None:
    """Return the error to show in place of one of the client; None where its own words will do."""
    said = str(error)
    if _STANDBY.search(said) or (":" not in place and _REFUSED.search(said)):  # of one of several NameNodes
        return no_active(place, path)
    if _UNKNOWN_HOST.search(said):
        return no_such_host(place, path)
    return None


def no_active(place: str, path: str) -> SnapscopeError:
    return Corrupt(
        "No NameNode of {place} is active.",
        place=place,
        path=path,
        remedy=message("See hdfs haadmin -getAllServiceState, and try again when one is active."),
    )


def no_such_host(place: str, path: str) -> SnapscopeError:
    name = place.partition(":")[0]
    return Corrupt(
        "{name} is neither a host that can be found nor a nameservice in Hadoop's settings here.",
        name=name,
        path=path,
        remedy=message(
            "Let $HADOOP_CONF_DIR name the directory of hdfs-site.xml, or give dfs.ha.namenodes.{name} and the "
            "NameNodes' addresses in the settings file.",
            name=name,
        ),
    )
