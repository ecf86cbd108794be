"""The first gang as a whole, from `kubectl apply` to nothing left; and foreign pods, which do not get its nodes."""
import json
import re
import signal
import unittest

import support
from lib import kwok
from support import EXTENDER, JOB_NAME, RACK, condition, finish, gated, given, holds, kubectl, members
from support import members_now, node_of, phase, wait_phase

# The nodes are made below: rack r0 has two, r1 four, so that taking nodes by their names would be wrong.
CLUSTER = {"nodes": 0}
RACK_OF_TWO, RACK_OF_FOUR = ["n0002", "n0003"], ["n0004", "n0005", "n0006", "n0007"]


def setUpModule():
    given().add_nodes(6, kwok.Shape(racks_of=4), start=2)


def requests(verb):
    """How often kube-scheduler asked, and how often it got nodes or none."""
    found = {key: value for key, value in given().metrics(EXTENDER).items()
             if key.startswith("trainyard_extender_requests_total") and f'verb="{verb}"' in key}
    return sum(found.values())


def table(text):
    """What kubectl prints as a table: one dict a row; columns are found by where their titles begin."""
    head, *rows = text.splitlines()
    titles = re.split(r"\s{2,}", head.strip())
    starts = [head.index(title) for title in titles] + [None]
    return [{title: row[starts[i]:starts[i + 1]].strip() for i, title in enumerate(titles)} for row in rows]


class FirstGang(support.Case):
    def apply(self, body):
        kubectl("apply", "-n", self.namespace, "-f", "-", input=json.dumps(body))

    def row(self, name):
        return table(kubectl("get", "tj", name, "-n", self.namespace))[0]

    def test_from_apply_to_the_end(self):
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as pods:
            self.apply(support.job("first"))
            job = wait_phase(jobs, self.namespace, "first", "Running")
            jobs.wait(lambda all_: all_[(self.namespace, "first")]["status"]["ready"] == "4/4", "4/4 ready")
            mine = members_now(self.namespace, "first")

            with self.subTest("one rack, though two would do"):
                self.assertEqual(sorted(mine), [f"first-worker-{i}" for i in range(4)])
                self.assertEqual(sorted(map(node_of, mine.values())), RACK_OF_FOUR)
                racks = {node["metadata"]["labels"][RACK] for node in given().json("get", "nodes")["items"]
                         if node["metadata"]["name"] in RACK_OF_FOUR}
                self.assertEqual(racks, {"r1"})
            with self.subTest("what is recorded is what runs"):
                places = {(each["role"], each["indices"]): each["node"]
                          for each in job["status"]["gang"]["placed"]["assignments"]}
                self.assertEqual(places, {("worker", str(i)): node_of(mine[f"first-worker-{i}"])
                                          for i in range(4)})
                self.assertNotIn("proposal", job["status"]["gang"])
            with self.subTest("no record of the writers of fields, which would cost a quarter of the start"):
                pods_now = support.core().list_namespaced_pod(self.namespace).items
                self.assertEqual([pod.metadata.name for pod in pods_now if pod.metadata.managed_fields], [])
            with self.subTest("columns while it runs"):
                row = self.row("first")
                self.assertEqual({key: row[key] for key in row if key != "AGE"},
                                 {"NAME": "first", "PHASE": "Running", "QUEUE": "default", "READY": "4/4",
                                  "GPUS": "32", "WHY": "", "DONE": ""})
            with self.subTest("status while it runs"):
                self.check_running(jobs.objects[(self.namespace, "first")])
            with self.subTest("environment and DNS names"):
                self.check_environment(mine)
                self.check_service(mine)

            finish(self.namespace, "first")
            kubectl("wait", "-n", self.namespace, "tj/first", "--for=condition=Succeeded", "--timeout=60s")
            wait_phase(jobs, self.namespace, "first", "Succeeded")
            with self.subTest("status at the end"):
                self.check_ended(jobs)
            with self.subTest("events"):
                self.check_events("first")

            self.check_nothing_is_left("first", jobs, pods)

    def check_running(self, job):
        status = job["status"]
        self.assertEqual(status["observedGeneration"], job["metadata"]["generation"])
        self.assertEqual(status["gpus"], 32)
        self.assertEqual(status["replicas"], 4)
        self.assertEqual(status["selector"], f"{JOB_NAME}=first")
        [worker] = status["roles"]
        self.assertEqual({key: worker.get(key, 0) for key in ("name", "desired", "active", "ready")},
                         {"name": "worker", "desired": 4, "active": 4, "ready": 4})
        self.assertNotIn("pending", status)
        self.assertIn("startTime", status)
        for kind in ("Admitted", "Scheduled", "Running", "Ready"):
            self.assertTrue(holds(job, kind), kind)
        self.assertFalse(holds(job, "Queued"))
        scheduled = condition(job, "Scheduled")
        self.assertEqual(scheduled["reason"], "GangPlaced")
        self.assertIn("4 of 4 pods on 4 nodes in rack", scheduled["message"])
        self.assertIn("r1", scheduled["message"])

    def check_ended(self, jobs):
        """Each condition became true in order, as a watch shows."""
        history = [item for _, item in jobs.events if item["metadata"]["name"] == "first"]
        came = [min((i for i, item in enumerate(history) if holds(item, kind)), default=None)
                for kind in ("Admitted", "Scheduled", "Running", "Succeeded")]
        self.assertNotIn(None, came)
        self.assertEqual(came, sorted(came))
        job = history[-1]
        self.assertEqual([each["type"] for each in job["status"]["conditions"] if each["type"] != "Queued"],
                         ["Admitted", "Scheduled", "Ready", "Running", "Succeeded", "Finished"])
        self.assertFalse(holds(job, "Running"))
        self.assertEqual(job["status"]["roles"][0].get("succeeded"), 4)
        self.assertEqual(job["status"]["ready"], "0/4")
        self.assertIn("completionTime", job["status"])
        phases = [phase(item) for item in history if phase(item)]
        self.assertEqual([each for i, each in enumerate(phases) if i == 0 or phases[i - 1] != each],
                         ["Starting", "Running", "Succeeded"])
        self.assertEqual(self.row("first")["PHASE"], "Succeeded")

    def check_events(self, name):
        """They are written beside other work: the last ones may appear a moment later."""
        with support.Recorder(support.core().list_namespaced_event, self.namespace,
                              field_selector=f"involvedObject.name={name}") as events:
            wanted = ["Placed", "RolesSucceeded"]
            events.wait(lambda all_: set(wanted) <= {each["reason"] for each in all_.values()},
                        f"events {wanted}")
        text = kubectl("events", "-n", self.namespace, "--for", f"trainingjob/{name}")
        rows = table(text)
        self.assertEqual([row["REASON"] for row in rows], wanted, text)
        self.assertEqual({row["TYPE"] for row in rows}, {"Normal"}, text)
        self.assertIn("4 pods on 4 nodes in rack", text)

    def check_environment(self, pods):
        master = f"first-worker-0.first.{self.namespace}.svc"
        for i in range(4):
            spec = pods[f"first-worker-{i}"]["spec"]
            self.assertEqual(spec["restartPolicy"], "Never")
            [container] = spec["containers"]
            env = {each["name"]: each.get("value") for each in container["env"]}
            want = {"MASTER_ADDR": master, "MASTER_PORT": "29500", "WORLD_SIZE": "4", "RANK": str(i),
                    "PET_NNODES": "4", "PET_NPROC_PER_NODE": "8", "PET_NODE_RANK": str(i),
                    "PET_MASTER_ADDR": master, "PET_MASTER_PORT": "29500", "TRAINYARD_JOB": "first",
                    "TRAINYARD_ROLE": "worker", "TRAINYARD_INDEX": str(i)}
            self.assertEqual({name: env.get(name) for name in want}, want)

    def check_service(self, pods):
        """No DNS server runs here; the EndpointSlice is the source of its answers."""
        service = given().json("get", "service", "first", "-n", self.namespace)
        self.assertEqual(service["spec"]["clusterIP"], "None")
        self.assertTrue(service["spec"]["publishNotReadyAddresses"])
        for name, pod in pods.items():
            self.assertEqual((pod["spec"]["hostname"], pod["spec"]["subdomain"]), (name, "first"))
        by_host = {name: {pod["status"]["podIP"]} for name, pod in pods.items()}

        def addresses(objects):
            found = {}
            for item in objects.values():
                for endpoint in item.get("endpoints") or []:
                    found.setdefault(endpoint.get("hostname"), set()).update(endpoint["addresses"])
            return found == by_host

        slices = support.client.DiscoveryV1Api(support.api_client()).list_namespaced_endpoint_slice
        with support.Recorder(slices, self.namespace,
                              label_selector="kubernetes.io/service-name=first") as found:
            found.wait(addresses, f"the Service resolves to {by_host}")
        lists = given().json("get", "configmap", "-n", self.namespace, "-l", "trainyard.dev/job-name=first")["items"]
        hosts = lists[0]["data"]["hosts.txt"]
        self.assertEqual(hosts.split(), [f"first-worker-{i}.first.{self.namespace}.svc" for i in range(4)])

    def check_nothing_is_left(self, name, jobs, pods):
        uid = given().json("get", "tj", name, "-n", self.namespace)["metadata"]["uid"]
        for what in ("service/first", f"configmap/first-members-{uid}"):
            owner = given().json("get", what, "-n", self.namespace)["metadata"]["ownerReferences"][0]
            self.assertEqual((owner["kind"], owner["name"]), ("TrainingJob", name))
        kubectl("delete", "tj", name, "-n", self.namespace, "--timeout=60s")
        jobs.wait(lambda all_: not all_, "the job is gone")
        pods.wait(lambda all_: not all_, "its pods are gone")
        for function in (support.core().list_namespaced_service, support.core().list_namespaced_config_map):
            with support.Recorder(function, self.namespace) as left:
                left.wait(lambda all_: not [key for key in all_ if key[1] != "kube-root-ca.crt"],
                          "its Service and ConfigMap are gone")

    def test_deleted_while_it_runs(self):
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as pods:
            self.apply(support.job("cut-short"))
            job = wait_phase(jobs, self.namespace, "cut-short", "Running")
            self.assertIn("trainyard.dev/release", job["metadata"]["finalizers"])
            kubectl("delete", "tj", "cut-short", "-n", self.namespace, "--timeout=60s")
            # The finalizer held the job until its pods were gone.
            left = support.core().list_namespaced_pod(self.namespace).items
            self.assertEqual(left, [])
            pods.wait(lambda all_: not all_, "the watch knows too")
            self.assertTrue(any(kind == "DELETED" for kind, _ in jobs.events) or
                            jobs.wait(lambda all_: not all_, "the job is gone"))


class ForeignPods(support.Case):
    """Pods with GPUs that belong to no TrainingJob."""

    def place(self, pods, body):
        """Creates a pod; the node that it gets."""
        name = body["metadata"]["name"]
        support.core().create_namespaced_pod(self.namespace, body)
        return pods.wait(lambda all_: node_of(all_.get((self.namespace, name), {"spec": {}})),
                         f"{name} is bound")

    def wait_refused(self, pods, name, words):
        """Waits until kube-scheduler has reported why the pod is not bound."""
        def refused(objects):
            found = condition(objects.get((self.namespace, name), {}), "PodScheduled")
            return found is not None and found.get("reason") == "Unschedulable" and words in found["message"]
        pods.wait(refused, f"{name} is refused with the words {words!r}")
        self.assertIsNone(node_of(pods.objects[(self.namespace, name)]))

    def wait_extender_has_seen(self):
        """Waits until the extender has also seen where all bound pods are: a node that it offered counts as held until
        it has seen the pod bound. Its gauges change once a second, the age of its view each time."""
        ages = set()

        def gauges():
            metrics = given().metrics(EXTENDER)
            ages.add(metrics["trainyard_extender_view_age_seconds"])
            return metrics["trainyard_extender_holds"]
        # The first age is old, the second may be just as old as the binding.
        support.await_value(gauges, lambda holds_left: len(ages) > 2 and holds_left == 0, "no holds are left")

    def test_the_fullest_node_that_fits(self):
        before = {verb: requests(verb) for verb in ("filter", "prioritize")}
        with support.watch_pods(self.namespace) as pods:
            self.assertEqual(self.place(pods, support.pod("fill-a", 2, node="n0002")), "n0002")
            self.assertEqual(self.place(pods, support.pod("fill-b", 5, node="n0003")), "n0003")
            self.wait_extender_has_seen()
            # kube-scheduler by itself prefers the emptiest node: one of r1.
            self.assertEqual(self.place(pods, support.pod("two", 2)), "n0003")
            self.assertEqual(self.place(pods, support.pod("four", 4)), "n0002")
            self.assertEqual(self.place(pods, support.pod("one", 1)), "n0003")
            self.assertEqual(self.place(pods, support.pod("two-more", 2)), "n0002")
        self.assertGreaterEqual(requests("filter") - before["filter"], 6)
        self.assertGreaterEqual(requests("prioritize") - before["prioritize"], 4)

    def test_reserved_nodes_while_a_gang_starts(self):
        """The gang's pods are released but not bound: its scheduler is stopped. Another stock scheduler with the same
        extender looks for nodes for foreign pods."""
        support.start_second_scheduler()
        given().kill("kube-scheduler", signal.SIGSTOP)
        self.addCleanup(given().kill, "kube-scheduler", signal.SIGCONT)
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as pods:
            support.create_job(self.namespace, support.job("starting"))

            def released(objects):
                mine = members(objects, "starting")
                return len(mine) == 4 and not any(map(gated, mine.values()))
            pods.wait(released, "all members are released")
            self.assertEqual([pod for pod in pods.objects.values() if node_of(pod)], [])
            wait_phase(jobs, self.namespace, "starting", "Starting")

            second = {"scheduler": support.SECOND_SCHEDULER}
            self.assertIn(self.place(pods, support.pod("first", 8, **second)), RACK_OF_TWO)
            self.assertIn(self.place(pods, support.pod("second", 8, **second)), RACK_OF_TWO)
            # By kube-scheduler's own count four nodes are free; by the extender's none.
            for body in (support.pod("third", 1, **second), support.pod("there", 1, node="n0005", **second)):
                support.core().create_namespaced_pod(self.namespace, body)
            self.wait_refused(pods, "third", "reserved for gangs")
            self.wait_refused(pods, "there",
                              "trainyard: needs 1 nvidia.com/gpu, has 0 free beside 8 reserved for gangs")

            given().kill("kube-scheduler", signal.SIGCONT)
            wait_phase(jobs, self.namespace, "starting", "Running")
            self.assertEqual(sorted(map(node_of, members_now(self.namespace, "starting").values())), RACK_OF_FOUR)
            for name in ("third", "there"):
                self.assertIsNone(node_of(pods.objects[(self.namespace, name)]), name)

            finish(self.namespace, "starting")
            wait_phase(jobs, self.namespace, "starting", "Succeeded")
            pods.wait(lambda all_: node_of(all_[(self.namespace, "there")]) == "n0005",
                      "the place is free again")

    def test_a_gang_is_not_preempted(self):
        support.client.SchedulingV1Api(support.api_client()).create_priority_class(
            {"metadata": {"name": "urgent"}, "value": 1000000})
        before = requests("preempt")
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as pods:
            support.create_job(self.namespace, support.job("steady"))
            wait_phase(jobs, self.namespace, "steady", "Running")
            uids = {pod["metadata"]["uid"] for pod in members_now(self.namespace, "steady").values()}
            support.core().create_namespaced_pod(
                self.namespace, support.pod("urgent", 8, node="n0004", priority="urgent"))
            self.wait_refused(pods, "urgent", "")
            support.await_value(lambda: requests("preempt"), lambda now: now > before,
                                "kube-scheduler asks about victims")
            still = members_now(self.namespace, "steady").values()
            self.assertEqual({pod["metadata"]["uid"] for pod in still}, uids)
            self.assertFalse(any("deletionTimestamp" in pod["metadata"] for pod in still))


if __name__ == "__main__":
    unittest.main()
