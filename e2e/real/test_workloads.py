"""Jobs of other controllers for real, on nodes with containers: a PyTorchJob of training-operator learns, an MPIJob of
mpi-operator runs a rank in every slot, both in one queue with TrainingJobs. The PyTorchJob is preempted by a TrainingJob, and
by the MPIJob. Run only by name: building the controllers takes minutes.
"""
import json
import re

import pods
import support
from gang_case import QUEUE, GangCase
from lib import controllers, mpiimage, trainimage
from lib.kubectl import documents
from lib.progress import Progress
from support import GPU, given, kubectl, wait_phase

CLUSTER = {"nodes": 2, "real": 2, "kinds": ["MPIJob", "PyTorchJob"]}  # nodes of 8 GPUs
TOOLS = ["mpi-operator", "training-operator"]
RUNS = "whole"
SECONDS = 300
EXAMPLE = support.ROOT / "examples" / "real" / "01-pytorch-ddp.yaml"
# What Kubeflow's own images bring: host keys, and a server that takes the keys that the controller mounts.
SSHD = ("ssh-keygen -A && mkdir -p /run/sshd && echo 'sshd:x:74:74::/run/sshd:/bin/false' >> /etc/passwd; "
        "exec /usr/sbin/sshd -De -f /dev/null -o StrictModes=no -o UsePAM=no -o PermitRootLogin=yes")


class Workloads(GangCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        progress = Progress()
        for archive in (trainimage.archive(progress), mpiimage.archive(progress)):
            given().load_image(archive)
        for name in TOOLS:
            controllers.start(given(), name)

    def create(self, kind, version, name, spec):
        body = {"apiVersion": version, "kind": kind, "metadata": {"name": name, "labels": {QUEUE: "default"}}, "spec": spec}
        kubectl("create", "--validate=false", "-n", self.namespace, "-f", "-", input=json.dumps(body))
        self.addCleanup(kubectl, "delete", kind.lower(), name, "-n", self.namespace, "--ignore-not-found", "--timeout=60s")

    def pytorch(self, name, steps):
        """The example's script and container in a PyTorchJob of two workers."""
        code, job = documents(kubectl("create", "-n", self.namespace, "--dry-run=client", "-o", "json", "-f", str(EXAMPLE)))
        kubectl("apply", "-n", self.namespace, "-f", "-", input=json.dumps(code))
        spec = job["spec"]["roles"][0]["template"]["spec"]
        spec["nodeSelector"] = dict([pods.LIVE])
        container, = spec["containers"]
        container["name"] = "pytorch"
        container["resources"]["limits"][GPU] = "8"
        container["env"] = [{"name": "STEPS", "value": str(steps)}]
        self.create("PyTorchJob", "kubeflow.org/v1", name, {
            "runPolicy": {"suspend": True, "backoffLimit": 0, "cleanPodPolicy": "None"}, "pytorchReplicaSpecs": {
                "Master": {"replicas": 1, "restartPolicy": "Never", "template": {"spec": spec}},
                "Worker": {"replicas": 1, "restartPolicy": "Never", "template": {"spec": spec}}}})

    def learns(self, gangs):
        """A PyTorchJob that has made steps on both nodes."""
        self.pytorch("digits", 1500)
        self.gang(gangs, "digits.pytorchjob", "Running", SECONDS)
        support.await_value(lambda: kubectl("logs", "-n", self.namespace, "digits-master-0"), lambda text: "step" in text,
                            "it learns", SECONDS)

    def test_a_pytorchjob_learns_is_preempted_and_learns_again(self):
        with support.watch_gangs(self.namespace) as gangs, support.watch_jobs(self.namespace) as jobs:
            self.learns(gangs)
            urgent = support.job("urgent", replicas=1, gpus=8, priorityClassName="e2e-urgent")
            spec = urgent["spec"]["roles"][0]["template"]["spec"]
            spec["nodeSelector"] = dict([pods.LIVE])
            spec["containers"] = [pods.container("exec sleep 5", resources={"limits": {GPU: 8}})]
            support.create_job(self.namespace, urgent)
            self.gang(gangs, "digits.pytorchjob", "Queued", SECONDS)
            wait_phase(jobs, self.namespace, "urgent", "Succeeded", timeout=SECONDS)
            self.gang(gangs, "digits.pytorchjob", "Succeeded", SECONDS)
        said = kubectl("logs", "-n", self.namespace, "digits-master-0") + kubectl("logs", "-n", self.namespace, "digits-worker-0")
        losses = [float(loss) for loss in re.findall(r"loss ([0-9.]+)", said)]
        self.assertGreater(len(losses), 5)
        self.assertLess(losses[-1], losses[0] / 2, losses)
        self.assertEqual([("0", "digits-master-0"), ("1", "digits-master-0"), ("2", "digits-worker-0"), ("3", "digits-worker-0")],
                         sorted(re.findall(r"rank (\d) of 4 on (\S+):", said)))

    def test_an_mpijob_preempts_a_pytorchjob_and_has_a_rank_in_every_slot_of_two_nodes(self):
        def template(command, gpus=None):
            limits = {"limits": {GPU: str(gpus)}} if gpus else {}
            return {"spec": {"nodeSelector": dict([pods.LIVE]), "priorityClassName": "e2e-urgent", "containers": [{
                "name": "mpi", "image": mpiimage.NAME, "imagePullPolicy": "Never", "command": command, "resources": limits}]}}

        say = 'echo "rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE on $(hostname)"'
        rsh = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
        with support.watch_gangs(self.namespace) as gangs:
            self.learns(gangs)
            self.create("MPIJob", "kubeflow.org/v2beta1", "ranks", {
                "slotsPerWorker": 2, "runPolicy": {"suspend": True, "cleanPodPolicy": "Running"}, "mpiReplicaSpecs": {
                    "Launcher": {"replicas": 1, "restartPolicy": "OnFailure", "template": template(
                        ["mpirun", "--allow-run-as-root", "--mca", "plm_rsh_args", rsh, "-np", "4", "sh", "-c", say])},
                    "Worker": {"replicas": 2, "template": template(["sh", "-c", SSHD], 8)}}})
            self.gang(gangs, "digits.pytorchjob", "Queued", SECONDS)
            self.gang(gangs, "ranks.mpijob", "Succeeded", SECONDS)
            self.gang(gangs, "digits.pytorchjob", "Succeeded", SECONDS)
        said = kubectl("logs", "-n", self.namespace, "job/ranks-launcher")
        found = sorted(re.findall(r"rank (\d+) of (\d+) on (\S+)", said))
        self.assertEqual([("0", "4", "ranks-worker-0"), ("1", "4", "ranks-worker-0"),
                          ("2", "4", "ranks-worker-1"), ("3", "4", "ranks-worker-1")], found, said)
