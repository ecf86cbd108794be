"""The lives of gangs during faults, and the base class of the cases."""
import os
import signal
import sys
import threading

import support
from lib.faults import FaultProxy, Replica
from lib.invariants import Invariants, label, node_of, phase_of, size_of, uid_of
from support import OPERATOR, given

# Short: what every test run can afford. Whole: e2e/run --faults.
WHOLE = os.environ.get("TRAINYARD_FAULTS") == "whole"
SEED = int(os.environ.get("TRAINYARD_FAULTS_SEED", "20261"))
# How long anything may take that takes a second on a quiet machine.
PATIENCE = 300 if WHOLE else 120


def note(text):
    print(text, file=sys.stderr, flush=True)


class Background(threading.Thread):
    """Runs function(*args) beside the test; ends with the process at the latest."""

    def __init__(self, function, *args):
        super().__init__(daemon=True)
        self._call, self._error = (function, args), None
        self.start()

    def run(self):
        function, args = self._call
        try:
            function(*args)
        except BaseException as error:  # pylint: disable=broad-except
            self._error = error

    def result(self):
        """Waits for its end; raises what it raised."""
        self.join()
        if self._error:
            raise self._error


class Lives:
    """Each life begins and ends with nothing in its namespace."""

    def __init__(self, seen, namespace):
        self._seen, self._namespace = seen, namespace
        self._count = 0

    def _names(self, *names):
        """The names of jobs in this life: the same ones again if the last life's objects must all be deleted, Services
        and ConfigMaps included."""
        self._count += 1
        return names if WHOLE else [f"{name}{self._count}" for name in names]

    def create(self, name, **options):
        support.create_job(self._namespace, support.job(name, **options))

    def delete(self, *names):
        for name in names:
            support.delete_job(self._namespace, name)
        self._seen.gone(self._namespace, auxiliaries=WHOLE)

    def reach(self, name, phase):
        """Waits for the phase; the job must not have ended otherwise."""
        def reached():
            job = self._seen.job(self._namespace, name)
            if phase_of(job) == "Failed":
                raise AssertionError(f"{name} failed: {job['status']}")
            return phase_of(job) == phase and job
        return self._seen.wait(reached, f"{name} is {phase}")

    def running(self, name):
        """Waits until it is placed as a whole, each member on a node of its own."""
        self.reach(name, "Running")
        self._seen.settled()
        job = self._seen.job(self._namespace, name)
        members = self._seen.members(uid_of(job))
        assert len({node_of(pod) for pod in members}) == size_of(job), self._seen.digest()
        return job, members

    def finish(self, name):
        support.finish(self._namespace, name)
        return self.reach(name, "Succeeded")

    # ---- the lives

    def start(self):
        """A gang of four is placed, ends and is deleted."""
        [name] = self._names("g")
        self.create(name)
        self.running(name)
        self.finish(name)
        self.delete(name)

    def one(self):
        """The same for a single-pod job."""
        [name] = self._names("one")
        self.create(name, replicas=1)
        self.running(name)
        self.finish(name)
        self.delete(name)

    def restart(self):
        """A member is deleted: the whole gang restarts. Then the job is deleted while it runs."""
        [name] = self._names("r")
        self.create(name)
        job, members = self.running(name)
        epoch = job["status"]["gang"]["placed"]["epoch"]
        victim = min(members, key=lambda pod: pod["metadata"]["name"])
        support.core().delete_namespaced_pod(victim["metadata"]["name"], self._namespace)

        def restarted():
            job = self._seen.job(self._namespace, name)
            placed = job["status"]["gang"].get("placed", {})
            return placed.get("epoch", 0) > epoch and phase_of(job) == "Running"
        self._seen.wait(restarted, "it runs again")
        _, members = self.running(name)
        assert len({label(pod, "epoch") for pod in members}) == 1, self._seen.digest()
        self.delete(name)

    def compete(self):
        """Two gangs, capacity for one: the second has nothing until the first has ended."""
        both = self._names("a", "b")
        for name in both:
            self.create(name)

        def decided():
            return [name for name in both if self._seen.phase(self._namespace, name) == "Running"]
        first = self._seen.wait(decided, "one of two runs")
        assert len(first) == 1, self._seen.digest()
        [second] = set(both) - set(first)
        self.running(first[0])
        self.reach(second, "Queued")
        assert not self._seen.members(uid_of(self._seen.job(self._namespace, second))), self._seen.digest()
        self.finish(first[0])
        self.running(second)
        self.delete(*both)

    def abort(self):
        """Deleted when its pods exist and cannot be bound."""
        [name] = self._names("x")
        given().kill("kube-scheduler", signal.SIGSTOP)
        try:
            self.create(name)
            self._seen.wait(lambda: self._seen.job(self._namespace, name) and len(self._seen.members(
                uid_of(self._seen.job(self._namespace, name)))) == 4, "its pods exist")
            self.delete(name)
        finally:
            given().kill("kube-scheduler", signal.SIGCONT)


class FaultCase(support.Case):
    """One proxy for the file, with one operator behind it in place of the cluster's own."""
    CLIENTS = ("operator-a",)

    @classmethod
    def setUpClass(cls):
        given().stop(OPERATOR)
        cls.proxy = FaultProxy(given(), cls.CLIENTS)
        cls.replicas = {name: Replica(given(), cls.proxy, name, identity=name) for name in cls.CLIENTS}
        cls.operator = cls.replicas[cls.CLIENTS[0]]
        cls.seen = Invariants(given().kubeconfig, bound_seconds=300, patience=PATIENCE)

    @classmethod
    def tearDownClass(cls):
        cls.seen.stop(quiet=True)
        for replica in cls.replicas.values():
            replica.stop()
        cls.proxy.stop()

    def setUp(self):
        super().setUp()
        self.lives = Lives(self.seen, self.namespace)

    def live(self, life, what):
        """Lives a life; a failure is reported with the fault and the requests before it."""
        try:
            getattr(self.lives, life)()
            self.seen.check()
            self.operator.check()
        except AssertionError as error:
            stories = "\n".join(self.proxy.story(name) for name in self.CLIENTS)
            raise AssertionError(f"{life}, {what}: {error}\n{stories}") from error
