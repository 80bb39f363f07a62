"""A command only imports what it runs; help, version and completion import nothing slow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.formats.paimon.tables import four_commits
from tests.support.places import ROOT

SLOW = ("pandas", "pyarrow", "datafusion", "numpy", "plotly", "jinja2", "pyspark", "sqlglot", "rich", "fsspec")


@pytest.mark.parametrize(
    ("words", "slow"),
    [
        (["help"], SLOW),
        (["help", "plan", "expire"], SLOW),
        (["--version"], SLOW),
        (["completion", "bash"], SLOW),
        (["tags", str(ROOT / "tests/tables/none")], ("pandas", "datafusion", "plotly", "jinja2", "pyspark", "rich")),
    ],
    ids=lambda words: words[0],
)
def test_what_a_command_does_not_need_is_not_imported(words: list[str], slow: tuple[str, ...]) -> None:
    code = f"import sys; from core.cli import main; main({words!r}); print(sorted(set({slow!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_entry_point_imports_nothing_of_ours() -> None:
    """Ctrl-C during startup is handled like any other."""
    code = "import sys, core.cli; print([each for each in sys.modules if each.startswith(('core.', 'click'))])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['core.cli']"


def test_a_table_of_one_format_loads_no_other(tmp_path: Path) -> None:
    code = "import sys; from core.cli import main; main(['tags', sys.argv[1]]); print(*sys.modules)"
    table = str(four_commits(tmp_path / "w" / "default.db" / "t").root)
    done = subprocess.run([sys.executable, "-c", code, table], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "core.formats.paimon.format" in loaded
    assert "core.formats.iceberg.format" not in loaded
    assert not {"core.formats.paimon.plan.commits", "fastavro"} & loaded, "only commits encode manifests"
