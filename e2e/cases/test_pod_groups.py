"""PodGroups of scheduling.k8s.io: as names of gangs, and kube-scheduler's preemption for them."""
import json

import support
import yaml
from gang_case import PLACE, QUEUE, GangCase, gates
from lib import helm
from support import GPU, core, given, kubectl, phase, wait_phase

CLUSTER = {"nodes": 2, "kinds": ["Job", "PodGroup"], "gates": ["GenericWorkload", "GangScheduling", "WorkloadAwarePreemption"]}
SCHEDULER = "system:kube-scheduler"


def member(name, group, resources, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"schedulingGroup": {"podGroupName": group}, "terminationGracePeriodSeconds": 0, **spec,
                     "containers": [{"name": "main", "image": "main", "resources": resources}]}}


class PodGroups(GangCase):
    def apply(self, *bodies):
        for body in bodies:
            kubectl("create", "-n", self.namespace, "-f", "-", input=json.dumps(body))
            self.addCleanup(kubectl, "delete", body["kind"].lower(), body["metadata"]["name"], "-n", self.namespace,
                            "--ignore-not-found", "--wait=false")

    def group(self, name, size, **spec):
        self.apply({"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", "metadata": {"name": name},
                    "spec": {"schedulingPolicy": {"gang": {"minCount": size}}, **spec}})

    def pods(self, group, count):
        bodies = [member(f"{group}-{i}", group, {"limits": {GPU: 8}}) for i in range(count)]
        for body in bodies:
            body["metadata"]["labels"] = {QUEUE: "default"}
            body["spec"]["schedulingGates"] = [PLACE]
        self.apply(*bodies)

    def keep_members(self):
        rendered = helm.template(given().tools["helm"], {"admissionPolicy": {"keepMembersFrom": [SCHEDULER]}},
                                 only=("admission-policies",))
        kept = [item for item in yaml.safe_load_all(rendered) if item and item["metadata"]["name"].endswith("-members-kept")]
        self.assertEqual(2, len(kept))
        kubectl("apply", "-f", "-", input=yaml.safe_dump_all(kept))
        self.addCleanup(kubectl, "delete", "-f", "-", input=yaml.safe_dump_all(kept))

    def test_the_pods_of_a_group_are_a_gang_of_its_size(self):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs:
            self.group("ring", 2)
            self.pods("ring", 3)
            gang = self.gang(gangs, "ring.pods", "Running")
            self.assertEqual([2], [role["replicas"] for role in gang["spec"]["roles"]])
            # The one beyond has no place.
            self.assertEqual([PLACE["name"]], gates(pods.objects[self.namespace, "ring-2"]))

    def submit(self, resources):
        """Two pods of higher priority, in a group, that are not Trainyard's."""
        self.group("urgent", 2, priorityClassName="e2e-urgent", priority=1000)
        self.apply(*[member(f"urgent-{i}", "urgent", resources, priorityClassName="e2e-urgent") for i in range(2)])

    def await_event(self, words):
        support.await_value(lambda: [event.message or "" for event in core().list_namespaced_event(self.namespace).items],
                            lambda messages: any(words in message for message in messages), f"an Event says: {words}")

    def run_job(self, jobs):
        job = support.job("train", replicas=2)
        job["spec"]["roles"][0]["template"]["spec"]["containers"][0]["resources"].setdefault("requests", {})["cpu"] = "8"
        support.create_job(self.namespace, job)
        wait_phase(jobs, self.namespace, "train", "Running")

    def test_kube_scheduler_does_not_preempt_members_for_a_group_with_gpus(self):
        """Its preemption for groups has no verb of the extender, but it asks filter."""
        with support.watch_pods(self.namespace) as pods, support.watch_jobs(self.namespace) as jobs:
            self.run_job(jobs)
            before = {name: pod["metadata"]["uid"] for (_, name), pod in pods.objects.items()}
            self.submit({"limits": {GPU: 8}})
            self.await_event("2 Insufficient nvidia.com/gpu")
            self.assert_kept(pods, before)

    def test_kube_scheduler_preempts_no_member_that_is_kept(self):
        with support.watch_pods(self.namespace) as pods, support.watch_jobs(self.namespace) as jobs:
            self.keep_members()
            self.run_job(jobs)
            before = {name: pod["metadata"]["uid"] for (_, name), pod in pods.objects.items()}
            self.submit({"requests": {"cpu": "95"}})
            self.await_event("2 Insufficient cpu")
            log = given().dir / "logs" / "kube-scheduler.log"
            support.await_value(log.read_text, lambda text: "may not preempt it" in text, "kube-scheduler is refused")
            self.assert_kept(pods, before)

    def assert_kept(self, pods, before):
        kept = {name: pods.objects[self.namespace, name] for name in before}
        self.assertEqual(before, {name: pod["metadata"]["uid"] for name, pod in kept.items()})
        self.assertTrue(all(phase(pod) == "Running" and "deletionTimestamp" not in pod["metadata"] for pod in kept.values()))
