"""An early-exit draft model on toy weights: what it is made of, that it is kept whole, that it learns and drafts."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from sssd_demo import model_sources, models
from sssd_demo.errors import UserError
from sssd_demo.exit_draft.data import WRITTEN, Example, batches, examples_of, short_list, stored_answer
from sssd_demo.exit_draft.measure import agreement, hits_of, tokens_per_forward
from sssd_demo.exit_draft.model import begin, build, save
from sssd_demo.exit_draft.record import RECORD_FILE, WEIGHTS_FILE, ExitDraft
from sssd_demo.exit_draft.train import EARLY_SHARPNESS, Recipe, Training, read_state, soften
from sssd_demo.model_sources import PRESETS, Weights
from sssd_demo.service import Service, Settings
from sssd_demo.sssd.recorded_answers import RecordedAnswer
from sssd_demo.target import Target, chain
from sssd_demo.trace import Top
from tests.toy_models import save_toy_model

WIDTH = 512
LISTED = torch.arange(0, 400, 2)


@pytest.fixture(scope="module")
def target_folder(tmp_path_factory):
    torch.manual_seed(5)
    return save_toy_model(tmp_path_factory.mktemp("target"), WIDTH)


@pytest.fixture(scope="module")
def draft(target_folder):
    return ExitDraft(str(target_folder), copied=(0,), trained=(1,))


@pytest.fixture
def kept(target_folder, draft, tmp_path):
    """The folder of a draft model that was changed a little, as training would."""
    model = begin(draft, target_folder, LISTED)
    with torch.no_grad():
        for parameter in model.model.layers[1].parameters():
            parameter.mul_(1.25)
    save(model, draft, tmp_path / "small")
    return tmp_path / "small"


def target_model(folder):
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()


@torch.no_grad()
def test_with_all_layers_and_untrained_it_is_the_target_on_the_listed_tokens(target_folder, draft):
    ids = torch.tensor([[5, 9, 300, 41]])
    small, whole = begin(draft, target_folder, LISTED)(ids).logits, target_model(target_folder)(ids).logits
    torch.testing.assert_close(small[..., LISTED], whole[..., LISTED])
    others = [token for token in range(WIDTH) if token not in set(LISTED.tolist())]
    assert small.shape == whole.shape
    assert small[..., others].eq(float("-inf")).all()


@torch.no_grad()
def test_only_what_was_trained_is_kept_and_the_rest_comes_from_the_target(target_folder, draft, kept):
    from safetensors.torch import load_file

    names = set(load_file(kept / WEIGHTS_FILE))
    assert {name.split(".")[2] for name in names if "layers" in name} == {"1"}
    assert not any("embed" in name or "lm_head" in name for name in names)
    loaded = models.load(str(kept), device="cpu", dtype="float32")
    whole = target_model(target_folder)
    own, theirs = loaded.model.model.layers, whole.model.layers
    torch.testing.assert_close(own[0].mlp.up_proj.weight, theirs[0].mlp.up_proj.weight)
    torch.testing.assert_close(own[1].mlp.up_proj.weight, 1.25 * theirs[1].mlp.up_proj.weight, rtol=2e-3, atol=1e-4)
    assert loaded.text.fingerprint == models.load_text(str(target_folder)).fingerprint


def test_it_runs_in_a_target_with_trees_and_a_cache(kept):
    ids = [3, 8, 150, 22, 7, 61]
    with torch.no_grad():
        plain = models.load(str(kept), device="cpu", dtype="float32").model(torch.tensor([ids])).logits[0]
    lean = Target(models.load(str(kept), device="cpu", dtype="float32").model, rows=1, context_length=64)
    lean.prefill(0, ids[:3])
    torch.testing.assert_close(lean.forward([ids[3]], [chain(ids[4:])])[0], plain[3:], rtol=1e-4, atol=1e-4)


def ask(service, method, **settings):
    answer = service.ask("the cat sat", Settings(method=method, max_new_tokens=24, s_q=8, **settings), raw=True)
    for _ in answer:
        pass
    return answer.trace


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_it_drafts_for_its_target_by_name(target_folder, kept, tmp_path, temperature):
    service = Service.open(str(target_folder), draft=str(kept), dtype="float32", stores_folder=tmp_path)
    try:
        drafted = ask(service, "speculative", k=3, temperature=temperature, seed=4)
        if not temperature:
            assert drafted.token_ids() == ask(service, "autoregressive").token_ids()
        tokens = [token for round_ in drafted.rounds for token in round_.tree.tokens]
        assert tokens
        assert set(tokens) <= set(LISTED.tolist())
    finally:
        service.close()


def truncate(folder: Path) -> None:
    (folder / WEIGHTS_FILE).write_bytes((folder / WEIGHTS_FILE).read_bytes()[:-10])


def flip(folder: Path) -> None:
    content = bytearray((folder / WEIGHTS_FILE).read_bytes())
    content[-1] ^= 1
    (folder / WEIGHTS_FILE).write_bytes(content)


def rewrite(folder: Path, **changes: object) -> None:
    record = json.loads((folder / RECORD_FILE).read_text())
    (folder / RECORD_FILE).write_text(json.dumps(record | changes))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (truncate, r"is damaged: its exit\.safetensors has [\d,]+ bytes, not the expected"),
        (flip, r"is damaged: the SHA-256 of its exit\.safetensors"),
        (lambda folder: (folder / WEIGHTS_FILE).unlink(), r"is damaged: it lacks its file exit\.safetensors"),
        (lambda folder: (folder / RECORD_FILE).write_text("{"), r"is damaged: its exit_draft\.json cannot be read"),
        (lambda folder: (folder / RECORD_FILE).write_text("[]"), r"is damaged: its exit_draft\.json cannot be read"),
        (lambda folder: rewrite(folder, copied=["x"]), r"is damaged: its exit_draft\.json cannot be read"),
        (lambda folder: rewrite(folder, colour="blue"), r"is damaged: its exit_draft\.json cannot be read"),
        (lambda folder: rewrite(folder, copied=[7]), "does not fit its target"),
        (lambda folder: rewrite(folder, trained=[0, 1]), "does not fit its target"),
        (lambda folder: rewrite(folder, target="nowhere"), "Unknown model 'nowhere'"),
    ],
)
def test_damaged_folders_are_refused_in_one_sentence(kept, damage, said):
    damage(kept)
    with pytest.raises(UserError, match=said) as caught:
        models.load(str(kept), device="cpu", dtype="float32")
    assert "\n" not in str(caught.value)


def test_another_target_than_it_was_trained_with_is_refused(kept, draft, tmp_path):
    other = save_toy_model(tmp_path / "other", WIDTH)
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps(config | {"intermediate_size": 48}))
    with pytest.raises(UserError, match="does not fit its target"):
        build(draft, kept, other, "small", dtype=torch.float32, device=torch.device("cpu"))


def test_one_that_comes_with_the_project_is_found_by_its_name(kept, monkeypatch):
    shipped = Weights("toy-exit", "MIT", 1, 2, shipped=kept)
    preset = model_sources.Preset("toy", "a toy", shipped, shipped, 1)
    monkeypatch.setattr(model_sources, "PRESETS", (*PRESETS, preset))
    loaded = models.load("toy-exit", device="cpu", dtype="float32")
    assert (loaded.licence, loaded.name) == ("MIT", "toy-exit")
    assert "this project" in loaded.source
    assert models.fetch("toy")[0].path == kept
    (kept / WEIGHTS_FILE).unlink()
    with pytest.raises(UserError, match="The draft model toy-exit is damaged"):
        models.load("toy-exit")
    models.fetch("toy")
    assert kept.is_dir()  # what comes with the project is never taken away as damaged


def counting(length, start, step=2):
    """A text that is easy to foretell: every token is the one before and two more, on a circle."""
    return tuple((start + step * n) % 100 for n in range(length))


def answers(count, length=24):
    return [RecordedAnswer(counting(6, 2 * n), counting(length, 2 * n + 12)) for n in range(count)]


def test_it_learns_to_foretell_and_a_run_goes_on_where_it_was_saved(target_folder, draft, tmp_path):
    examples = examples_of(answers(50), (1,))
    recipe = Recipe(steps=40, batch_tokens=300, learning_rate=3e-3)
    training = Training(begin(draft, target_folder, LISTED), draft, recipe)
    before = agreement(hits_of(training.model, examples))
    training.run(examples, lambda: training.save(tmp_path / "half") if training.progress.step == 20 else None)
    learnt = agreement(hits_of(training.model, examples))
    assert learnt[0] > 0.8 > 0.3 > before[0]

    state = read_state(tmp_path / "half", draft)
    assert state is not None
    again = Training(begin(draft, target_folder, state["list"]), draft, recipe)
    again.resume(state)
    assert again.progress.step == 20
    again.run(examples, lambda: None)
    assert (again.progress.step, agreement(hits_of(again.model, examples))[0] > 0.8) == (40, True)
    with pytest.raises(UserError, match="unfinished training of other layers"):
        read_state(tmp_path / "half", ExitDraft("x", (), (0,)))
    (tmp_path / "half").write_bytes(b"nonsense")
    with pytest.raises(UserError, match="damaged"):
        read_state(tmp_path / "half", draft)


def test_the_copied_layers_and_the_exit_are_not_trained(target_folder, draft):
    training = Training(begin(draft, target_folder, LISTED), draft, Recipe(steps=3, learning_rate=1e-2))
    training.run(examples_of(answers(8), (1,)), lambda: None)
    whole = target_model(target_folder).state_dict()
    own = training.model.state_dict()
    for name in own:
        if name.startswith("model.") and not name.startswith(("model.layers.1.", "model.norm.")):
            assert torch.equal(own[name], whole[name]), name
    assert torch.equal(own["lm_head.exit.weight"], whole["lm_head.weight"][LISTED])
    assert not torch.equal(own["model.layers.1.mlp.up_proj.weight"], whole["model.layers.1.mlp.up_proj.weight"])


def test_agreement_is_counted_over_drafts_from_every_place(target_folder, draft):
    model = begin(draft, target_folder, LISTED)
    ids = (2, 4, 6, 8, 10, 12, 14)
    with torch.no_grad():
        best = model(torch.tensor([ids])).logits[0].argmax(-1).tolist()
    text = (*ids, best[-1], 3)  # 3 is not on the list
    with torch.no_grad():
        best = model(torch.tensor([text])).logits[0].argmax(-1).tolist()
    right = [best[at - 1] == text[at] for at in range(len(ids), len(text))]
    assert right == [True, False]
    example = Example(text, len(ids), [(text[-2],), (text[-1],)], [(1.0,), (1.0,)])
    assert hits_of(model, [example]) == [right]
    assert agreement([right]) == [0.5, 0.0, 0.0, 0.0]


def test_a_draft_ends_where_it_is_wrong_and_the_target_adds_a_token():
    hits = [False, True, True, False, True, True, True]  # the first token is the prompt's
    assert agreement([hits]) == [5 / 7, 3 / 4, 1 / 2, 0.0]
    assert tokens_per_forward([hits], 1) == 6 / 4  # 2 + 1 + 2 + 1
    assert tokens_per_forward([hits], 2) == 6 / 2  # 3 + 3
    assert tokens_per_forward([hits], 4) == 6 / 2
    assert tokens_per_forward([[True, False, False]], 4) == 1
    assert tokens_per_forward([[True]], 4) == 0


def test_soft_targets_stand_at_their_places_and_unlisted_tokens_have_no_probability():
    top = (Top((4, 7), (0.6, 0.3)), Top((6, 4, 2), (0.5, 0.2, 0.1)))
    [example] = examples_of([RecordedAnswer((8, 8, 8), (4, 6), top=top)], ())
    [batch] = list(batches([example], LISTED, 100, random.Random(0)))
    assert batch.ids.tolist() == [[8, 8, 8, 4, 6]]
    assert list(zip(batch.rows.tolist(), batch.columns.tolist(), strict=True)) == [(0, 2), (0, 3)]
    assert LISTED[batch.likely].tolist() == [[4, 0, 0], [6, 4, 2]]
    torch.testing.assert_close(batch.probs, torch.tensor([[0.6, 0, 0], [0.5, 0.2, 0.1]]))


def test_a_stored_text_has_soft_targets_from_what_the_store_recalls_of_such_places():
    recalled: dict[tuple[int, ...], Top] = {(4, 6): Top((9, 8), (0.6, 0.2)), (6, 8): Top((1,), (0.9,))}
    answer = stored_answer([4, 6, 8, 2], lambda tokens: recalled.get(tokens))
    assert [top.tokens for top in answer.top] == [(4,), (6,), (8, 9), (2, 1)]
    assert answer.top[2].probs == pytest.approx((WRITTEN + (1 - WRITTEN) * 0.25, (1 - WRITTEN) * 0.75))
    assert all(sum(top.probs) == pytest.approx(1) for top in answer.top)


def test_training_begins_with_softer_logits(target_folder, draft):
    ids = torch.tensor([[4, 8, 12]])
    model = begin(draft, target_folder, LISTED)
    with torch.no_grad():
        sharp = model(ids).logits[..., LISTED]
        soften(model)
        torch.testing.assert_close(model(ids).logits[..., LISTED], EARLY_SHARPNESS * sharp)


def test_every_example_is_used_once_in_batches_of_the_size_asked_for():
    examples = examples_of([RecordedAnswer((1,), counting(length, 0)) for length in range(1, 90)], ())
    found = list(batches(examples, LISTED, 200, random.Random(1)))
    assert sum(len(batch.ids) for batch in found) == len(examples)
    assert all(batch.ids.numel() <= 200 for batch in found)


def test_answers_without_a_prompt_come_after_the_templates_header():
    [example] = examples_of([RecordedAnswer((), (5, 6))], (1, 2))
    assert (example.tokens, example.start) == ((1, 2, 5, 6), 2)
    assert examples_of([RecordedAnswer((1,), ())], (1, 2)) == []


def test_the_short_list_holds_end_tokens_then_frequent_ones_then_low_ids():
    examples = examples_of([RecordedAnswer((1,), (90, 90, 80)), RecordedAnswer((1,), (90, 70))], ())
    assert short_list(examples, 2, [99], 100).tolist() == [90, 99]
    assert short_list(examples, 6, [99], 100).tolist() == [0, 1, 70, 80, 90, 99]
    assert len(short_list(examples, 10**6, [99], 100)) == 100
