"""Kept memory: never shared by two living tensors, used again when nobody holds it, bounded."""

import gc
import sys
import threading

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lrnnlab.scans import linear_scan
from lrnnlab.scans.kernels import allocator
from lrnnlab.scans.kernels.allocator import MIN_KEPT, Shelf


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 5), st.booleans()), max_size=40))
def test_living_arrays_never_overlap(history):
    """Take arrays of a few sizes, drop some: what is held keeps what was written into it."""
    shelf, held = Shelf(kept=300), []
    for number, (size, drop) in enumerate(history):
        array = shelf.take(64 * size)
        assert len(array) == 64 * size and array.data_ptr() % 64 == 0
        array[:] = number % 251
        held.append((array, number % 251))
        if drop:
            held.pop(number % len(held))
        del array
        assert all((kept == value).all() for kept, value in held)


def test_what_nobody_holds_is_used_again_and_what_somebody_holds_is_not():
    shelf = Shelf(kept=1 << 20)
    first = shelf.take(5000)
    window = first[10:20]  # a view keeps it too
    address = first.data_ptr()
    del first
    second = shelf.take(5000)
    assert second.data_ptr() != address
    del window
    assert shelf.take(4999).data_ptr() != address  # of another size
    assert shelf.take(5000).data_ptr() == address and second.data_ptr() != address


def test_a_tensor_holds_its_memory_through_views_and_autograd():
    shelf_before = allocator.shelf()
    A = torch.rand(64, 300, 64, requires_grad=True)
    x = linear_scan(A, torch.ones(64, 300, 64), backend="cpu")
    assert x.untyped_storage().nbytes() >= MIN_KEPT
    part, copy = x[:1, :, :1], x[:1, :, :1].clone()
    loss = x.sum()
    del x  # autograd still needs it
    gc.collect()
    others = [linear_scan(torch.zeros(64, 300, 64), torch.zeros(64, 300, 64), backend="cpu") for _ in range(3)]
    assert torch.equal(part, copy) and len({o.data_ptr() for o in others} | {part.data_ptr()}) == 4
    loss.backward()
    before = torch.autograd.functional.vjp(
        lambda a: linear_scan(a, torch.ones(64, 300, 64), backend="reference"), A.detach(), torch.ones(64, 300, 64)
    )[1]
    assert torch.allclose(A.grad, before, rtol=1e-4, atol=1e-4)
    assert allocator.shelf() is shelf_before


def test_threads_do_not_get_the_same_memory():
    shelf, wrong = Shelf(kept=1 << 20), []

    def work(number):
        for _ in range(300):
            array = shelf.take(4096)
            array[:] = number
            if (array != number).any():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.skipif(sys.platform != "linux", reason="glibc only")
def test_freed_memory_stays_in_the_process():
    """Ten rounds of making and dropping 24 MB: 6000 pages a round if they went back to the system."""
    resource = pytest.importorskip("resource")
    if not allocator.keep_freed_memory():
        pytest.skip("another C library")

    def faults():
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

    for turn in range(12):
        if turn == 2:  # the first round takes what the others use again; the second may take some from elsewhere
            before = faults()
        held = [torch.ones(3 << 18) for _ in range(8)]
        del held
    assert faults() - before < 3000
