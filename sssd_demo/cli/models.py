"""`models [list | fetch PRESET]`: the presets, where each comes from, under which licence, and whether it is here."""

from __future__ import annotations

import argparse
from typing import Any

from sssd_demo.cli import fetch
from sssd_demo.folders import cache_folder
from sssd_demo.model_folder import SHIPPED, where_present
from sssd_demo.model_sources import PRESETS, Preset, Weights


def add_parser(subparsers: Any) -> None:
    """Declare the command."""
    parser = subparsers.add_parser("models", help="list presets, their sources and licences")
    parser.set_defaults(run=run, show=show)
    actions = parser.add_subparsers(metavar="ACTION")
    actions.add_parser("list", help="the same as no action").set_defaults(run=run, show=show)
    fetch.add_parser(actions)


def run(args: argparse.Namespace) -> dict[str, Any]:
    """What is known about each preset and its models; loads none of them."""
    return {"presets": [_preset(preset) for preset in PRESETS]}


def show(result: dict[str, Any]) -> str:
    """The presets as a list for a terminal."""
    return "\n\n".join(_shown(preset) for preset in result["presets"])


def _preset(preset: Preset) -> dict[str, Any]:
    members = [_member(weights, "draft" if weights is preset.draft else "target") for weights in preset.members()]
    return {
        "name": preset.name,
        "what": preset.what,
        "memory_bytes": preset.memory,
        "note": preset.note,
        "present": all(member["present"] for member in members),
        "models": members,
    }


def _member(weights: Weights, role: str) -> dict[str, Any]:
    source = where_present(weights, cache_folder())
    return {
        "role": role,
        "hub_id": weights.hub_id,
        "licence": weights.licence,
        "parameters": weights.parameters,
        "bytes": weights.bytes_16_bit,
        "sources": _sources(weights),
        "present": source is not None,
        "present_from": source,
    }


def _sources(weights: Weights) -> list[str]:
    if weights.shipped:
        return [SHIPPED]
    return [f"hub {weights.hub_id}", *([weights.wheels.origin] if weights.wheels else [])]


def _shown(preset: dict[str, Any]) -> str:
    lines = [f"{preset['name']}: {preset['what']} (needs {preset['memory_bytes'] / 1e9:g} GB)"]
    if preset["note"]:
        lines.append(f"  {preset['note']}")
    for member in preset["models"]:
        lines.append(f"  {member['role']} {member['hub_id']}, {member['bytes'] / 1e9:.1f} GB, {member['licence']}")
        lines.append(f"    from {', else '.join(member['sources'])}")
        lines.append(f"    here, from {member['present_from']}" if member["present"] else "    not here yet")
    return "\n".join(lines)
