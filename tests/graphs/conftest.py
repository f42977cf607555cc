"""Where the real data sets of the tests are, and how hard Hypothesis tries."""

from pathlib import Path

import pytest
from hypothesis import settings

from .. import real_data

# The first call of a function may import a library or compile: no deadline for single examples.
settings.register_profile("graphs", deadline=None, max_examples=60)
settings.load_profile("graphs")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets, or a skipped test that says what is missing."""
    if not real_data.FOLDER.is_dir():
        pytest.skip("the real data sets are not there; GRAPHGRAIN_DATA names their folder")
    return real_data.FOLDER
