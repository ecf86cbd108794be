"""Two owners ask for the places of one gang: one of them gets each place, and the other reports why it waits."""
import json

import support
from gang_case import GANG, PLACE, QUEUE, GangCase, gates
from support import GPU, given, kubectl, node_of, phase

CLUSTER = {"nodes": 4, "workloads": True}  # of 8 GPUs


def template(name, gang, size, **spec):
    return {"metadata": {"labels": {"app": name, QUEUE: "default", GANG: gang}, "annotations": {"trainyard.dev/gang-size": str(size)}},
            "spec": {"schedulingGates": [PLACE], "terminationGracePeriodSeconds": 0,
                     "containers": [{"name": "c", "image": "c", "resources": {"limits": {GPU: 8}}}], **spec}}


def deployment(name, gang, size):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
            "spec": {"replicas": size, "selector": {"matchLabels": {"app": name}}, "template": template(name, gang, size)}}


def job(name, gang, size):
    """Not in a queue itself: its pods are. (A Job without labels gets those of its template.)"""
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": {"app": name}}, "spec": {
        "completions": size, "parallelism": size, "completionMode": "Indexed", "backoffLimit": 0,
        "template": template(name, gang, size, restartPolicy="Never")}}


def queued_job(name, gang, size):
    """In a queue; its template names another gang than its own."""
    body = job(name, gang, size)
    body["metadata"]["labels"] = {QUEUE: "default"}
    body["spec"]["suspend"] = True
    del body["spec"]["template"]["spec"]["schedulingGates"]
    return body


class Rivals(GangCase):
    def apply(self, body):
        kubectl("apply", "-n", self.namespace, "-f", "-", input=json.dumps(body))
        self.addCleanup(kubectl, "delete", body["kind"], body["metadata"]["name"], "-n", self.namespace, "--wait=false",
                        "--ignore-not-found")

    def of(self, pods, name):
        return [pod for pod in pods.objects.values() if pod["metadata"]["labels"].get("app") == name]

    def events(self, *, kind=None, reason=None):
        items = given().json("get", "events", "-n", self.namespace)["items"]
        return [(item["involvedObject"]["kind"], item["involvedObject"]["name"], item["reason"], item.get("message", ""))
                for item in items if kind in (None, item["involvedObject"]["kind"]) and reason in (None, item["reason"])]

    def rivals(self, make):
        """The second waits beside the first, which runs; once the first is gone, the second has its places."""
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs:
            self.apply(make("one", "shared", 2))
            self.gang(gangs, "shared.pods", "Running")
            self.apply(make("two", "shared", 2))
            pods.wait(lambda _: len(self.of(pods, "two")) == 2, "the second has its pods")
            self.assertEqual(["one", "one"], [pod["metadata"]["labels"]["app"] for pod in pods.objects.values() if node_of(pod)])
            self.assertTrue(all(gates(pod) for pod in self.of(pods, "two")))
            self.assertEqual(["shared.pods"], [name for _, name in gangs.objects])
            kubectl("delete", make("one", "", 1)["kind"].lower(), "one", "-n", self.namespace)
            pods.wait(lambda _: [phase(pod) for pod in self.of(pods, "two")] == ["Running"] * 2, "the second runs")
            self.gang(gangs, "shared.pods", "Running")

    def why_it_waits(self, name):
        """The text of a Warning for one of its pods, or of the Gang's condition."""
        of_pods = [message for kind, pod, reason, message in self.events(kind="Pod") if pod.startswith(name) and reason != "Scheduled"]
        gang = given().json("get", "gang", "shared.pods", "-n", self.namespace)
        resizing = support.condition(gang, "Resizing")
        return (of_pods or [f"shared.pods: {resizing['message']}" if resizing and resizing["reason"] == "Waiting" else ""])[0]

    def test_two_deployments(self):
        self.rivals(deployment)

    def test_two_jobs_whose_pods_name_one_gang(self):
        self.rivals(job)

    def test_the_second_reports_why_it_waits(self):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs:
            self.apply(deployment("one", "shared", 2))
            self.gang(gangs, "shared.pods", "Running")
            self.apply(deployment("two", "shared", 2))
            pods.wait(lambda _: len(self.of(pods, "two")) == 2, "the second has its pods")
            reason = support.await_value(lambda: self.why_it_waits("two"), bool, "an Event of a pod or a condition of the Gang", 20)
            self.assertIn("shared.pods", reason)

    def test_two_that_come_at_the_same_time(self):
        """Only the age of pods decides: no place has two, and no pod beyond the size runs."""
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs:
            for name in ("one", "two"):
                self.apply(deployment(name, "shared", 2))
            gang = self.gang(gangs, "shared.pods", "Running")
            pods.wait(lambda all_: len(all_) == 4, "both have their pods")
            running = [pod for pod in pods.objects.values() if node_of(pod)]
            places = {(pod["metadata"]["labels"]["trainyard.dev/role"], pod["metadata"]["labels"]["trainyard.dev/index"]) for pod in running}
            self.assertEqual({("worker", "0"), ("worker", "1")}, places)
            self.assertEqual((2, "2/2"), (len(running), gang["status"]["ready"]))
            self.assertEqual(2, sum(bool(gates(pod)) for pod in pods.objects.values()))

    def test_jobs_in_a_queue_have_gangs_of_their_own(self):
        """Whatever gang its template names: the operator writes the name of the Job's own Gang over it."""
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs:
            for name in ("one", "two"):
                self.apply(queued_job(name, "shared", 2))
            for name in ("one.job", "two.job"):
                self.gang(gangs, name, "Running")
            self.assertEqual({"one.job", "two.job"}, {name for _, name in gangs.objects})
            found = {(pod["metadata"]["labels"]["app"], pod["metadata"]["labels"][GANG]) for pod in pods.objects.values()}
            self.assertEqual({("one", "one.job"), ("two", "two.job")}, found)
