"""What each lane takes besides the target, measured on what is loaded."""

from __future__ import annotations

from sssd_demo.compare.comparison import Cost, Memory
from sssd_demo.compare.plan import Plan
from sssd_demo.kv_cache import bytes_per_token
from sssd_demo.packed_linear import weight_bytes
from sssd_demo.service import Service
from sssd_demo.speculators.needs import NEEDS


def costs(service: Service, plan: Plan) -> tuple[Cost, ...]:
    """One for each lane of `plan`. Raises `UserError` for a datastore that cannot be used."""
    return tuple(_cost(service, lane.method, plan.common.datastore) for lane in plan.lanes)


def _cost(service: Service, method: str, store: str | None) -> Cost:
    needs = NEEDS.get(method)
    if needs is None:
        return Cost(trained=None)
    memory = []
    if needs.draft_model and service.draft is not None:
        small = service.draft.model
        memory = [
            Memory("draft_model", weight_bytes(small), service.draft.name),
            Memory("draft_cache", bytes_per_token(small.config, small.dtype)),
        ]
    if needs.datastore and store is not None:
        memory = [Memory("datastore", service.stores.open(store).nbytes, store)]
    return Cost(trained=needs.draft_model, memory=tuple(memory))
