"""A watch that notes when it saw what, for benchmarks that are about people's waiting."""
import http.client
import json
import threading
import time

from .errors import E2EError


class Eyes:
    """Calls see(now, object) for every object of a collection that comes or changes, on a thread of its own, under
    the lock of wait()."""

    def __init__(self, api, path, see):
        self._api, self._see = api.fork(), see
        self._news, self._failure, self._closing = threading.Condition(), None, False
        version = self._api.get(f"{path}?limit=1")["metadata"]["resourceVersion"]
        self._lines, self._hang_up = self._api.stream(
            f"{path}?watch=1&resourceVersion={version}&timeoutSeconds=3600")
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        failure = "the server ended it"
        try:
            for line in self._lines:
                event = json.loads(line)
                now = time.monotonic()
                if event["type"] == "ERROR":
                    failure = event["object"].get("message")
                    break
                with self._news:
                    self._see(now, event["object"])
                    self._news.notify_all()
        except (OSError, ValueError, http.client.HTTPException) as error:
            failure = error
        with self._news:
            self._failure = failure
            self._news.notify_all()

    def wait(self, done, timeout, late):
        """Waits until done() is true, asked after every event; fails after timeout seconds with late()'s words."""
        with self._news:
            if not self._news.wait_for(lambda: done() or self._failure, timeout):
                raise E2EError(f"after {timeout:.0f} s: {late()}")
            if not done():
                raise E2EError(f"the watch ended ({self._failure}): {late()}")

    def close(self):
        # Closing a connection that another thread reads from would wait for what it reads.
        self._hang_up()
        self._reader.join()
        self._api.close()
