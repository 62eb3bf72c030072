"""What can be said about preparing drafts ahead, and what is refused before a model is loaded."""

import pytest

from sssd_demo.cli import main
from sssd_demo.saguaro.cores import Cores
from sssd_demo.saguaro.options import SaguaroOptions
from sssd_demo.service import Service

PAIR = ("--preset", "qwen2.5-coder")


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--k", "0", "K must be 1 to"),
        ("--k", "17", "K must be 1 to"),
        ("--budget", "0", "fan-out budget must be 1 to 64"),
        ("--budget", "65", "fan-out budget must be 1 to 64"),
        ("--fan-out", "wide", "no fan-out policy called 'wide'; there are uniform"),
        ("--bend", "left", "no Saguaro sampling called 'left'; there are off, c, root"),
        ("--c", "1.5", "must lie between 0 and 1, but is 1.5"),
        ("--c", "nan", "must lie between 0 and 1"),
        ("--confidence", "-0.1", "must lie between 0 and 1"),
        ("--fallback", "hope", "no fallback policy called 'hope'; there are auto"),
        ("--late-ms", "-1", "0 to 60000 milliseconds"),
        ("--latency-ms", "inf", "0 to 60000 milliseconds"),
        ("--roll-back-after", "-1", "must be 0 (never) to 1000"),
        ("--draft-device", "cuda:99", "'cuda:99' is not there"),
        ("--draft-device", "abacus", "'abacus' is not there"),
        ("--draft-cores", "9999", "no core 9999"),
        ("--draft-cores", "first", "such as 0 or 1,2-3"),
    ],
)
def test_what_makes_no_sense_is_refused_before_a_model_is_loaded(monkeypatch, refusal, option, value, says):
    monkeypatch.setattr(Service, "open", lambda *args, **settings: pytest.fail("a model was loaded"))
    assert says in refusal("generate", "x", "--method", "saguaro", *PAIR, option, value)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("--c", "0.5"), "please add --bend c"),
        (("--confidence", "0.2", "--fan-out", "logits"), "please add --fan-out confident"),
        (("--budget", "8", "--fan-out", "sized"), "leave --budget out"),
    ],
)
def test_an_option_that_would_change_nothing_is_refused(monkeypatch, refusal, given, says):
    monkeypatch.setattr(Service, "open", lambda *args, **settings: pytest.fail("a model was loaded"))
    assert says in refusal("generate", "x", "--method", "saguaro", *PAIR, *given)


@pytest.mark.parametrize(
    ("method", "given", "says"),
    [
        ("sssd", ("--k", "3"), "sssd has no use for --k; those that have are speculative, saguaro, saguaro-sssd."),
        ("sssd", ("--draft", "somewhere"), "sssd has no use for --draft;"),
        ("rest", ("--draft-temperature", "0"), "rest has no use for --draft-temperature;"),
        ("speculative", ("--k", "3", "--fan-out", "uniform"), "no use for --fan-out; those that have are saguaro, "),
        ("speculative", ("--draft-cores", "0"), "no use for --draft-cores;"),
        ("autoregressive", ("--nearest",), "no use for --nearest;"),
    ],
)
def test_an_option_that_the_method_has_no_use_for_is_refused(monkeypatch, refusal, method, given, says):
    monkeypatch.setattr(Service, "open", lambda *args, **settings: pytest.fail("a model was loaded"))
    assert says in refusal("generate", "x", "--method", method, *PAIR, *given)


def test_options_reach_the_service(service, run_json):
    chosen = ["--fan-out", "logits", "--budget", "7", "--bend", "c", "--c", "0.5", "--fallback", "partial", "--nearest"]
    run_json("generate", "hello", "--method", "saguaro", *PAIR, *chosen, "--late-ms", "20", "--roll-back-after", "0")
    _, settings, _ = service.asked[0]
    assert settings.saguaro == SaguaroOptions(
        fan_out="logits",
        budget=7,
        bend="c",
        c=0.5,
        fallback="partial",
        nearest=True,
        late_ms=20.0,
        roll_back_after=0,
    )


def test_what_too_few_cores_mean_is_said(service, capsys):
    service.cores = Cores((0,), 1, 1, "Both share the same core.")
    assert main(["generate", "hello", "--method", "saguaro", *PAIR, "--json"]) == 0
    assert capsys.readouterr().err == "Both share the same core.\n"
    assert main(["generate", "hello", "--method", "sssd", "--json"]) == 0
    assert not capsys.readouterr().err
