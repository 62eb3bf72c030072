"""A second language's own answers added to an English store."""

from sssd_demo.experiments.language_growth import run, usable
from sssd_demo.sssd.constants import FAITHFUL
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.sssd.recorded_answers import RecordedAnswer
from tests.experiments.toy_answers import VOCABULARY, fresh, phrased


def grown(answers, english=()):
    store = Datastore.build(english, fingerprint="f", vocab_size=VOCABULARY)
    return run({"German": answers}, store, vocab_size=VOCABULARY, s_q=6, settings=FAITHFUL)


def test_each_answer_is_drafted_with_more_and_more_of_the_others():
    figure = grown(phrased(8))
    beside, alone = figure.series
    assert beside.x == alone.x == tuple(range(0, 320, 40))
    assert beside.y == alone.y  # the English store is empty
    assert alone.y[0] == 1 < alone.y[-1]
    assert figure.verdict == (
        f"In tokens per forward, German rose from 1.00 to {beside.y[-1]:.2f} with 280 tokens of its own, against "
        f"{alone.y[-1]:.2f} without the English store. Drafted without the recycled source."
    )


def test_the_first_store_helps_from_the_beginning():
    beside, alone = grown(phrased(4), english=[answer.output for answer in phrased(20, seed=1)]).series
    assert beside.y[0] > alone.y[0] == 1


def test_an_answer_never_meets_itself():
    beside, _ = grown(fresh(3)).series
    assert beside.x == (0, 30, 60)
    assert set(beside.y) == {1.0}


def test_short_answers_and_repeats_are_of_no_use():
    short = RecordedAnswer((1,), tuple(range(19)))
    longer = RecordedAnswer((1,), tuple(range(40)))
    alike = RecordedAnswer((2,), (99, *range(1, 50)))
    assert usable([short, longer, alike, *fresh(2)]) == [longer, *fresh(2)]
    assert usable([short]) == []
