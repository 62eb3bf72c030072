"""A target and its draft model: which pairs go together, and what is said of those that do not."""

import json
import shutil

import pytest
import torch

from sssd_demo.cli import main
from sssd_demo.errors import UserError
from sssd_demo.request import Drafting
from sssd_demo.service import Service, Settings
from tests.toy_models import save_toy_model


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    torch.manual_seed(1)
    return save_toy_model(tmp_path_factory.mktemp("target"))


@pytest.fixture(scope="module")
def sibling(tmp_path_factory):
    """The same tokenizer, and logits padded to another width."""
    torch.manual_seed(2)
    return save_toy_model(tmp_path_factory.mktemp("sibling"), vocab_size=640)


@pytest.fixture(scope="module")
def stranger(tmp_path_factory):
    """One token more in its tokenizer."""
    folder = save_toy_model(tmp_path_factory.mktemp("stranger"))
    layout = json.loads((folder / "tokenizer.json").read_text())
    layout["added_tokens"].append(layout["added_tokens"][-1] | {"id": 450, "content": "<|more|>"})
    (folder / "tokenizer.json").write_text(json.dumps(layout))
    return folder


@pytest.fixture
def opened(tmp_path):
    services = []

    def open_pair(model, draft=None, **settings):
        services.append(
            Service.open(
                str(model),
                draft=draft and str(draft),
                device="cpu",
                dtype="float32",
                stores_folder=tmp_path,
                **settings,
            )
        )
        return services[-1]

    yield open_pair
    for service in services:
        service.close()


def answer(service, **settings):
    asked = service.ask([{"role": "user", "content": "the cat sat"}], Settings(max_new_tokens=24, s_q=16, **settings))
    for _ in asked:
        pass
    return asked.trace


@pytest.mark.parametrize("rule", ["chain", "block", "tree", "traversal"])
def test_a_pair_whose_logits_have_different_widths_answers_like_the_target_alone(opened, target, sibling, rule):
    service = opened(target, sibling)
    plain = answer(service, method="autoregressive").token_ids()
    drafted = answer(service, method="speculative", k=3, rule=rule)
    assert drafted.token_ids() == plain
    assert {source for round_ in drafted.rounds for source in round_.tree.sources} == {"model"}
    sampled = answer(service, method="speculative", k=3, rule=rule, temperature=1.0)
    assert any(round_.decisions for round_ in sampled.rounds)
    assert {round_.rule for round_ in sampled.rounds if round_.decisions} == {rule}
    held = {one.token for round_ in sampled.rounds for decision in round_.decisions for one in decision.held}
    assert held <= set(sampled.token_bytes)


def test_without_a_draft_model_the_method_is_not_offered_and_its_lack_is_explained(opened, target):
    service = opened(target)
    assert "speculative" not in service.methods()
    with pytest.raises(UserError, match="speculative needs a draft model, and .* comes without one"):
        answer(service, method="speculative")


def test_a_draft_model_that_no_method_needs_is_not_loaded(opened, target, sibling):
    assert opened(target, sibling, needs_draft=False).draft is None


def test_another_tokenizer_is_refused_before_the_weights_are_read(opened, target, stranger):
    (stranger / "model.safetensors").unlink()
    with pytest.raises(UserError, match="cannot draft for .* it has another tokenizer"):
        opened(target, stranger)


def test_a_damaged_draft_model_is_named(opened, target, sibling, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(sibling, broken)
    weights = broken / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(UserError, match="broken are missing, truncated or damaged"):
        opened(target, broken)
    with pytest.raises(UserError, match="nowhere"):
        opened(target, tmp_path / "nowhere")


@pytest.mark.parametrize("k", [0, -1, 17, 2.5, "many", True])
def test_a_draft_length_out_of_range_is_refused(k):
    with pytest.raises(UserError, match=r"draft length K must be 1 to 16 tokens or auto"):
        Settings(k=k)


def test_hierarchical_verification_is_named_and_explained():
    with pytest.raises(UserError, match="made exact, is the rule called block"):
        Drafting(rule="hierarchical")  # type: ignore[arg-type]  # what a visitor may type


def test_the_command_line_takes_any_pair(target, sibling, stranger, capsys):
    ask = ["generate", "the cat", "--model", str(target), "--method", "speculative", "--dtype", "float32", "--json"]
    assert main([*ask, "--draft", str(sibling), "--k", "2", "--s-q", "8", "--max-new-tokens", "12"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["method"] == "speculative"
    assert result["drafted"] > 0
    for arguments, says in [
        ([], "comes without one"),
        (["--draft", str(stranger)], "another tokenizer"),
        (["--draft", str(sibling), "--k", "20"], "K must be 1 to 16"),
        (["--draft", str(sibling), "--rule", "hierarchical"], "the rule called block"),
    ]:
        assert main([*ask, *arguments]) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert says in printed.err
        assert printed.err.count("\n") == 1
