"""GPU work counted on fake tensors: memory, kernels, traffic, arithmetic, by sizes known by eye."""

import torch
from torch.nn import functional as F

from lab.training.gpu_counter import Counted, as_one_kernel, count, peak_memory

KIB = 1024


def vector(kib: int) -> torch.Tensor:
    return torch.zeros(kib * KIB // 4)


def test_a_tensor_counts_from_its_making_until_nothing_refers_to_it():
    def work():
        a = vector(3)
        b = vector(5)
        del a
        c = vector(2)
        return b, c

    assert count(work) == Counted(peak=8 * KIB, kept=7 * KIB, bytes=10 * KIB, flops=0, launches=3)


def test_allocations_are_rounded_up_as_the_allocator_of_a_gpu_does():
    assert peak_memory(lambda: [torch.zeros(1), torch.zeros(129)]) == 512 + 1024


def test_a_view_costs_neither_memory_nor_a_launch():
    counted = count(lambda: vector(4).view(2, -1)[0, 3:].expand(8, -1).mT.detach())
    assert (counted.peak, counted.launches) == (4 * KIB, 1)


def test_what_autograd_keeps_for_the_backward_pass_counts_until_then():
    def forward(backward: bool):
        x = vector(4).requires_grad_()
        y = x.exp().sum()  # exp keeps its result
        if backward:
            y.backward()
        return (x.grad if backward else y), x

    assert count(lambda: forward(False)).kept == 4 * KIB + 4 * KIB + 512
    assert count(lambda: forward(True)).kept == 4 * KIB + 4 * KIB


def test_a_matrix_product_takes_two_flops_a_multiplication_and_twice_as_many_backward():
    def work(backward: bool):
        layer = torch.nn.Linear(64, 32, bias=False)
        y = layer(torch.zeros(16, 64, requires_grad=True)).sum()
        if backward:
            y.backward()

    assert count(lambda: work(False)).flops == 2 * 16 * 64 * 32
    assert count(lambda: work(True)).flops == 3 * 2 * 16 * 64 * 32


def test_causal_attention_keeps_no_weights_as_on_a_gpu():
    def work(length: int):
        q, k = torch.zeros(1, 4, length, 8, requires_grad=True), torch.zeros(1, 2, length, 8)
        return F.scaled_dot_product_attention(q, k, k, is_causal=True, enable_gqa=True)

    short, long = count(lambda: work(512)), count(lambda: work(1024))
    assert long.peak <= 2 * short.peak
    assert long.flops == 4 * short.flops == 4 * 4 * 4 * 512 * 512 * 8


def test_a_norm_is_one_kernel_that_keeps_its_input_and_one_number_a_row_as_on_a_gpu():
    def work():
        x, weight = torch.zeros(64, 256, requires_grad=True), torch.ones(256, requires_grad=True)
        y = F.rms_norm(x, (256,), weight, 1e-6)
        return x, weight, (y.sum(),)  # the sum lets go of y

    counted = count(work)
    assert counted.launches == 4
    assert counted.kept == 64 * KIB + 1 * KIB + 512 + 512  # x, weight, a number a row, the sum


def test_counting_allocates_nothing():
    tebibyte = 2**40
    assert peak_memory(lambda: torch.empty(tebibyte, dtype=torch.int8)) == tebibyte


def test_bfloat16_by_autocast_counts_the_copies_that_it_makes():
    def work():
        layer, x = torch.nn.Linear(256, 256, bias=False), torch.zeros(64, 256)
        with torch.autocast("cpu", torch.bfloat16):
            return layer, x, layer(x)

    full, half = 256 * KIB + 64 * KIB, 128 * KIB + 32 * KIB
    assert count(work).peak == full + half + 32 * KIB


def test_a_joined_function_reads_and_writes_its_operands_once_in_each_direction():
    """x * sigmoid(y): 3 kernels forward, of which the third is joined to the others."""

    def work(joined: bool):
        def product(x, y):
            return x * (-y).sigmoid()

        x, y = vector(4).requires_grad_(), vector(4).requires_grad_()
        made = (as_one_kernel(product) if joined else product)(x, y)
        made.backward(torch.ones_like(made))
        return x.grad, y.grad

    begin = count(lambda: (x := vector(4), vector(4), torch.ones_like(x)))  # x, y, the gradient
    apart, joined = (count(lambda joined=joined: work(joined)) for joined in (False, True))
    assert joined.launches - begin.launches == 2 < apart.launches - begin.launches
    forward, backward = (2 + 1) * 4 * KIB, (2 + 1 + 2) * 4 * KIB
    assert joined.bytes - begin.bytes == forward + backward < apart.bytes - begin.bytes
    assert joined.kept == apart.kept == 2 * 4 * KIB and joined.peak <= apart.peak


def test_a_joined_function_takes_other_things_than_tensors_and_returns_several():
    def both(x, kind, factor):
        return x + x, (x * factor).to(kind)

    counted = count(lambda: as_one_kernel(both)(vector(4), torch.float64, 3))
    assert counted.launches == 2 and counted.bytes == (4 + 4 + 4 + 8) * KIB
    assert counted.kept == (4 + 8) * KIB
