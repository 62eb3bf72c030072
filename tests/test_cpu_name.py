"""What the processor is called."""

from pathlib import Path

from sssd_demo.cpu_name import cpu_name


def test_the_processor_is_named_as_the_system_names_it(tmp_path: Path):
    info = tmp_path / "cpuinfo"
    info.write_text("processor\t: 0\nmodel name\t: Some CPU: 3 GHz\nprocessor\t: 1\nmodel name\t: Some CPU: 3 GHz\n")
    assert cpu_name(info) == "Some CPU: 3 GHz"


def test_without_that_there_is_still_a_name(tmp_path: Path):
    info = tmp_path / "cpuinfo"
    assert cpu_name(info)
    info.write_text("processor\t: 0\n")
    assert cpu_name(info)
