"""A job with plan.mode Auto on real nodes: parameter servers and workers train, as many and on the nodes that
status.plan states."""
import json
import re

import pods
import support
from lib import trainimage
from lib.progress import Progress
from support import kubectl, phase

CLUSTER = "shared"
# A few interpreters that load PyTorch on a machine that is busy.
TRAINING_SECONDS = 300

# Each server holds a part of the parameters: workers fetch all parts, and send back the gradients of each. How
# many there are of each, unknown before the plan, is exchanged by the members.
TRAIN = """
import os, torch, torch.distributed as dist
environment = os.environ
kind, index = environment["TRAINYARD_ROLE"], int(environment["TRAINYARD_INDEX"])
first = "{TRAINYARD_JOB}-ps-0.{TRAINYARD_DOMAIN}".format(**environment)
store = dist.TCPStore(first, 29500, is_master=kind == "ps" and index == 0, wait_for_workers=False)
store.set(kind, environment["TRAINYARD_REPLICAS"])
servers, workers = range(int(store.get("ps"))), range(int(store.get("worker")))
rank = index if kind == "ps" else len(servers) + index
dist.init_process_group("gloo", store=store, rank=rank, world_size=len(servers) + len(workers))
torch.manual_seed(1)
truth = torch.randn(64)
parts = torch.arange(64).tensor_split(len(servers))
peers = range(len(servers), len(servers) + len(workers))
mine = torch.zeros(len(parts[index])) if kind == "ps" else None
torch.manual_seed(100 + rank)
for step in range(60):
    if kind == "ps":
        for worker in peers:
            dist.send(mine, worker)
        total = torch.zeros_like(mine)
        for worker in peers:
            gradient = torch.zeros_like(mine)
            dist.recv(gradient, worker)
            total += gradient
        mine -= 0.1 * total / len(workers)
        continue
    pulled = [torch.zeros(len(part)) for part in parts]
    for server, part in enumerate(pulled):
        dist.recv(part, server)
    inputs = torch.randn(256, 64)
    error = inputs @ (torch.cat(pulled) - truth)
    gradient = inputs.T @ error / len(inputs)
    for server, part in enumerate(parts):
        dist.send(gradient[part], server)
    print(f"step {step}, {len(workers)} workers, {len(servers)} servers, loss {(error ** 2).mean().item():.4f}", flush=True)
dist.barrier()
"""


class Planned(support.Case):
    @classmethod
    def setUpClass(cls):
        support.given().load_image(trainimage.archive(Progress()))

    def body(self):
        """At most two workers of whole nodes; all else is left to the plan."""
        gpus = support.given().options["gpus"]
        job = support.job("planned", replicas=1, gpus=gpus, plan={
            "mode": "Auto", "maxGPUs": 2 * gpus,
            "model": {"parameters": 25_000_000, "largestTensorBytes": 8_000_000, "flopsPerSample": 25_000_000_000,
                      "batchPerWorker": 4096}})
        worker = job["spec"]["roles"][0]
        job["spec"].update(framework="TensorFlow", success={"roles": ["worker"]})
        job["spec"]["roles"].append({"name": "ps", "replicas": 1, "template": {"spec": {"containers": [
            {"name": "main", "resources": {"requests": {"cpu": "50m"}}}]}}})
        for role in (worker, job["spec"]["roles"][1]):
            spec = role["template"]["spec"]
            spec["nodeSelector"] = dict([pods.LIVE])
            spec["volumes"] = [{"name": "code", "configMap": {"name": "code"}}]
            spec["containers"][0].update(image=trainimage.NAME, imagePullPolicy="Never",
                                         command=["python3", "/code/train.py"],
                                         volumeMounts=[{"name": "code", "mountPath": "/code"}])
        return job

    def test_runs_as_planned(self):
        support.core().create_namespaced_config_map(
            self.namespace, {"metadata": {"name": "code"}, "data": {"train.py": TRAIN}})
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as seen:
            support.create_job(self.namespace, self.body())
            key = (self.namespace, "planned")
            job = jobs.wait(lambda all_: phase(all_.get(key)) in ("Succeeded", "Failed") and all_[key],
                            "the training ends", TRAINING_SECONDS)
            self.assertEqual(phase(job), "Succeeded", job["status"].get("lastFailure"))
            nodes = {item["metadata"]["name"]: item["spec"]["nodeName"]
                     for _, item in seen.events if item["spec"].get("nodeName")}
        plan = job["status"]["plan"]
        print(json.dumps({key: plan[key] for key in ("roles", "nodes", "message")}), flush=True)
        chosen = {role["name"]: role["replicas"] for role in plan["roles"]}
        # More of what is slow to compute is faster, and two nodes are all there is.
        self.assertEqual(chosen["worker"], 2, plan["message"])
        self.assertEqual(sorted(nodes), sorted(f"planned-{role}-{index}" for role, count in chosen.items()
                                               for index in range(count)))
        self.assertEqual(len(set(nodes.values())), plan["nodes"], nodes)
        self.assertEqual({nodes[f"planned-worker-{index}"] for index in range(2)}, set(support.given().real_nodes[:2]))
        # The spec was not written.
        self.assertEqual([role["replicas"] for role in job["spec"]["roles"]], [1, 1])
        said = re.findall(r"step (\d+), (\d+) workers, (\d+) servers, loss ([0-9.]+)",
                          kubectl("logs", "-n", self.namespace, "planned-worker-0"))
        self.assertEqual({(int(workers), int(servers)) for _, workers, servers, _ in said},
                         {(chosen["worker"], chosen["ps"])})
        self.assertLess(float(said[-1][3]), float(said[0][3]) / 100)
