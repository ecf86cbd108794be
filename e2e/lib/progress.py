"""Progress with times, on stderr, so that stdout stays free for results."""
import sys
import time
from contextlib import contextmanager


class Progress:
    def __init__(self, quiet=False):
        self._quiet = quiet
        self._start = time.monotonic()

    def elapsed(self):
        return time.monotonic() - self._start

    def say(self, text):
        if not self._quiet:
            print(f"[{self.elapsed():6.1f}s] {text}", file=sys.stderr, flush=True)

    @contextmanager
    def step(self, text):
        """Says text when the block ends well, with the seconds it took."""
        begin = time.monotonic()
        yield
        self.say(f"{text} ({time.monotonic() - begin:.1f} s)")
