"""Running kubectl against one cluster."""
import json
import subprocess
import threading

from . import processes
from .errors import E2EError


class Kubectl:
    def __init__(self, binary, kubeconfig, cache_dir):
        self._argv = [str(binary), f"--kubeconfig={kubeconfig}", f"--cache-dir={cache_dir}"]

    def __call__(self, *args, input=None, timeout=120):  # pylint: disable=redefined-builtin
        """Returns stdout; input (text) goes to stdin. Raises E2EError with kubectl's own message."""
        words = [str(arg) for arg in args]
        try:
            done = subprocess.run([*self._argv, *words], input=input, capture_output=True, text=True,
                                  timeout=timeout, env=processes.environment(), check=False)
        except subprocess.TimeoutExpired:
            raise E2EError(f"kubectl {' '.join(words)}: no answer within {timeout} s") from None
        if done.returncode:
            raise E2EError(f"kubectl {' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def json(self, *args, **kwargs):
        return json.loads(self(*args, "-o", "json", **kwargs))

    def watch(self, *args, sink):
        """Calls sink(type, object) for each event of `kubectl get ARGS --watch`, until its stop()."""
        options = ["--watch", "--output-watch-events", "-o", "json"]
        return Watch([*self._argv, "get", *map(str, args), *options], sink)


class Watch:
    """A kubectl that streams, and the thread that reads it; begun again when the server ends the stream."""

    def __init__(self, argv, sink):
        self._argv = argv
        self._sink = sink
        self._stopped = threading.Event()
        self._child = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self):
        self._stopped.set()
        while self._thread.is_alive():
            # Again and again: the thread may just be starting the next kubectl.
            if self._child:
                self._child.terminate()
            self._thread.join(0.1)

    def _run(self):
        while not self._stopped.is_set():
            self._child = subprocess.Popen(self._argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                           stderr=subprocess.DEVNULL, text=True, env=processes.environment(),
                                           start_new_session=True)
            with self._child as child:
                # One event a line.
                for line in child.stdout:
                    event = json.loads(line)
                    if event["type"] != "ERROR":
                        self._sink(event["type"], event["object"])
            self._stopped.wait(1)


def documents(text):
    """Decodes JSON documents that follow one another, as kubectl prints several objects."""
    decoder, found = json.JSONDecoder(), []
    text = text.strip()
    while text:
        document, end = decoder.raw_decode(text)
        found.append(document)
        text = text[end:].lstrip()
    return found
