"""Settings of Spark that are found here: in Spark's own places and in `$SNAPSCOPE_SPARK_CONF`. Spark is not needed."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from core.errors import Invalid

MASTER = "SPARK_MASTER"
_CONF = "SNAPSCOPE_SPARK_CONF"
_DEFAULTS = "spark-defaults.conf"


def of_environment() -> dict[str, str]:
    """Return `$SNAPSCOPE_SPARK_CONF` as properties: `spark.a=1,spark.b=2`, or the path of a JSON file with one object.

    A comma followed by `spark.` starts the next property, so values may contain commas (`spark.jars.packages=a,b`).
    """
    text = os.environ.get(_CONF, "").strip()
    if not text:
        return {}
    if text.startswith("spark."):
        pairs = [pair.partition("=") for pair in re.split(r",\s*(?=spark\.)", text)]
        for name, equals, _ in pairs:
            if not equals:
                name = re.split(r"[^\w.-]", name, maxsplit=1)[0]  # what follows may be a secret
                raise Invalid("SNAPSCOPE_SPARK_CONF: `{name}` has no value; expected spark.a=1,spark.b=2.", name=name)
        return {name.strip(): value.strip() for name, _, value in pairs}
    try:
        content = json.loads(Path(text).expanduser().read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        expected = "SNAPSCOPE_SPARK_CONF is neither spark.a=1,spark.b=2 nor the path of a readable JSON file"
        why = error.strerror if isinstance(error, OSError) else error
        path = text if os.path.lexists(text) else None  # it may be settings with secrets
        raise Invalid("{expected}: {error}.", expected=expected, error=why, path=path) from error
    if not isinstance(content, dict):
        raise Invalid("SNAPSCOPE_SPARK_CONF names a JSON file that does not contain one object.", path=text)
    return {name: as_text(value) for name, value in content.items()}


def as_text(value: object) -> str:
    """Return a value as Spark writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def of_spark() -> dict[str, str]:
    """Return the settings of Spark's own places: `spark-defaults.conf` of `$SPARK_CONF_DIR` or `$SPARK_HOME`, and
    `$SPARK_MASTER`.

    Raises Invalid for a file that cannot be read.
    """
    folder = os.environ.get("SPARK_CONF_DIR") or (f"{home}/conf" if (home := os.environ.get("SPARK_HOME")) else None)
    found: dict[str, str] = {}
    if folder:
        path = Path(folder, _DEFAULTS)
        try:
            found = _properties(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            pass
        except (OSError, ValueError) as error:
            raise Invalid("Spark's settings cannot be read: {error}.", error=error, path=str(path)) from error
    if master := os.environ.get(MASTER, "").strip():
        found["spark.master"] = master
    return found


def _properties(text: str) -> dict[str, str]:
    """The `spark.*` properties of a Java properties file; Spark ignores others, too."""
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    pairs = [re.fullmatch(r"\s*(spark\.(?:[^\s=:\\]|\\.)+)\s*[\s=:]\s*(.*?)\s*", line) for line in lines]
    return {found[1]: re.sub(r"\\(.)", r"\1", found[2]) for found in pairs if found}
