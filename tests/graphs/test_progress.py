"""Progress bars: on standard error, when they are asked for, any number at once."""

import threading

from graphgrain.graphs.processes import progress_bar


def test_bars_of_threads_and_bars_in_bars_share_one_display(capfd):
    def work(name: str) -> None:
        with progress_bar(1, 3, "parts", name) as outer:
            for _ in range(3):
                with progress_bar(1, None, "steps", f"inside {name}") as inner:
                    inner.update(7)
                outer.update(1)

    threads = [threading.Thread(target=work, args=(name,)) for name in ("first", "second [x]")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    work("third")  # a new display, after the other has ended
    out, err = capfd.readouterr()
    assert out == ""
    for name in ("first", "second [x]", "third"):
        line = next(line for line in err.splitlines() if line.startswith(f"{name}, parts"))
        assert "100% 3/3" in line
        assert f"inside {name}, steps" in err


def test_bars_begin_after_their_delay_and_never_if_not_asked_for(capfd):
    for verbose, delay in ((0, 0.0), (1, 60.0)):
        with progress_bar(verbose, 3, delay=delay) as bar:
            bar.update(3)
    assert capfd.readouterr() == ("", "")


def test_an_error_ends_the_display(capfd):
    for _ in range(2):
        try:
            with progress_bar(1, 2, "parts", initial=1) as bar:
                bar.update(0)
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            pass
    assert capfd.readouterr().err.count("50% 1/2") == 2
