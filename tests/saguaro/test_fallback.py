"""What is served on a miss, and what theory says of it."""

import pytest

from sssd_demo.saguaro.fallback import choose, fast_pays, slow_pays


def test_what_is_served_on_a_miss_goes_by_the_batch():
    assert [choose("auto", batch) for batch in (1, 2, 16, 17)] == ["immediate", "batched", "batched", "partial"]
    assert choose("partial", 1) == "partial"


def test_the_cost_model_by_hand():
    assert slow_pays(0.5, 2, redraft=0.4, hit=3.0, slow=2.0) == pytest.approx(2.5 / (1 + 0.75 * 0.4))
    assert fast_pays(0.5, hit=3.0, fast=1.2) == pytest.approx(2.1)
    assert slow_pays(1.0, 8, 5.0, 3.0, 2.0) == fast_pays(1.0, 3.0, 1.0) == 3.0
