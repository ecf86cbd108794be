"""Gangs of pods that other controllers make: bare pods, pods of a Deployment that never heard of gangs, and batch Jobs."""
import json

import support
from gang_case import GANG, PLACE, QUEUE, GangCase, gates
from support import GPU, core, given, kubectl, node_of, phase, wait_phase

CLUSTER = {"nodes": 4, "workloads": True}  # of 8 GPUs


def pod(name, gang=None, size=None, gpus=8, annotations=None, labels=None):
    notes = dict(annotations or {})
    if size:
        notes["trainyard.dev/gang-size"] = str(size)
    named = {QUEUE: "default", **({GANG: gang} if gang else {}), **(labels or {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": named, "annotations": notes},
            "spec": {"schedulingGates": [PLACE], "terminationGracePeriodSeconds": 0,
                     "containers": [{"name": "c", "image": "c", "resources": {"limits": {GPU: gpus}}}]}}


class BarePods(GangCase):
    def test_places_are_kept_for_pods_that_come_later(self):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs, \
                support.watch_jobs(self.namespace) as jobs:
            self.create(pod("w-0", "four", 4))
            self.wait_running(pods, "w-0")
            gang = self.gang(gangs, "four.pods", "Starting")
            self.assertEqual(4, len(gang["status"]["gang"]["proposal"]["add"]))
            support.create_job(self.namespace, support.job("other", replicas=1))
            wait_phase(jobs, self.namespace, "other", "Queued")
            self.create(*[pod(f"w-{i}", "four", 4) for i in (1, 2, 3)])
            self.wait_running(pods, *[f"w-{i}" for i in range(4)])
            self.gang(gangs, "four.pods", "Running")
            self.assertEqual(["four.pods", "Running", "default", "4/4", "32", "Pod"], self.row("four.pods")[:6])
            nodes = sorted(node_of(pods.objects[(self.namespace, f"w-{i}")]) for i in range(4))
            self.assertEqual([f"n000{i}" for i in range(4)], nodes)
            for i in range(4):
                kubectl("delete", "pod", f"w-{i}", "-n", self.namespace, "--wait=false")
            gangs.wait(lambda all_: not all_, "the Gang goes with its pods")
            wait_phase(jobs, self.namespace, "other", "Running")

    def test_waits_whole_with_numbers_and_starts_once_it_fits(self):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs, \
                support.watch_jobs(self.namespace) as jobs:
            support.create_job(self.namespace, support.job("first", replicas=2))
            wait_phase(jobs, self.namespace, "first", "Running")
            self.create(*[pod(f"w-{i}", "three", 3) for i in range(3)])
            gang = self.gang(gangs, "three.pods", "Queued")
            self.assertEqual("WaitingForCapacity", gang["status"]["pending"]["reason"])
            self.assertIn("first", gang["status"]["pending"]["message"])
            self.assertTrue(all(gates(item) for (_, name), item in pods.objects.items() if name.startswith("w-")))
            support.finish(self.namespace, "first")
            self.wait_running(pods, "w-0", "w-1", "w-2")
            self.gang(gangs, "three.pods", "Running")

    def test_a_pod_with_a_queue_alone_is_a_gang_of_its_own(self):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs:
            self.create(pod("notebook", gpus=2))
            self.wait_running(pods, "notebook")
            self.gang(gangs, "notebook.pod", "Running")

    def test_a_pod_beyond_the_size_stays_gated(self):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs:
            self.create(pod("w-0", "two", 2, gpus=1), pod("w-1", "two", 2, gpus=1))
            self.wait_running(pods, "w-0", "w-1")
            self.gang(gangs, "two.pods", "Running")
            self.create(pod("w-2", "two", 2, gpus=1))
            self.create(pod("after", gpus=1))
            self.wait_running(pods, "after")
            self.assertEqual([PLACE["name"]], gates(pods.objects[(self.namespace, "w-2")]))

    def test_all_pods_succeeded(self):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs:
            runs = {support.RUN_FOR: "1s"}
            self.create(*[pod(f"w-{i}", "pair", 2, gpus=1, annotations=runs) for i in range(2)])
            self.gang(gangs, "pair.pods", "Succeeded")
            pods.wait(lambda all_: all(support.ended(item) for item in all_.values()), "both have ended")


class Preemption(GangCase):
    def test_pods_of_a_deployment_are_evicted_and_come_back(self):
        """Its ReplicaSet makes an evicted pod again; that one waits gated until there is room."""
        template = {"metadata": {"labels": {"app": "serve", QUEUE: "default", GANG: "serve"},
                                 "annotations": {"trainyard.dev/gang-size": "4"}},
                    "spec": pod("x")["spec"]}
        body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "serve"},
                "spec": {"replicas": 4, "selector": {"matchLabels": {"app": "serve"}}, "template": template}}
        kubectl("apply", "-n", self.namespace, "-f", "-", input=json.dumps(body))
        self.addCleanup(kubectl, "delete", "deployment", "serve", "-n", self.namespace)
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs, \
                support.watch_jobs(self.namespace) as jobs:
            self.gang(gangs, "serve.pods", "Running")
            before = {item["metadata"]["uid"] for item in pods.objects.values()}
            support.create_job(self.namespace, support.job("urgent", replicas=1, priorityClassName="e2e-urgent"))
            wait_phase(jobs, self.namespace, "urgent", "Running")
            gang = self.gang(gangs, "serve.pods", "Queued")
            self.assertEqual(1, gang["status"]["preemptions"]["count"])
            waiting = pods.wait(lambda all_: [item for item in all_.values() if gates(item)] if len(
                [item for item in all_.values() if gates(item)]) == 4 else None, "four pods wait again")
            self.assertFalse({item["metadata"]["uid"] for item in waiting} & before)
            support.finish(self.namespace, "urgent")
            self.gang(gangs, "serve.pods", "Running")

    def test_a_gang_of_bare_pods_preempts_a_whole_job(self):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs, \
                support.watch_jobs(self.namespace) as jobs:
            support.create_job(self.namespace, support.job("calm", replicas=4))
            wait_phase(jobs, self.namespace, "calm", "Running")
            urgent = [pod(f"u-{i}", "urgent", 2) for i in range(2)]
            for each in urgent:
                each["spec"]["priorityClassName"] = "e2e-urgent"
            self.create(*urgent)
            self.wait_running(pods, "u-0", "u-1")
            self.gang(gangs, "urgent.pods", "Running")
            wait_phase(jobs, self.namespace, "calm", "Queued")
            self.assertEqual(given().json("get", "tj", "calm", "-n", self.namespace)["status"]["preemptions"]["count"], 1)


def indexed_job(name, pods, run_for=None, **spec):
    """A suspended Indexed Job of a queue, as users write it: no label and no gate in its template."""
    notes = {support.RUN_FOR: run_for} if run_for else {}
    template = {"metadata": {"annotations": notes}, "spec": {
        "restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
        "containers": [{"name": "c", "image": "c", "resources": {"limits": {GPU: 8}}}]}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": {QUEUE: "default"}},
            "spec": {"suspend": True, "completionMode": "Indexed", "completions": pods, "parallelism": pods,
                     "backoffLimit": 0, "template": template, **spec}}


class Jobs(GangCase):
    """batch/v1 Jobs, with Kubernetes' own controller."""

    def apply(self, body):
        kubectl("apply", "-n", self.namespace, "-f", "-", input=json.dumps(body))
        self.addCleanup(kubectl, "delete", "job", body["metadata"]["name"], "-n", self.namespace)

    def job(self, name):
        return given().json("get", "job", name, "-n", self.namespace)

    def test_an_indexed_job_starts_whole_in_the_order_of_its_indices(self):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs:
            self.apply(indexed_job("train", 4))
            self.gang(gangs, "train.job", "Running")
            ranks = {item["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"]: node_of(item)
                     for item in pods.objects.values()}
            self.assertEqual({str(i): f"n000{i}" for i in range(4)}, ranks)
            self.assertEqual(["train.job", "Running", "default", "4/4", "32", "Job"], self.row("train.job")[:6])

    def test_a_job_waits_suspended_and_ends(self):
        with support.watch_gangs(self.namespace) as gangs, support.watch_jobs(self.namespace) as jobs, \
                support.watch_pods(self.namespace) as pods:
            support.create_job(self.namespace, support.job("first", replicas=2))
            wait_phase(jobs, self.namespace, "first", "Running")
            self.apply(indexed_job("train", 3, run_for="1s"))
            self.gang(gangs, "train.job", "Queued")
            self.assertTrue(self.job("train")["spec"]["suspend"])
            self.assertFalse([name for _, name in pods.objects if name.startswith("train")])
            support.finish(self.namespace, "first")
            self.gang(gangs, "train.job", "Succeeded")

    def test_preemption_costs_a_job_no_failure(self):
        with support.watch_gangs(self.namespace) as gangs, support.watch_jobs(self.namespace) as jobs:
            self.apply(indexed_job("train", 4))
            self.gang(gangs, "train.job", "Running")
            support.create_job(self.namespace, support.job("urgent", replicas=1, priorityClassName="e2e-urgent"))
            wait_phase(jobs, self.namespace, "urgent", "Running")
            self.gang(gangs, "train.job", "Queued")
            job = self.job("train")
            self.assertTrue(job["spec"]["suspend"])
            self.assertEqual(0, job["status"].get("failed", 0))
            support.finish(self.namespace, "urgent")
            self.gang(gangs, "train.job", "Running")
            self.assertEqual(0, self.job("train")["status"].get("failed", 0))

    def test_pods_of_a_job_without_indices_are_placed_one_by_one(self):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs:
            body = indexed_job("many", 6, completionMode="NonIndexed")
            self.apply(body)
            running = pods.wait(lambda all_: [each for each in all_.values() if phase(each) == "Running"] if sum(
                phase(each) == "Running" for each in all_.values()) == 4 else None, "four of six run")
            self.assertEqual(4, len({node_of(each) for each in running}))
            gangs.wait(lambda all_: len(all_) == 6 and all(name.endswith(".pod") for _, name in all_), "a gang a pod")

    def event(self, events, reason):
        return events.wait(lambda all_: [each for each in all_.values() if each["reason"] == reason] or None, reason)[0]

    def events(self):
        return support.Recorder(core().list_namespaced_event, self.namespace)

    def test_a_job_whose_pods_are_placed_one_by_one_learns_what_preemption_costs(self):
        with self.events() as events:
            self.apply(indexed_job("many", 2, completionMode="NonIndexed"))
            self.assertIn("spec.podFailurePolicy", self.event(events, "PreemptionCounts")["message"])

    def test_a_job_that_loses_its_queue_leaves_no_gang_that_waits(self):
        with support.watch_gangs(self.namespace) as gangs, support.watch_jobs(self.namespace) as jobs:
            support.create_job(self.namespace, support.job("first", replicas=2))
            wait_phase(jobs, self.namespace, "first", "Running")
            self.apply(indexed_job("train", 4))
            self.gang(gangs, "train.job", "Queued")
            kubectl("label", "job", "train", "-n", self.namespace, f"{QUEUE}-")
            gangs.wait(lambda all_: not all_, "its Gang is gone")
            kubectl("label", "job", "train", "-n", self.namespace, f"{QUEUE}=default")
            self.gang(gangs, "train.job", "Queued")
            support.finish(self.namespace, "first")
            self.gang(gangs, "train.job", "Running")

    def test_a_running_job_that_loses_its_queue_runs_on_as_bare_pods(self):
        with support.watch_gangs(self.namespace) as gangs, self.events() as events:
            self.apply(indexed_job("train", 2))
            self.gang(gangs, "train.job", "Running")
            kubectl("label", "job", "train", "-n", self.namespace, f"{QUEUE}-")
            self.event(events, "OwnerLeft")
            self.assertEqual(["train.job", "Running", "default", "2/2", "16", "Pod"], self.row("train.job")[:6])

    def test_an_index_that_failed_for_good_keeps_no_node(self):
        with support.watch_gangs(self.namespace) as gangs, support.watch_jobs(self.namespace) as jobs, \
                support.watch_pods(self.namespace) as pods:
            self.apply(indexed_job("train", 4, backoffLimitPerIndex=0, maxFailedIndexes=4))
            self.gang(gangs, "train.job", "Running")
            name = next(name for (_, name), item in pods.objects.items()
                        if item["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"] == "1")
            kubectl("annotate", "pod", name, "-n", self.namespace, f"{support.EXIT_CODE}=1", f"{support.RUN_FOR}=0s")
            support.create_job(self.namespace, support.job("other", replicas=1))
            wait_phase(jobs, self.namespace, "other", "Running")

    def test_what_the_api_server_refuses_is_an_event_of_the_job(self):
        with self.events() as events:
            body = indexed_job("train", 2)
            body["metadata"]["labels"][QUEUE] = "Team_A"
            self.apply(body)
            self.assertIn("spec.queue", self.event(events, "InvalidGang")["message"])

    def test_a_deleted_job_leaves_nothing(self):
        with support.watch_gangs(self.namespace) as gangs, support.watch_pods(self.namespace) as pods:
            kubectl("apply", "-n", self.namespace, "-f", "-", input=json.dumps(indexed_job("train", 4)))
            self.gang(gangs, "train.job", "Running")
            kubectl("delete", "job", "train", "-n", self.namespace)
            gangs.wait(lambda all_: not all_, "the Gang is gone")
            pods.wait(lambda all_: not all_, "its pods are gone")

    def test_a_job_that_others_write_at_the_same_time(self):
        """The operator's patch is for one version of the Job. A refusal for that reason is no fault of the Job: no Warning
        reports one, and the next patch follows at once."""
        path = f"/apis/batch/v1/namespaces/{self.namespace}/jobs"
        with support.watch_gangs(self.namespace) as gangs:
            for number in range(20):
                given().api.call("POST", path, indexed_job(f"train{number}", 5))
                for count in range(5):
                    given().api.call("PATCH", f"{path}/train{number}", {"metadata": {"annotations": {"count": str(count)}}},
                                     "application/merge-patch+json")
            gangs.wait(lambda all_: len(all_) == 20, "each has its Gang")
        events = given().json("get", "events", "-n", self.namespace, "--field-selector=reason=InvalidGang")["items"]
        kubectl("delete", "jobs.batch", "--all", "-n", self.namespace)
        self.assertEqual([], [(each["involvedObject"]["name"], each["message"]) for each in events])
