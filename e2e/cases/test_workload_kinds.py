"""The kinds that test_workloads leaves out, with their real controllers: each starts whole, is suspended for another job,
starts again and ends. Run only by name: building the controllers takes minutes.
"""
import json

import support
from lib import controllers
from support import RUN_FOR, given, kubectl, wait_phase
from workload_case import Workload, template

CLUSTER = {"nodes": 4, "kinds": ["TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "RayJob"]}  # nodes of 8 GPUs
TOOLS = ["training-operator", "kuberay"]
RUNS = "whole"


class Lives(Workload):
    CONTROLLER = "kuberay"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        controllers.start(given(), "training-operator")

    def failures(self):
        return sum(each.get("failed", 0) for each in self.workload()["status"].get("replicaStatuses", {}).values())

    def live(self, end, gang_ends="Succeeded"):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs, \
                support.watch_jobs(self.namespace) as jobs:
            support.create_job(self.namespace, support.job("first", replicas=2))
            wait_phase(jobs, self.namespace, "first", "Running")
            self.apply(4)
            self.gang(gangs, self.gang_name, "Queued")
            self.assertTrue(self.suspended())
            self.assertFalse(self.mine(pods.objects))
            support.finish(self.namespace, "first")
            self.await_running(pods, 4)
            self.gang(gangs, self.gang_name, "Running")

            support.create_job(self.namespace, support.job("urgent", replicas=1, priorityClassName="e2e-urgent"))
            wait_phase(jobs, self.namespace, "urgent", "Running")
            gang = self.gang(gangs, self.gang_name, "Queued")
            self.assertEqual(1, gang["status"]["preemptions"]["count"])
            self.assertTrue(self.suspended())
            pods.wait(lambda all_: not self.workers(all_), "its workers are gone")
            support.finish(self.namespace, "urgent")

            self.await_running(pods, 4)
            self.gang(gangs, self.gang_name, "Running")
            self.assertEqual(0, self.failures())
            end()
            self.gang(gangs, self.gang_name, gang_ends)

    def end_pods(self):
        kubectl("annotate", "pods", "--all", "-n", self.namespace, f"{RUN_FOR}=0s")

    def replicas(self, kind, field, container, *roles):
        """A life of a kind of the training operator: {role: pods}, four in all."""
        self.KIND, self.VERSION = kind, "kubeflow.org/v1"
        specs = {role: {"replicas": count, "restartPolicy": "OnFailure", "template": template(name=container)} for role, count in roles}
        self.spec = lambda workers: {"runPolicy": {"backoffLimit": 0, "cleanPodPolicy": "None"}, field: specs}
        self.live(self.end_pods)

    def test_tensorflow(self):
        self.replicas("TFJob", "tfReplicaSpecs", "tensorflow", ("Worker", 4))

    def test_tensorflow_with_several_roles(self):
        self.replicas("TFJob", "tfReplicaSpecs", "tensorflow", ("Chief", 1), ("PS", 1), ("Worker", 2))

    def test_xgboost(self):
        self.replicas("XGBoostJob", "xgbReplicaSpecs", "xgboost", ("Master", 1), ("Worker", 3))

    def test_paddle(self):
        self.replicas("PaddleJob", "paddleReplicaSpecs", "paddle", ("Worker", 4))

    def test_jax(self):
        self.replicas("JAXJob", "jaxReplicaSpecs", "jax", ("Worker", 4))

    def test_ray(self):
        """Its controller refuses a suspended one that does not shut down. No Ray runs in simulated pods, so that a deadline
        ends it. The submitter is no member."""
        self.KIND, self.VERSION, self.SUSPEND, self.HELPERS = "RayJob", "ray.io/v1", ("spec", "suspend"), 2
        self.spec = lambda workers: {"entrypoint": "true", "shutdownAfterJobFinishes": True, "rayClusterSpec": {
            "headGroupSpec": {"rayStartParams": {}, "template": template(0, "ray-head")}, "workerGroupSpecs": [
                {"groupName": "gpu", "replicas": workers, "minReplicas": workers, "maxReplicas": workers, "rayStartParams": {},
                 "template": template(name="ray-worker")}]}}
        self.live(self.end_ray, "Failed")

    def end_ray(self):
        kubectl("patch", self.KIND.lower(), self.NAME, "-n", self.namespace, "--type=merge",
                "-p", json.dumps({"spec": {"activeDeadlineSeconds": 1}}))


del Workload
