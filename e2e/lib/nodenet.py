"""The network of one cluster's real nodes, all of it in network namespaces.

A cluster has a number k, free on this machine, and with it one block of addresses and a prefix for names:

    10.(100+k).0.0/17     pods; node i (from 1) has 10.(100+k).i.0/24
    10.(100+k).128.0/24   nodes: node i is .i, the hub is .253, this host is .254
    10.(100+k).192.0/18   Services; the first is `kubernetes`, the tenth cluster DNS

    host ── ty{k} ─┐                 namespace ty{k}, the hub: bridge br0, a kube-proxy that serves the host
                   br0 ── uplinks ── eth0 in namespace ty{k}-NODE, one for each node

The host itself gets one link and routes, nothing else: no bridge, no forwarding, no nft table, so that
several clusters never meet there and the end of the namespaces is the end of all of it. A ClusterIP is reached
from the host through the hub, whose kube-proxy rewrites what it forwards. Pods reach nodes, pods, Services and
this host's own address on the link; there is no way further out.
"""
import fcntl
import ipaddress
import json
import os
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import processes
from .errors import E2EError

_NETNS = Path("/run/netns")
_NUMBERS = range(100)
MOST_NODES = 126

# Without the first, a bridge that hands its frames to netfilter would see the nodes' traffic twice.
_HUB_SETTINGS = {"net/bridge/bridge-nf-call-iptables": 0, "net/bridge/bridge-nf-call-ip6tables": 0,
                 "net/ipv4/ip_forward": 1, "net/ipv4/conf/all/send_redirects": 0,
                 "net/ipv4/conf/br0/send_redirects": 0}


@dataclass
class Plan:
    """Names and addresses of cluster number k; nodes: their names, node i is nodes[i - 1]."""
    number: int
    nodes: list

    @property
    def hub(self):
        return f"ty{self.number}"

    def namespace(self, node):
        return f"{self.hub}-{node}"

    @property
    def block(self):
        return f"10.{100 + self.number}.0.0/16"

    @property
    def pods(self):
        return f"10.{100 + self.number}.0.0/17"

    @property
    def services(self):
        return f"10.{100 + self.number}.192.0/18"

    @property
    def api_service(self):
        return f"10.{100 + self.number}.192.1"

    @property
    def dns_service(self):
        return f"10.{100 + self.number}.192.10"

    @property
    def host_address(self):
        return self._on_link(254)

    @property
    def hub_address(self):
        return self._on_link(253)

    def node_address(self, node):
        return self._on_link(self._index(node))

    def node_pods(self, node):
        return f"10.{100 + self.number}.{self._index(node)}.0/24"

    def _index(self, node):
        return self.nodes.index(node) + 1

    def _on_link(self, last):
        return f"10.{100 + self.number}.128.{last}"

    def to_json(self):
        return dict(vars(self))


def claim(nodes, record):
    """Takes the first free number for a cluster of these nodes; calls record(plan) before anything of it exists.

    A number counts as free if nothing on this machine uses its addresses and no namespace has its hub's name.
    """
    if len(nodes) > MOST_NODES:
        raise E2EError(f"{len(nodes)} real nodes are too many: {MOST_NODES} at most")
    with _one_at_a_time():
        used = _used_networks()
        for number in _NUMBERS:
            plan = Plan(number, list(nodes))
            block = ipaddress.ip_network(plan.block)
            if not any(block.overlaps(network) for network in used) and not (_NETNS / plan.hub).exists():
                record(plan)
                _ip("netns", "add", plan.hub)
                return plan
    raise E2EError("no free block of addresses between 10.100.0.0 and 10.199.255.255: look at `ip route` and "
                   f"{_NETNS}")


def create(plan):
    """Links, addresses and routes of the claimed plan; kube-proxy and pods are not its business."""
    names = [plan.namespace(node) for node in plan.nodes]
    for name in names:
        _ip("netns", "add", name)
    _ip("link", "add", plan.hub, "type", "veth", "peer", "name", "host", "netns", plan.hub)
    _batch(None, [f"address add {plan.host_address}/24 dev {plan.hub}", f"link set {plan.hub} up"])
    hub = ["link set lo up", "link add br0 type bridge", "link set br0 up", "link set host master br0 up",
           f"address add {plan.hub_address}/24 dev br0"]
    for node, name in zip(plan.nodes, names):
        hub += [f"link add {node} type veth peer name eth0 netns {name}", f"link set {node} master br0 up"]
    _batch(plan.hub, hub)
    for node, name in zip(plan.nodes, names):
        _batch(name, ["link set lo up", f"address add {plan.node_address(node)}/24 dev eth0", "link set eth0 up",
                      f"route add default via {plan.hub_address}", *_routes(plan, "eth0", but=node)])
        _settings(name, {"net/ipv4/ip_forward": 1})
    _settings(plan.hub, _HUB_SETTINGS)
    _batch(plan.hub, _routes(plan, "br0"))
    _batch(None, [*_routes(plan, plan.hub), f"route add {plan.services} via {plan.hub_address} dev {plan.hub}"])


def remove(plan):
    """Takes away whatever of the plan exists. Its processes must have ended: they keep namespaces alive."""
    # The link first, at once: what a namespace holds goes some time after its name.
    if Path(f"/sys/class/net/{plan.hub}").exists():
        _ip("link", "delete", plan.hub)
    for name in [*map(plan.namespace, plan.nodes), plan.hub]:
        if (_NETNS / name).exists():
            _ip("netns", "delete", name)


def inside(namespace):
    """The words before a command that make it run in a network namespace and change nothing else."""
    # `ip netns exec` would mount a new /sys, without the control groups.
    return ["nsenter", f"--net={_NETNS / namespace}", "--"]


def _routes(plan, device, but=None):
    return [f"route add {plan.node_pods(node)} via {plan.node_address(node)} dev {device}"
            for node in plan.nodes if node != but]


@contextmanager
def _one_at_a_time():
    # No other process may take one between looking and taking: record() would note another's.
    folder = os.open("/run", os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _used_networks():
    found = []
    for address in _json("address"):
        for each in address.get("addr_info", []):
            if each["family"] == "inet":
                found.append(ipaddress.ip_interface(f"{each['local']}/{each['prefixlen']}").network)
    for route in _json("route", "show", "table", "all"):
        # A default route, or one as wide, leaves room for narrower ones.
        if route["dst"] != "default" and ":" not in route["dst"]:
            network = ipaddress.ip_network(route["dst"], strict=False)
            found += [network] if network.prefixlen > 8 else []
    return found


def _settings(namespace, values):
    script = [f"! [ -e /proc/sys/{path} ] || echo {value} >/proc/sys/{path}" for path, value in values.items()]
    _run([*inside(namespace), "sh", "-ec", "\n".join(script)])


def _batch(namespace, lines):
    _run(["ip", *(["-n", namespace] if namespace else []), "-batch", "-"], input="\n".join(lines) + "\n")


def _json(*words):
    return json.loads(_run(["ip", "-4", "-j", *words]) or "[]")


def _ip(*words):
    _run(["ip", *words])


def _run(argv, **options):
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=processes.root_environment(),
                          **({} if "input" in options else {"stdin": subprocess.DEVNULL}), **options)
    if done.returncode:
        raise E2EError(f"{' '.join(argv)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout
