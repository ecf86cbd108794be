"""Gangs that get another size by kubectl: up, down, in steps, while others wait, with the operator killed in
between."""
import json
import signal
import unittest

import support
from support import OPERATOR, condition, create_job, finish, get_job, given, kubectl, members, members_now, node_of
from support import phase, wait_phase

CLUSTER = {"nodes": 4}
MEMBERSHIP = "trainyard.dev/membership"


def elastic(name, replicas=2, gpus=4, most=8, **spec):
    return support.job(name, replicas=replicas, gpus=gpus,
                       elastic={"role": "worker", "replicas": replicas, "minReplicas": 1, "maxReplicas": most}, **spec)


def size(item):
    """Placed members; 0 while a resize is under way."""
    gang = (item or {}).get("status", {}).get("gang", {})
    if "proposal" in gang or "placed" not in gang:
        return 0
    count = 0
    for each in gang["placed"]["assignments"]:
        for part in each["indices"].split(","):
            first, _, last = part.partition("-")
            count += int(last or first) - int(first) + 1
    return count


class Resize(support.Case):
    def setUp(self):
        super().setUp()
        self.jobs = self.enterContext(support.watch_jobs(self.namespace))
        self.pods = self.enterContext(support.watch_pods(self.namespace))

    def start(self, body):
        create_job(self.namespace, body)
        name = body["metadata"]["name"]
        wait_phase(self.jobs, self.namespace, name, "Running")
        return name

    def scale(self, name, replicas):
        kubectl("scale", f"tj/{name}", "-n", self.namespace, f"--replicas={replicas}")

    def wait_size(self, name, replicas):
        key = (self.namespace, name)
        self.jobs.wait(lambda all_: size(all_.get(key)) == replicas and phase(all_[key]) == "Running",
                       f"{name} has {replicas} members")
        self.pods.wait(lambda all_: sorted(members(all_, name)) == [f"{name}-worker-{i}" for i in range(replicas)],
                       f"{name} has the pods of {replicas} members, the last ones went")
        return self.jobs.objects[key]

    def uids(self, name):
        return {key: item["metadata"]["uid"] for key, item in members_now(self.namespace, name).items()}

    def memberships(self, name, pods):
        return [json.loads(item["metadata"].get("annotations", {}).get(MEMBERSHIP, "{}"))
                for item in members(pods, name).values()]

    def places(self, name):
        return {key: node_of(item) for key, item in members_now(self.namespace, name).items()}

    def test_up_and_down(self):
        name = self.start(elastic("plain"))
        before = self.uids(name)
        self.scale(name, 4)
        item = self.wait_size(name, 4)
        self.assertEqual({key: uid for key, uid in self.uids(name).items() if key in before}, before)
        self.assertEqual(item["status"]["replicas"], 4)
        self.assertEqual(condition(item, "Resizing")["reason"], "Resized")
        with self.subTest("what kubectl shows"):
            self.jobs.wait(lambda all_: all_[(self.namespace, name)]["status"]["ready"] == "4/4", "4/4 ready")
            shown = kubectl("get", "tj", name, "-n", self.namespace)
            self.assertRegex(shown, rf"{name}\s+Running\s+default\s+4/4\s+16")
            said = kubectl("describe", "tj", name, "-n", self.namespace)
            self.assertIn("grows from 2 to 4 members of role worker, on ", said)
            self.assertIn("it has 4 members of role worker now, 2 before", said)
        self.scale(name, 1)
        item = self.wait_size(name, 1)
        self.assertEqual(self.uids(name)["plain-worker-0"], before["plain-worker-0"])
        self.assertEqual(item["status"]["resize"]["count"], 2)
        finish(self.namespace, name)
        wait_phase(self.jobs, self.namespace, name, "Succeeded")

    def test_members_are_notified(self):
        name = self.start(elastic("helped", checkpoint={"mode": "Helper", "gracePeriodSeconds": 2}))
        self.scale(name, 3)
        item = self.wait_size(name, 3)
        generation = item["status"]["gang"]["lastEpoch"]
        word = {"generation": generation, "role": "worker", "size": 3}
        self.pods.wait(lambda all_: self.memberships(name, all_).count(word) >= 2, "the running members have the new membership")
        # Simulated members do not read it: they are deleted after their grace.
        self.scale(name, 1)
        self.wait_size(name, 1)
        latest = self.memberships(name, self.pods.objects)[0]
        self.assertEqual(latest["size"], 1)
        self.assertGreater(latest["generation"], generation)

    def test_restarts_where_it_cannot_resize_while_it_runs(self):
        body = elastic("restarted")
        body["spec"]["framework"] = "JAX"
        name = self.start(body)
        before, places = self.uids(name), self.places(name)
        self.scale(name, 3)
        item = self.wait_size(name, 3)
        self.assertFalse(set(before.values()) & set(self.uids(name).values()))
        self.assertEqual({key: node for key, node in self.places(name).items() if key in places}, places)
        self.assertEqual(item["status"].get("preemptions"), None)
        self.assertEqual(len(item["status"]["resize"]["lastPauseMilliseconds"]), 1)

    def test_beyond_what_fits(self):
        other = support.job("other", replicas=3, gpus=8)
        self.start(other)
        name = self.start(elastic("large", replicas=1))
        self.scale(name, 6)
        key = (self.namespace, name)
        item = self.jobs.wait(lambda all_: size(all_[key]) == 2 and
                              (condition(all_[key], "Resizing") or {}).get("reason") == "Waiting" and all_[key],
                              "it has what fits, and reports that")
        self.assertEqual(condition(item, "Resizing")["message"],
                         "6 are requested, it has 2: no more can start now")
        finish(self.namespace, "other")
        self.wait_size(name, 6)

    def test_while_it_waits(self):
        self.start(support.job("other", replicas=4, gpus=8))
        create_job(self.namespace, elastic("later"))
        wait_phase(self.jobs, self.namespace, "later", "Queued")
        self.scale("later", 3)
        finish(self.namespace, "other")
        self.wait_size("later", 3)
        # It may start with fewer while those of the other one end, and grow.
        self.assertLessEqual(get_job(self.namespace, "later")["status"]["gang"]["lastEpoch"], 2)

    def test_an_operator_that_is_killed_in_between(self):
        name = self.start(elastic("crash", checkpoint={"mode": "Helper", "gracePeriodSeconds": 3}))
        for replicas in (5, 2, 4):
            self.scale(name, replicas)
            key = (self.namespace, name)
            self.jobs.wait(lambda all_: phase(all_[key]) == "Resizing", "it has begun")
            given().restart(OPERATOR, signal.SIGKILL)
            self.wait_size(name, replicas)


if __name__ == "__main__":
    unittest.main()
