"""A gang of four is brought into a phase of its life and held there for a block: by the door, by stopped programs, or by
nodes that are in use; never by a hook in the product.

    waiting     three nodes are free, it needs four
    creating    three members exist, the creation of the fourth is held at the door
    releasing   three members are released and bound, the release of the fourth is held at the door
    released    all members are released, no scheduling succeeds: the extender is stopped
    placed      all members are bound, none is started: the kubelets are stopped
    running     all members run
"""
import contextlib
import os
import signal

import support
from lib.door import Door
from lib.invariants import Invariants, gated, node_of, phase_of, size_of, uid_of
from support import EXTENDER, given

# Short: what every test run can afford. Whole: e2e/run --faults.
WHOLE = os.environ.get("TRAINYARD_FAULTS") == "whole"
SEED = int(os.environ.get("TRAINYARD_FAULTS_SEED", "20261"))
PATIENCE = 120
NAME = "gang"
SIZE = 4
BEFORE_RELEASE = ("waiting", "creating")
ALL = ("waiting", "creating", "releasing", "released", "placed", "running")


class PhaseCase(support.Case):
    """One door and one watch for all cases of a class; a namespace for each case."""

    @classmethod
    def setUpClass(cls):
        cls.door = Door(given())
        cls.seen = Invariants(given().kubeconfig, patience=PATIENCE)

    @classmethod
    def tearDownClass(cls):
        cls.seen.stop(quiet=True)
        cls.door.close()

    def make_namespace(self, name):
        name = super().make_namespace(name)
        support.core().patch_namespace(name, {"metadata": {"labels": self.door.labels}})
        self.door.watches(name)
        return name

    # ---- what is seen

    def job(self, name=NAME):
        return self.seen.job(self.namespace, name)

    def members(self, name=NAME):
        """{name of the pod: pod}"""
        job = self.job(name)
        return {pod["metadata"]["name"]: pod for pod in self.seen.members(uid_of(job))} if job else {}

    def uids(self, name=NAME):
        return {key: uid_of(pod) for key, pod in self.members(name).items()}

    def gang(self, name=NAME):
        return (self.job(name) or {}).get("status", {}).get("gang", {})

    def wait(self, predicate, what, timeout=None):
        return self.seen.wait(predicate, what, timeout)

    def reach(self, phase, name=NAME, timeout=None):
        return self.wait(lambda: phase_of(self.job(name)) == phase and self.job(name), f"{name} is {phase}", timeout)

    def whole(self, name=NAME, timeout=None):
        """Waits until the whole gang runs where its record has it; the nodes of its members."""
        self.reach("Running", name, timeout)
        self.seen.settled()
        pods = self.members(name).values()
        self.assertEqual(len(pods), size_of(self.job(name)), self.seen.digest())
        return sorted(map(node_of, pods))

    def pending(self, name=NAME):
        return self.job(name).get("status", {}).get("pending", {}) if self.job(name) else {}

    def reasons(self, name=NAME):
        """Reasons of the job's events, the oldest first."""
        return [each[0] for each in self.story(name)]

    def story(self, name=NAME):
        """[(reason, note)] of the job's events, the oldest first."""
        items = support.core().list_namespaced_event(
            self.namespace, field_selector=f"involvedObject.name={name},involvedObject.kind=TrainingJob").items
        found = [(str(each.event_time), each.reason, each.message) for each in items]
        return [(reason, note) for _, reason, note in sorted(found)]

    def await_event(self, reason, *words, name=NAME):
        """Waits until an event has the reason and all words; its note."""
        def found(story):
            return [note for what, note in story if what == reason and all(word in note for word in words)]
        story = support.await_value(lambda: self.story(name), found, f"an event {reason} with {words}")
        return found(story)[0]

    def create(self, name=NAME, **options):
        support.create_job(self.namespace, support.job(name, **{"replicas": SIZE, **options}))

    # ---- phases

    @contextlib.contextmanager
    def held(self, phase):
        """The gang is in that phase inside the block, and no longer held at its end."""
        with getattr(self, f"_hold_{phase}")():
            yield

    @contextlib.contextmanager
    def standing_still(self, program):
        given().kill(program, signal.SIGSTOP)
        try:
            yield
        finally:
            given().kill(program, signal.SIGCONT)

    @contextlib.contextmanager
    def taken(self, nodes, gpus=8):
        """Foreign pods have so many GPUs of each of the nodes."""
        for node in nodes:
            support.core().create_namespaced_pod(self.namespace, support.pod(f"on-{node}", gpus, node=node))
        self.wait(lambda: all(node_of(self.seen.pods.get((self.namespace, f"on-{node}"), {"spec": {}}))
                              for node in nodes), "the foreign pods are bound")
        try:
            yield
        finally:
            for node in nodes:
                support.core().delete_namespaced_pod(f"on-{node}", self.namespace, grace_period_seconds=0)

    @contextlib.contextmanager
    def _hold_waiting(self):
        """The last three nodes by name are free."""
        with self.taken(sorted(self.seen.nodes)[:-3]):
            self.create()
            self.wait(lambda: self.pending().get("reason") == "WaitingForCapacity", "it is pending with a reason")
            yield

    @contextlib.contextmanager
    def _hold_creating(self):
        with self.door.hold("CREATE", self.namespace, f"{NAME}-worker-3") as hold:
            self.create()
            hold.wait()
            self.wait(lambda: len(self.members()) == SIZE - 1, "three members exist")
            yield

    @contextlib.contextmanager
    def _hold_releasing(self):
        with self.door.hold("UPDATE", self.namespace, f"{NAME}-worker-3") as hold:
            self.create()
            hold.wait()
            self.wait(lambda: sum(1 for pod in self.members().values() if node_of(pod)) == SIZE - 1,
                      "three members are bound")
            yield

    @contextlib.contextmanager
    def _hold_released(self):
        with self.standing_still(EXTENDER):
            self.create()
            self.wait(lambda: len(self.members()) == SIZE and not any(map(gated, self.members().values())),
                      "all members are let go")
            yield

    @contextlib.contextmanager
    def _hold_placed(self):
        with self.standing_still("kwok"):
            self.create()
            self.wait(lambda: self.gang().get("placed") and not self.gang().get("proposal"), "it is placed")
            self.wait(lambda: len(self.members()) == SIZE and all(map(node_of, self.members().values())),
                      "all members are bound")
            yield

    @contextlib.contextmanager
    def _hold_running(self):
        self.create()
        self.whole()
        yield
