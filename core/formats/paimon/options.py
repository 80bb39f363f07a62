"""A table's options as the engine reads them: an option that is not set has the value of an older key. Pure.

Source: the fallback keys in `CoreOptions` of Paimon 2.0, of the options that matter here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_OLDER_KEYS: Mapping[str, Sequence[str]] = {  # the first one that is set counts
    "ignore-delete": ("first-row.ignore-delete", "deduplicate.ignore-delete", "partial-update.ignore-delete"),
    "scan.mode": ("log.scan",),
    "scan.timestamp-millis": ("log.scan.timestamp-millis",),
    "snapshot.clean-empty-directories": ("snapshot.expire.clean-empty-directories",),
    "write-only": ("write.compaction-skip",),
}


def resolved(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options by their current keys. An older key does nothing where the current one is set."""
    older = {key: name for name, keys in _OLDER_KEYS.items() for key in keys}
    found = {name: value for name, value in options.items() if name not in older}
    for key, name in older.items():
        if key in options:
            found.setdefault(name, options[key])
    return found
