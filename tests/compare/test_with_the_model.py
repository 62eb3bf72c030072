"""A comparison on the embedded model in float32: every method it has, the same text, a store that nobody feeds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sssd_demo.compare.archive import load, pack
from sssd_demo.compare.comparing import Comparing, check
from sssd_demo.compare.figures import lane_figures
from sssd_demo.compare.plan import Lane, plan_for
from sssd_demo.service import Service, Settings
from sssd_demo.sssd.datastore import Datastore
from tests.compare.fakes import question

pytestmark = pytest.mark.model

TEXT = "Write the sentence 'The cat sat on the mat.' three times."


@pytest.fixture(scope="module")
def store(embedded_service: Service) -> Datastore:
    text = embedded_service.text
    documents = [text.encode("A bicycle has two wheels and a chain. It goes where you steer it.")]
    made = Datastore.build(documents, fingerprint=text.fingerprint, vocab_size=text.vocab_size)
    embedded_service.stores.save("wheels", made)
    return made


def test_every_method_writes_the_yardsticks_text_greedy_and_sampled(
    embedded_service: Service, store: Datastore, tmp_path: Path
):
    lanes = [Lane(method, s_q=6) for method in embedded_service.methods() if method != "autoregressive"]
    questions = [question(TEXT), question("How does a bicycle work?")]
    for temperature in (0.0, 0.8):
        common = Settings(max_new_tokens=24, temperature=temperature, seed=3, datastore="wheels")
        plan = plan_for(questions, common, lanes)
        check(embedded_service, plan)
        running = Comparing(embedded_service, plan)
        running.run()
        progress = running.progress()
        assert progress.phase == "ended", progress.reason
        figures = lane_figures(progress.comparison)
        assert [lane.lane for lane in figures] == list(plan.lanes)
        assert all(lane.answers == 2 and not lane.differences for lane in figures)
        assert progress.comparison.shared == 0
        assert progress.comparison.known == frozenset()
        path = tmp_path / f"{temperature}.zip"
        path.write_bytes(pack(progress.comparison))
        assert load(path) == replace(progress.comparison, runs=load(path).runs)
        assert lane_figures(load(path)) == figures
    assert embedded_service.stores.open("wheels").tokens == store.tokens
    memory = {lane.lane.method: lane.cost.memory for lane in figures}
    assert memory["sssd"][0].bytes == store.nbytes
    assert memory["autoregressive"] == ()
