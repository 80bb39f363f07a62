"""What errors of HDFS mean, and what to do about them, where a client only passes on what a server in Java said."""

from __future__ import annotations

import re

from core.credentials import masked
from core.errors import Corrupt, SnapscopeError, Unsupported
from core.installation import install_command
from core.messages import message

SECURITY = "hadoop.security.authentication"
_TRACE = "\\n\\tat "  # within quotes, as the client passes it on
_HUNG_UP = "RPC listener disconnected"
_NO_TICKET = re.compile("GSSAPIError|SASLError|NoSASLMechanism")
_STANDBY = re.compile("StandbyException")
_REFUSED = re.compile("Connection refused")
_UNKNOWN_HOST = re.compile("failed to lookup address|Name or service not known|nodename nor servname|name resolution")


def of_client(error: Exception, place: str, path: str, *, is_kerberos: bool = True) -> SnapscopeError | None:
    """Return the error to show in place of one of the client; None where its own words will do. `is_kerberos`: the
    client tries Kerberos, without which a NameNode that asks for it hangs up."""
    said = str(error)
    if "libgssapi" in said:
        return Unsupported(
            "The Kerberos library of this machine cannot be loaded.",
            path=path,
            remedy="Install it: libgssapi-krb5-2 on Debian and Ubuntu, krb5-libs on Red Hat.",
        )
    if _NO_TICKET.search(said):
        return Corrupt(
            "{place} asks for Kerberos, and there is no valid ticket for it here: {said}",
            place=place,
            said=masked(said.partition(_TRACE)[0]),
            path=path,
            remedy="Run kinit, and start Snapscope with the same KRB5CCNAME and KRB5_CONFIG.",
        )
    if not is_kerberos and _HUNG_UP in said:
        return Corrupt(
            "{place} ended the connection without an answer. It does so if it asks for Kerberos.",
            place=place,
            path=path,
            remedy=message(
                "With Kerberos, run kinit, and set {name} to kerberos in $HADOOP_CONF_DIR or in the settings file.",
                name=SECURITY,
            ),
        )
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


def not_identified(place: str, path: str, package: str | None) -> SnapscopeError:
    """A NameNode does not know who asks over HTTP. `package`: one that is missing for Kerberos."""
    if package:
        return Unsupported(
            "{place} asks for Kerberos over HTTP, which takes a package that is not installed.",
            place=place,
            path=path,
            remedy=message(
                "Use hdfs://, run {command}, or give delegation in the settings file.", command=install_command(package)
            ),
        )
    return Corrupt(
        "{place} asks for Kerberos over HTTP, or for a delegation token.",
        place=place,
        path=path,
        remedy=message(
            "Run kinit and set {name} to kerberos, use hdfs://, or give a valid delegation in the settings file.",
            name=SECURITY,
        ),
    )
