"""A figure as data and as text."""

from sssd_demo.experiments.figure import Axis, Figure, Origin, Series
from sssd_demo.experiments.figure_text import figure_text

ORIGIN = Origin(device="a test", model="fake", created="2026-01-02", command="python -m sssd_demo experiment x")
FIGURE = Figure(
    experiment="x",
    title="How it grows",
    verdict="It rose.",
    x=Axis("in the store", "tokens"),
    y=Axis("rate", "tokens per forward"),
    series=(
        Series("wide", (0, 1000), (1.0, 2.0), (0.5, 1.5), (1.5, 2.5)),
        Series("thin", (500, 1000), (1.25, 1.5)),
    ),
    kind="line",
    settings={"s_q": 8},
)


def test_the_data_names_everything_that_a_drawing_needs():
    data = FIGURE.as_data(ORIGIN)
    assert " ".join(data) == "experiment title verdict device model created command settings x y series kind"
    assert data["x"] == {"label": "in the store", "unit": "tokens"}
    assert data["device"] == "a test"
    assert data["series"][0]["high"] == (1.5, 2.5)
    assert set(data["series"][1]) == {"name", "x", "y"}


def test_a_person_gets_a_row_for_each_x_and_a_column_for_each_series():
    assert figure_text(FIGURE.as_data(ORIGIN)).splitlines() == [
        "How it grows",
        "rate, tokens per forward",
        "",
        "in the store, tokens  wide                    thin",
        "0                     1.000 (0.500 to 1.500)  -",
        "500                   -                       1.250",
        "1,000                 2.000 (1.500 to 2.500)  1.500",
        "",
        "It rose.",
    ]
