"""What all tests share."""

import gc
import warnings
from collections import Counter
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
import torch
from browser import MS, required
from hypothesis import HealthCheck, settings
from packaging.requirements import Requirement

from lrnnbook.machinery.book.browser import chromium

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


@pytest.fixture
def visit(browser):
    """visit(file, width, scheme): a page opened from the disk without a network, where every request is written down."""
    contexts, asked = [], []

    def visit(file, width=1280, scheme="light", **options):
        size = {"width": width, "height": 900}
        contexts.append(browser.new_context(viewport=size, color_scheme=scheme, offline=True, **options))
        contexts[-1].set_default_timeout(MS)
        page = contexts[-1].new_page()
        page.on("request", lambda one: asked.append(one.url) if not one.url.startswith(("file:", "data:")) else None)
        page.on("requestfailed", lambda one: asked.append(one.url))
        page.on("pageerror", lambda error: asked.append(str(error)))
        page.goto(file.as_uri())
        return page

    yield visit
    assert asked == []
    for context in contexts:
        context.close()


# What a change seldom breaks and a machine is long busy with: planted faults, rehearsals, other processors, whole browsers, and
# whatever asks for the site of all notebooks.  Files, and functions of other files, which one looks for here.
THOROUGH = {
    "test_baseline_rows", "test_browser", "test_course_grading", "test_course_marks", "test_course_sets", "test_engines",
    "test_fence", "test_lab", "test_proof_cells", "test_records_again", "test_verification_random", "test_wheel",
    "test_a_layer_equals_its_formula", "test_a_net_that_drifts_is_right_at_every_length_and_proved",
    "test_a_picture_fits_its_page_and_axe_finds_nothing", "test_a_proof_s_cells_run_again",
    "test_a_real_environment_without_a_network", "test_a_real_one_is_mended_in_place",
    "test_a_right_call_passes_a_type_checker_and_a_wrong_one_does_not", "test_all_forms_take_the_same_step",
    "test_all_that_a_quantised_net_knows_is_saved_and_loaded_or_refused", "test_an_arithmetic_takes_effect",
    "test_compiled_for_hopper", "test_dead_links_and_formulas_that_cannot_be_set_are_found",
    "test_gradients_written_past_the_cache_are_the_same",
    "test_kernels_in_the_interpreter", "test_measurements_take_jobs_too_and_what_was_interrupted_goes_on", "test_mypy",
    "test_nbval_alone_with_the_plugin_says_what_check_says", "test_no_proof_is_false",
    "test_one_run_serves_nbval_and_the_checker", "test_pointer_and_keyboard_move_the_picture_and_its_sentence",
    "test_results_do_not_depend_on_the_number_of_threads", "test_the_command_checks_it",
    "test_the_same_pictures_as_slow_arithmetic", "test_two_threads_take_effect_on_one_core_too_and_whatever_libraries_are_told",
    "test_verdicts_are_the_same_in_every_mode", "test_what_is_said_of_trees_and_pictures_stands_in_their_records",
    "test_what_was_found_is_what_the_records_say", "test_without_numba_the_plain_loop_runs",
    "test_without_scripts_the_page_says_what_could_be_seen",
}  # fmt: skip
# Of these a third of the cases will do for a quick look.
THIRD = {
    "test_a_counterexample_is_wrong_and_shortest", "test_a_layer_is_its_equation", "test_a_model_trains_on_what_it_can_read",
    "test_a_net_of_paper_002_is_its_equation", "test_a_predictor_finds_what_is_planted_for_it",
    "test_a_quantised_net_that_was_changed_is_refused_with_the_reason", "test_a_run_that_is_killed_goes_on_to_the_same_record",
    "test_a_setting_of_the_process_changes_no_number", "test_a_step_that_is_no_function_of_its_string_is_refused",
    "test_constant_coefficients", "test_every_peer_computes_the_same", "test_exact_models_are_right_on_every_prefix",
    "test_forward_is_stepping_from_anywhere_and_at_any_length", "test_forward_is_stepping_in_single_precision",
    "test_gradients_agree", "test_known_verdicts", "test_nbval_alone_and_strict_finds_nothing",
    "test_no_net_is_farther_off_than_its_bound", "test_no_parameter_is_dead",
    "test_records_answer_the_present_settings_and_are_told", "test_the_machine_read_off_answers_as_the_net",
    "test_the_tables_of_training_have_the_logits_and_gradients_of_every_depth", "test_token_tables", "test_value_and_gradient",
    "test_values_and_gradients_are_those_of_the_parts_in_float64",
    "test_what_is_proved_is_right_in_every_batch_at_every_length",
}  # fmt: skip
NBVAL_ALONE = "test_nbval_alone_and_strict_finds_nothing"
# The files that take longest come first, or one process of two would wait for them at the end.
LONGEST = ["test_notebooks", "test_site", "test_browser", "test_proof_cells"]


def pytest_report_header():
    """Which packages are here in other versions than in tests/constraints.txt: a failure may be theirs."""
    other = []
    for line in Path(__file__).with_name("constraints.txt").read_text(encoding="utf-8").splitlines():
        tested = None if line.startswith("#") else Requirement(line)
        if tested and (tested.marker is None or tested.marker.evaluate()):
            try:
                if version(tested.name) not in tested.specifier:
                    other.append(f"{tested.name} {version(tested.name)} ({tested.specifier})")
            except PackageNotFoundError:  # of an extra that is not here
                continue
    return "other versions than in tests/constraints.txt: " + (", ".join(other) or "none")


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="what takes long, too; without it, files named here still run whole")


def pytest_collection_finish():
    """Collect less garbage: Python spent a tenth of the time on the million objects that collecting tests leaves."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_collection_modifyitems(config, items):
    stem = lambda item: Path(item.location[0]).stem
    items.sort(key=lambda item: LONGEST.index(stem(item)) if stem(item) in LONGEST else len(LONGEST))
    named, count = {Path(argument.partition("::")[0]).stem for argument in config.args}, Counter()

    def is_left_out(item):
        name = getattr(item, "originalname", item.name)
        count[name] += 1
        return stem(item) not in named and (
            not THOROUGH.isdisjoint((stem(item), name)) or "site" in getattr(item, "fixturenames", ())
            or item.get_closest_marker("thorough") or (name in THIRD and count[name] % 3 != 1))  # fmt: skip

    if config.getoption("--all"):  # one will do, since the check of each chapter makes nbval's comparison too
        left_out = {item for item in items if getattr(item, "originalname", "") == NBVAL_ALONE and stem(item) not in named}
        left_out -= {next((item for item in items if item in left_out), None)}
    else:
        left_out = set(filter(is_left_out, items))
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]
