"""A stream of foreign GPU pods while gangs are created, released and end; the extender down for 10 s, the API server
killed or stopped in the middle. Every gang and every foreign pod ends, no gang is placed in part, no node is overcommitted.

The order follows from a seed: TRAINYARD_FAULTS_SEED=7 e2e/run --faults foreign_pods
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
GANGS_AT_ONCE, FOREIGN_PODS_AT_ONCE = 6, 12
# Replicas and GPUs of each: (2, 8) takes whole nodes, (6, 1) fits between foreign pods.
GANG_SHAPES = ((2, 8), (4, 4), (3, 8), (6, 1), (4, 2), (2, 6))
FOREIGN_POD_GPUS = (1, 1, 1, 1, 2, 8)
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


class ForeignPods(support.Case):
    @classmethod
    def setUpClass(cls):
        cls.seen = Invariants(given().kubeconfig, patience=PATIENCE)

    @classmethod
    def tearDownClass(cls):
        cls.seen.stop(quiet=True)

    def setUp(self):
        super().setUp()
        self.source = random.Random(f"{SEED} {self.id()}")
        self.sent = {"gang": 0, "foreign_pod": 0}

    # ---- what is created

    def submit_gang(self):
        index, (replicas, gpus) = self.sent["gang"], self.source.choice(GANG_SHAPES)
        name = f"gang-{index}"
        insist(support.create_job, self.namespace,
               support.job(name, replicas=replicas, gpus=gpus, run_for="1s"), done=(409,))
        self.sent["gang"] += 1
        self.seen.wait(lambda: self.seen.job(self.namespace, name), f"{name} is seen")

    def submit_foreign_pod(self):
        name = f"foreign-{self.sent['foreign_pod']}"
        body = support.pod(name, self.source.choice(FOREIGN_POD_GPUS))
        body["metadata"]["annotations"] = {support.RUN_FOR: f"{self.source.choice((500, 1000, 3000))}ms"}
        insist(support.core().create_namespaced_pod, self.namespace, body, done=(409,))
        self.sent["foreign_pod"] += 1
        self.seen.wait(lambda: (self.namespace, name) in self.seen.pods, f"{name} is seen")

    def foreign_pods(self):
        return [pod for (namespace, name), pod in self.seen.pods.items()
                if namespace == self.namespace and name.startswith("foreign-")]

    def gangs(self):
        return [job for (namespace, _), job in self.seen.jobs.items() if namespace == self.namespace]

    def stream(self, troubles):
        """Gangs and foreign pods are created as others end. troubles: {number of gangs so far: what happens then}"""
        troubles = dict(troubles)

        def next_one():
            unfinished = sum(not over(job) for job in self.gangs())
            alone = sum(not support.ended(pod) for pod in self.foreign_pods())
            if self.sent["gang"] < GANGS and unfinished < GANGS_AT_ONCE:
                # Three foreign pods for each gang, or as many as may be.
                if alone < FOREIGN_PODS_AT_ONCE and self.sent["foreign_pod"] < 3 * (self.sent["gang"] + 1):
                    return "foreign_pod"
                return "gang"
            return unfinished == 0 and alone == 0 and self.sent["gang"] == GANGS and "end"
        while (what := self.seen.wait(next_one, "the next can be created, or all have ended")) != "end":
            getattr(self, f"submit_{what}")()
            if self.sent["gang"] in troubles:
                troubles.pop(self.sent["gang"])()
        self.check_end()

    def check_end(self):
        self.assertEqual({phase_of(job) for job in self.gangs()}, {"Succeeded"}, self.seen.digest())
        self.assertEqual({pod["status"]["phase"] for pod in self.foreign_pods()}, {"Succeeded"}, self.seen.digest())
        self.assertTrue(all(map(node_of, self.foreign_pods())))
        attempts = sum(job["status"]["gang"]["lastEpoch"] for job in self.gangs())
        print(f"{self.id()}: {GANGS} gangs in {attempts} attempts beside {self.sent['foreign_pod']} foreign pods",
              file=sys.stderr, flush=True)
        self.seen.check()

    @contextlib.contextmanager
    def tended(self, *names):
        """Starts again what Kubernetes would start again."""
        tended = [Tended(given(), name) for name in names]
        try:
            yield
        finally:
            for each in tended:
                each.stop(end=False)

    @contextlib.contextmanager
    def later(self, seconds, function, *args):
        """Calls function(*args) after so many seconds, while the block runs; waits for it at its end."""
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
        """kube-scheduler gets no answer: gangs and foreign pods wait, none gets reserved capacity."""
        with contextlib.ExitStack() as stack:
            def trouble():
                given().kill(EXTENDER)
                stack.enter_context(self.later(DOWN_SECONDS, given().start, EXTENDER))
            self.stream({GANGS // 3: trouble})

    def test_extender_stands_still(self):
        """Each call to it exceeds kube-scheduler's time limit."""
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
        """Ends it and starts it again; the other programs may end because of it, and are started again."""
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
