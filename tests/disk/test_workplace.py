"""Work that is kept, belongs to one command, and is done by one process at a time."""

from __future__ import annotations

import numpy as np
import pytest

from sbert.disk.workplace import Workplace
from sbert.errors import CannotResume, RunInUse


def test_work_is_done_once(tmp_path):
    place, done = Workplace(tmp_path / "일"), []

    def make():
        done.append(1)
        return np.arange(3.0)

    for _ in range(2):
        with place.opened({"k": 1}):
            assert place.once("a", make).tolist() == [0, 1, 2]
    assert done == [1]
    with (
        pytest.raises(CannotResume, match="another command, which differs in k"),
        place.opened({"k": 2}),
    ):
        pass
    place.remove()
    assert not place.folder.exists()


def test_what_fails_is_not_kept(tmp_path):
    place = Workplace(tmp_path / "일")
    with place.opened({}):
        with pytest.raises(ZeroDivisionError):
            place.once("a", lambda: 1 / 0)
        assert place.once("a", lambda: np.ones(1)).tolist() == [1]
        assert place.once("b", lambda: np.ones(2)).tolist() == [1, 1]


def test_one_process_at_a_time(tmp_path):
    place = Workplace(tmp_path / "일")
    with place.opened({}), pytest.raises(RunInUse, match="is in use by process"), Workplace(place.folder).opened({}):
        pass
