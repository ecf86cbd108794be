"""A tenant who uses GPUs that another tenant or no queue is charged for, or that cannot be reclaimed. Each docstring names
the harm that is prevented.

    make abuse
"""
import json
import time

import support
from abuse import Abuse
from kubernetes.client.exceptions import ApiException
from support import GPU, condition, core, job, kubectl, members, wait_phase

RUNS = "whole"
CLUSTER = {"nodes": 4}  # of 8 GPUs
YEAR = 31_536_000
POLICY = "preemption: {minRuntime: 2s}\n"


class Endings(Abuse):
    def test_a_success_that_leaves_workers_running(self):
        """The job has ended, so that it is charged to no queue and cannot be preempted, but its workers could run
        on."""
        body = job("free", replicas=4, run={"cleanPodPolicy": "None"}, success={"operator": "Any", "roles": ["trigger"]})
        body["spec"]["roles"].append({
            "name": "trigger", "replicas": 1, "template": {
                "metadata": {"annotations": {support.RUN_FOR: "1s"}},
                "spec": {"containers": [{"name": "t", "image": "t", "resources": {"requests": {"cpu": "1"}}}]}}})
        support.create_job(self.namespace, body)
        wait_phase(self.jobs, self.namespace, "free", "Succeeded")
        with support.watch_pods(self.namespace) as pods:
            pods.wait(lambda all_: not [each for each in members(all_, "free").values() if "worker" in each["metadata"]["name"]],
                      "no worker holds a GPU")

    def test_a_grace_period_of_a_year(self):
        """A claim for its nodes could time out after ten minutes, and its queue not be charged for them."""
        self.create_queue("slow")
        template = {"terminationGracePeriodSeconds": YEAR}
        body = job("stays", replicas=2, queue="slow")
        body["spec"]["roles"][0]["template"]["spec"].update(template)
        support.create_job(self.namespace, body)
        wait_phase(self.jobs, self.namespace, "stays", "Running")
        self.hold("stays")
        with support.watch_pods(self.namespace) as pods:
            self.patch("stays", {"run": {"suspend": True}})
            def graces():
                return [each["metadata"].get("deletionGracePeriodSeconds") for _, each in pods.events
                        if each["metadata"].get("deletionTimestamp")]
            pods.wait(lambda _: len(graces()) >= 2, "its pods are terminating")
            self.assertLessEqual(max(graces()), 600)
        events = json.loads(kubectl("get", "events.events.k8s.io", "-n", self.namespace, "-o", "json"))["items"]
        self.assertIn("GraceCapped", {each["reason"] for each in events})
        # Charged as long as a pod is left, however long that is.
        time.sleep(5)
        self.assertEqual(self.used("slow"), 16)
        self.end_hold("stays")
        self.await_used("slow", 0)


class Charges(Abuse):
    def test_a_loan_made_non_preemptible(self):
        """preemptible is patched to false while the job runs on borrowed GPUs: the queue with the guarantee could wait
        for ever."""
        self.policy(POLICY)
        self.create_queue("owner", guaranteed={GPU: 32})
        self.create_queue("borrower")
        self.runs("lent", replicas=4, queue="borrower")
        with self.assertRaisesRegex(ApiException, "while the job has assigned nodes"):
            self.patch("lent", {"preemptible": False})
        support.create_job(self.others, job("own", replicas=4, queue="owner"))
        wait_phase(self.jobs, self.others, "own", "Running")
        support.delete_job(self.others, "own")
        support.delete_job(self.namespace, "lent")

    def test_a_deadline_raised_after_the_start(self):
        """A job that cannot be preempted starts before the holder of a reservation when its deadline ends it in time."""
        firm = job("firm", replicas=1, preemptible=False, run={"activeDeadlineSeconds": 600})
        support.create_job(self.namespace, firm)
        wait_phase(self.jobs, self.namespace, "firm", "Running")
        for later in (86400, None):
            with self.assertRaisesRegex(ApiException, "can only be lowered while the job has assigned nodes"):
                self.patch("firm", {"run": {"activeDeadlineSeconds": later}})
        self.patch("firm", {"run": {"activeDeadlineSeconds": 300}})
        support.delete_job(self.namespace, "firm")
        self.runs("lent", replicas=1, run={"activeDeadlineSeconds": 600})
        self.patch("lent", {"run": {"activeDeadlineSeconds": 86400}})
        support.delete_job(self.namespace, "lent")

    def test_another_queue_while_the_pods_still_end(self):
        """A job is suspended, moved to another queue and made small, and resumed: as long as the pods exist the other
        queue, or none, could be charged, and admission to that queue could be skipped."""
        self.create_queue("mine", limit={GPU: 16})
        self.create_queue("theirs", namespaceSelector={"matchLabels": {"e2e-team": "theirs"}})
        self.runs("mover", replicas=2, queue="mine")
        self.await_used("mine", 16)
        self.hold("mover")
        self.patch("mover", {"run": {"suspend": True}})
        roles = support.get_job(self.namespace, "mover")["spec"]["roles"]
        roles[0]["template"]["spec"]["containers"][0]["resources"] = {"limits": {GPU: 1}}
        self.patch("mover", {"queue": "theirs", "roles": roles})
        self.patch("mover", {"run": {"suspend": False}})
        time.sleep(5)
        self.assertEqual((self.used("mine"), self.used("theirs")), (16, 0))
        self.end_hold("mover")
        self.await_used("mine", 0)
        self.assertEqual(self.not_admitted((self.namespace, "mover"))["reason"], "NamespaceNotAllowed")
        self.assertEqual(self.used("theirs"), 0)

    def test_no_queue_at_all(self):
        """While Queues exist and none is named default, a job without a queue could be charged to none without any
        notice."""
        self.create_queue("team")
        self.runs("free", replicas=1)
        key = (self.namespace, "free")
        said = self.jobs.wait(lambda all_: condition(all_[key], "Charged"), "it reports that it is charged to no queue")
        self.assertEqual((said["status"], said["reason"]), ("False", "NoQueue"))
        self.addCleanup(self.policy, POLICY)
        self.policy(POLICY + "requireQueue: true\n")
        strict = self.submit("strict", replicas=1)
        self.assertEqual(self.not_admitted(strict)["reason"], "NoQueue")
        kubectl("label", "namespace", self.namespace, "trainyard.dev/default-queue=team")
        wait_phase(self.jobs, *strict, "Running")
        self.await_used("team", 8)
        self.policy(POLICY)

    def test_a_class_of_the_system(self):
        """Such a job could be first in every queue, and its pods could lack the class, so that no quota by class
        holds."""
        key = self.submit("first", replicas=1, priorityClassName="system-node-critical")
        self.assertEqual(self.not_admitted(key)["reason"], "PriorityClassNotAllowed")
        kubectl("apply", "-f", "-", input=json.dumps({
            "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "e2e-scoped"}, "value": 7}))
        # Of pods of that class the namespace may have one.
        core().create_namespaced_resource_quota(self.namespace, {
            "metadata": {"name": "one"}, "spec": {"hard": {"pods": "1"}, "scopeSelector": {"matchExpressions": [
                {"scopeName": "PriorityClass", "operator": "In", "values": ["e2e-scoped"]}]}}})
        support.await_value(lambda: core().read_namespaced_resource_quota("one", self.namespace).status.hard, bool,
                            "the quota is counted")
        self.runs("single", replicas=1, gpus=1, priorityClassName="e2e-scoped")
        pod = core().list_namespaced_pod(self.namespace, label_selector=f"{support.JOB_NAME}=single").items[0]
        self.assertEqual(pod.spec.priority_class_name, "e2e-scoped")
        second = self.submit("second", replicas=1, gpus=1, priorityClassName="e2e-scoped")
        self.jobs.wait(lambda all_: "exceeded quota: one" in json.dumps(all_.get(second, {}).get("status", {})),
                       "the quota holds for jobs, too")


class Names(Abuse):
    def again(self, name, **options):
        """Deletes a job and creates it again as soon as the API server accepts it; returns its uid."""
        support.delete_job(self.namespace, name)
        deadline = time.monotonic() + support.PATIENCE
        while True:
            try:
                return support.create_job(self.namespace, job(name, **options))["metadata"]["uid"]
            except ApiException as error:
                if error.status != 409 or time.monotonic() > deadline:
                    raise

    def test_the_same_name_again_at_once(self):
        """The state of the old gang could be applied to the new one, which would run without its Service."""
        self.runs("again", replicas=2)
        for _ in range(3):
            uid = self.again("again", replicas=2)
            self.jobs.wait(lambda all_, uid=uid: (lambda item: item["metadata"]["uid"] == uid and support.phase(item) == "Running")(
                all_.get((self.namespace, "again"), {"metadata": {"uid": ""}})), "the new one runs")
            service = core().read_namespaced_service("again", self.namespace)
            self.assertEqual([each.uid for each in service.metadata.owner_references], [uid])
            self.assertEqual(service.spec.selector["trainyard.dev/job-uid"], uid)

    def test_the_same_name_of_a_single_pod_job_whose_pod_still_ends(self):
        """The job could report that its pod's name is taken by a foreign pod, and retry up to a minute after the name
        is free."""
        self.runs("again", replicas=1)
        self.hold("again")
        uid = self.again("again", replicas=1)
        said = self.waits((self.namespace, "again"), "CleaningUp")
        self.assertIn("of an earlier TrainingJob of this name", said["message"])
        time.sleep(5)
        self.end_hold("again")
        begun = time.monotonic()
        self.jobs.wait(lambda all_: all_[(self.namespace, "again")]["metadata"]["uid"] == uid
                       and support.phase(all_[(self.namespace, "again")]) == "Running", "it runs")
        self.assertLess(time.monotonic() - begun, 5)
