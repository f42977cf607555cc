"""Where the real data sets of the tests are, and how hard Hypothesis tries."""

from pathlib import Path

import pytest
from hypothesis import settings

# The first call of a function may import a library or compile: no deadline for single examples.
settings.register_profile("graphs", deadline=None, max_examples=60)
settings.load_profile("graphs")

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    if not SHARED.is_dir():
        pytest.skip(f"the real data sets are not there ({SHARED})")
    return SHARED
