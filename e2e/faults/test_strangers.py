"""A stream of strangers' GPU pods while gangs come, are released and end; the extender down for 10 s, the API server
killed or stopped in the middle. Every gang and every stranger ends, nobody in pieces, nothing over-committed.

What comes when follows from a seed: TRAINYARD_FAULTS_SEED=7 e2e/run --faults strangers
"""
import contextlib
import random
import signal
import sys
import threading
import time
import unittest

import urllib3

import support
from lib.faults import Tended
from lib.invariants import Invariants, node_of, over, phase_of
from phases import SEED, WHOLE
from support import EXTENDER, OPERATOR, given

RUNS = "whole"
CLUSTER = {"nodes": 6}
GANGS = 50 if WHOLE else 8
# At the same time, at most: more than fit, so that some wait.
GANGS_AT_ONCE, STRANGERS_AT_ONCE = 6, 12
# Replicas and GPUs of each: (2, 8) takes whole nodes, (6, 1) fits between foreign pods.
GANG_SHAPES = ((2, 8), (4, 4), (3, 8), (6, 1), (4, 2), (2, 6))
STRANGER_GPUS = (1, 1, 1, 1, 2, 8)
DOWN_SECONDS = 10
# For a gang or a foreign pod whose nodes are free; the back-off after an aborted attempt is in it.
PATIENCE = 240


def insist(function, *args, done=(), timeout=120):
    """Calls function until the API server has answered; a code among done is success."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            return function(*args)
        except support.client.exceptions.ApiException as error:
            if error.status in done:
                return None
            # Still starting: its caches and its own rights are not there yet.
            if error.status not in (401, 403, 429, 500, 503) or time.monotonic() > deadline:
                raise
        except (urllib3.exceptions.HTTPError, OSError):
            if time.monotonic() > deadline:
                raise
        time.sleep(0.1)


class Strangers(support.Case):
    @classmethod
    def setUpClass(cls):
        cls.seen = Invariants(given().kubeconfig, patience=PATIENCE)

    @classmethod
    def tearDownClass(cls):
        cls.seen.stop(quiet=True)

    def setUp(self):
        super().setUp()
        self.source = random.Random(f"{SEED} {self.id()}")
        self.sent = {"gang": 0, "stranger": 0}

    # ---- who comes

    def submit_gang(self):
        index, (replicas, gpus) = self.sent["gang"], self.source.choice(GANG_SHAPES)
        name = f"gang-{index}"
        insist(support.create_job, self.namespace,
               support.job(name, replicas=replicas, gpus=gpus, run_for="1s"), done=(409,))
        self.sent["gang"] += 1
        self.seen.wait(lambda: self.seen.job(self.namespace, name), f"{name} is seen")

    def submit_stranger(self):
        name = f"stranger-{self.sent['stranger']}"
        body = support.pod(name, self.source.choice(STRANGER_GPUS))
        body["metadata"]["annotations"] = {support.RUN_FOR: f"{self.source.choice((500, 1000, 3000))}ms"}
        insist(support.core().create_namespaced_pod, self.namespace, body, done=(409,))
        self.sent["stranger"] += 1
        self.seen.wait(lambda: (self.namespace, name) in self.seen.pods, f"{name} is seen")

    def strangers(self):
        return [pod for (namespace, name), pod in self.seen.pods.items()
                if namespace == self.namespace and name.startswith("stranger-")]

    def gangs(self):
        return [job for (namespace, _), job in self.seen.jobs.items() if namespace == self.namespace]

    def stream(self, troubles):
        """Gangs and strangers come as others end. troubles: {number of gangs that came: what happens then}"""
        troubles = dict(troubles)

        def next_one():
            unfinished = sum(not over(job) for job in self.gangs())
            alone = sum(not support.ended(pod) for pod in self.strangers())
            if self.sent["gang"] < GANGS and unfinished < GANGS_AT_ONCE:
                # Three foreign pods for each gang, or as many as may be.
                if alone < STRANGERS_AT_ONCE and self.sent["stranger"] < 3 * (self.sent["gang"] + 1):
                    return "stranger"
                return "gang"
            return unfinished == 0 and alone == 0 and self.sent["gang"] == GANGS and "end"
        while (what := self.seen.wait(next_one, "the next can come, or all have ended")) != "end":
            getattr(self, f"submit_{what}")()
            if self.sent["gang"] in troubles:
                troubles.pop(self.sent["gang"])()
        self.check_end()

    def check_end(self):
        self.assertEqual({phase_of(job) for job in self.gangs()}, {"Succeeded"}, self.seen.digest())
        self.assertEqual({pod["status"]["phase"] for pod in self.strangers()}, {"Succeeded"}, self.seen.digest())
        self.assertTrue(all(map(node_of, self.strangers())))
        attempts = sum(job["status"]["gang"]["lastEpoch"] for job in self.gangs())
        print(f"{self.id()}: {GANGS} gangs in {attempts} attempts beside {self.sent['stranger']} strangers",
              file=sys.stderr, flush=True)
        self.seen.check()

    @contextlib.contextmanager
    def tended(self, *names):
        """What Kubernetes would start again is started again."""
        tended = [Tended(given(), name) for name in names]
        try:
            yield
        finally:
            for each in tended:
                each.stop(end=False)

    @contextlib.contextmanager
    def later(self, seconds, function, *args):
        """function(*args) so many seconds from now, while the block goes on; waited for at its end."""
        errors = []

        def run():
            time.sleep(seconds)     # the length of the trouble
            try:
                function(*args)
            except Exception as error:  # pylint: disable=broad-except
                errors.append(error)
        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield
        finally:
            thread.join()
        self.assertEqual(errors, [])

    # ---- cases

    def test_stream(self):
        self.stream({})

    def test_extender_killed(self):
        """Nobody answers kube-scheduler: gangs and strangers wait, none is let past the reservations."""
        with contextlib.ExitStack() as stack:
            def trouble():
                given().kill(EXTENDER)
                stack.enter_context(self.later(DOWN_SECONDS, given().start, EXTENDER))
            self.stream({GANGS // 3: trouble})

    def test_extender_stands_still(self):
        """Each call to it runs into kube-scheduler's time limit."""
        with contextlib.ExitStack() as stack:
            def trouble():
                given().kill(EXTENDER, signal.SIGSTOP)
                stack.enter_context(self.later(DOWN_SECONDS, given().kill, EXTENDER, signal.SIGCONT))
            self.stream({GANGS // 3: trouble})

    def test_scheduler_stands_still(self):
        with contextlib.ExitStack() as stack:
            def trouble():
                given().kill("kube-scheduler", signal.SIGSTOP)
                stack.enter_context(self.later(DOWN_SECONDS, given().kill, "kube-scheduler", signal.SIGCONT))
            self.stream({GANGS // 3: trouble})

    def api_server(self, sig):
        """Ends it and starts it again; the others may end for it, and are started again."""
        def trouble():
            given().stop("kube-apiserver", sig, timeout=120)
            given().start("kube-apiserver", timeout=120)
        with self.tended(OPERATOR, EXTENDER, "kube-scheduler", "kube-controller-manager", "kwok"):
            self.stream({GANGS // 3: trouble, 2 * GANGS // 3: trouble})

    def test_api_server_killed(self):
        self.api_server(signal.SIGKILL)

    def test_api_server_stopped(self):
        self.api_server(signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()
