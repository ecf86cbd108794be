"""MPI for real: the launcher waits for its workers, reaches them by ssh, and starts a rank in each slot."""
import re

import pods
import support
from lib import mpiimage
from lib.progress import Progress
from support import kubectl, wait_phase

CLUSTER = "shared"
SECONDS = 240


def role(name, replicas, gpus, command=None):
    container = {"name": "mpi", "image": mpiimage.NAME, "imagePullPolicy": "Never",
                 "env": [{"name": "SEEN", "value": f"of the {name}"}],
                 "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}}}
    if gpus:
        container["resources"]["limits"] = {support.GPU: gpus}
    if command:
        container["command"] = command
    return {"name": name, "replicas": replicas,
            "template": {"spec": {"nodeSelector": dict([pods.LIVE]), "containers": [container]}}}


class Mpi(support.Case):
    @classmethod
    def setUpClass(cls):
        support.given().load_image(mpiimage.archive(Progress()))

    def test_a_rank_in_every_slot_of_two_nodes(self):
        gpus = support.given().options["gpus"]
        say = 'echo "rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE on $(hostname), $SEEN"'
        body = support.job("ranks", framework="MPI")
        body["spec"]["roles"] = [role("launcher", 1, 0, ["mpirun", "sh", "-c", say]), role("worker", 2, gpus)]
        with support.watch_jobs(self.namespace) as jobs:
            support.create_job(self.namespace, body)
            wait_phase(jobs, self.namespace, "ranks", "Succeeded", timeout=SECONDS)
        said = kubectl("logs", "-n", self.namespace, "ranks-launcher-0", "-c", "mpi")
        found = sorted((int(rank), size, host) for rank, size, host in
                       re.findall(r"rank (\d+) of (\d+) on (\S+), of the worker", said))
        self.assertEqual([(i, str(2 * gpus), f"ranks-worker-{i // gpus}") for i in range(2 * gpus)], found, said)
