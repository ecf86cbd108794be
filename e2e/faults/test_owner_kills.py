"""kill -9 of the operator at every write of the life of a gang whose pods another controller makes: its Gang, the marks in
its templates, its record, the owner's `suspend`, each place, the end. The next operator completes it: the gang comes to its
end once, no two pods have one place, and the owner has counted no failure.

A single kill again: TRAINYARD_FAULTS_KILL=started:7:kill-after e2e/run --faults owner_kills
"""
import json
import unittest

import kills
import support
from gang_case import GangCase
from gangs import WHOLE, Lives
from lib.invariants import uid_of
from owners import SIZE, Deployment, Job
from support import RUN_FOR, given, kubectl

CLUSTER = {"nodes": 4, "workloads": True}
LIVES = ("started", "preempted", "evicted")


class OwnerLives(Lives):
    """Each life begins and ends with nothing in its namespace."""

    def __init__(self, seen, namespace):
        super().__init__(seen, namespace)
        self._turn = 0

    def _owner(self, kind):
        self._turn += 1
        name = "train" if WHOLE else f"train{self._turn}"
        kubectl("create", "-n", self._namespace, "-f", "-", input=json.dumps(kind.body(name, SIZE)))
        return name, f"{name}.{kind.SUFFIX}"

    def _unharmed(self, name):
        """The Job, of which no pod has failed."""
        job = given().json("get", Job.RESOURCE, name, "-n", self._namespace)
        assert not Job.failures(job) and not support.holds(job, "Failed"), job["status"]
        return job

    def _delete(self, kind, name, *jobs):
        kubectl("delete", kind.RESOURCE, name, "-n", self._namespace)
        self.delete(*jobs)

    def _preempt(self, gang):
        """Another job runs in place of the gang, until the end of the call."""
        self.create("urgent", replicas=1, priorityClassName="e2e-urgent")
        self.running("urgent")
        self.reach(gang, "Queued")
        uid = uid_of(self._seen.job(self._namespace, gang))
        self._seen.wait(lambda: not self._seen.members(uid), "its pods are gone")
        self.finish("urgent")

    def started(self):
        """A Job starts whole, ends and is deleted."""
        name, gang = self._owner(Job)
        self.running(gang)
        kubectl("annotate", "pods", "-n", self._namespace, "-l", f"batch.kubernetes.io/job-name={name}", f"{RUN_FOR}=0s")
        self.reach(gang, "Succeeded")
        job = self._unharmed(name)
        assert job["status"]["succeeded"] == SIZE, job["status"]
        self._delete(Job, name)

    def preempted(self):
        """A Job is suspended for another one, starts again, and is deleted while it runs."""
        name, gang = self._owner(Job)
        self.running(gang)
        self._preempt(gang)
        item, _ = self.running(gang)
        assert item["status"]["preemptions"]["count"] == 1, item["status"]
        self._unharmed(name)
        self._delete(Job, name, "urgent")

    def evicted(self):
        """The pods of a Deployment are evicted for another job, and those that replace them start later."""
        name, gang = self._owner(Deployment)
        self.running(gang)
        self._preempt(gang)
        item, _ = self.running(gang)
        assert item["status"]["preemptions"]["count"] == 1, item["status"]
        self._delete(Deployment, name, "urgent")


class OwnerKills(kills.KillCase):
    @classmethod
    def setUpClass(cls):
        GangCase.setUpClass()  # while the cluster's own operator runs
        super().setUpClass()

    def setUp(self):
        super().setUp()
        self.lives = OwnerLives(self.seen, self.namespace)

    def test_after_the_evictions_and_before_the_record(self):
        """They are under way at the same time. The claim stands, its victims are gone, their controller has made others, and
        the victim's record does not show that it stops."""
        def passes(match, times, **more):
            return {"kind": "write", "match": match, "times": times, "fault": "delay", "seconds": 0, **more}
        eviction = "POST .*/eviction"
        rules = (passes("POST .*/pods\\?", 1),
                 passes("PATCH .*/gangs/.*/status", 1, after=0, seconds=5),
                 passes(eviction, SIZE - 1),
                 {"kind": "write", "match": eviction, "times": 1, "fault": "kill-after"})
        self.proxy.reset(self.operator.client)
        hits = self.suffer("evicted", "killed after the last eviction", *rules)
        self.assertEqual(len(rules) + SIZE - 2, len(hits), hits)


kills.add_tests(OwnerKills, LIVES, {"started": (3, 0), "preempted": (8, 5), "evicted": (12, 7)})

if __name__ == "__main__":
    unittest.main()
