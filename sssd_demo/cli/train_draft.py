"""`train-draft`: a cheap draft model from a target's own first layers, for a target without a small sibling."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sssd_demo.cli.options import positive
from sssd_demo.errors import UserError

if TYPE_CHECKING:
    from sssd_demo.exit_draft.data import Example
    from sssd_demo.exit_draft.train import Training
    from sssd_demo.sssd.recorded_answers import RecordedAnswer
    from sssd_demo.text import Text

SAVE_EVERY = 10  # steps
TELL_EVERY = 10
HELD_OUT = 20  # of so many recorded answers one is kept for measuring, where no others are given


def add_parser(subparsers: Any) -> None:
    """Declare the command."""
    parser = subparsers.add_parser("train-draft", help="train a draft model from the target's own first layers")
    parser.add_argument(
        "--answers", action="append", default=[], type=Path, metavar="FILE", help="what `record` wrote to a .jsonl file"
    )
    parser.add_argument("--store", action="append", default=[], metavar="NAME", help="a datastore of the answers")
    parser.add_argument(
        "--measure", type=Path, metavar="FILE", help="recorded answers to measure on; related ones are not learnt"
    )
    parser.add_argument("--measure-only", action="store_true", help="measure the model in --out, and do not train")
    parser.add_argument("--out", required=True, type=Path, metavar="FOLDER", help="where the draft model goes")
    parser.add_argument("--preset", metavar="NAME|HUB_ID", help="the target (default: this machine's preset)")
    parser.add_argument("--copied", type=_layers, default="0", metavar="N,…", help="layers used as they are")
    parser.add_argument("--trained", type=_layers, default="1,2", metavar="N,…", help="layers that the rest begin as")
    parser.add_argument("--vocabulary", type=positive, default=8192, metavar="N", help="tokens that it can draft")
    parser.add_argument("--steps", type=positive, default=1000, metavar="N")
    parser.add_argument("--batch-tokens", type=positive, default=1024, metavar="N")
    parser.add_argument("--learning-rate", type=float, default=1e-3, metavar="X")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--threads", type=positive, metavar="N")
    parser.set_defaults(run=run, show=show)


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Train, or go on where a run that was stopped left off, and measure; progress goes to stderr."""
    if not args.out.absolute().parent.is_dir():
        raise UserError(f"The draft model cannot be written to {args.out}: there is no folder {args.out.parent}.")
    import torch

    from sssd_demo import models

    if args.threads:
        torch.set_num_threads(args.threads)
    name = args.preset or models.default_name()
    text = models.load_text(name)
    learnt, measured, told = _data(args, text)
    card = _measured_card(args) if args.measure_only else _train(args, name, text, learnt, told)
    return _measure(args.out, card, measured, args.measure.name if args.measure else f"every {HELD_OUT}th answer")


def show(result: dict[str, Any]) -> str:
    """Where it is, and its figures."""
    card = result["card"]
    shares = ", ".join(f"{share:.3f}" for share in card["agreement"])
    yields = ", ".join(f"{tokens:.2f}" for tokens in card["tokens_per_forward"])
    return (
        f"{result['out']}: {result['bytes'] / 1e6:.1f} MB, {card['tokens']:,} tokens in {card['steps']} steps\n"
        f"tokens per forward of the target with K = 1 to {len(card['tokens_per_forward'])}: {yields}\n"
        f"agreement at steps 1 to {len(card['agreement'])}: {shares}; "
        f"{card['step_ms']:.2f} ms a step ({card['measured_on']['machine']})"
    )


def _data(args: argparse.Namespace, text: Text) -> tuple[list[Example], list[Example], list[dict[str, Any]]]:
    """What is learnt, what is measured on, and where the former comes from.

    Raises `UserError` for files that cannot be read, or where nothing is left.
    """
    from sssd_demo.exit_draft.data import examples_of, stored_answer
    from sssd_demo.experiments.held_out import check_held_out, unrelated
    from sssd_demo.sssd.recorded_answers import read_recorded_answers
    from sssd_demo.stores import Stores

    def read(path: Path) -> list[RecordedAnswer]:
        return read_recorded_answers(path, text.vocab_size, fingerprint=text.fingerprint)

    files = {str(path): read(path) for path in args.answers}
    every = [answer for answers in files.values() for answer in answers]
    measured = read(args.measure) if args.measure else every[::HELD_OUT]
    if not measured:
        raise UserError("There is nothing to measure on; please name recorded answers: --measure FILE.")
    told, learnt = [], []
    kept = {id(answer) for answer in unrelated(every, measured)}
    for path, answers in files.items():
        answers = [answer for answer in answers if id(answer) in kept]
        told.append({"answers": Path(path).name, **_counted(answers)})
        learnt += answers
    stores = Stores.usual(text.fingerprint)
    for store_name in args.store:
        store = stores.open(store_name)
        check_held_out(measured, store, store_name)
        texts = [document.tolist() for sub_index in store.sub_indices for document in sub_index.texts()]
        answers = [stored_answer(document, store.recalled) for document in texts]
        told.append({"store": store_name, **_counted(answers)})
        learnt += answers
    if not (learnt or args.measure_only):
        raise UserError("There is nothing to learn from; please name --answers FILE or --store NAME.")
    header = text.encode_chat([{"role": "user", "content": ""}])
    return examples_of(learnt, header), examples_of(measured, header), told


def _train(
    args: argparse.Namespace, name: str, text: Text, examples: Sequence[Example], told: list[dict[str, Any]]
) -> dict[str, Any]:
    """Train, and save the model. Returns its card, without what is yet to be measured."""
    from sssd_demo import models
    from sssd_demo.exit_draft.data import short_list
    from sssd_demo.exit_draft.model import begin, save
    from sssd_demo.exit_draft.record import ExitDraft
    from sssd_demo.exit_draft.train import Recipe, Training, read_state, soften

    draft = ExitDraft(name, args.copied, args.trained)
    checkpoint = args.out.with_name(args.out.name + ".training")
    state = read_state(checkpoint, draft)
    target = models.fetch(name)[0]
    width = text.vocab_size
    listed = short_list(examples, args.vocabulary, text.end_tokens, width) if state is None else state["list"]
    try:
        model = begin(draft, target.path, listed)
    except RuntimeError as error:
        raise UserError(f"{name} has no layers {','.join(map(str, args.copied + args.trained))}.") from error
    recipe = Recipe(args.steps, args.batch_tokens, args.learning_rate, args.seed)
    training = Training(model, draft, recipe)
    if state is None:
        soften(model)
    else:
        training.resume(state)
    started = time.monotonic()
    training.run(examples, lambda: _after_step(training, recipe.steps, checkpoint, started))
    card = {
        "target": target.source,
        "data": told,
        "vocabulary": len(listed),
        "steps": training.progress.step,
        "tokens": training.progress.tokens,
        "batch_tokens": args.batch_tokens,
        "learning_rate": args.learning_rate,
        "seed": args.seed,
    }
    save(model, ExitDraft(name, args.copied, args.trained, card=card), args.out)
    checkpoint.unlink(missing_ok=True)
    return card


def _after_step(training: Training, steps: int, checkpoint: Path, started: float) -> None:
    now = training.progress
    if now.step % SAVE_EVERY == 0:
        training.save(checkpoint)
    if now.step % TELL_EVERY == 0 or now.step == steps:
        print(
            f"step {now.step} of {steps}: {now.tokens:,} tokens, loss {now.loss:.3f}, agreement {now.agreement:.3f}, "
            f"{time.monotonic() - started:.0f} s",
            file=sys.stderr,
            flush=True,
        )


def _measured_card(args: argparse.Namespace) -> dict[str, Any]:
    from sssd_demo.exit_draft.record import has_record, read_record

    if not has_record(args.out):
        raise UserError(f"There is no trained draft model in {args.out}.")
    return read_record(args.out, str(args.out)).card


def _measure(folder: Path, card: dict[str, Any], measured: Sequence[Example], source: str) -> dict[str, Any]:
    """Complete the card of the model in `folder`."""
    from sssd_demo import models
    from sssd_demo.exit_draft.measure import STEPS_AHEAD, agreement, hits_of, step_ms, tokens_per_forward
    from sssd_demo.exit_draft.record import write_card

    loaded = models.load(str(folder))
    hits = hits_of(loaded.model, measured)
    card = card | {
        "agreement": [round(share, 4) for share in agreement(hits)],
        "tokens_per_forward": [round(tokens_per_forward(hits, k), 3) for k in range(1, STEPS_AHEAD + 1)],
        "step_ms": round(step_ms(loaded.model), 3),
        "measured_on": {
            "source": source,
            "answers": len(measured),
            "tokens": sum(len(example.likely) for example in measured),
            "machine": f"{loaded.device_name}, {loaded.dtype}",
        },
    }
    kept = write_card(folder, card)
    return {"out": str(folder), "bytes": kept.size, "card": kept.card}


def _counted(answers: Sequence[RecordedAnswer]) -> dict[str, int]:
    return {"count": len(answers), "tokens": sum(len(answer.output) for answer in answers)}


def _layers(text: str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError:
        numbers = (-1,)
    if any(number < 0 for number in numbers):
        raise argparse.ArgumentTypeError(f"must be numbers of layers such as 1,2, but is {text!r}")
    return numbers
