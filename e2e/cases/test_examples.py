"""The demo, unattended: every job of examples/ ends as its file says."""
import re
import sys
import unittest

import support

# The demo starts its own.
CLUSTER = None
EXAMPLES = sorted((support.ROOT / "examples").glob("[0-9]*.yaml"))


def expected():
    """{job name: phase} as the files say it."""
    found = {}
    for path in EXAMPLES:
        text = path.read_text()
        for document in re.split(r"^---$", text, flags=re.MULTILINE):
            if not re.search(r"^kind: TrainingJob$", document, re.MULTILINE):
                continue
            name = re.search(r"^  name: (\S+)", document, re.MULTILINE).group(1)
            found[name] = re.search(r"trainyard\.dev/expect-phase: (\S+)", document).group(1)
    return found


class Examples(unittest.TestCase):
    def test_demo_once(self):
        done = support.run([support.ROOT / "e2e" / "demo", "--once", "--bin", support.bin_dir()], timeout=240)
        print(done.stdout, file=sys.stderr if done.returncode else sys.stdout)
        self.assertEqual(done.returncode, 0, done.stderr)
        table = done.stdout[done.stdout.index("\nJOB "):].splitlines()[2:]
        ends = {row.split()[0]: row.split()[2] for row in table if row.strip()}
        want = expected()
        self.assertGreaterEqual(len(want), 8)
        self.assertEqual(ends, want)


if __name__ == "__main__":
    unittest.main()
