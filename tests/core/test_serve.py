"""Starting the dashboard: on exactly the given port, with a secret that no process list shows."""

from __future__ import annotations

import functools
import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from core import serve
from core.cli import main
from core.errors import Conflict, Invalid

TELLS = """
import json, os, socket, sys
listener = socket.socket(fileno=int(sys.argv[1]))
told = [listener.getsockname(), sys.stdin.readline(), sys.stdin.read(), sys.argv[2:], sys.argv, dict(os.environ)]
connection, _ = listener.accept()
connection.sendall(json.dumps(told).encode())
"""


def asked(address: str) -> bytes:
    host, port = re.findall(r"//([^:]*):(\d+)/", address)[0]
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_the_secret_goes_by_a_pipe_and_stands_nowhere_else(tmp_path: Path) -> None:
    found = serve.start([str(tmp_path)], 0, hosts=["LocalHost:9000"], program=["-c", TELLS])
    number, secret, rest, hosts, argv, environment = json.loads(asked(found.address))  # waits until it exists
    assert found.process.wait(30) == 0
    assert found.address == f"http://127.0.0.1:{number[1]}/?token={secret.strip()}"
    assert (number[0], rest, hosts) == ("127.0.0.1", "", ["localhost:9000"])
    assert len(secret.strip()) >= 40
    assert secret.strip() not in json.dumps([argv, environment])
    assert environment["SNAPSCOPE_WAREHOUSE"] == str(tmp_path)
    assert environment["SNAPSCOPE_WRITE"] == "0"


def test_a_path_that_does_not_exist_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", str(tmp_path / "nothing"), "--port", "0"]) == 1
    said = capsys.readouterr().err
    assert str(tmp_path / "nothing") in said
    assert "opens at" not in said


def test_a_file_is_an_error_wherever_a_directory_is_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "notes.txt"
    path.touch()
    for words in (["serve", str(path), "--port", "0"], ["tables", str(path)], ["snapshots", str(path)]):
        assert main(words) != 0
        assert f"{path} is a file" in capsys.readouterr().err


def test_each_start_has_a_secret_of_its_own() -> None:
    started = [serve.start([], 0, program=["-c", ""]) for _ in range(3)]
    assert len({each.address.partition("token=")[2] for each in started}) == 3
    assert [each.process.wait(30) for each in started] == [0, 0, 0]


def test_a_server_that_ends_before_it_knows_its_secret_has_an_exit_status(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(subprocess.Popen[bytes]):
        def __init__(self, *words: Any, **how: Any) -> None:
            super().__init__(*words, **how)
            self.wait(30)

    monkeypatch.setattr(subprocess, "Popen", Gone)
    assert serve.start([], 0, program=["-c", "raise SystemExit(7)"]).process.wait(30) == 7


def test_a_port_in_use_is_an_error_and_no_other_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(Conflict, match=f"^Port {port} is in use"):
            serve.start([], port, program=["-c", "raise SystemExit('nothing may be started')"])
        status = main(["serve", "--port", str(port)])
    said = capsys.readouterr().err
    assert status == 1
    assert f"Port {port} is in use" in said
    assert "--port" in said
    assert "opens at" not in said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_server_that_is_still_loading_ends_at_once_and_says_nothing(number: signal.Signals) -> None:
    """A terminal sends Ctrl-C, and its hangup, to all of its programs; others signal only the first one. Tests that run
    in the background of a script ignore Ctrl-C."""
    program = (
        "import functools, signal, sys; from core import serve\n"
        "for each in signal.SIGINT, signal.SIGTERM, signal.SIGHUP: signal.signal(each, signal.SIG_DFL)\n"
        "loading = ['-c', 'import time; print(1, flush=True); time.sleep(60)']\n"
        "serve.start = functools.partial(serve.start, program=loading)\n"
        "serve.serve([], 0)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=PIPE, stderr=PIPE, text=True, start_new_session=True
    ) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == "1\n"
        (server.send_signal if number == signal.SIGTERM else functools.partial(os.killpg, server.pid))(number)
        out, said = server.communicate(timeout=30)  # until neither process is left
    assert (server.returncode, out) == (0, "")
    assert re.fullmatch(r"Snapscope opens at http://127.0.0.1:\S+ \(stop with Ctrl\+C\)\.\n", said)


@pytest.mark.parametrize("port", [-1, 65536, 10**9])
def test_what_is_no_port_is_refused(port: int) -> None:
    with pytest.raises(Invalid, match="not a valid port"):
        serve.start([], port, program=["-c", ""])


@pytest.mark.parametrize(
    "host", ["", "*", "http://a:1", "a:1/x", "a b", "u@a:1", "a:", "a:port", "a\nb", "*.example:80", "a:1,b:2", "-a"]
)
def test_a_host_is_one_name_and_port(host: str) -> None:
    with pytest.raises(Invalid, match="not a valid host and port"):
        serve.start([], 0, hosts=[host], program=["-c", ""])


def test_secrets_of_the_settings_file_stand_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server reads the file itself: its arguments, its environment and its address have locations only."""
    Path(os.environ["SNAPSCOPE_CONFIG"]).write_text(
        "[warehouse.lake]\nlocation = 's3://lake/wh'\naccess-key = 'me'\nsecret-key = 'marker-secret'\n"
    )
    found: list[serve.Serving] = []

    def started(places: list[str], *_: object, **__: object) -> int:
        found.append(serve.start(places, 0, program=["-c", TELLS]))
        return 0

    monkeypatch.setattr("core.cli.programs.run_dashboard", started)
    assert main(["serve", "lake"]) == 0
    *_, argv, environment = json.loads(asked(found[0].address))
    assert found[0].process.wait(30) == 0
    assert environment["SNAPSCOPE_WAREHOUSE"] == "s3://lake/wh"
    assert "marker-secret" not in json.dumps([argv, environment, found[0].address])
