"""Where the real data sets of the tests are, and files that need not outlive a power cut."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from .. import real_data


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets, or a skipped test that says what is missing."""
    if not real_data.FOLDER.is_dir():
        pytest.skip("the real data sets are not there; GRAPHGRAIN_DATA names their folder")
    return real_data.FOLDER


@pytest.fixture(scope="package", autouse=True)
def _no_wait_for_the_disk() -> Iterator[None]:
    """Most of the time of small files; tests/test_writing.py has what is waited for, and when."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("graphgrain.writing.to_disk", lambda descriptor: None)
        yield
