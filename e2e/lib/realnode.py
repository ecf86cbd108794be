"""One real node: a kubelet with a containerd and a kube-proxy of its own.

    D/nodes/NODE/{run,lib,log}    what the node sees as /run, /var/lib and /var/log
    node-NODE                     the node's first process, which does nothing; all of the node ends with it
    containerd-NODE, kubelet-NODE, kube-proxy-NODE

A node has namespaces of its own for network, mounts, processes, host name and IPC. So the paths that these programs
insist on are not shared between nodes, and when the first process ends, the kernel ends every other process of the
node and drops its mounts, containers that lost their parents included. Control groups are named after the node: the
kubelets would otherwise remove each other's pods.
"""
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

from . import cgroups, images, nodenet, pki, processes, tools
from .controlplane import Program
from .errors import E2EError

# Label of every real node. kwok plays only those that have another value here (lib/kwok.py).
LABEL, VALUE = "sim.trainyard.dev/kubelet", "real"
SELECTOR = {LABEL: VALUE}

_HIDDEN = {"/run": "run", "/var/lib": "lib", "/var/log": "log"}
_HOME = "/var/lib/node"
_PROGRAMS = ("containerd", "runc", "ctr", "ip", "nsenter", "nft", "mount")
_PLUGINS = Path("/usr/lib/cni")
_CONTAINERD_SECONDS = 30

# restrict_oom_score_adj: where the machine forbids to lower the score, runc would die of it.
_CONTAINERD = """\
version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  netns_mounts_under_state_dir = true
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "{plugins}"
  conf_dir = "{home}/cni"
[plugins."io.containerd.grpc.v1.cri".containerd]
  snapshotter = "overlayfs"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
"""


def names(count):
    return [f"real{index}" for index in range(count)]


def check_machine():
    """Says what is missing for real nodes, all of it, before anything is started."""
    if os.geteuid() != 0:
        raise E2EError("real nodes need root: they are made of network namespaces, mounts and control groups")
    path = processes.root_environment()["PATH"]
    missing = [name for name in _PROGRAMS if not shutil.which(name, path=path)]
    missing += [path for path in (f"{_PLUGINS}/ptp", "/bin/busybox") if not Path(path).exists()]
    if missing:
        raise E2EError(f"real nodes need {', '.join(missing)}: install what they need with `tools/deps real`")


def is_real(item):
    """True of the Node object of a real node."""
    return item["metadata"].get("labels", {}).get(LABEL) == VALUE


def folder(cluster, node):
    return cluster.dir / "nodes" / node


def start(cluster, node):
    """Starts the node's first process and its containerd. The network must be there, the API server need not."""
    home = folder(cluster, node)
    for name in ("run", "lib/node/cni", "log"):
        (home / name).mkdir(parents=True)
    shutil.copyfile(images.program("pause"), home / "lib/node/pause")
    (home / "lib/node/pause").chmod(0o755)
    # The machine's name servers are out of reach; without any, a resolver fails at once.
    (home / "lib/node/resolv.conf").write_text("# no way out\n")
    (home / "lib/node/containerd.toml").write_text(
        _CONTAINERD.format(pause=images.PAUSE, plugins=_PLUGINS, home=_HOME))
    (home / "lib/node/cni/10-pods.conflist").write_text(json.dumps(_cni(cluster.plan, node), indent=1))
    cgroups.create(cluster.plan.namespace(node))
    cluster.add(Program(f"node-{node}", ["sh", "-ec", _machine(cluster, node)],
                        enter=f"/run/netns/{cluster.plan.namespace(node)}"))
    await_mounts(cluster, node)
    cluster.add(Program(f"containerd-{node}", ["containerd", f"--config={_HOME}/containerd.toml"],
                        enter=f"node-{node}"))


def await_mounts(cluster, node):
    """The machine's name is the last that its first process sets: before that, its files are not where they will be."""
    deadline = time.monotonic() + _CONTAINERD_SECONDS
    while command(cluster, node, ["cat", "/proc/sys/kernel/hostname"]).stdout.strip() != node:
        if not cluster.alive(f"node-{node}"):
            raise E2EError(cluster.obituary(f"node-{node}"))
        if time.monotonic() > deadline:
            raise E2EError(f"node-{node} has not set itself up after {_CONTAINERD_SECONDS} s")
        time.sleep(0.05)


def forget(cluster, node):
    """Takes away what a machine loses when it is switched off: /run and the control groups."""
    cgroups.remove(cluster.plan.namespace(node))
    cgroups.create(cluster.plan.namespace(node))
    run = folder(cluster, node) / "run"
    for path in run.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def load_image(cluster, node, tar):
    """Imports an image's tar file into the node's containerd."""
    with open(tar, "rb") as file:
        done = command(cluster, node, ["ctr", "--namespace=k8s.io", "images", "import", "-"], stdin=file)
    if done.returncode:
        raise E2EError(f"{tar} cannot be loaded on {node}: {done.stderr.strip()}")


def await_containerd(cluster, node):
    deadline = time.monotonic() + _CONTAINERD_SECONDS
    while (done := command(cluster, node, ["ctr", "version"])).returncode:
        if not cluster.alive(f"containerd-{node}"):
            raise E2EError(cluster.obituary(f"containerd-{node}"))
        if time.monotonic() > deadline:
            raise E2EError(f"containerd-{node} does not answer after {_CONTAINERD_SECONDS} s: {done.stderr.strip()}")
        time.sleep(0.1)


def command(cluster, node, argv, **options):
    """Runs a command on the node, as root there; returns the finished process."""
    enter = ["nsenter", f"--target={cluster.pid(f'node-{node}')}", "--mount", "--net", "--pid", "--uts", "--ipc"]
    return subprocess.run([*enter, "--", *map(str, argv)], capture_output=True, text=True, check=False,
                          env=processes.root_environment(), **{"stdin": subprocess.DEVNULL, **options})


def join(cluster, node, labels):
    """Starts kubelet and kube-proxy; the API server must answer."""
    home, plan = folder(cluster, node) / "lib/node", cluster.plan
    address = plan.node_address(node)
    pki.issue(cluster.pki, f"kubelet-{node}", "client", f"/O=system:nodes/CN=system:node:{node}")
    pki.issue(cluster.pki, f"kubelet-{node}-server", "server", f"/O=system:nodes/CN=system:node:{node}",
              [f"IP:{address}", f"DNS:{node}"])
    pki.kubeconfig(home / "kubelet.kubeconfig", cluster.server, cluster.pki, f"kubelet-{node}")
    pki.kubeconfig(home / "kube-proxy.kubeconfig", cluster.server, cluster.pki, "kube-proxy")
    for source, target in (("ca.crt", "ca.crt"), (f"kubelet-{node}-server.crt", "kubelet.crt"),
                           (f"kubelet-{node}-server.key", "kubelet.key")):
        shutil.copy(cluster.pki / source, home / target)
    (home / "kubelet.json").write_text(json.dumps(_kubelet(cluster, node), indent=1))
    all_labels = ",".join(f"{key}={value}" for key, value in {**SELECTOR, **labels}.items())
    cluster.add(Program(f"kubelet-{node}", [
        cluster.tools["kubelet"], f"--config={_HOME}/kubelet.json", f"--kubeconfig={_HOME}/kubelet.kubeconfig",
        f"--hostname-override={node}", f"--node-ip={address}", f"--node-labels={all_labels}",
    ], ready=f"http://{address}:10248/healthz", enter=f"node-{node}"))
    cluster.add(proxy(f"kube-proxy-{node}", cluster, node, f"{_HOME}/kube-proxy.kubeconfig", address,
                      enter=f"node-{node}"))


def proxy(name, cluster, node, kubeconfig, address, prefix=(), enter=None):
    """A kube-proxy; each has the ports of its network namespace for itself."""
    return Program(name, [
        *prefix, cluster.tools["kube-proxy"], f"--kubeconfig={kubeconfig}", f"--hostname-override={node}",
        "--proxy-mode=nftables", f"--cluster-cidr={cluster.plan.pods}", "--conntrack-max-per-core=0",
        f"--healthz-bind-address={address}:10256", f"--metrics-bind-address={address}:10249",
    ], ready=f"http://{address}:10256/livez", metrics=f"http://{address}:10249/metrics", enter=enter)


def remove(plan, node):
    """Takes away what a node leaves behind outside its folder, once its processes have ended."""
    cgroups.remove(plan.namespace(node))


def _machine(cluster, node):
    """The script of the node's first process, in its new namespaces."""
    kept = tools.cache_root().parent
    # Relative paths, looked up by the kernel: D itself may lie below one of the places that are covered.
    lines = ["mount -t proc proc /proc", f"cd '{folder(cluster, node)}'"]
    for place, name in _HIDDEN.items():
        if kept.is_relative_to(place):
            # The programs must stay in sight.
            seen = f"{name}/{kept.relative_to(place)}"
            lines += [f"mkdir -p '{seen}'", f"mount --bind '{kept}' '{seen}'"]
    lines += [f"mount --no-canonicalize --rbind {name} {place}" for place, name in _HIDDEN.items()]
    lines.append(f"[ ! -f /etc/resolv.conf ] || mount --bind {_HOME}/resolv.conf /etc/resolv.conf")
    # As on any machine: pods may ask to see what is mounted later.
    lines += ["mount --make-rshared /", f"echo {node} >/proc/sys/kernel/hostname", f"exec {_HOME}/pause"]
    return "\n".join(lines)


def _cni(plan, node):
    # A routed link for each pod instead of a bridge: between pods of one node, too, what a Service's address was
    # rewritten to must come back through the node, and a bridge lets it pass by where br_netfilter is not loaded.
    return {"cniVersion": "0.4.0", "name": "pods", "plugins": [{
        "type": "ptp", "ipMasq": False,
        "ipam": {"type": "host-local", "ranges": [[{"subnet": plan.node_pods(node)}]],
                 "routes": [{"dst": "0.0.0.0/0"}]}}]}


def _kubelet(cluster, node):
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
        "address": cluster.plan.node_address(node), "healthzBindAddress": cluster.plan.node_address(node),
        "tlsCertFile": f"{_HOME}/kubelet.crt", "tlsPrivateKeyFile": f"{_HOME}/kubelet.key",
        "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": True},
                           "x509": {"clientCAFile": f"{_HOME}/ca.crt"}},
        "authorization": {"mode": "Webhook"},
        "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
        "cgroupDriver": "cgroupfs", "cgroupRoot": f"/{cluster.plan.namespace(node)}", "failCgroupV1": False,
        "enforceNodeAllocatable": [], "failSwapOn": False,
        "clusterDomain": "cluster.local", "clusterDNS": [cluster.plan.dns_service],
        "resolvConf": f"{_HOME}/resolv.conf",
        # The disk is the machine's: no pod is evicted and no image deleted because other programs filled it.
        "evictionHard": {},
        "imageGCHighThresholdPercent": 100,
        "nodeStatusUpdateFrequency": "2s",
        # Renewed every quarter of this; the controller manager's patience spans several (controlplane.py).
        "nodeLeaseDurationSeconds": 8 if cluster.options["fast_eviction"] else 40,
    }
