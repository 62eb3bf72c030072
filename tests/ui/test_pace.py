from sssd_demo.ui.pace import LONGEST, SHARE, SHOW_EVERY, Pace


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def waited(took: float) -> float:
    """Seconds from the begin of an update that `took` so long to the next one that is due."""
    clock = Clock()
    pace = Pace(clock=clock)
    assert pace.due()
    with pace.update():
        clock.now += took
    began = clock.now - took
    while not pace.due():
        clock.now += 0.001
    return round(clock.now - began, 2)


def test_quick_updates_come_as_often_as_an_eye_can_follow():
    assert waited(0.0) == SHOW_EVERY


def test_slow_updates_come_less_often_so_that_they_take_a_small_share_of_the_time():
    assert waited(0.04) == round(0.04 / SHARE, 2)


def test_a_page_is_never_left_alone_for_long():
    assert waited(0.7) == LONGEST
