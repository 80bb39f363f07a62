"""The wheel works where nothing else of the repository exists: its commands, its files, and the documented import.

It is installed without its dependencies into a new environment that takes those from this one, so that the wheel's own
content is tested in a minute. Only the build backend may have to be downloaded.
"""

from __future__ import annotations

import http.cookiejar
import os
import re
import shutil
import signal
import site
import subprocess
import sys
import urllib.request
import venv
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import IO

import pytest
from packaging.version import Version

from tests.support.places import ROOT
from tests.support.ports import free_port

OLDEST_BACKEND = Version("77")  # as pyproject.toml requires; if it is older here, pip downloads a newer one
PACKAGES = ("core", "dashboard", "snapscope")
PLAIN = urllib.request.ProxyHandler({})  # the server is on loopback

pytestmark = pytest.mark.slow


def run(*words: object, where: Path | None = None) -> str:
    """Return a program's output, run where nothing of the repository can be imported by accident."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(word) for word in words], cwd=where, env=kept, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, f"{words}: {done.stdout}\n{done.stderr}"
    return done.stdout


def tracked(*below: str) -> list[str]:
    """Return the files that git knows there, including new files."""
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *below, where=ROOT)
    return [name for name in listed.split("\0") if name and os.path.lexists(ROOT / name)]


def ours() -> list[str]:
    """Return the files of the three packages, including those behind a link."""
    named = [ROOT / name for name in tracked(*PACKAGES)]
    found = [file for path in named for file in (path.rglob("*") if path.is_dir() else [path])]
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build from a copy of the repository, because a build leaves files behind."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in tracked(*PACKAGES, ".streamlit", *(each.name for each in ROOT.iterdir() if each.is_file())):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name, follow_symlinks=False)
    is_here = Version(version("setuptools")) >= OLDEST_BACKEND
    how = ["--quiet", "--no-deps", *(["--no-build-isolation"] if is_here else []), "--wheel-dir"]
    run(sys.executable, "-m", "pip", "wheel", *how, out, source, where=source)
    (built,) = out.glob("snapscope-*.whl")
    return built


@pytest.fixture(scope="module")
def home(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the wheel, followed by this environment's libraries."""
    made = tmp_path_factory.mktemp("installed")
    venv.create(made, with_pip=False, symlinks=True)
    (libraries,) = made.glob("lib/python3*/site-packages")
    pip = (sys.executable, "-m", "pip", "--python", made / "bin" / "python", "install", "--quiet", "--no-index")
    run(*pip, "--no-deps", wheel, where=made)
    (libraries / "libraries.pth").write_text(
        "\n".join(site.getsitepackages()) + "\n"
    )  # only paths: no editable install
    return made / "bin"


def test_it_holds_every_file_of_the_packages_and_no_other(wheel: Path) -> None:
    held = sorted(name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name)
    assert held == ours()
    assert {"snapscope/py.typed", "dashboard/style.css", "dashboard/.streamlit/config.toml"} <= set(held)


def test_the_command_says_its_version(home: Path) -> None:
    assert run(home / "snapscope", "--version", where=home).split()[-1] == version("snapscope")


def test_the_import_that_is_documented_works(home: Path) -> None:
    program = "import snapscope, core, dashboard; print(snapscope.__version__, snapscope.Table.__name__)"
    program += "; print(*(each.__file__ for each in (snapscope, core, dashboard)), sep='\\n')"
    said, *files = run(home / "python", "-I", "-c", program, where=home).splitlines()
    assert re.fullmatch(r"\d+\.\d+\.\d+ Table", said)
    assert all(Path(each).is_relative_to(home.parent) for each in files), files


def test_what_it_asks_for_is_what_it_was_tested_with(home: Path) -> None:
    """Every requirement in its metadata is satisfied by the libraries of this environment."""
    program = """
from importlib.metadata import requires, version
from packaging.requirements import Requirement
asked = [Requirement(each) for each in requires("snapscope")]
asked = [each for each in asked if each.marker is None or each.marker.evaluate({"extra": ""})]
assert len(asked) > 10
print(*[each for each in asked if not each.specifier.contains(version(each.name))], sep="\\n")
"""
    assert run(home / "python", "-I", "-c", program, where=home).strip() == ""


@pytest.fixture(scope="module")
def demo(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("demo") / "warehouse"
    run(home / "snapscope", "demo", place, where=home)
    return place


@pytest.mark.spark
def test_the_demo_is_made_and_read(home: Path, demo: Path) -> None:
    program = f"import snapscope; print(*snapscope.tables({str(demo)!r})['table'])"
    made = run(home / "python", "-I", "-c", program, where=home).split()
    assert "sales.orders" in made
    assert "orders" in run(home / "snapscope", "tables", demo, where=home)


@pytest.mark.spark
def test_the_dashboard_answers(home: Path, demo: Path) -> None:
    with served(home, demo) as address:
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        browser = urllib.request.build_opener(PLAIN, jar)
        with browser.open(address, timeout=300) as page:
            assert page.status == 200
        with browser.open(f"{address.partition('?')[0]}_stcore/health", timeout=300) as health:
            assert health.read() == b"ok"


@contextmanager
def served(home: Path, demo: Path) -> Iterator[str]:
    """Run `snapscope serve` during the block, and yield the URL that it prints."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    words = [str(home / "snapscope"), "serve", str(demo), "--port", str(free_port())]
    process = subprocess.Popen(words, env=kept, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    try:
        yield next(addresses(process.stdout))
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=300)


def addresses(lines: IO[str]) -> Iterator[str]:
    for line in lines:
        if found := re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line):
            yield found[0]
