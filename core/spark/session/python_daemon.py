"""The process from which Spark on this machine forks its Python workers; Spark runs this module.

Spark puts its jar and zip files of pyspark on the path of the workers, and before every task a worker reads the list of
what they contain again (`importlib.invalidate_caches`), which takes longer than many tasks. Here pyspark is taken from
the directory that Spark itself runs from, and the archives are off the path.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

ARCHIVES = (".jar", ".zip")


def leave_archives_out() -> None:
    """Take archives off the path, if pyspark is found in the directory of this Spark without them."""
    before = list(sys.path)
    sys.path[:] = [each for each in before if not each.endswith(ARCHIVES)]
    home = Path(os.environ.get("SPARK_HOME", ""))
    if not any(Path(each, "pyspark") == home for each in sys.path):
        sys.path[:] = before
        return
    for each in {*before} - {*sys.path}:
        sys.path_importer_cache.pop(each, None)


if __name__ == "__main__":
    leave_archives_out()
    from pyspark import daemon

    daemon.manager()
