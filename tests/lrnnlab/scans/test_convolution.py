"""The long convolution against NumPy's, its kernel against exponentials in double precision, both against scans."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tensors import normal

from lrnnlab.scans import convolution, linear_scan
from lrnnlab.scans.convolution import MAX_DENSE_LENGTH, long_conv, vandermonde

f64, f32, c128, c64 = torch.float64, torch.float32, torch.complex128, torch.complex64
FAR = 1 << 20


def oracle(u, kernel, D=None, future=None):
    """NumPy's own convolution, one sequence and channel after the other."""
    u, kernel = np.asarray(u), np.asarray(kernel)
    y = np.zeros(u.shape) if D is None else u * np.asarray(D)
    for b, h in np.ndindex(u.shape[0], u.shape[2]):
        line, L = u[b, :, h], u.shape[1]
        if kernel.shape[1] and L:
            y[b, :, h] += np.convolve(line, kernel[h])[:L]
        if future is not None and future.shape[1] and L > 1:  # backwards in time, one step later
            y[b, :-1, h] += np.convolve(line[:0:-1], np.asarray(future)[h])[: L - 1][::-1]
    return y


def gap(u, kernel, D=None, future=None):
    expected = oracle(u, kernel, D, future)
    found = long_conv(u, kernel, D, future=future)
    assert found.shape == expected.shape and found.dtype == u.dtype
    return abs(found.numpy() - expected).max(initial=0) / max(1, abs(expected).max(initial=0))


@pytest.mark.parametrize("taps", [0, 1, 5, 40, 300])
@pytest.mark.parametrize("L", [1, 2, 3, 63, 64, 65, 100, 257])
def test_against_the_oracle(L, taps):
    u, kernel, D = normal(2, L, 3), normal(3, taps, seed=1), normal(3, seed=2)
    for future in (None, normal(3, 300 - taps, seed=3)):
        assert gap(u, kernel, future=future) < 1e-12
        assert gap(u, kernel, D, future) < 1e-12


@pytest.mark.parametrize("L", [2 * MAX_DENSE_LENGTH + 3, 4096])
def test_rounding_is_small_against_the_norms(L):
    u, kernel = normal(2, L, 2, dtype=f32), normal(2, L, seed=1, dtype=f32)
    error = (long_conv(u, kernel) - long_conv(u.double(), kernel.double())).abs()  # (B, L, H)
    assert error.max() > 0
    assert (error.amax(1) < 1e-6 * u.norm(dim=1) * kernel.norm(dim=1)).all()


@pytest.mark.parametrize("L", [1, 40, MAX_DENSE_LENGTH, MAX_DENSE_LENGTH + 1, 200])
def test_causal(L):
    """To the last bit where the product is dense; up to rounding of the FFT beyond."""
    u, kernel = normal(1, L, 2), normal(2, L, seed=1)
    later = u.clone()
    later[:, -1] += 1
    change = (long_conv(later, kernel) - long_conv(u, kernel)).abs()
    assert change[:, -1].min() > 1e-4
    assert change[:, :-1].sum() == 0 if L <= MAX_DENSE_LENGTH else change[:, :-1].max() < 1e-12
    if L > 1:  # one tap ahead is seen exactly one step before
        ahead = (long_conv(later, kernel, future=kernel[:, :1]) - long_conv(u, kernel)).abs()
        assert ahead[:, -2].max() > 0.1


@pytest.mark.parametrize("short", [0, MAX_DENSE_LENGTH])
def test_gradients(monkeypatch, short):
    monkeypatch.setattr(convolution, "MAX_DENSE_LENGTH", short)  # 0: the FFT at every length
    inputs = [x.requires_grad_() for x in (normal(1, 4, 2), normal(2, 3), normal(2, seed=4), normal(2, 5, seed=5))]

    def both_ways(u, kernel, D, future):
        return long_conv(u, kernel, D, future=future)

    assert torch.autograd.gradcheck(both_ways, inputs, check_undefined_grad=False)


def test_nothing_in_nothing_out():
    for shape in ((0, 100, 2), (2, 0, 2), (2, 100, 0)):
        u = torch.zeros(shape, requires_grad=True)
        y = long_conv(u, torch.zeros(shape[2], 7), torch.zeros(shape[2]))
        y.sum().backward()
        assert y.shape == u.shape == u.grad.shape


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 60).map(lambda n: 2 * n + 1), st.booleans(), st.booleans(), st.booleans(), st.integers(0, 99))
def test_it_is_the_diagonal_recurrence(L, real, shared, start, seed):
    """x_t = lambda x_{t-1} + u_t, y_t = Re C x_t: the scan, and the convolution; x_0 adds a kernel of its own."""
    B, H, N = 2, 3, 4
    dtype = f64 if real else c128
    lam = normal(*((N,) if shared else (H, N)), seed=seed, dtype=dtype)
    lam = lam / lam.abs().clamp(min=1)
    C, u = normal(H, N, seed=seed + 1, dtype=dtype), normal(B, L, H, seed=seed + 2)
    x0 = normal(B, H, N, seed=seed + 3, dtype=dtype) * start
    b = u.to(dtype).unsqueeze(-1).expand(B, L, H, N).flatten(2)
    x = linear_scan(lam.expand(B, L, H, N).flatten(2), b, x0.flatten(1)).unflatten(2, (H, N))
    expected = (C * x).sum(-1).real
    log_lambda = lam.to(c128).log()
    y = long_conv(u, vandermonde(log_lambda, C, L))
    for sequence in range(B):
        y[sequence] += vandermonde(log_lambda, C * lam * x0[sequence], L).T
    torch.testing.assert_close(y, expected, rtol=0, atol=1e-10)


def test_two_directions_are_two_scans():
    """Paper 004, Eq. 5: the state that comes from the end is read one step late."""
    lam, C, u = normal(2, 4, seed=1).tanh(), normal(2, 4, seed=2), normal(1, 90, 4)
    scans = [linear_scan(row.expand(1, 90, 4).contiguous(), v) for row, v in zip(lam, (u, u.flip(1)))]
    late = torch.nn.functional.pad(scans[1].flip(1)[:, 1:], (0, 0, 0, 1))
    log_lambda = lam.to(c128).log().unsqueeze(-1)  # (direction, H, one mode)
    behind, ahead = (vandermonde(log_lambda[i], C[i].unsqueeze(-1), 90) for i in (0, 1))
    torch.testing.assert_close(long_conv(u, behind, future=ahead), C[0] * scans[0] + C[1] * late, rtol=0, atol=1e-11)


def test_wrong_input_of_the_convolution_is_shown():
    u, kernel = normal(2, 9, 3), normal(3, 9)
    for bad, words in (
        ((u, kernel.T), r"kernel \(9, 3\)"),
        ((u, kernel.float()), "u is torch.float64 on cpu, kernel is torch.float32 on cpu"),
        ((u, kernel.to(c128)), "complex128"),
    ):
        with pytest.raises(ValueError, match=words):
            long_conv(*bad)
    with pytest.raises(ValueError, match=r"future \(2, 9\)"):
        long_conv(u, kernel, future=kernel[:2])


@pytest.fixture(scope="module")
def far():
    """Modes of every sort at L = 2^20, in single precision, and the sums that say what their kernel is."""
    modulus = torch.tensor([0.9, 0.999999, 1.0, 1.0, 0.9999, 1.0], dtype=f64)
    angle = torch.tensor([0.3, 2.9, 1.234, math.pi, math.pi, 0.0], dtype=f64)  # two are real and negative
    log_lambda = torch.complex(modulus.log(), angle).to(c64)
    C, g = normal(2, 6, dtype=c64), normal(2, FAR, seed=1, dtype=f32)
    powers = np.exp(np.multiply.outer(log_lambda.numpy().astype(complex), np.arange(FAR)))
    return log_lambda, C, g, powers, abs(powers)


def off(found, expected, scale):
    """The largest difference, as a share of ``scale``."""
    return (abs(found.detach().numpy() - expected) / scale).max()


def test_accurate_far_out(far):
    log_lambda, C, _, powers, sizes = far
    expected = (C.numpy().astype(complex) @ powers).real
    scale = abs(C.numpy()) @ sizes
    K = vandermonde(log_lambda, C, FAR)
    assert K.dtype == f32
    assert off(K, expected, abs(expected).max()) < 1e-6
    assert off(K, expected, scale) < 1e-6
    assert off(vandermonde(log_lambda.expand(2, 6), C, FAR), expected, scale) < 1e-6
    naive = (C @ torch.exp(log_lambda.unsqueeze(-1) * torch.arange(FAR))).real
    assert naive.dtype == f32 and off(naive, expected, abs(expected).max()) > 1e-2


def test_gradients_far_out(far):
    log_lambda, C, g, powers, sizes = far
    leaves = log_lambda.clone().requires_grad_(), C.clone().requires_grad_()
    by_log_lambda, by_C = torch.autograd.grad(vandermonde(*leaves, FAR), leaves, g)
    g, C = g.numpy().astype(float), C.numpy().astype(complex)
    late = np.arange(FAR) * g
    assert off(by_C, g @ powers.conj().T, abs(g) @ sizes.T) < 1e-6
    assert off(by_log_lambda, (C * (late @ powers.T)).sum(0).conj(), (abs(C) * (abs(late) @ sizes.T)).sum(0)) < 1e-6
    assert off(by_log_lambda, (C * (late @ powers.T)).sum(0).conj(), abs(by_log_lambda.numpy())) < 1e-4


@pytest.mark.parametrize("L", [0, 1, 2, 3, 17, 64, 1000])
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("kinds", [(f64, f64), (f64, c128), (c128, f64), (c128, c128)])
def test_parts(L, shared, kinds):
    log_lambda = 0.3 * normal(*((4,) if shared else (3, 4)), dtype=kinds[0])
    log_lambda = log_lambda - log_lambda.real.abs() - 0.01
    C = normal(3, 4, seed=1, dtype=kinds[1])
    whole = (C.unsqueeze(-1) * torch.exp(log_lambda.to(c128).unsqueeze(-1) * torch.arange(L))).sum(1)
    for part, expected in (("real", whole.real), ("complex", whole)):
        torch.testing.assert_close(vandermonde(log_lambda, C, L, part=part), expected, rtol=0, atol=1e-12)


def test_the_kernel_of_roots_of_unity_is_a_fourier_transform():
    """Paper 004, Sec. 2.3: at the start K is N times the inverse transform of w, and repeats after N steps."""
    N, w = 12, normal(3, 12, dtype=c128)
    K = vandermonde(2j * math.pi * torch.arange(N, dtype=f64) / N, w, 3 * N, part="complex")
    torch.testing.assert_close(K, (N * torch.fft.ifft(w)).repeat(1, 3), rtol=0, atol=1e-12)


@pytest.mark.parametrize("table", [convolution.MAX_TABLE, 24])
@pytest.mark.parametrize("part", convolution.PARTS)
@pytest.mark.parametrize("lead, kinds", [((2,), (c128, c128)), ((3, 2), (c128, f64)), ((2,), (f64, c128))])
def test_kernel_gradients(monkeypatch, table, part, lead, kinds):
    """Whole, and piece by piece."""
    monkeypatch.setattr(convolution, "MAX_TABLE", table)
    inputs = [(0.1 * normal(*lead, dtype=kinds[0]) - 0.2), normal(3, 2, seed=1, dtype=kinds[1])]
    inputs = [x.requires_grad_() for x in inputs]
    assert torch.autograd.gradcheck(lambda a, C: vandermonde(a, C, 9, part=part), inputs)


def kept(log_lambda, C, L):
    """Bytes that the backward pass would find, the kernel, and the gradients."""
    sizes = []

    def note(x):
        sizes.append(x.nbytes)
        return x

    leaves = log_lambda.clone().requires_grad_(), C.clone().requires_grad_()
    with torch.autograd.graph.saved_tensors_hooks(note, lambda x: x):
        K = vandermonde(*leaves, L)
    return sum(sizes), K, *torch.autograd.grad(K.square().sum(), leaves)


def test_pieces_need_less_memory(monkeypatch):
    """Where the tables would be large they are made in pieces: the same kernel, a fifth of the memory."""
    log_lambda = torch.complex(-normal(20, dtype=f64).abs() / 100, normal(20, seed=1))
    C = normal(25, 20, seed=2, dtype=c128)
    whole, *expected = kept(log_lambda, C, 800)
    monkeypatch.setattr(convolution, "MAX_TABLE", 1000)
    parts, *found = kept(log_lambda, C, 800)
    assert parts < whole / 5
    for x, e in zip(found, expected):
        torch.testing.assert_close(x, e, rtol=1e-9, atol=1e-9)


def test_types_of_the_kernel():
    a = torch.zeros(2, dtype=c128)
    assert vandermonde(a, torch.ones(1, 2), 3).dtype == f32
    assert vandermonde(a, torch.ones(1, 2), 3, dtype=f64).dtype == f64
    assert vandermonde(a.to(c64), torch.ones(1, 2, dtype=f64), 3, part="complex").dtype == c128
    assert vandermonde(a, torch.ones(1, 2, dtype=c64), 3, part="complex").dtype == c64
    for shape in ((0, 2), (2, 0)):
        assert vandermonde(torch.zeros(shape), torch.zeros(shape), 5).shape == (shape[0], 5)


def test_wrong_input_of_the_kernel_is_shown():
    a, C = torch.zeros(3, 2), torch.zeros(3, 2)
    for bad, words in (
        ((a[:2], C, 4), r"got log_lambda \(2, 2\), C \(3, 2\)"),
        ((a, C, -1), "length, must be .* got -1"),
        ((a - math.inf, C, 4), "no logarithm"),
        ((a, C.int(), 4), "int32"),
    ):
        with pytest.raises(ValueError, match=words):
            vandermonde(*bad)
    with pytest.raises(ValueError, match="part is one of real, complex, got 'imag'"):
        vandermonde(a, C, 4, part="imag")
    with pytest.raises(ValueError, match="dtype=torch.complex64"):
        vandermonde(a, C, 4, dtype=c64)
