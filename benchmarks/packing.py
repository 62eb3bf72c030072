"""What packed weights are worth: one product of each of a model's shapes, plain and packed, in turn.

python benchmarks/packing.py --json
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from statistics import median

import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sssd_demo.packed_linear import pack

SHAPES = ((576, 960), (576, 576), (576, 3072), (1536, 576), (576, 49152))  # SmolLM2-135M's, fused as in `lean.py`
ROWS = (1, 4, 8, 16, 32)
BYTES = 200_000_000  # more than a cache holds, so that weights come from memory as in a whole forward


@torch.inference_mode()
def main() -> None:
    """Measure, and print microseconds and the median ratio for each shape and number of rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    result = {f"{inputs}×{outputs}": measure(inputs, outputs, args.repeats) for inputs, outputs in SHAPES}
    sys.stdout.write(json.dumps(result, indent=None if args.json else 1, ensure_ascii=False) + "\n")


def measure(inputs: int, outputs: int, repeats: int) -> dict[int, dict[str, float]]:
    count = max(2, BYTES // (2 * inputs * outputs))
    plain = [nn.Linear(inputs, outputs, bias=False, dtype=torch.bfloat16) for _ in range(count)]
    packed = [pack(layer) for layer in plain]
    figures = {}
    for rows in ROWS:
        hidden = torch.randn(rows, inputs, dtype=torch.bfloat16)
        pairs = [(timed(plain, hidden), timed(packed, hidden)) for _ in range(repeats + 1)][1:]
        figures[rows] = {
            "plain_us": round(median(first for first, _ in pairs)),
            "packed_us": round(median(second for _, second in pairs)),
            "plain_over_packed": round(median(first / second for first, second in pairs), 2),
        }
    return figures


def timed(layers: list[nn.Module] | list[nn.Linear], hidden: torch.Tensor) -> float:
    """Microseconds of one product."""
    started = time.perf_counter()
    for layer in layers:
        layer(hidden)
    return (time.perf_counter() - started) / len(layers) * 1e6


if __name__ == "__main__":
    main()
