"""TrainingJobs through the official Python client alone, as a user's own tool would do it."""
import json
import signal
import unittest

from kubernetes import client, watch

import support
from support import GROUP, JOBS, VERSION, condition, given, holds, phase, wait_phase

CLUSTER = {"nodes": 4}
ELASTIC = {"role": "worker", "replicas": 3, "minReplicas": 2, "maxReplicas": 4}


class ClientCase(support.Case):
    def where(self, name):
        return GROUP, VERSION, self.namespace, JOBS, name

    def apply(self, body, manager, force=None):
        """Server-side apply, which this client knows only as a raw call."""
        query = [("fieldManager", manager)] + ([("force", "true")] if force else [])
        answer = support.api_client().call_api(
            f"/apis/{GROUP}/{VERSION}/namespaces/{self.namespace}/{JOBS}/{body['metadata']['name']}", "PATCH",
            query_params=query, body=json.dumps(body), _preload_content=False, auth_settings=["BearerToken"],
            header_params={"Content-Type": "application/apply-patch+yaml", "Accept": "application/json"})
        return json.loads(answer[0].data)

    def refused(self, code, function, *args, **kwargs):
        """The Status object of a call that must fail with the HTTP code."""
        with self.assertRaises(client.ApiException) as caught:
            function(*args, **kwargs)
        self.assertEqual(caught.exception.status, code, caught.exception.body)
        return json.loads(caught.exception.body)


class Life(ClientCase):
    def test_create_watch_delete(self):
        made = support.create_job(self.namespace, support.job("life", run_for="1s"))
        self.assertEqual(made["metadata"]["generation"], 1)
        seen = []
        stream = watch.Watch().stream(
            support.custom().list_namespaced_custom_object, GROUP, VERSION, self.namespace, JOBS,
            field_selector="metadata.name=life", resource_version=made["metadata"]["resourceVersion"],
            timeout_seconds=support.PATIENCE)
        for event in stream:
            self.assertIn(event["type"], ("ADDED", "MODIFIED"))
            seen.append(event["object"])
            if holds(event["object"], "Succeeded"):
                break
        phases = [phase(each) for each in seen if phase(each)]
        self.assertEqual(list(dict.fromkeys(phases)), ["Starting", "Running", "Succeeded"])
        last = seen[-1]
        self.assertEqual(last["status"]["observedGeneration"], 1)
        self.assertEqual(last["spec"], made["spec"], "the operator never writes the spec")
        self.assertIn(last["status"]["ready"], ("0/4", "4/4"))
        for each in last["status"]["conditions"]:
            self.assertEqual(sorted(each), ["lastTransitionTime", "message", "observedGeneration", "reason",
                                            "status", "type"])

        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as pods:
            support.custom().delete_namespaced_custom_object(*self.where("life"),
                                                             propagation_policy="Foreground")
            jobs.wait(lambda all_: not all_, "the job is gone")
            pods.wait(lambda all_: not all_, "its pods are gone")
        self.refused(404, support.get_job, self.namespace, "life")

    def test_delete_of_a_running_job(self):
        for policy in ("Foreground", "Background"):
            with self.subTest(policy), support.watch_jobs(self.namespace) as jobs:
                name = policy.lower()
                support.create_job(self.namespace, support.job(name, replicas=2))
                wait_phase(jobs, self.namespace, name, "Running")
                support.custom().delete_namespaced_custom_object(*self.where(name), propagation_policy=policy)
                jobs.wait(lambda all_: not all_, "the job is gone")
                self.assertEqual(support.core().list_namespaced_pod(self.namespace).items, [])

    def test_list_by_label(self):
        for name, team in (("one", "vision"), ("two", "vision"), ("three", "speech")):
            body = support.job(name, replicas=1, gpus=1)
            body["metadata"]["labels"] = {"team": team}
            support.create_job(self.namespace, body)
        found = support.custom().list_namespaced_custom_object(
            GROUP, VERSION, self.namespace, JOBS, label_selector="team=vision")
        self.assertEqual(sorted(each["metadata"]["name"] for each in found["items"]), ["one", "two"])
        with support.watch_pods(self.namespace) as pods:
            pods.wait(lambda all_: len(all_) == 3, "each has its pod")
        found = support.core().list_namespaced_pod(self.namespace, label_selector=f"{support.JOB_NAME}=two")
        self.assertEqual([pod.metadata.name for pod in found.items], ["two-worker-0"])


class Scale(ClientCase):
    def test_read_and_patch(self):
        """The desired size is read and written by the scale subresource."""
        support.create_job(self.namespace, support.job("stretch", elastic=ELASTIC))
        with support.watch_jobs(self.namespace) as jobs:
            job = wait_phase(jobs, self.namespace, "stretch", "Running")
            custom = support.custom()
            scale = custom.get_namespaced_custom_object_scale(*self.where("stretch"))
            started = job["status"]["replicas"]
            self.assertGreaterEqual(started, ELASTIC["minReplicas"])
            self.assertLessEqual(started, ELASTIC["replicas"])
            self.assertEqual(scale["spec"], {"replicas": 3})
            self.assertEqual(scale["status"]["replicas"], started)
            selector = scale["status"]["selector"]
            pods = support.core().list_namespaced_pod(self.namespace, label_selector=selector).items
            self.assertEqual(len(pods), started)

            custom.patch_namespaced_custom_object_scale(*self.where("stretch"), {"spec": {"replicas": 4}})
            job = jobs.wait(
                lambda all_: next((each for each in all_.values()
                                   if each["status"]["observedGeneration"] == 2), None), "the change is seen")
            self.assertEqual(job["spec"]["elastic"]["replicas"], 4)
            self.assertIn(phase(job), ("Running", "Resizing"))
            jobs.wait(lambda all_: next((each for each in all_.values() if each["status"].get("replicas") == 4), None),
                      "it has four members")
            said = condition(job, "Admitted")
            self.assertEqual(said["status"], "True")
            after = support.core().list_namespaced_pod(self.namespace, label_selector=selector).items
            self.assertLess({pod.metadata.uid for pod in pods}, {pod.metadata.uid for pod in after})
            self.refused(422, custom.patch_namespaced_custom_object_scale, *self.where("stretch"),
                         {"spec": {"replicas": 5}})


class Writers(ClientCase):
    def test_apply_twice_changes_nothing(self):
        body = support.job("twice", replicas=2)
        first = self.apply(body, "one")
        with support.watch_jobs(self.namespace) as jobs:
            running = wait_phase(jobs, self.namespace, "twice", "Running")
            jobs.wait(lambda all_: all_[(self.namespace, "twice")]["status"]["ready"] == "2/2", "2 are ready")
            quiet = support.get_job(self.namespace, "twice")
            again = self.apply(body, "one")
            self.assertEqual(again["metadata"]["resourceVersion"], quiet["metadata"]["resourceVersion"])
            self.assertEqual(again["metadata"]["generation"], first["metadata"]["generation"])
            self.assertEqual(again["metadata"]["uid"], running["metadata"]["uid"])

    def test_a_foreign_field_owner(self):
        """Two managers share a job: each keeps its own fields, and neither takes one of the operator's."""
        self.apply(support.job("shared", replicas=2), "one")
        with support.watch_jobs(self.namespace) as jobs:
            wait_phase(jobs, self.namespace, "shared", "Running")
        head = {"apiVersion": f"{GROUP}/{VERSION}", "kind": "TrainingJob",
                "metadata": {"name": "shared", "labels": {"cost-centre": "42"}}}
        job = self.apply(head, "accounting")
        self.assertEqual(job["metadata"]["labels"], {"cost-centre": "42"})
        self.assertEqual(len(job["spec"]["roles"]), 1)
        self.assertEqual(phase(job), "Running")
        self.assertIn("trainyard.dev/release", job["metadata"]["finalizers"])
        job = self.apply(support.job("shared", replicas=2), "one")
        self.assertEqual(job["metadata"]["labels"], {"cost-centre": "42"})
        self.assertIn("trainyard.dev/release", job["metadata"]["finalizers"])

        theirs = dict(head, spec={"framework": "MPI"})
        answer = self.refused(409, self.apply, theirs, "accounting")
        self.assertIn("conflict", answer["message"])
        self.assertIn(".spec.framework", answer["message"])
        owners = {each["manager"] for each in job["metadata"]["managedFields"]
                  if each.get("subresource") == "status"}
        self.assertEqual(len(owners), 1, "the operator alone owns the status")

    def test_stale_replace(self):
        old = support.create_job(self.namespace, support.job("stale", replicas=2))
        with support.watch_jobs(self.namespace) as jobs:
            wait_phase(jobs, self.namespace, "stale", "Running")
        answer = self.refused(409, support.custom().replace_namespaced_custom_object, *self.where("stale"), old)
        self.assertEqual(answer["reason"], "Conflict")
        new = support.get_job(self.namespace, "stale")
        new["spec"]["failure"] = {"maxRestarts": 5}
        changed = support.custom().replace_namespaced_custom_object(*self.where("stale"), new)
        self.assertEqual(changed["metadata"]["generation"], 2)
        self.assertEqual(changed["status"], new["status"])

    def test_the_status_is_not_written_with_the_spec(self):
        support.create_job(self.namespace, support.job("spec-only", replicas=1, gpus=1))
        with support.watch_jobs(self.namespace) as jobs:
            wait_phase(jobs, self.namespace, "spec-only", "Running")
        answer = support.custom().patch_namespaced_custom_object(*self.where("spec-only"),
                                                               {"status": {"phase": "Failed"}})
        self.assertEqual(phase(answer), "Running")

    def test_nonsense_is_refused_with_its_path(self):
        body = support.job("nonsense")
        body["spec"]["roles"][0]["replicas"] = -1
        answer = self.refused(422, support.create_job, self.namespace, body)
        self.assertIn("spec.roles[0].replicas", answer["message"])


class SoonAfterTheNamespace(ClientCase):
    def test_a_job_right_after_its_namespace(self):
        """Pods are refused until the namespace has its default ServiceAccount, which a slow controller makes later; the
        job reports that meanwhile and is not lost."""
        name = self.namespace + "-new"
        given().kill("kube-controller-manager", signal.SIGSTOP)
        try:
            support.core().create_namespace({"metadata": {"name": name}})
            self.addCleanup(self.empty, name)
            support.create_job(name, support.job("early", replicas=2))
            with support.watch_jobs(name) as jobs:
                job = jobs.wait(
                    lambda all_: next((each for each in all_.values() if condition(each, "Admitted")), None),
                    "the operator has an answer")
                self.assertFalse(holds(job, "Admitted"))
                self.assertIn("serviceaccount", condition(job, "Admitted")["message"].lower())
        finally:
            given().kill("kube-controller-manager", signal.SIGCONT)
        with support.watch_jobs(name) as jobs:
            wait_phase(jobs, name, "early", "Running")


if __name__ == "__main__":
    unittest.main()
