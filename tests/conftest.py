"""What all tests share."""

import warnings
from pathlib import Path

import pytest
import torch
from browser import MS, chromium, required
from hypothesis import HealthCheck, settings

# How long an example takes says how busy the machine is, and nothing about what is tested.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


@pytest.fixture(autouse=True)
def one_thread():
    """Arithmetic on one thread, whatever the machine has; a test that wants more says so itself."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def program():
    """The browser; where there is none: a failure if there must be one, else a skip that nobody overlooks."""
    try:
        import playwright  # noqa: F401
    except ImportError:
        why = "Playwright is not installed"
    else:
        why = None if (found := chromium()) else "there is no Chromium"
    if why and required():
        pytest.fail(f"{why}, and LRNNLAB_BROWSER or CI asks for it", pytrace=False)
    if why:
        warnings.warn(f"NO BROWSER TEST: {why}; nothing was tested in a browser", stacklevel=1)
        pytest.skip(f"NO BROWSER TEST: {why}")
    return found


@pytest.fixture(scope="module")
def browser(program):
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=MS)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"], timeout=MS)
        yield started
        started.close()


# Files whose tests start kernels, browsers, servers, fences or other processes, or train and search for long.
SLOW = {
    "test_baseline_rows", "test_bench", "test_bench_dlr", "test_bench_figures", "test_book", "test_bootstrap",
    "test_browser", "test_cli", "test_composition", "test_course_grading", "test_course_marks", "test_course_sets",
    "test_docs", "test_engines", "test_experiments", "test_explore", "test_fence", "test_first_hour", "test_lab",
    "test_lint", "test_moving", "test_notebooks", "test_pictures", "test_proof_cells", "test_public_functions", "test_records",
    "test_resuming", "test_site", "test_triton", "test_verification_random", "test_wheel",
}  # fmt: skip


def pytest_addoption(parser):
    parser.addoption("--fast", action="store_true", help="leave out the slow files: under two minutes")


def pytest_collection_modifyitems(config, items):
    # The file that takes longest comes first, or one process of two would wait for it at the end.
    items.sort(key=lambda item: Path(item.location[0]).stem != "test_notebooks")
    if config.getoption("--fast"):
        slow = [item for item in items if Path(item.location[0]).stem in SLOW or item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in set(slow)]
