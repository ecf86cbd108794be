"""All real nodes of a cluster: in the order in which they come up and go.

make_network(): before the API server, which has its address there.
begin(): the machines and their containerds with the images in them; needs no API server.
join(): kubelets, kube-proxies, cluster DNS. wait(): until pods can go there and find each other by name.
"""
import datetime
import time
from concurrent.futures import ThreadPoolExecutor

from . import dns, images, kwok, nodenet, pki, realnode
from .api import MERGE_PATCH

HUB_PROXY = "kube-proxy-hub"
_SECONDS = 90


def make_network(cluster, count):
    """Names, addresses, namespaces and links for this many nodes; noted in the cluster's state before they exist."""
    nodenet.create(nodenet.claim(realnode.names(count), cluster.note_plan))


def certificates(cluster):
    """What pki.create() has to know."""
    return {"addresses": (cluster.plan.host_address, cluster.plan.api_service), "real": True}


def begin(cluster, progress):
    """Starts the machines; returns once their containerds have the images."""
    tars = images.ensure(cluster.tools)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda node: _machine(cluster, node, tars), cluster.plan.nodes))
    progress.say(f"{len(cluster.plan.nodes)} containerds have {len(tars)} images")


def _machine(cluster, node, tars):
    realnode.start(cluster, node)
    realnode.await_containerd(cluster, node)
    for tar in tars.values():
        realnode.load_image(cluster, node, tar)


def join(cluster, shape):
    """Starts kubelets, kube-proxies and cluster DNS."""
    plan = cluster.plan
    # `kubectl logs` and `exec`: the API server asks the kubelet, which asks who that is.
    cluster.api.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", _binding(
        "kube-apiserver-kubelet-client", "system:kubelet-api-admin", "kube-apiserver-kubelet-client"))
    kubeconfig = cluster.dir / "kube-proxy.kubeconfig"
    pki.kubeconfig(kubeconfig, cluster.server, cluster.pki, "kube-proxy")
    for index, node in enumerate(plan.nodes):
        realnode.join(cluster, node, _labels(index, shape))
    # It belongs to no node; the first one's name only says whose neighbour it is.
    cluster.add(realnode.proxy(HUB_PROXY, cluster, plan.nodes[0], kubeconfig, plan.hub_address,
                               prefix=nodenet.inside(plan.hub)))
    dns.install(cluster)


def wait(cluster, shape, progress):
    """Waits until every node is ready with its GPUs, every kube-proxy has its rules and DNS answers."""
    def watch(text=None):
        cluster.check_alive()
        if text:
            progress.say(text)

    nodes = cluster.plan.nodes
    kwok.wait_ready(cluster.api, nodes, _SECONDS, watch)
    for node in nodes:
        give_gpus(cluster, node, shape.gpus)
    for name in [HUB_PROXY, *(f"kube-proxy-{node}" for node in nodes)]:
        cluster.wait_ready(name, _SECONDS)
    for node in (None, *nodes):
        _wait_dns(cluster, node, watch)


def give_gpus(cluster, node, count):
    """What a device plugin would report. Again after a kubelet's restart, which takes unknown resources away."""
    if count:
        amount = {"nvidia.com/gpu": str(count)}
        cluster.api.call("PATCH", f"/api/v1/nodes/{node}/status",
                         {"status": {"capacity": amount, "allocatable": amount}}, MERGE_PATCH)


def restart_kubelet(cluster, node):
    """Kills a node's kubelet, starts it again, and waits until it reports the node and its pods."""
    cluster.kill(f"kubelet-{node}")
    _start_kubelet(cluster, node)


def _start_kubelet(cluster, node):
    name, path = f"kubelet-{node}", f"/api/v1/nodes/{node}"
    # Times are in whole seconds: one in the second of its end may be older than that.
    time.sleep(1)
    begun = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
    cluster.start(name)
    kwok.poll(lambda: _heartbeat(cluster.api.get(path)) >= begun, _SECONDS, lambda: f"{name} says nothing")
    give_gpus(cluster, node, cluster.options["gpus"])
    kwok.poll(lambda: _pods(cluster, "/api/v1/pods", node) <= _pods(cluster, f"{path}/proxy/pods", node), _SECONDS,
              lambda: f"{name} does not know its pods")


def power_off(cluster, node):
    """Ends a node at once, as pulling the plug does, without any notice."""
    cluster.kill(f"node-{node}")


def power_on(cluster, node):
    """Starts a node again that was ended; returns when it is ready and cluster DNS is whole again."""
    realnode.forget(cluster, node)
    cluster.start(f"node-{node}")
    realnode.await_mounts(cluster, node)
    cluster.start(f"containerd-{node}")
    realnode.await_containerd(cluster, node)
    cluster.start(f"kube-proxy-{node}")
    _start_kubelet(cluster, node)
    kwok.wait_ready(cluster.api, [node], _SECONDS)
    _wait_dns(cluster, node)


def _wait_dns(cluster, node, watch=lambda text=None: None):
    kwok.poll(lambda: dns.answers(cluster, node), _SECONDS,
              lambda: f"cluster DNS does not answer {node or 'this machine'}", watch)


def _heartbeat(item):
    """When a kubelet last said how its node is."""
    times = [each["lastHeartbeatTime"] for each in item["status"]["conditions"] if each["type"] == "Ready"]
    return datetime.datetime.fromisoformat(times[0].replace("Z", "+00:00"))


def _pods(cluster, path, node):
    """The uids of a node's pods, as this path reports them."""
    # A kubelet that has just started reports null.
    pods = cluster.api.get(path)["items"] or []
    return {pod["metadata"]["uid"] for pod in pods if pod["spec"].get("nodeName") == node}



def remove(plan):
    """Takes away what the nodes leave outside the cluster's directory; their processes must have ended."""
    for node in plan.nodes:
        realnode.remove(plan, node)
    nodenet.remove(plan)


def _labels(index, shape):
    """Racks of their own, as many to one as among the simulated nodes."""
    rack = index // shape.racks_of
    labels = {"topology.kubernetes.io/zone": "real-z0", "cloud.provider.com/topology-block": "real-b0",
              "cloud.provider.com/topology-rack": f"real-r{rack}"}
    if shape.gpus:
        labels["nvidia.com/gpu.product"] = shape.product
    return {**labels, **shape.labels}


def _binding(name, role, user):
    group = "rbac.authorization.k8s.io"
    return {"apiVersion": f"{group}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": group, "kind": "User", "name": user}]}
