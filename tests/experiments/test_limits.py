"""Work in a process of its own: it is stopped where it runs over a limit, and says so."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from ast import literal_eval
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphgrain as gg
from experiments.limits import Limits, Outcome, run_in_process
from graphgrain.errors import InvalidGraphError, InvalidParameterError

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the system does not enforce limits")
MEBIBYTE = 2**20


def answers(send: Any) -> None:
    send("first")
    send({"process": os.getpid()})


def spins(send: Any) -> None:
    send("begun")
    while True:
        pass


def waits(send: Any) -> None:
    """Takes long, but hardly any processor time."""
    time.sleep(1.5)
    send("rested")


def grows(send: Any) -> None:
    taken = []
    for _ in range(100):
        taken.append(np.ones(4 * MEBIBYTE))  # 32 MiB
        send(len(taken))


def is_killed(send: Any) -> None:
    send("alive")
    os.kill(os.getpid(), signal.SIGKILL)


def refuses(send: Any) -> None:
    raise InvalidGraphError("These graphs have no attributes.")


def breaks(send: Any) -> None:
    raise ZeroDivisionError("by zero")


def loads() -> None:
    """Takes more than a limit of 64 MiB, and gives it back."""
    np.ones(32 * MEBIBYTE)


def run(work: Any, limits: Limits, **more: Any) -> tuple[Outcome, list[Any]]:
    received: list[Any] = []
    outcome = run_in_process(work, limits, received.append, **more)
    return outcome, received


def test_work_without_trouble_runs_elsewhere() -> None:
    outcome, received = run(answers, Limits(60, 1000 * MEBIBYTE))
    assert outcome == Outcome()
    assert received[0] == "first"
    assert received[1]["process"] != os.getpid()


@pytest.mark.slow
def test_processor_time_is_limited_and_waiting_is_not() -> None:
    outcome, received = run(spins, Limits(seconds=1))
    assert outcome == Outcome(stopped="time")
    assert received == ["begun"]
    assert run(waits, Limits(seconds=1)) == (Outcome(), ["rested"])


def test_memory_is_limited() -> None:
    outcome, received = run(grows, Limits(memory=512 * MEBIBYTE))
    assert outcome == Outcome(stopped="memory")
    # 16 pieces of 32 MiB are the limit; the interpreter may take a part of it, or have some left.
    assert 10 <= len(received) <= 18
    assert received == list(range(1, len(received) + 1))


@pytest.mark.slow
def test_what_comes_before_is_not_limited() -> None:
    outcome, received = run(answers, Limits(memory=64 * MEBIBYTE), before=loads)
    assert outcome == Outcome()
    assert len(received) == 2


@pytest.mark.slow
def test_other_ends_are_errors_with_their_reason() -> None:
    outcome, received = run(is_killed, Limits(60, 1000 * MEBIBYTE))
    assert outcome.stopped == ""
    assert "SIGKILL" in outcome.error
    assert received == ["alive"]
    assert run(refuses, Limits())[0] == Outcome(error="These graphs have no attributes.")
    assert run(breaks, Limits())[0] == Outcome(error="ZeroDivisionError: by zero")


def test_what_the_machine_lacks_is_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.limits.available_memory", lambda: 100 * MEBIBYTE)
    outcome, _ = run(grows, Limits(memory=512 * MEBIBYTE))
    assert outcome.stopped == ""
    assert outcome.error


def has_ended(process: int) -> bool:
    """Whether a process is gone, or a zombie that nobody has asked for, within half a minute."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            with open(f"/proc/{process}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")


@needs_proc
@pytest.mark.slow
def test_an_interrupted_caller_leaves_no_process() -> None:
    children: list[int] = []

    def interrupted(message: Any) -> None:
        if isinstance(message, dict):
            children.append(message["process"])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_in_process(answers_and_spins, Limits(60), interrupted)
    assert has_ended(children[0])


@needs_proc
@pytest.mark.slow
def test_a_killed_caller_leaves_no_process() -> None:
    script = """
        from experiments.limits import Limits, run_in_process
        from tests.experiments.test_limits import answers_and_spins
        tell = lambda message: print(message, flush=True)
        run_in_process(answers_and_spins, Limits(60), tell)
    """
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(Path(gg.__file__).parents[1])},
    ) as caller:
        assert caller.stdout is not None
        lines = [caller.stdout.readline() for _ in range(3)]
        caller.kill()
    assert has_ended(literal_eval(lines[1])["process"])


def answers_and_spins(send: Any) -> None:
    answers(send)
    spins(send)


@pytest.mark.parametrize("values", [{"seconds": 0}, {"memory": -1}, {"seconds": float("inf")}])
def test_limits_are_numbers_above_zero(values: dict[str, Any]) -> None:
    [name] = values
    with pytest.raises(InvalidParameterError, match=f"limit {name} must be a number above 0"):
        Limits(**values)
