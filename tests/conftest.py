"""What all tests share."""

import pytest
import torch


@pytest.fixture(autouse=True)
def one_thread():
    """Arithmetic on one thread, whatever the machine has; a test that wants more says so itself."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
