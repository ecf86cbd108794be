"""The file that users copy to report progress: one line in ten seconds, with the newest value of each field."""
import contextlib
import io
import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
import trainyard_progress as progress  # noqa: E402  pylint: disable=wrong-import-position


class Progress(unittest.TestCase):
    def setUp(self):
        progress._last = -progress.math.inf  # pylint: disable=protected-access
        progress._held.clear()  # pylint: disable=protected-access
        self.out = io.StringIO()
        self.enterContext(contextlib.redirect_stdout(self.out))

    def lines(self):
        return [json.loads(line.partition(": ")[2]) for line in self.out.getvalue().splitlines() if line]

    def test_what_is_reported_between_two_lines_is_in_the_next(self):
        progress.report(step=1, loss=2.5)
        progress.report(step=2, loss=2.4)
        progress.report(step=2, ranks={0: 0.2, 1: 0.4})
        self.assertEqual([{"step": 1, "loss": 2.5}], self.lines())
        progress.checkpointed(step=3)
        said = self.lines()[1]
        self.assertIn("checkpoint", said)
        self.assertEqual((3, 2.4, {"0": 0.2, "1": 0.4}), (said["step"], said["loss"], said["ranks"]))
        progress.report(at_once=True, step=4)
        self.assertEqual({"step": 4}, self.lines()[2])

    def test_a_bad_figure_spoils_one_line(self):
        ranks = {0: 0.2}
        progress.report(step=1)
        progress.report(step=2, grads=[1, 2])
        with self.assertRaises(TypeError):
            progress.report(at_once=True, step=3)
        progress.report(step=4, ranks=ranks, loss=None)
        ranks.clear()
        progress.report(at_once=True, step=5)
        self.assertEqual({"step": 5, "ranks": {"0": 0.2}}, self.lines()[-1])

    def test_what_is_no_figure_is_left_out(self):
        progress.report(loss=float("nan"), step=None, phase="warm", rate=float("inf"))
        self.assertEqual([{"phase": "warm"}], self.lines())


unittest.main()
