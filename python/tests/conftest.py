"""Settings of the Python tests. They run against the installed package."""

import hypothesis
import numpy as np
import pytest

hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, max_examples=80)
hypothesis.settings.load_profile("ci")


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(20)
