"""What every command has in common: exit codes, one JSON object on stdout, one line on stderr."""

import io
import json
import subprocess
import sys
import types

import pytest

from sssd_demo import cli
from sssd_demo.errors import UserError


@pytest.fixture
def install(monkeypatch):
    """Puts a command in place of `fetch` that does what the test says."""

    def install(run, show=lambda result: f"got {result['n']}"):
        module = types.ModuleType("sssd_demo.cli.fetch")

        def add_parser(subparsers):
            parser = subparsers.add_parser("fetch")
            parser.add_argument("n", type=int)
            parser.set_defaults(run=run, show=show)

        module.add_parser = add_parser  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "sssd_demo.cli.fetch", module)

    return install


def test_a_result_is_shown_to_a_person_or_printed_as_json(install, capsys):
    install(lambda args: {"n": args.n})
    assert cli.main(["fetch", "3"]) == 0
    assert capsys.readouterr().out == "got 3\n"
    assert cli.main(["fetch", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"n": 3}
    assert cli.main(["--json", "fetch", "4"]) == 0
    assert json.loads(capsys.readouterr().out) == {"n": 4}


def test_with_json_whatever_else_is_printed_goes_to_stderr(install, capsys):
    def run(args):
        sys.stdout.write("a library talks")
        return {"n": args.n}

    install(run)
    assert cli.main(["fetch", "3", "--json"]) == 0
    printed = capsys.readouterr()
    assert printed.out == '{"n": 3}\n'
    assert "a library talks" in printed.err


def test_a_users_mistake_is_one_line_and_exit_2(install, capsys):
    def run(args):
        raise UserError("That is not\nthere.")

    install(run)
    assert cli.main(["fetch", "3", "--json"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "That is not there.\n"


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        ([], "name a command: generate, bench"),
        (["fly"], "no command 'fly'; the commands are: generate"),
        (["fetch"], "required: n"),
        (["fetch", "x"], "invalid int value: 'x'"),
        (["fetch", "1", "--speed"], "unrecognized arguments: --speed"),
    ],
)
def test_wrong_arguments_are_one_line_and_exit_2(install, capsys, argv, says):
    install(lambda args: {"n": args.n})
    assert cli.main(argv) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert says in printed.err
    assert printed.err.count("\n") == 1


def test_a_refusal_names_the_help_that_can_be_asked_for(install, capsys):
    install(lambda args: {"n": args.n})
    cli.main(["fetch", "x"])
    assert capsys.readouterr().err.endswith("(try: python -m sssd_demo fetch --help)\n")


def test_what_a_terminals_encoding_has_not_is_written_in_another_way(install, monkeypatch):
    install(lambda args: {}, show=lambda result: "caf\xe9 \udcff")
    stdout = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stdout)
    assert cli.main(["fetch", "3"]) == 0
    stdout.seek(0)
    assert stdout.read() == "caf\\xe9 \\udcff\n"


def test_a_fault_of_ours_is_one_line_and_exit_1_and_verbose_shows_where(install, capsys):
    def run(args):
        raise ValueError("broken")

    install(run)
    assert cli.main(["fetch", "3"]) == 1
    assert capsys.readouterr().err == "ValueError: broken (--verbose shows where)\n"
    assert cli.main(["fetch", "3", "--verbose"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupt_is_quiet_and_exits_130(install, capsys):
    def run(args):
        raise KeyboardInterrupt

    install(run)
    assert cli.main(["fetch", "3"]) == 130
    assert capsys.readouterr() == ("", "")


def test_an_interrupt_while_a_thread_computes_ends_the_process_quietly():
    code = """
import runpy, threading
import torch
from sssd_demo import cli

def main(argv):
    begun = threading.Event()
    def compute():
        square = torch.zeros(700, 700)
        while True:
            square @ square
            begun.set()
    threading.Thread(target=compute, daemon=True).start()
    begun.wait()
    print("interrupted")
    return 130

cli.main = main
runpy.run_module("sssd_demo", run_name="__main__")
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "interrupted\n", "")


def test_help_names_every_command_and_loads_none(capsys):
    with pytest.raises(SystemExit) as exit_:
        cli.main(["--help"])
    assert exit_.value.code == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in cli.COMMANDS)


def test_help_needs_neither_torch_nor_gradio():
    code = "import sys; from sssd_demo.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
    code += "assert not {'torch', 'gradio', 'transformers', 'numpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
