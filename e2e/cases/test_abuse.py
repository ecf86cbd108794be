"""What a tenant may write who may only create pods and TrainingJobs in one namespace: one test for each harm that was tried.
The leader must remain the leader, with the memory that the chart gives it, and jobs of other tenants must start meanwhile.

    make abuse
This is the quick part, which every run of the cases has; test_abuse_charging.py and test_abuse_large.py are the rest.
"""
import time

import support
from abuse import CALM_SECONDS, Abuse
from kubernetes.client.exceptions import ApiException
from support import GROUP, job, wait_phase

CLUSTER = {"nodes": 4}  # of 8 GPUs


class Templates(Abuse):
    def test_45000_names_of_resources_in_a_job(self):
        names = {f"x.io/r{i}": "1" for i in range(45_000)}
        with self.assertRaisesRegex(ApiException, "must have at most 64"):
            self.submit("wide", container={"resources": {"limits": names}})

    def test_as_many_names_of_resources_as_the_schema_allows(self):
        body = job("wide")
        body["spec"]["roles"][0]["template"]["spec"]["containers"] = [
            {"name": f"c{c}", "image": "c", "resources": {"limits": {f"x{c}.io/r{i}": "1" for i in range(64)}}}
            for c in range(64)]
        support.create_job(self.namespace, body)
        self.refused((self.namespace, "wide"), "more than 32 extended resources")

    def test_30000_names_of_resources_in_a_pod(self):
        """As many as etcd stores: the API server also writes each limit as a request."""
        pod = support.pod("wide", gpus=0)
        pod["spec"]["containers"][0]["resources"]["limits"] = {f"x.io/r{i}": "1" for i in range(30_000)}
        pod["spec"]["schedulerName"] = "no-such-scheduler"
        support.core().create_namespaced_pod(self.namespace, pod)

    def test_1500_replicas_of_a_template_of_600_kilobytes(self):
        key = self.submit("heavy", container={"args": ["x" * 600_000]}, replicas=1500, gpus=0)
        self.refused(key, "MiB together")

    def test_pods_of_300_kilobytes_that_fit(self):
        key = self.submit("bulky", container={"args": ["x" * 300_000]}, replicas=80, gpus=0)
        wait_phase(self.jobs, *key, "Running", 2 * support.PATIENCE)

    def test_more_gpus_than_can_be_counted(self):
        key = self.submit("greedy", replicas=4096, gpus=4_503_599_627_370_495)
        self.refused(key, "can be counted")
        before = self.status_writes()
        time.sleep(CALM_SECONDS)
        self.assertLessEqual(self.status_writes() - before, 3, "it is written again and again")


class ForgedPods(Abuse):
    """Unbound pods, pinned to every node, each with a whole node's GPUs. If they counted like members of a gang, every
    node would look full to every gang."""

    def forge_pods(self, owner):
        for node in range(4):
            body = support.pod(f"forged-{node}", gpus=8)
            body["metadata"].update(
                labels={"trainyard.dev/job-name": owner["name"], "trainyard.dev/job-uid": owner["uid"],
                        "trainyard.dev/role": "worker", "trainyard.dev/index": str(node), "trainyard.dev/epoch": "1"},
                ownerReferences=[{**owner, "controller": True}])
            body["spec"]["schedulerName"] = "no-such-scheduler"
            body["spec"]["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchFields": [
                    {"key": "metadata.name", "operator": "In", "values": [f"n{node:04d}"]}]}]}}}
            support.core().create_namespaced_pod(self.namespace, body)
        # An object whose owner has an unknown API version is never collected.
        self.addCleanup(support.core().delete_collection_namespaced_pod, self.namespace, grace_period_seconds=0)

    def test_pods_that_never_bind_of_a_job_of_another_version(self):
        self.submit("own", run={"suspend": True})
        uid = support.get_job(self.namespace, "own")["metadata"]["uid"]
        self.forge_pods({"apiVersion": f"{GROUP}/v9", "kind": "TrainingJob", "name": "own", "uid": uid})

    def test_pods_that_never_bind_of_its_own_job(self):
        self.submit("own", run={"suspend": True})
        item = support.get_job(self.namespace, "own")
        self.forge_pods({"apiVersion": item["apiVersion"], "kind": "TrainingJob", "name": "own", "uid": item["metadata"]["uid"]})
