"""Profiles kept between runs."""

import os
from pathlib import Path

import pytest

from sssd_demo.profile_file import ProfileKey, load_profile, measured_at, save_profile
from sssd_demo.roofline import Profile

KEY = ProfileKey(device="some CPU", dtype="bfloat16", threads=2, model="org/model")
PROFILE = Profile({(1, 1, 64): 0.02, (1, 32, 64): 0.05}, flops=9e11, bandwidth=4.5e10)


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SSSD_DEMO_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def test_a_profile_comes_back_as_it_was_kept():
    assert load_profile(KEY) is None
    save_profile(KEY, PROFILE)
    assert load_profile(KEY) == PROFILE


def test_another_machine_dtype_thread_count_or_model_has_its_own_profile():
    save_profile(KEY, PROFILE)
    for other in (
        ProfileKey("other CPU", "bfloat16", 2, "org/model"),
        ProfileKey("some CPU", "float32", 2, "org/model"),
        ProfileKey("some CPU", "bfloat16", 4, "org/model"),
        ProfileKey("some CPU", "bfloat16", 2, "org-model"),
    ):
        assert load_profile(other) is None


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"version": 2}', '{"version": 9}'])
def test_a_damaged_file_is_as_good_as_none(damage: str):
    save_profile(KEY, PROFILE)
    KEY.path.write_text(damage)
    assert load_profile(KEY) is None


def test_a_folder_that_cannot_be_written_to_stops_nothing(data: Path):
    data.write_text("a file where the folder should be")
    save_profile(KEY, PROFILE)
    assert load_profile(KEY) is None


def test_file_names_are_plain_whatever_the_model_is_called(data: Path):
    key = ProfileKey("cpu", "float32", 1, "/somewhere/../else/" + "x" * 300)
    save_profile(key, PROFILE)
    assert load_profile(key) == PROFILE
    assert key.path.parent == data / "probe"


def test_a_full_disk_leaves_no_unfinished_file(data: Path, monkeypatch: pytest.MonkeyPatch):
    def full(path: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    save_profile(KEY, PROFILE)
    assert list((data / "probe").iterdir()) == []


def test_when_a_profile_was_measured_is_known():
    assert measured_at(KEY) is None
    save_profile(KEY, PROFILE)
    moment = measured_at(KEY)
    assert moment is not None
    assert moment.timestamp() == pytest.approx(KEY.path.stat().st_mtime)
