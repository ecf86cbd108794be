"""Workloads of other controllers, made by these controllers themselves, in Trainyard's queues. Each class can run alone
(-k JobSets). Run only by name: building the controllers takes minutes.
"""
import json

import support
from gang_case import gates
from lib import controllers
from support import EXIT_CODE, GPU, RUN_FOR, core, given, kubectl, node_of, phase, wait_phase
from workload_case import Workload, template

CLUSTER = {"nodes": 4, "kinds": ["Job", "MPIJob", "JobSet", "PyTorchJob", "RayCluster", "TrainJob"]}  # nodes of 8 GPUs
TOOLS = ["mpi-operator", "jobset", "training-operator", "kuberay", "trainer"]
RUNS = "whole"
INDEX = "batch.kubernetes.io/job-completion-index"


class WorkloadCase(Workload):
    """The tests that every kind passes."""

    def test_waits_suspended_with_numbers_then_starts_whole_in_order(self):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs, \
                support.watch_jobs(self.namespace) as jobs:
            support.create_job(self.namespace, support.job("first", replicas=2))
            wait_phase(jobs, self.namespace, "first", "Running")
            self.apply(4)
            gang = self.gang(gangs, self.gang_name, "Queued")
            self.assertEqual("WaitingForCapacity", gang["status"]["pending"]["reason"])
            self.assertIn("first", gang["status"]["pending"]["message"])
            self.assertTrue(self.suspended())
            self.assertFalse(self.mine(pods.objects))
            support.finish(self.namespace, "first")
            running = self.await_running(pods, 4)
            self.gang(gangs, self.gang_name, "Running")
            ranks = {self.rank(pod): node_of(pod) for pod in running}
            if None not in ranks:
                self.assertEqual({str(i): f"n000{i}" for i in range(4)}, ranks)

    def test_is_preempted_and_starts_again_without_a_failure(self):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs, \
                support.watch_jobs(self.namespace) as jobs:
            self.apply(4)
            self.await_running(pods, 4)
            self.gang(gangs, self.gang_name, "Running")
            before = self.failures()
            support.create_job(self.namespace, support.job("urgent", replicas=1, priorityClassName="e2e-urgent"))
            wait_phase(jobs, self.namespace, "urgent", "Running")
            gang = self.gang(gangs, self.gang_name, "Queued")
            self.assertEqual(1, gang["status"]["preemptions"]["count"])
            self.assertTrue(self.suspended())
            self.assertEqual(before, self.failures())
            support.finish(self.namespace, "urgent")
            self.await_running(pods, 4)
            self.gang(gangs, self.gang_name, "Running")
            self.assertEqual(before, self.failures())

    def test_a_lost_member_gets_its_place_back(self):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs:
            self.apply(4)
            lost = self.await_running(pods, 4)[0]
            self.gang(gangs, self.gang_name, "Running")
            core().delete_namespaced_pod(lost["metadata"]["name"], self.namespace, grace_period_seconds=0)
            uid = lost["metadata"]["uid"]
            pods.wait(lambda all_: all(pod["metadata"]["uid"] != uid for pod in all_.values()), "the pod is gone")
            again = self.await_running(pods, 4)
            self.assertEqual({f"n000{i}" for i in range(4)}, {node_of(pod) for pod in again})

    def test_a_member_of_a_lost_node_moves(self):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs:
            self.apply(3)
            lost = self.await_running(pods, 3)[0]
            self.gang(gangs, self.gang_name, "Running")
            kubectl("cordon", node_of(lost))
            self.addCleanup(kubectl, "uncordon", node_of(lost))
            core().delete_namespaced_pod(lost["metadata"]["name"], self.namespace, grace_period_seconds=0)
            uid = lost["metadata"]["uid"]
            pods.wait(lambda all_: all(pod["metadata"]["uid"] != uid for pod in all_.values()), "the pod is gone")
            again = self.await_running(pods, 3)
            self.assertEqual({f"n000{i}" for i in range(4)} - {node_of(lost)}, {node_of(pod) for pod in again})

    def test_ends(self):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs:
            self.apply(2)
            self.await_running(pods, 2)
            self.gang(gangs, self.gang_name, "Running")
            kubectl("annotate", "pods", "--all", "-n", self.namespace, f"{RUN_FOR}=0s")
            self.gang(gangs, self.gang_name, "Succeeded")
            kubectl("wait", f"--for=condition={self.ENDED}", self.KIND.lower(), self.NAME, "-n", self.namespace, "--timeout=60s")

    def test_deleted_while_it_waits_and_while_it_runs(self):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs:
            self.apply(5)
            self.gang(gangs, self.gang_name, "Queued")
            self.delete()
            gangs.wait(lambda all_: not all_, "the Gang is gone")
            self.apply(4)
            self.await_running(pods, 4)
            self.delete()
            gangs.wait(lambda all_: not all_, "the Gang is gone")
            pods.wait(lambda all_: not all_, "its pods are gone")

    def test_stays_stopped_as_long_as_its_gang_is_held(self):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs:
            self.apply(4)
            self.await_running(pods, 4)
            kubectl("patch", "gang", self.gang_name, "-n", self.namespace, "--type=merge", "-p", '{"spec":{"hold":true}}')
            self.gang(gangs, self.gang_name, "Suspended")
            pods.wait(lambda all_: not self.mine(all_), "its pods are gone")
            self.assertTrue(self.suspended())
            kubectl("patch", "gang", self.gang_name, "-n", self.namespace, "--type=merge", "-p", '{"spec":{"hold":false}}')
            self.await_running(pods, 4)

    def test_a_running_one_is_not_written_again(self):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs, \
                support.watch_jobs(self.namespace) as jobs:
            self.apply(2)
            self.await_running(pods, 2)
            before = self.gang(gangs, self.gang_name, "Running")
            # Another job's whole life is time enough.
            support.create_job(self.namespace, support.job("other", replicas=1, run_for="1s"))
            wait_phase(jobs, self.namespace, "other", "Succeeded")
            after = given().json("get", "gang", self.gang_name, "-n", self.namespace)
            self.assertEqual(before["metadata"]["generation"], after["metadata"]["generation"])


class MPIJobs(WorkloadCase):
    CONTROLLER, KIND, VERSION = "mpi-operator", "MPIJob", "kubeflow.org/v2beta1"
    HELPERS = 1

    def spec(self, workers, **more):
        return {"slotsPerWorker": 8, "runPolicy": {"backoffLimit": 0, "cleanPodPolicy": "Running"}, "mpiReplicaSpecs": {
            "Launcher": {"replicas": 1, "template": template(0)}, "Worker": {"replicas": workers, "template": template()}}, **more}

    def failures(self):
        jobs = given().json("get", "jobs", "-n", self.namespace)["items"]
        return sum(job["status"].get("failed", 0) for job in jobs)

    def test_a_launcher_that_waits_for_its_workers_does_not_hang(self):
        with support.watch_pods(self.namespace) as pods:
            self.apply(2, launcherCreationPolicy="WaitForWorkersReady")
            self.await_running(pods, 2)


class JobSets(WorkloadCase):
    CONTROLLER, KIND, VERSION = "jobset", "JobSet", "jobset.x-k8s.io/v1alpha2"
    SUSPEND = ("spec", "suspend")
    ENDED = "Completed"

    @staticmethod
    def job(pods, gpus=8):
        return {"spec": {"completions": pods, "parallelism": pods, "completionMode": "Indexed", "backoffLimit": 6,
                         "template": template(gpus, restartPolicy="Never")}}

    def spec(self, workers, **more):
        """Jobs of one pod: the rank of a pod is the index of its Job."""
        return {"replicatedJobs": [{"name": "workers", "replicas": workers, "template": self.job(1)}], **more}

    def failures(self):
        return self.workload()["status"].get("restarts", 0)

    def rank(self, pod):
        return pod["metadata"]["labels"]["jobset.sigs.k8s.io/job-index"]

    def test_ranks_go_over_the_jobs_of_a_replicated_job(self):
        with support.watch_pods(self.namespace) as pods:
            self.apply(0, replicatedJobs=[{"name": "workers", "replicas": 2, "template": self.job(2)}])
            places = {(pod["metadata"]["labels"]["jobset.sigs.k8s.io/job-index"], pod["metadata"]["labels"][INDEX]): node_of(pod)
                      for pod in self.await_running(pods, 4)}
            self.assertEqual({("0", "0"): "n0000", ("0", "1"): "n0001", ("1", "0"): "n0002", ("1", "1"): "n0003"}, places)

    def test_a_job_that_depends_on_another_gets_the_place_that_is_kept_for_it(self):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs, \
                support.watch_jobs(self.namespace) as jobs:
            first = {"name": "driver", "replicas": 1, "template": self.job(1)}
            then = {"name": "workers", "replicas": 3, "template": self.job(1),
                    "dependsOn": [{"name": "driver", "status": "Ready"}]}
            self.apply(0, replicatedJobs=[first, then])
            gang = self.gang(gangs, self.gang_name, "Starting")
            self.assertEqual(4, sum(len(each["indices"]) for each in gang["status"]["gang"]["proposal"]["add"]))
            support.create_job(self.namespace, support.job("other", replicas=1))
            wait_phase(jobs, self.namespace, "other", "Queued")
            self.await_running(pods, 4)
            self.gang(gangs, self.gang_name, "Running")


    def test_one_that_starts_again_after_a_part_has_succeeded_waits_whole(self):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs, \
                support.watch_jobs(self.namespace) as jobs:
            first = {"name": "prep", "replicas": 1, "template": self.job(1)}
            then = {"name": "workers", "replicas": 3, "template": self.job(1),
                    "dependsOn": [{"name": "prep", "status": "Complete"}]}
            then["template"]["spec"]["backoffLimit"] = 0
            self.apply(0, replicatedJobs=[first, then], failurePolicy={"maxRestarts": 3})
            self.await_running(pods, 1)
            self.end(pods, "train-prep-0", 0)
            self.await_workers(pods, 3)
            support.create_job(self.namespace, support.job("other", replicas=1))
            wait_phase(jobs, self.namespace, "other", "Running")
            self.end(pods, "train-workers-0", 1)
            self.gang(gangs, self.gang_name, "Queued")
            support.finish(self.namespace, "other")
            self.gang(gangs, self.gang_name, "Starting")

    def end(self, pods, job, code):
        name = next(name for (_, name), item in pods.objects.items() if name.startswith(f"{job}-") and phase(item) == "Running")
        kubectl("annotate", "pod", name, "-n", self.namespace, f"{EXIT_CODE}={code}", f"{RUN_FOR}=0s", "--overwrite")

    def await_workers(self, pods, count):
        pods.wait(lambda all_: sum(name.startswith("train-workers-") and phase(item) == "Running"
                                   for (_, name), item in all_.items()) == count, f"{count} workers run")


class PyTorchJobs(WorkloadCase):
    CONTROLLER, KIND, VERSION = "training-operator", "PyTorchJob", "kubeflow.org/v1"

    def spec(self, workers, **more):
        return {"runPolicy": {"backoffLimit": 0, "cleanPodPolicy": "None"}, "pytorchReplicaSpecs": {
            "Worker": {"replicas": workers, "restartPolicy": "OnFailure", "template": template(name="pytorch")}}, **more}

    def failures(self):
        return sum(each.get("failed", 0) for each in self.workload()["status"].get("replicaStatuses", {}).values())


class RayClusters(WorkloadCase):
    CONTROLLER, KIND, VERSION = "kuberay", "RayCluster", "ray.io/v1"
    SUSPEND = ("spec", "suspend")
    HELPERS = 1

    def spec(self, workers, **more):
        return {"headGroupSpec": {"rayStartParams": {}, "template": template(0, "ray-head")}, "workerGroupSpecs": [
            {"groupName": "gpu", "replicas": workers, "minReplicas": 0, "maxReplicas": 8, "rayStartParams": {},
             "template": template(name="ray-worker")}], **more}

    def scale(self, workers):
        kubectl("patch", "raycluster", self.NAME, "-n", self.namespace, "--type=json",
                "-p", json.dumps([{"op": "replace", "path": "/spec/workerGroupSpecs/0/replicas", "value": workers}]))

    def test_ends(self):
        """A RayCluster has no end of its own."""

    def test_grows_where_there_is_room_and_shrinks(self):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs, \
                support.watch_jobs(self.namespace) as jobs:
            self.apply(2)
            self.await_running(pods, 2)
            self.gang(gangs, self.gang_name, "Running")
            self.scale(4)
            self.await_running(pods, 4)
            self.scale(5)
            gang = gangs.wait(lambda all_: support.condition(all_[(self.namespace, self.gang_name)], "Resizing") is not None and
                              support.condition(all_[(self.namespace, self.gang_name)], "Resizing")["reason"] == "Waiting" and
                              all_[(self.namespace, self.gang_name)], "it says why it does not grow")
            self.assertEqual("5 of role gpu are requested, it has 4: no more can start now",
                             support.condition(gang, "Resizing")["message"])
            self.assertEqual(1, sum(bool(gates(pod)) for pod in self.mine(pods.objects)))
            self.scale(1)
            self.await_running(pods, 1)
            support.create_job(self.namespace, support.job("other", replicas=3))
            wait_phase(jobs, self.namespace, "other", "Running")


class RayGroups(Workload):
    """Groups that come and go while the others run."""
    CONTROLLER, KIND, VERSION = "kuberay", "RayCluster", "ray.io/v1"
    SUSPEND = ("spec", "suspend")
    HELPERS = 1

    def spec(self, workers, **more):
        """workers: the replicas of each group; a pair: replicas, and a template without GPUs."""
        groups = [{"groupName": f"g{number}", "minReplicas": 0, "maxReplicas": 8, "rayStartParams": {}, **group,
                   "template": template(group.pop("gpus", 8), name="ray-worker")} for number, group in enumerate(workers)]
        return {"headGroupSpec": {"rayStartParams": {}, "template": template(0, "ray-head")}, "workerGroupSpecs": groups, **more}

    def scale(self, group, workers):
        kubectl("patch", "raycluster", self.NAME, "-n", self.namespace, "--type=json",
                "-p", json.dumps([{"op": "replace", "path": f"/spec/workerGroupSpecs/{group}/replicas", "value": workers}]))

    def test_a_group_from_zero_joins_the_gang_and_one_to_zero_leaves_it(self):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs, \
                support.watch_jobs(self.namespace) as jobs:
            self.apply([{"replicas": 1}, {"replicas": 0}])
            self.await_running(pods, 1)
            self.scale(1, 2)
            self.await_running(pods, 3)
            gangs.wait(lambda all_: all_[(self.namespace, self.gang_name)]["status"].get("phase") == "Running", "all run")
            self.assertEqual("24", self.row(self.gang_name)[4])
            self.scale(1, 0)
            self.await_running(pods, 1)
            support.create_job(self.namespace, support.job("other", replicas=3))
            wait_phase(jobs, self.namespace, "other", "Running")

    def test_the_bounds_of_a_group_count(self):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs:
            self.apply([{"replicas": 0, "minReplicas": 2}, {"replicas": 3, "maxReplicas": 1}])
            self.await_running(pods, 3)
            self.gang(gangs, self.gang_name, "Running")

    def test_a_group_without_room_does_not_keep_another_from_growing(self):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs:
            self.apply([{"replicas": 4}, {"replicas": 1, "gpus": 0}])
            self.gang(gangs, self.gang_name, "Running")
            self.scale(0, 5)
            pods.wait(lambda all_: sum(bool(gates(pod)) for pod in self.mine(all_)) == 1, "one waits")
            self.scale(1, 3)
            pods.wait(lambda all_: sum(phase(pod) == "Running" for pod in self.mine(all_)) == 8, "the small ones run")


class TrainJobs(WorkloadCase):
    """Its controller makes a JobSet, which lists the pods."""
    CONTROLLER, KIND, VERSION = "trainer", "TrainJob", "trainer.kubeflow.org/v1alpha1"
    SUSPEND = ("spec", "suspend")
    ENDED = "Complete"

    @classmethod
    def setUpClass(cls):
        controllers.start(given(), "jobset")
        super().setUpClass()

    def setUp(self):
        super().setUp()
        node = {"name": "node", "template": {"metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
                                             "spec": {"template": template(name="node")}}}
        runtime = {"apiVersion": self.VERSION, "kind": "TrainingRuntime",
                   "metadata": {"name": "torch", "labels": {"trainer.kubeflow.org/framework": "torch"}},
                   "spec": {"mlPolicy": {"numNodes": 1, "torch": {}}, "template": {"spec": {"replicatedJobs": [node]}}}}
        kubectl("create", "--validate=false", "-n", self.namespace, "-f", "-", input=json.dumps(runtime))

    def spec(self, workers, **more):
        return {"runtimeRef": {"name": "torch", "kind": "TrainingRuntime"}, "trainer": {"numNodes": workers, "resourcesPerNode": {"limits": {GPU: "8"}}}, **more}

    def rank(self, pod):
        return pod["metadata"]["labels"][INDEX]


del Workload, WorkloadCase
