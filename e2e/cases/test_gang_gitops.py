"""A GitOps tool that applies a Job's manifest again and again, by server-side apply with force, as Argo CD and Flux do: with
`suspend: true`, with `suspend: false`, and without the field.
"""
import json
import threading
import time

import support
from gang_case import QUEUE, GangCase
from lib.errors import E2EError
from support import given, kubectl, node_of, wait_phase

CLUSTER = {"nodes": 4}  # of 8 GPUs
NAME, GANG_NAME = "train", "train.job"
SYNC_SECONDS = 0.3
# A tool that heals itself stops the gang whenever it starts. Starts back off as other attempts do: after 1, 2, 4, 8 s.
WATCHED_SECONDS = 30
MOST_STARTS = 8


class Tool(threading.Thread):
    """Applies the manifest at an interval until stop()."""

    def __init__(self, namespace, body):
        super().__init__(daemon=True)
        self._namespace, self._text = namespace, json.dumps(body)
        self._over = threading.Event()
        self.syncs = 0

    def sync(self):
        kubectl("apply", "--server-side", "--force-conflicts", "--field-manager=gitops", "-n", self._namespace, "-f", "-",
                input=self._text)
        self.syncs += 1

    def run(self):
        while not self._over.wait(SYNC_SECONDS):
            try:
                self.sync()
            except E2EError:
                # The object is being deleted.
                pass

    def stop(self):
        self._over.set()
        if self.is_alive():
            self.join()


class GitOps(GangCase):
    def setUp(self):
        super().setUp()
        self.pods, self.gangs, self.jobs = (watch(self.namespace) for watch in (
            support.watch_pods, support.watch_gangs, support.watch_jobs))
        for each in (self.pods, self.gangs, self.jobs):
            self.addCleanup(each.stop, quiet=True)

    def tool(self, exists=False, **suspend):
        """Has synchronized once. exists: the object is there, suspended, as the chart's policies require it at creation."""
        spec = support.pod("x", 8)["spec"]
        body = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": NAME, "labels": {QUEUE: "default"}}, "spec": {
            **suspend, "completionMode": "Indexed", "completions": 4, "parallelism": 4, "backoffLimit": 0,
            "template": {"spec": {**spec, "restartPolicy": "Never"}}}}
        if exists:
            first = {**body, "spec": {**body["spec"], "suspend": True}}
            kubectl("create", "-n", self.namespace, "-f", "-", input=json.dumps(first))
        found = Tool(self.namespace, body)
        self.addCleanup(kubectl, "delete", "job", NAME, "-n", self.namespace, "--wait=false", "--ignore-not-found")
        self.addCleanup(found.stop)
        found.sync()
        return found

    def job(self):
        return given().json("get", "job", NAME, "-n", self.namespace)

    def reach(self, wanted):
        return self.gang(self.gangs, GANG_NAME, wanted)

    def mine(self, all_):
        return [pod for (_, name), pod in all_.items() if name.startswith(f"{NAME}-")]

    def events(self, reason):
        items = given().json("get", "events", "-n", self.namespace, f"--field-selector=involvedObject.name={GANG_NAME},reason={reason}")["items"]
        return sum(item.get("series", {}).get("count", item.get("count") or 1) for item in items)

    def after_first(self, **suspend):
        """The tool's gang waits for another job, which holds half of the nodes."""
        support.create_job(self.namespace, support.job("first", replicas=2))
        wait_phase(self.jobs, self.namespace, "first", "Running")
        tool = self.tool(exists=True, **suspend)
        self.reach("Queued")
        tool.start()
        return tool

    def starts_whole_and_gives_way(self):
        """The rest of a life that is as good as without the tool."""
        until = time.monotonic() + 5
        while time.monotonic() < until:
            self.assertEqual([], [pod["metadata"]["name"] for pod in self.mine(self.pods.objects) if node_of(pod)])
            time.sleep(0.2)
        support.finish(self.namespace, "first")
        self.reach("Running")
        support.create_job(self.namespace, support.job("urgent", replicas=1, priorityClassName="e2e-urgent"))
        wait_phase(self.jobs, self.namespace, "urgent", "Running")
        self.reach("Queued")
        support.finish(self.namespace, "urgent")
        found = self.reach("Running")
        self.assertEqual(1, found["status"]["preemptions"]["count"])
        self.assertEqual(0, self.job()["status"].get("failed", 0))
        self.assertEqual(0, self.events("OwnerSuspended"))

    def test_suspended_once_while_it_runs(self):
        """The gang gives up its nodes, says so, and starts again: the tool has to ignore the field."""
        tool = self.tool(suspend=True)
        self.reach("Running")
        tool.sync()
        support.await_value(lambda: self.events("OwnerSuspended"), bool, "an Event OwnerSuspended")
        self.reach("Running")
        self.assertEqual(0, self.job()["status"].get("failed", 0))

    def test_suspended_after_each_start(self):
        """It never runs for long, but the two do not fight at full speed, and other jobs get nodes."""
        tool = self.tool(suspend=True)
        self.reach("Running")
        tool.start()
        before = self.job()["metadata"]["generation"]
        time.sleep(WATCHED_SECONDS)
        after = self.job()["metadata"]["generation"]
        # A start and its withdrawal are two generations.
        starts = (after - before) / 2
        print(f"{starts:.0f} starts in {WATCHED_SECONDS} s, {tool.syncs} syncs, {self.events('OwnerSuspended')} Events")
        self.assertLessEqual(starts, MOST_STARTS)
        self.assertLessEqual(1, self.events("OwnerSuspended"))
        self.assertEqual(0, self.job()["status"].get("failed", 0))
        support.create_job(self.namespace, support.job("other", replicas=4, priorityClassName="e2e-urgent"))
        wait_phase(self.jobs, self.namespace, "other", "Running")

    def test_held_by_the_gang(self):
        """What its page advises: hold the Gang. Then the tool and the operator want the same."""
        tool = self.tool(suspend=True)
        self.reach("Running")
        kubectl("patch", "gang", GANG_NAME, "-n", self.namespace, "--type=merge", "-p", '{"spec":{"hold":true}}')
        tool.start()
        self.reach("Suspended")
        before = self.job()["metadata"]["generation"]
        syncs = tool.syncs
        support.await_value(lambda: tool.syncs, lambda now: now >= syncs + 5, "the tool synchronizes")
        self.assertEqual(before, self.job()["metadata"]["generation"])

    def test_started_by_the_tool(self):
        """Its pods wait gated until the gang has nodes, whatever the tool sets."""
        self.after_first(suspend=False)
        self.starts_whole_and_gives_way()

    def test_without_the_field(self):
        """The tool does not own it, and changes nothing."""
        self.after_first()
        self.starts_whole_and_gives_way()

    def test_a_running_one_is_left_alone(self):
        for name, suspend in (("false", {"suspend": False}), ("absent", {})):
            with self.subTest(name):
                tool = self.tool(exists=True, **suspend)
                self.reach("Running")
                before = self.job()["metadata"]["generation"]
                tool.start()
                support.await_value(lambda tool=tool: tool.syncs, lambda now: now >= 8, "the tool synchronizes")
                # The tool's own value is one change.
                self.assertLessEqual(self.job()["metadata"]["generation"], before + 1)
                self.reach("Running")
                tool.stop()
                kubectl("delete", "job", NAME, "-n", self.namespace)
                self.gangs.wait(lambda all_: not all_, "the Gang is gone")
