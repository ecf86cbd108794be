"""A real training: PyTorch's processes on two nodes find each other, average their gradients, and learn."""
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

# Debian's PyTorch 1.13 with Python 3.11: members of a flag that are zero are no longer iterated over, and torchrun's
# reading of "0" as a flag fails. Nothing else of torchrun is changed.
TORCHRUN = """
import sys
from torch.distributed.elastic.multiprocessing.api import Std
read = Std.from_str.__func__
Std.from_str = classmethod(lambda kind, text: kind(int(text)) if text.isdigit() else read(kind, text))
from torch.distributed.run import main
sys.exit(main())
"""
SUM = """
import os, torch, torch.distributed as dist
dist.init_process_group("gloo")
total = torch.tensor([float(dist.get_rank())])
dist.all_reduce(total)
print(f"rank {dist.get_rank()} of {dist.get_world_size()} on {os.uname().nodename}: sum {total.item():.0f}", flush=True)
dist.destroy_process_group()
"""


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

    def test_torchrun_needs_nothing_on_its_command_line(self):
        """Static and c10d rendezvous, from the variables of the pod alone."""
        for scope in ("Gang", "Pod"):
            with self.subTest(scope):
                self.check_torchrun(f"torchrun-{scope.lower()}", scope)

    def check_torchrun(self, name, scope):
        support.core().create_namespaced_config_map(
            self.namespace, {"metadata": {"name": name}, "data": {"torchrun.py": TORCHRUN, "sum.py": SUM}})
        _, job = self.example()
        job["metadata"]["name"] = name
        job["spec"]["failure"] = {"restartScope": scope}
        spec = job["spec"]["roles"][0]["template"]["spec"]
        spec["volumes"][0]["configMap"]["name"] = name
        spec["containers"][0]["command"] = ["python3", "/code/torchrun.py", "/code/sum.py"]
        # As many processes as the node has GPUs are too many interpreters for one machine.
        processes = min(2, support.given().options["gpus"])
        spec["containers"][0]["env"] = [{"name": "PET_NPROC_PER_NODE", "value": str(processes)}]
        with support.watch_jobs(self.namespace) as jobs:
            support.create_job(self.namespace, job)
            wait_phase(jobs, self.namespace, name, "Succeeded", timeout=TRAINING_SECONDS)
        said = "".join(kubectl("logs", "-n", self.namespace, f"{name}-worker-{rank}") for rank in (0, 1))
        world = 2 * processes
        found = sorted(re.findall(r"rank (\d) of (\d) on \S+: sum (\d+)", said))
        self.assertEqual(found, [(str(rank), str(world), str(sum(range(world)))) for rank in range(world)], said)
