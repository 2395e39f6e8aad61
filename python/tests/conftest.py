"""What every test may use: rows of the witnesses, and a mark for tests of minutes."""

import os

import numpy as np
import pytest

import specroute


def pytest_collection_modifyitems(items):
    if os.environ.get("SR_FULL"):
        return
    for item in items:
        if item.get_closest_marker("full"):
            item.add_marker(pytest.mark.skip(reason="minutes of work: set SR_FULL=1"))


@pytest.fixture(scope="session")
def witness():
    """Six hundred rows that depend on each other."""
    table, _ = specroute.simulate("ar1:n=600,tmix=15,d=4", random_state=3)
    return np.array(table.X), np.array(table.y)


@pytest.fixture(scope="session")
def model(witness):
    return specroute.SpecrouteClassifier(n_estimators=15, random_state=0).fit(*witness)
