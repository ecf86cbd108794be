"""Whole-cluster packing: gangs whose sizes tile nine waves of 32 nodes exactly, all submitted at once."""
from .eyes import Eyes
from .measure import JOBS, PODS

NODES, GPUS = 32, 8
RUN_SECONDS = 10
_PATIENCE = 600
_LABEL = "trainyard.dev/job-name"
# Waves of (members, how many such gangs), after NVIDIA Knavigator's gang benchmark.
WAVES = [[(32, 1)], [(16, 2)], [(10, 3), (2, 1)], [(8, 4)], [(6, 5), (1, 2)], [(5, 6), (2, 1)],
         [(4, 7), (2, 1), (1, 2)], [(4, 8)], [(9, 3), (5, 1)]]


def gang(name, members, seconds):
    spec = {"containers": [{"name": "train", "image": "registry.example.com/train:1",
                            "resources": {"limits": {"nvidia.com/gpu": GPUS}}}]}
    template = {"metadata": {"annotations": {"sim.trainyard.dev/run-for": f"{seconds}s"}}, "spec": spec}
    return {"apiVersion": "trainyard.dev/v1alpha1", "kind": "TrainingJob", "metadata": {"name": name},
            "spec": {"framework": "Custom", "preemptible": False,
                     "roles": [{"name": "worker", "replicas": members, "template": template}]}}


class _Stage:
    """When each gang ran: from the moment when all its pods run until the last has ended."""

    def __init__(self, members):
        self._members = members
        self._running, self._ended = {}, {}  # by gang: {pod: when it was first seen so}

    def see(self, now, pod):
        name = pod["metadata"].get("labels", {}).get(_LABEL)
        if name not in self._members:
            return
        phase = pod.get("status", {}).get("phase")
        if phase == "Running":
            self._running.setdefault(name, {}).setdefault(pod["metadata"]["name"], now)
        if phase == "Succeeded":
            self._ended.setdefault(name, {}).setdefault(pod["metadata"]["name"], now)

    def left(self):
        return [name for name, members in self._members.items() if len(self._ended.get(name, ())) < members]

    def spans(self):
        """{gang: (from, to)}"""
        return {name: (max(self._running[name].values()), max(self._ended[name].values()))
                for name in self._members}


# Sizes that tile in the order of submission fit in no other. The default order serves small gangs first, which leaves nodes
# free at the ends of its waves, and lets the average gang end sooner: both are measured.
POLICIES = {"in the order of submission": "ordering: fifo\n",
            "the same without backfill": "ordering: fifo\nbackfill: {enabled: false}\n", "default order": "{}\n"}


def run(api, waves=WAVES, seconds=RUN_SECONDS):
    """Submits all gangs, waits for their end, and returns {"occupancy", "seconds", "mean", "spans"}; mean: from the first
    gang's start to a gang's end."""
    members = {}
    for wave in waves:
        for size, count in wave:
            for _ in range(count):
                members[f"gang-{len(members):02d}"] = size
    stage = _Stage(members)
    eyes = Eyes(api, PODS, stage.see)
    try:
        for name, size in members.items():
            api.call("POST", JOBS, gang(name, size, seconds))
        eyes.wait(lambda: not stage.left(), _PATIENCE, lambda: f"{len(stage.left())} gangs have not ended")
    finally:
        eyes.close()
    spans = stage.spans()
    begin, end = min(span[0] for span in spans.values()), max(span[1] for span in spans.values())
    used = sum(members[name] * (to - since) for name, (since, to) in spans.items())
    return {"occupancy": used / (NODES * (end - begin)), "seconds": end - begin,
            "mean": sum(to - begin for _, to in spans.values()) / len(spans),
            "spans": {name: (since - begin, to - begin, members[name]) for name, (since, to) in spans.items()}}
