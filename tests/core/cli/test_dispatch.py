"""A command only imports what it runs; help, version and completion import nothing slow. Names of the settings file are
taken wherever a location is, and their secrets are shown nowhere."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark import cloudpickle

from core.cli import main
from core.execution.journal import Journal
from core.storage.store import Store
from tests.support import memory_s3
from tests.support.builders import TableBuilder
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


# names of the settings file ------------------------------------------------------------------------------------------

SECRET = "marker-secret"


def settings() -> Path:
    return Path(os.environ["SNAPSCOPE_CONFIG"])


@pytest.fixture
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TableBuilder:
    """A table in the warehouse `lake` on the local disk; the current directory has nothing of that name."""
    table = four_commits(tmp_path / "w" / "shop.db" / "t")
    settings().write_text(f"[warehouse.lake]\nlocation = '{tmp_path}/w'\n")
    monkeypatch.chdir(tmp_path)
    return table


@pytest.fixture
def remote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[memory_s3.Server]:
    """A table on S3 that only the warehouse `s3` of the settings file leads to."""
    table = four_commits(tmp_path / "t")
    files = [path for path in table.root.rglob("*") if path.is_file()]
    objects = {f"wh/shop.db/t/{path.relative_to(table.root)}": path.read_bytes() for path in files}
    with memory_s3.serving(objects) as server:
        for name in server.leads:
            monkeypatch.delenv(name, raising=False)
        settings().write_text(
            f"[warehouse.s3]\nlocation = 's3://{memory_s3.BUCKET}/wh'\nendpoint = '{server.url}'\n"
            f"region = 'us-east-1'\naccess-key = 'me'\nsecret-key = '{SECRET}'\n"
        )
        monkeypatch.chdir(tmp_path)
        yield server


@pytest.mark.parametrize(
    "words",
    [
        ["tables", "lake"],
        ["tables", "lake", "lake/shop.db"],
        ["snapshots", "lake/shop.db/t"],
        ["plan", "expire", "--all", "lake", "--retain-max", "2"],
        ["plan", "expire", "lake/shop.db/t", "--retain-max", "2"],
        ["call", "lake", "CALL sys.expire_snapshots(table => 'shop.t', retain_max => 2)", "--yes", "--settle", "0 s"],
        ["doctor", "lake"],
        ["audit", "lake/shop.db/t"],
        ["create-tag", "--warehouse", "lake", "--database", "shop", "--table", "t", "--tag_name", "v9", "--yes"],
        ["create-tag", "--path", "lake/shop.db/t", "--tag_name", "v9", "--yes"],
    ],
    ids=lambda words: " ".join(words[:3]),
)
def test_a_name_is_taken_wherever_a_location_is(
    words: list[str], named: TableBuilder, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(words)
    assert status == 0, capsys.readouterr().err


def test_a_tables_name_is_no_location(named: TableBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--warehouse", "lake", "--database", "shop", "--table", "lake", "--tag_name", "v9", "--yes"]
    assert main(["create-tag", *words]) == 1
    assert "shop.lake" in capsys.readouterr().err


def test_a_name_that_is_close_is_named(named: TableBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tables", "lakee"]) == 1
    assert "Did you mean lake?" in capsys.readouterr().err
    assert main(["snapshots", "lakee/shop.db/t"]) == 1
    assert "Did you mean lake/shop.db/t?" in capsys.readouterr().err
    assert main(["snapshots", f"{named.root}/snapshot/snapshot-5"]) == 1
    assert "Did you mean" not in capsys.readouterr().err, "a file is no table"


def test_what_is_wrong_with_the_settings_is_said(named: TableBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    settings().write_text("[warehose.lake]")
    assert main(["tables", "lake"]) == 1
    said = capsys.readouterr().err
    assert "Did you mean warehouse?" in said
    assert str(settings()) in said
    assert main(["tables", str(named.root)]) == 0, "an absolute path needs no names"
    assert main(["doctor"]) == 1
    assert "There is no setting warehose" in capsys.readouterr().out


def test_secrets_are_nowhere_else(
    remote: memory_s3.Server, state_dir: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in what is printed, the journal, the state directory and the cache."""
    assert main(["snapshots", "s3/shop.db/t", "--json"]) == 0
    assert main(["create-tag", "s3/shop.db/t", "--name", "v9", "--yes", "--json"]) == 0
    assert main(["doctor", "s3"]) == 0
    assert Journal().runs(f"s3://{memory_s3.BUCKET}/wh/shop.db/t")
    assert main(["audit", "--export", "json"]) == 0
    settings().write_text(settings().read_text().replace(remote.url, "http://127.0.0.1:1"))
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")  # nobody is there: the usual ten attempts take ten seconds
    assert main(["snapshots", "s3/shop.db/t"]) == 1
    said = capsys.readouterr()
    assert "127.0.0.1:1" in said.err
    kept = [path.read_bytes() for path in state_dir.parent.rglob("*") if path.is_file() and path != settings()]
    assert kept
    assert SECRET not in said.out + said.err
    assert not any(SECRET.encode() in each for each in kept)


def test_tasks_in_python_find_the_same_options(remote: memory_s3.Server) -> None:
    """A store in a task of Spark is a pickled one, and paths outside a table are opened in the task itself."""
    code = (
        "import pickle, sys\nfrom core.storage.store import Store\n"
        "store = pickle.loads(sys.stdin.buffer.read())\nassert store.read('schema/schema-0')\n"
        "assert Store.named('s3://lake/wh/shop.db/t').read('schema/schema-0')"
    )
    store = Store("s3://lake/wh/shop.db/t")
    assert store.read_many(["schema/schema-0", "snapshot/snapshot-1"])  # both clients are connected
    sent = cloudpickle.dumps(store)
    done = subprocess.run([sys.executable, "-c", code], input=sent, cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
