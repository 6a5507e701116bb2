"""Products of blocks, their eigenvalues and the automata in them: by plain multiplication, closed forms, known machines."""


import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrnnbook.content.chapters import ch02

norms = st.floats(1, 4)
sizes = st.integers(1, 9)


def product_growth(kind, steps, p, b, seed=0):
    return ch02.log10_products(ch02.random_blocks(kind, steps, p, b, seed))


@settings(max_examples=40, deadline=None)
@given(kind=st.sampled_from(ch02.KINDS), p=norms, b=sizes, seed=st.integers(0, 99))
def test_random_blocks_obey_eq_6_and_never_outgrow_the_worst(kind, p, b, seed):
    blocks = ch02.random_blocks(kind, 12, p, b, seed)
    assert blocks.shape == (12, b, b)
    assert np.linalg.norm(blocks, p, axis=1).max() <= 1 + 1e-12
    bound = product_growth("worst", 12, p, b)
    assert (ch02.log10_products(blocks) <= bound + 1e-9).all()


@pytest.mark.parametrize("kind", ch02.KINDS)
def test_growth_is_the_norm_of_the_plain_product(kind):
    blocks = ch02.random_blocks(kind, 20, 1.3, 5, seed=3)
    product, expected = np.eye(5), [0.0]
    for block in blocks:
        product = block @ product
        expected.append(np.log10(np.linalg.norm(product, 1)))
    assert np.allclose(product_growth(kind, 20, 1.3, 5, seed=3), expected, atol=1e-10)


def test_worst_growth_is_exact_where_floats_would_overflow():
    assert np.allclose(product_growth("worst", 3000, 2, 16), np.arange(3001) * 0.5 * np.log10(16))


def multiplied_in_float32(p, b):
    """The step at which the state (1, ..., 1) under the worst block, really multiplied in float32, is infinite."""
    A, x = np.full((b, b), b ** (-1 / p), dtype=np.float32), np.ones(b, dtype=np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        for k in range(1, 5000):
            x = A @ x
            if not np.isfinite(x).all():
                return k
    return None


@pytest.mark.parametrize(("p", "b"), [(1.2, 8), (1.2, 4), (1.5, 3), (2, 16), (2, 2), (1.1, 5), (3, 7)])
def test_overflow_is_where_float32_really_overflows_give_or_take_rounding(p, b):
    exact = ch02.overflow_step(p, b)
    growth = (1 - 1 / p) * np.log2(b)
    assert growth * exact > np.log2(ch02.FLOAT32_MAX) >= growth * (exact - 1)
    assert abs(multiplied_in_float32(p, b) - exact) <= 1


@settings(max_examples=25, deadline=None)
@given(V=st.integers(1, 3), h=st.integers(1, 3), b=st.integers(1, 5), seed=st.integers(0, 99))
def test_eigenvalues_have_the_trace_and_determinant_and_are_sorted(V, h, b, seed):
    A = np.random.default_rng(seed).normal(size=(V, h, b, b))
    found = ch02.eigenvalues(A)
    assert found.shape == (V, h, b) and found.dtype == np.complex128
    assert np.allclose(found.sum(-1), np.trace(A, axis1=-2, axis2=-1))
    assert np.allclose(found.prod(-1), np.linalg.det(A))
    assert (np.diff(np.abs(found), axis=-1) <= 1e-9).all()
