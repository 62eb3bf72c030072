"""Operations and bytes of a forward, counted by hand, and the roof above them."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from sssd_demo.forward_work import (
    ModelShape,
    computed_profile,
    computed_seconds,
    operating_point,
    roof,
    shape_of,
)
from sssd_demo.packed_linear import pack
from sssd_demo.roofline import forward_time, knee_s_q, roofline_s_q
from tests.toys import VOCABULARY, toy_model

SHAPE = ModelShape(weights=1000, bytes_per_weight=2, kv_bytes=10, attention_operations=8)


def test_work_is_what_one_counts_by_hand():
    # two sequences of one token after 99: each weight multiplies and adds once a token, and each looks at 100 tokens
    assert SHAPE.operations(2, 1, 99) == 2 * (2 * 1000 + 8 * 100)
    assert SHAPE.bytes(2, 1, 99) == 2000 + 2 * 100 * 10
    # tokens of a chain look at 10, 11 and 12 others and themselves
    assert SHAPE.operations(1, 3, 10) == 3 * 2000 + 8 * (11 + 12 + 13)


def test_more_tokens_of_the_same_weights_move_right_and_more_context_moves_left():
    def intensity(batch: int, s_q: int, context: int) -> float:
        return operating_point(SHAPE, batch, s_q, context, 1.0).intensity

    assert intensity(1, 1, 0) < intensity(1, 8, 0) < intensity(8, 8, 0)
    assert intensity(8, 1, 10) > intensity(8, 1, 10_000)


def test_a_forward_with_nothing_but_weights_does_one_operation_for_every_byte_of_16_bits():
    bare = ModelShape(weights=10**9, bytes_per_weight=2, kv_bytes=0, attention_operations=0)
    point = operating_point(bare, 1, 1, 100, seconds=0.5)
    assert point.intensity == 1
    assert point.operations_per_second == 4e9


def test_the_roof_bends_at_the_knee():
    assert roof(100.0, 10.0, 5.0) == 50.0
    assert roof(100.0, 10.0, 10.0) == 100.0
    assert roof(100.0, 10.0, 50.0) == 100.0


def test_a_computed_forward_takes_as_long_as_the_slower_of_reading_and_arithmetic():
    reading = computed_seconds(SHAPE, 1, 1, 99, flops=1e12, bandwidth=100.0)
    assert reading == SHAPE.bytes(1, 1, 99) / 100
    arithmetic = computed_seconds(SHAPE, 1, 1, 99, flops=10.0, bandwidth=1e12)
    assert arithmetic == SHAPE.operations(1, 1, 99) / 10


def test_on_a_computed_profile_measured_times_and_the_plain_rule_agree_where_only_weights_count():
    bare = ModelShape(weights=10**9, bytes_per_weight=2, kv_bytes=0, attention_operations=0)
    profile = computed_profile(bare, flops=8e12, bandwidth=1e12)
    assert roofline_s_q(profile, 1, 2) == 8
    # 8 tokens are free; 1.2 times as long buys a fifth more
    assert knee_s_q(profile, 1, 64) == 9
    assert knee_s_q(profile, 4, 64) == 2
    for batch, s_q in ((1, 1), (64, 32)):
        expected = computed_seconds(bare, batch, s_q, 64, flops=8e12, bandwidth=1e12)
        assert forward_time(profile, batch, s_q, 64) == pytest.approx(expected)


def test_quantised_weights_bring_the_knee_nearer():
    profile = computed_profile(SHAPE, flops=16e12, bandwidth=1e12)
    assert [roofline_s_q(profile, 1, width) for width in (4, 2, 1, 0.5)] == [32, 16, 8, 4]


def test_of_a_model_the_table_is_not_read_but_a_tied_output_is():
    model = toy_model()
    shape = shape_of(model)
    assert shape is not None
    everything = sum(parameter.numel() for parameter in model.parameters())
    assert shape.weights + shape.looked_up == everything
    assert shape.looked_up == VOCABULARY * 32
    assert shape.attention_operations == 4 * 2 * 32
    assert shape.kv_bytes == 2 * 2 * 2 * 8 * 4
    model.config.tie_word_embeddings = True
    tied = shape_of(model)
    assert tied is not None
    assert (tied.weights, tied.looked_up) == (shape.weights, 0)


def test_packed_weights_are_counted_too():
    if not torch.backends.mkldnn.is_available():
        pytest.skip("weights are packed by oneDNN only")
    model = toy_model(dtype=torch.bfloat16)
    before = shape_of(model)
    for part in model.modules():
        for name, child in list(part.named_children()):
            if isinstance(child, nn.Linear):
                setattr(part, name, pack(child))
    assert shape_of(model) == before


def test_a_mixture_of_experts_has_no_shape():
    model = toy_model()
    model.config.num_local_experts = 8
    assert shape_of(model) is None


def test_memory_holds_the_model_and_what_it_remembers():
    shape = ModelShape(weights=90, bytes_per_weight=2, kv_bytes=3, attention_operations=0, looked_up=10)
    assert shape.memory(2, 5) == 200 + 30
