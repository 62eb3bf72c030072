"""`probe`: what it reports and keeps."""

import pytest

from sssd_demo import peaks
from sssd_demo.cli import main
from sssd_demo.profile_file import load_profile
from tests.cli.fakes import CONTEXT
from tests.toys import toy_model


@pytest.fixture(autouse=True)
def small(monkeypatch, tmp_path):
    monkeypatch.setattr(peaks, "CPU_SIDE", 32)
    monkeypatch.setattr(peaks, "BUFFER_BYTES", 2**16)
    monkeypatch.setenv("SSSD_DEMO_DATA", str(tmp_path))


@pytest.fixture
def service(service):
    """The scripted service, with what a measurement also asks of one."""
    service.engine.context_length = CONTEXT
    service.model.model = toy_model()
    service.used = []
    service.use_profile = service.used.append
    return service


def test_the_result_has_exactly_the_documented_keys(service, run_json):
    result = run_json("probe")
    assert list(result) == "device dtype threads flops bandwidth knee forward_ms s_q".split()
    assert result["knee"] == pytest.approx(result["flops"] / result["bandwidth"])
    assert result["forward_ms"]["2×4@64"] == pytest.approx(0.008)
    assert set(result["s_q"]) == {"1", "2"}


def test_only_rows_and_contexts_that_there_are_are_measured(service, run_json):
    points = run_json("probe")["forward_ms"]
    assert {point.split("×")[0] for point in points} == {"1", "2"}
    assert {point.split("@")[1] for point in points} == {"64"}


def test_the_measurement_is_kept_for_the_next_start(service, run_json):
    result = run_json("probe")
    kept = load_profile(service.profile_key())
    assert kept is not None
    assert kept.flops == result["flops"]
    assert len(kept.forward_seconds) == len(result["forward_ms"])
    assert service.used == [kept]


def test_a_person_sees_a_table(service, capsys):
    assert main(["probe"]) == 0
    printed = capsys.readouterr()
    assert "knee" in printed.out
    assert "batch  2, context  64:" in printed.out
    assert "measuring 2 × 1 tokens" in printed.err


def test_devices_are_added_on_demand_and_labelled_as_computed(service, run_json, capsys):
    result = run_json("probe", "--devices")
    assert list(result)[-1] == "devices"
    l4 = result["devices"]["L4"]
    assert l4["knee_tokens"] == pytest.approx(2 * l4["knee"])  # float32 weights
    assert l4["s_q"] == {"1": 32, "2": 32}
    assert l4["fits"] is True
    assert l4["computed_from"].startswith("https://")
    assert main(["probe", "--devices"]) == 0
    assert "computed from the vendor's figures, not measured" in capsys.readouterr().out
