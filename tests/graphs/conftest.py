"""Where the real data sets of the tests are."""

from pathlib import Path

import pytest

from .. import real_data


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets, or a skipped test that says what is missing."""
    if not real_data.FOLDER.is_dir():
        pytest.skip("the real data sets are not there; GRAPHGRAIN_DATA names their folder")
    return real_data.FOLDER
