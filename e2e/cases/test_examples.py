"""The demo, unattended: every job of examples/ ends as its story states."""
import sys
import unittest

import support
from lib.script import script_of

# The demo starts its own.
CLUSTER = None


class Examples(unittest.TestCase):
    def test_demo_once(self):
        done = support.run([support.ROOT / "e2e" / "demo", "--once", "--bin", support.bin_dir()], timeout=240)
        print(done.stdout, file=sys.stderr if done.returncode else sys.stdout)
        self.assertEqual(done.returncode, 0, done.stderr)
        table = done.stdout[done.stdout.index("\nJOB "):].splitlines()[2:]
        ends = {row.split()[0]: row.split()[2] for row in table if row.strip()}
        want = {job: parts["ends"] for job, parts in script_of(support.ROOT / "examples").items()}
        self.assertGreaterEqual(len(want), 8)
        self.assertEqual(ends, want)


if __name__ == "__main__":
    unittest.main()
