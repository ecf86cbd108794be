"""Gangs whose pods other controllers make: their owners, and the phases of their lives, in which they are held for a block.

    waiting     two nodes are free, it needs four
    reserved    it has nodes; the creation of its pods is held at the door, or the release of pods that exist already
    releasing   three pods are released and bound, the release of the fourth is held at the door
    running     all pods run
    preempted   it gives way to another gang, and its pods do not end: the kubelets are stopped
    held        spec.hold of its Gang is true, it has no nodes
"""
import contextlib
import json
import signal

import support
from gang_case import GANG, PLACE, QUEUE, GangCase, gates
from lib.door import Door
from support import GPU, RUN_FOR, given, kubectl, node_of, phase

NAME = "train"
SIZE = 4
PHASES = ("waiting", "reserved", "releasing", "running", "preempted", "held")


def template(run_for=None, labels=None, annotations=None, **spec):
    """A pod of eight GPUs, the whole of a node."""
    notes = {RUN_FOR: run_for} if run_for else {}
    return {"metadata": {"labels": labels or {}, "annotations": {**notes, **(annotations or {})}},
            "spec": {"terminationGracePeriodSeconds": 1,
                     "containers": [{"name": "c", "image": "c", "resources": {"limits": {GPU: 8}}}], **spec}}


class Job:
    """batch/v1, Indexed."""
    RESOURCE, SUFFIX, CONTROLLER = "jobs.batch", "job", None
    # What its controller makes, besides pods.
    MAKES = ()
    # Its pods come once it has nodes.
    SUSPENDS = True

    @staticmethod
    def spec(pods, **more):
        return {"completionMode": "Indexed", "completions": pods, "parallelism": pods, "backoffLimit": 0,
                "template": template(restartPolicy="Never", **more)}

    @classmethod
    def body(cls, name, pods, **more):
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": {QUEUE: "default"}},
                "spec": {"suspend": True, **cls.spec(pods, **more)}}

    @staticmethod
    def failures(item):
        return item.get("status", {}).get("failed", 0)


class JobSet:
    """Of jobs of one pod, so that the rank of a pod is the index of its Job."""
    RESOURCE, SUFFIX, CONTROLLER = "jobsets.jobset.x-k8s.io", "jobset", "jobset"
    MAKES = ("jobs.batch",)
    SUSPENDS = True

    @staticmethod
    def body(name, pods, **more):
        jobs = [{"name": "workers", "replicas": pods, "template": {"spec": Job.spec(1, **more)}}]
        return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
                "metadata": {"name": name, "labels": {QUEUE: "default"}},
                "spec": {"suspend": True, "failurePolicy": {"maxRestarts": 0}, "replicatedJobs": jobs}}

    @staticmethod
    def failures(item):
        return item.get("status", {}).get("restarts", 0)


class Deployment:
    """It knows nothing of gangs: its pods name one."""
    RESOURCE, SUFFIX, CONTROLLER = "deployments.apps", "pods", None
    MAKES = ("replicasets.apps",)
    SUSPENDS = False

    @staticmethod
    def body(name, pods, gang=None, **more):
        pod = template(labels={"app": name, QUEUE: "default", GANG: gang or name},
                       annotations={"trainyard.dev/gang-size": str(pods)}, schedulingGates=[PLACE], **more)
        return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
                "spec": {"replicas": pods, "selector": {"matchLabels": {"app": name}}, "template": pod}}


class OwnerCase(GangCase):
    """One door for all cases of a class; a namespace for each case."""
    OWNER = Job

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if cls.OWNER.CONTROLLER:
            from lib import controllers  # needs yaml, which other cases do without
            controllers.start(given(), cls.OWNER.CONTROLLER)
        cls.door = Door(given())

    @classmethod
    def tearDownClass(cls):
        cls.door.close()
        super().tearDownClass()

    def make_namespace(self, name):
        name = super().make_namespace(name)
        support.core().patch_namespace(name, {"metadata": {"labels": self.door.labels}})
        self.door.watches(name)
        return name

    def setUp(self):
        super().setUp()
        # Without an owner the Gang would hold its nodes for ever.
        self.addCleanup(kubectl, "delete", "gangs", "--all", "-n", self.namespace, "--wait=false")
        self.addCleanup(self.delete, "--ignore-not-found", "--wait=false")
        self.pods, self.gangs, self.jobs = (watch(self.namespace) for watch in (
            support.watch_pods, support.watch_gangs, support.watch_jobs))
        for each in (self.pods, self.gangs, self.jobs):
            self.addCleanup(each.stop, quiet=True)

    # ---- what is seen

    @property
    def gang_name(self):
        return f"{NAME}.{self.OWNER.SUFFIX}"

    def apply(self, **more):
        kubectl("create", "--validate=false", "-n", self.namespace, "-f", "-", input=json.dumps(self.OWNER.body(NAME, SIZE, **more)))

    def delete(self, *options):
        kubectl("delete", self.OWNER.RESOURCE, NAME, "-n", self.namespace, *options)

    def mine(self, all_=None):
        return [pod for (_, name), pod in (self.pods.objects if all_ is None else all_).items() if name.startswith(f"{NAME}-")]

    def reach(self, wanted):
        return self.gang(self.gangs, self.gang_name, wanted)

    def runs(self, name):
        support.wait_phase(self.jobs, self.namespace, name, "Running")

    def await_gone(self):
        """Waits until nothing of the owner is left: no finalizer keeps it, its Gang, its pods or what lies between."""
        self.gangs.wait(lambda all_: not all_, "the Gang is gone")
        self.pods.wait(lambda all_: not self.mine(all_), "its pods are gone")
        for resource in (self.OWNER.RESOURCE, *self.OWNER.MAKES):
            support.await_value(lambda resource=resource: kubectl("get", resource, "-n", self.namespace, "-o", "name"),
                                lambda names: not names, f"no {resource} is left")

    def assert_places_are_free(self):
        """A job that needs all nodes runs."""
        support.create_job(self.namespace, support.job("after", replicas=SIZE))
        self.runs("after")

    # ---- phases

    @contextlib.contextmanager
    def in_phase(self, name):
        """The gang is in that phase inside the block, and no longer held at its end."""
        with getattr(self, f"_hold_{name}")():
            yield

    @contextlib.contextmanager
    def _beside(self, name, **options):
        """Another job, until the end of the block."""
        support.create_job(self.namespace, support.job(name, **options))
        yield
        self.runs(name)
        support.finish(self.namespace, name)
        support.wait_phase(self.jobs, self.namespace, name, "Succeeded")

    @contextlib.contextmanager
    def _hold_waiting(self):
        with self._beside("first", replicas=2):
            self.runs("first")
            self.apply()
            self.reach("Queued")
            yield

    @contextlib.contextmanager
    def _hold_reserved(self):
        with self.door.hold("CREATE" if self.OWNER.SUSPENDS else "UPDATE", self.namespace) as hold:
            self.apply()
            self.reach("Starting")
            hold.wait()
            self.assertEqual([], [pod["metadata"]["name"] for pod in self.mine() if not gates(pod)])
            yield

    @contextlib.contextmanager
    def _hold_releasing(self):
        with self.door.hold("UPDATE", self.namespace, after=SIZE - 1) as hold:
            self.apply()
            hold.wait()
            self.pods.wait(lambda all_: sum(1 for pod in self.mine(all_) if node_of(pod)) == SIZE - 1, "three pods are bound")
            yield

    @contextlib.contextmanager
    def _hold_running(self):
        self.apply()
        self.reach("Running")
        yield

    @contextlib.contextmanager
    def _hold_preempted(self):
        with self._hold_running(), self._beside_urgent():
            given().kill("kwok", signal.SIGSTOP)
            try:
                support.create_job(self.namespace, support.job("urgent", replicas=1, priorityClassName="e2e-urgent"))
                self.pods.wait(lambda all_: all("deletionTimestamp" in pod["metadata"] for pod in self.mine(all_) if node_of(pod)),
                               "its pods are being deleted")
                yield
            finally:
                given().kill("kwok", signal.SIGCONT)

    @contextlib.contextmanager
    def _beside_urgent(self):
        yield
        self.runs("urgent")
        support.finish(self.namespace, "urgent")
        support.wait_phase(self.jobs, self.namespace, "urgent", "Succeeded")

    @contextlib.contextmanager
    def _hold_held(self):
        self.apply()
        self.reach("Running")
        kubectl("patch", "gang", self.gang_name, "-n", self.namespace, "--type=merge", "-p", '{"spec":{"hold":true}}')
        self.reach("Suspended")
        yield


def phases_of(case, phases):
    """Adds a test for each phase, which calls case.check(phase)."""
    for each in phases:
        setattr(case, f"test_{each}", lambda self, each=each: self.check(each))
