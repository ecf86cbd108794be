"""Simulated nodes: their shape and place in the network, made fast."""
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from .api import ApiError, MERGE_PATCH
from .errors import E2EError

# kwok plays the kubelet of nodes with this label; taking it away is a crashed kubelet.
LIVE_LABEL = "sim.trainyard.dev/kubelet"
SELECTOR = f"{LIVE_LABEL}=live"

_LOADERS = 32


@dataclass
class Shape:
    """Node i stands in rack i // racks_of, this in block rack // blocks_of, in zone block // zones_of."""
    gpus: int = 8
    cpu: str = "96"
    memory: str = "1Ti"
    pods: int = 110
    product: str = "NVIDIA-H100-80GB-HBM3"
    racks_of: int = 4
    blocks_of: int = 4
    zones_of: int = 4
    labels: dict = field(default_factory=dict)
    taints: list = field(default_factory=list)


def node_name(index):
    return f"n{index:04d}"


def node(index, shape):
    """The Node object number index."""
    rack = index // shape.racks_of
    block = rack // shape.blocks_of
    name = node_name(index)
    resources = {"cpu": shape.cpu, "memory": shape.memory, "pods": str(shape.pods)}
    labels = {
        LIVE_LABEL: "live",
        "kubernetes.io/hostname": name,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "topology.kubernetes.io/zone": f"z{block // shape.zones_of}",
        "cloud.provider.com/topology-block": f"b{block}",
        "cloud.provider.com/topology-rack": f"r{rack}",
    }
    if shape.gpus:
        resources["nvidia.com/gpu"] = str(shape.gpus)
        labels["nvidia.com/gpu.product"] = shape.product
    return {
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {**labels, **shape.labels},
                     "annotations": {"node.alpha.kubernetes.io/ttl": "0"}},
        "spec": {"taints": shape.taints} if shape.taints else {},
        "status": {"allocatable": resources, "capacity": resources},
    }


def create_nodes(api, indices, shape):
    """Creates the nodes in parallel; a name that exists already is an error."""
    loader = api.fork()
    with ThreadPoolExecutor(_LOADERS) as pool:
        list(pool.map(lambda index: loader.call("POST", "/api/v1/nodes", node(index, shape)), indices))
    loader.close()


def is_ready(item):
    """Ready and free of the taint that every new node carries: pods can be scheduled there."""
    taints = [taint["key"] for taint in item["spec"].get("taints", [])]
    return is_healthy(item) and "node.kubernetes.io/not-ready" not in taints


def is_healthy(item):
    return any(condition["type"] == "Ready" and condition["status"] == "True"
               for condition in item["status"].get("conditions", []))


def poll(done, timeout, late, watch=lambda text=None: None, pause=0.25):
    """Calls done() until it is true, watch() in between; after timeout seconds fails with late()'s message."""
    deadline, next_word = time.monotonic() + timeout, time.monotonic() + 5
    while not done():
        if time.monotonic() > deadline:
            raise E2EError(f"after {timeout:.0f} s: {late()}")
        watch()
        if time.monotonic() > next_word:
            watch(late())
            next_word = time.monotonic() + 5
        time.sleep(pause)


def wait_ready(api, names, timeout, watch=lambda text=None: None):
    """Waits until all named nodes are ready; calls watch() meanwhile, at times with the number of them."""
    names, waiting = set(names), set(names)

    def done():
        ready = {item["metadata"]["name"] for item in api.list("/api/v1/nodes") if is_ready(item)}
        waiting.intersection_update(names - ready)
        return not waiting

    def late():
        return f"{len(waiting)} of {len(names)} nodes are not ready, the first is {min(waiting)}"

    poll(done, timeout, late, watch, pause=0.25 if len(names) <= 1000 else 1)


def crash(api, name):
    """Ends the simulated kubelet of a node: its lease is no longer renewed, and its pods do not answer."""
    _label(api, name, None)


def revive(api, name):
    _label(api, name, "live")


def _label(api, name, value):
    try:
        api.call("PATCH", f"/api/v1/nodes/{name}", {"metadata": {"labels": {LIVE_LABEL: value}}}, MERGE_PATCH)
    except ApiError as error:
        raise E2EError(f"node {name}: {error}") from error
