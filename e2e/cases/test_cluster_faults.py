"""Faults around gangs in clusters: LimitRanges that are created and deleted, volumes for one pod, foreign finalizers, missing
nodes, the host's network.
"""
import unittest

import support
from support import core, create_job, delete_job, job, kubectl, members, node_of, wait_phase

CLUSTER = {"nodes": 4}


def pending(item):
    return (item or {}).get("status", {}).get("pending") or {}


def template_of(body):
    return body["spec"]["roles"][0]["template"]["spec"]


class ClusterFaultsTest(support.Case):
    def test_a_deleted_limit_range_needs_no_new_job(self):
        core().create_namespaced_limit_range(self.namespace, {
            "metadata": {"name": "small"}, "spec": {"limits": [{"type": "Container", "default": {"cpu": "1"}}]}})
        body = job("asks", replicas=2)
        template_of(body)["containers"][0]["resources"]["requests"] = {"cpu": "8"}
        with support.watch_jobs(self.namespace) as jobs:
            create_job(self.namespace, body)
            jobs.wait(lambda all_: pending(all_.get((self.namespace, "asks"))).get("reason") == "InvalidTemplate",
                      "the template is invalid in this namespace")
            core().delete_namespaced_limit_range("small", self.namespace)
            wait_phase(jobs, self.namespace, "asks", "Running")

    def test_a_claim_for_one_pod_is_named_and_no_pod_is_created(self):
        core().create_namespaced_persistent_volume_claim(self.namespace, {
            "metadata": {"name": "data"},
            "spec": {"accessModes": ["ReadWriteOncePod"], "storageClassName": "", "volumeName": "none",
                     "resources": {"requests": {"storage": "1Gi"}}}})
        body = job("shares", replicas=2)
        template_of(body)["volumes"] = [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as pods:
            create_job(self.namespace, body)
            message = jobs.wait(lambda all_: pending(all_.get((self.namespace, "shares"))).get("message"),
                             "the job waits with a message")
            self.assertIn("PersistentVolumeClaim data is ReadWriteOncePod", message)
            self.assertEqual({}, members(pods.objects, "shares"))

    def test_a_deleted_job_that_a_finalizer_keeps_holds_nothing(self):
        body = job("kept", replicas=2)
        body["metadata"]["finalizers"] = ["example.com/hold"]
        with support.watch_jobs(self.namespace) as jobs:
            create_job(self.namespace, body)
            wait_phase(jobs, self.namespace, "kept", "Running")
            delete_job(self.namespace, "kept")
            try:
                message = jobs.wait(lambda all_: pending(all_.get((self.namespace, "kept"))).get("message"),
                                 "its record is cleared")
                self.assertIn("waits for finalizer example.com/hold", message)
                self.assertNotIn("placed", jobs.objects[(self.namespace, "kept")]["status"].get("gang", {}))
            finally:
                kubectl("patch", "tj", "-n", self.namespace, "kept", "--type=merge", "-p",
                        '{"metadata":{"finalizers":null}}')

    def test_the_survivors_of_an_elastic_gang_continue(self):
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as pods:
            create_job(self.namespace, job("fills", replicas=1))
            wait_phase(jobs, self.namespace, "fills", "Running")
            create_job(self.namespace, job(
                "stretch", replicas=3, checkpoint={"mode": "Helper"}, failure={"restartScope": "Pod"},
                elastic={"role": "worker", "replicas": 3, "minReplicas": 2, "maxReplicas": 3}))
            wait_phase(jobs, self.namespace, "stretch", "Running")
            before = {name: item["metadata"]["uid"] for name, item in members(pods.objects, "stretch").items()}
            lost = members(pods.objects, "stretch")["stretch-worker-2"]
            kubectl("cordon", node_of(lost))
            self.addCleanup(kubectl, "uncordon", node_of(lost))
            core().delete_namespaced_pod("stretch-worker-2", self.namespace, grace_period_seconds=0)
            jobs.wait(lambda all_: all_[(self.namespace, "stretch")]["status"].get("replicas") == 2
                      and all_[(self.namespace, "stretch")]["status"].get("phase") == "Running", "it runs with two members")
            after = {name: item["metadata"]["uid"] for name, item in members(pods.objects, "stretch").items()}
            self.assertEqual({name: uid for name, uid in before.items() if name != "stretch-worker-2"}, after)

    def test_two_masters_on_the_hosts_network_share_no_node(self):
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as pods:
            for name in ("one", "two"):
                body = job(name, replicas=1, gpus=1)
                template_of(body)["hostNetwork"] = True
                create_job(self.namespace, body)
            for name in ("one", "two"):
                wait_phase(jobs, self.namespace, name, "Running")
            found = [item for name in ("one", "two") for item in members(pods.objects, name).values()]
            self.assertEqual(2, len({node_of(item) for item in found}))
            self.assertEqual({"ClusterFirstWithHostNet"}, {item["spec"]["dnsPolicy"] for item in found})

    def test_a_member_that_its_kubelet_refuses_is_lost_and_not_failed(self):
        with support.watch_jobs(self.namespace) as jobs:
            create_job(self.namespace, job("refused", replicas=1))
            wait_phase(jobs, self.namespace, "refused", "Running")
            kubectl("patch", "pod", "-n", self.namespace, "refused-worker-0", "--subresource=status", "--type=merge", "-p",
                    '{"status":{"phase":"Failed","reason":"TopologyAffinityError",'
                    '"message":"Pod was rejected: Resources cannot be allocated with Topology locality"}}')
            jobs.wait(lambda all_: all_[(self.namespace, "refused")]["status"].get("lastFailure", {}).get("class")
                      == "AdmissionRefused", "the loss is recorded")
            wait_phase(jobs, self.namespace, "refused", "Running")
            self.assertEqual(0, jobs.objects[(self.namespace, "refused")]["status"]["restarts"].get("counted", 0))


if __name__ == "__main__":
    unittest.main()
