"""A training that is one: PyTorch's processes on two nodes find each other, average their gradients, and learn."""
import re

import pods
import support
from lib import trainimage
from lib.kubectl import documents
from lib.progress import Progress
from support import kubectl, wait_phase

CLUSTER = "shared"
EXAMPLE = support.ROOT / "examples" / "real" / "01-pytorch-ddp.yaml"
# Fifty seconds alone; a busy machine needs longer for four interpreters that all load PyTorch.
TRAINING_SECONDS = 240


class Training(support.Case):
    @classmethod
    def setUpClass(cls):
        support.given().load_image(trainimage.archive(Progress()))

    def example(self):
        """The example as it is, kept off the simulated nodes and as large as the nodes of this cluster."""
        code, job = documents(kubectl("create", "-n", self.namespace, "--dry-run=client", "-o", "json",
                                      "-f", str(EXAMPLE)))
        spec = job["spec"]["roles"][0]["template"]["spec"]
        spec["nodeSelector"] = dict([pods.LIVE])
        spec["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = support.given().options["gpus"]
        return code, job

    def test_four_processes_on_two_nodes_learn(self):
        code, job = self.example()
        support.core().create_namespaced_config_map(self.namespace, code)
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as seen:
            support.create_job(self.namespace, job)
            wait_phase(jobs, self.namespace, "digits", "Succeeded", timeout=TRAINING_SECONDS)
            nodes = {item["spec"]["nodeName"] for _, item in seen.events if item["spec"].get("nodeName")}
        self.assertEqual(nodes, set(support.given().real_nodes[:2]))
        logs = [kubectl("logs", "-n", self.namespace, f"digits-worker-{rank}") for rank in (0, 1)]
        losses = [float(loss) for loss in re.findall(r"loss ([0-9.]+)", logs[0])]
        self.assertGreater(len(losses), 5)
        self.assertLess(losses[-1], losses[0] / 2, losses)
        self.assertGreater(float(re.search(r"accuracy ([0-9.]+)", logs[0])[1]), 0.9)
        # Two processes in each pod, ranks from the pod's own, host names from the job's.
        found = sorted(re.findall(r"rank (\d) of 4 on (\S+):", "".join(logs)))
        self.assertEqual(found, [("0", "digits-worker-0"), ("1", "digits-worker-0"),
                                 ("2", "digits-worker-1"), ("3", "digits-worker-1")])
