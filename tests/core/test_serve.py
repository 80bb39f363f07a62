"""Whoever ends `snapscope serve` ends all of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from tests.places import ROOT

SERVED = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
SERVING = "import subprocess, sys; from core import serve; serve._until_it_ends(subprocess.Popen(sys.argv[1:]))"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_it_started_ends_with_it(number: signal.Signals) -> None:
    command = [sys.executable, "-c", SERVING, sys.executable, "-c", SERVED]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as serving:
        assert serving.stdout is not None
        started = int(serving.stdout.readline())
        serving.send_signal(number)  # to the parent alone
        assert serving.wait(300) == 0
    with pytest.raises(ProcessLookupError):
        os.kill(started, 0)
