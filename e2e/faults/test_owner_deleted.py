"""The owner of a gang of another kind is deleted in every phase of the gang: the Gang and all pods go, nothing keeps them,
and their nodes are free for another gang.
"""
import unittest

import support
from owners import PHASES, SIZE, Deployment, Job, JobSet, OwnerCase, phases_of

RUNS = "whole"
CLUSTER = {"nodes": 4, "workloads": True, "kinds": ["Job", "JobSet"]}
TOOLS = ["jobset"]


class DeletedCase(OwnerCase):
    CASCADE = "background"

    def check(self, name):
        with self.in_phase(name):
            self.delete("--wait=false", f"--cascade={self.CASCADE}")
        self.await_gone()
        self.assert_places_are_free()


class Jobs(DeletedCase):
    OWNER = Job


class JobsInForeground(DeletedCase):
    """The garbage collector deletes the Gang and the pods first; the Job waits for them."""
    OWNER, CASCADE = Job, "foreground"


class JobsWithoutTheirPods(DeletedCase):
    """--cascade=orphan: the Gang and the pods stay, without an owner. No user can end them by the Job any more."""
    OWNER, CASCADE = Job, "orphan"

    def check(self, name):
        with self.in_phase(name):
            self.delete(f"--cascade={self.CASCADE}")
        support.create_job(self.namespace, support.job("urgent", replicas=SIZE, priorityClassName="e2e-urgent"))
        self.runs("urgent")
        self.await_gone()


class Deployments(DeletedCase):
    OWNER = Deployment


class JobSets(DeletedCase):
    OWNER = JobSet


phases_of(Jobs, PHASES)
phases_of(JobsInForeground, ("reserved", "running"))
phases_of(JobsWithoutTheirPods, ("waiting", "running"))
phases_of(Deployments, PHASES)
phases_of(JobSets, PHASES)
del DeletedCase

if __name__ == "__main__":
    unittest.main()
