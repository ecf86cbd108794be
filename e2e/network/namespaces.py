"""Network namespaces with shaped links, for the agent's experiments. All names begin with one prefix, and all go again."""
import ctypes
import os
import subprocess
import threading
from contextlib import contextmanager

# Of all namespaces of one laboratory; another one at the same time has another.
_prefix = "tynet"
CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


def sh(*args, check=True):
    done = subprocess.run(args, capture_output=True, text=True)
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(args)}: {done.stderr.strip()}")
    return done.stdout


def netns(name):
    return f"{_prefix}-{name}"


def inside(name, *args, check=True):
    return sh("ip", "netns", "exec", netns(name), *args, check=check)


@contextmanager
def entered(name):
    """This thread's new sockets belong to the namespace; sockets keep theirs."""
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    there = os.open(f"/run/netns/{netns(name)}", os.O_RDONLY)
    try:
        if _libc.setns(there, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")
        yield
    finally:
        _libc.setns(before, CLONE_NEWNET)
        os.close(before)
        os.close(there)


def shape(run, device, mbit, queue_packets=1000):
    """Makes a link of that rate of a device, out of the reach of who is at its other end. `run` runs a command where the
    device is. Down: the device's own way out. Up: what comes from it, sent through a device of its own."""
    rate = ["rate", f"{mbit}mbit", "burst", "65536", "limit", str(queue_packets * 1514)]
    run("tc", "qdisc", "add", "dev", device, "root", "tbf", *rate)
    up = f"{device}up"
    run("ip", "link", "add", up, "type", "ifb")
    run("ip", "link", "set", up, "up")
    run("tc", "qdisc", "add", "dev", up, "root", "tbf", *rate)
    run("tc", "qdisc", "add", "dev", device, "handle", "ffff:", "ingress")
    run("tc", "filter", "add", "dev", device, "parent", "ffff:", "protocol", "ip", "u32", "match", "u32", "0", "0",
        "action", "mirred", "egress", "redirect", "dev", up)


class Lab:
    """`hosts` nodes on one router. Each node's uplink is eth0; what leaves it and what comes to it passes a link of
    `mbit` in the router's namespace, out of the node's reach, as a wire is. Pods are namespaces behind a bridge."""

    def __init__(self, hosts, mbit, queue_packets=1000, prefix="tynet"):
        global _prefix
        _prefix = prefix
        self.hosts, self.mbit, self.queue = hosts, mbit, queue_packets
        self.pods = []

    def __enter__(self):
        self.remove()
        self.add("router")
        for host in range(self.hosts):
            self.add_host(host)
        return self

    def __exit__(self, *_):
        self.remove()

    def add(self, name):
        sh("ip", "netns", "add", netns(name))
        inside(name, "ip", "link", "set", "lo", "up")
        inside(name, "sysctl", "-qw", "net.ipv4.ip_forward=1",
               # Every run begins with the same knowledge of the path: none.
               "net.ipv4.tcp_no_metrics_save=1")

    def remove(self):
        for line in sh("ip", "netns", "list").splitlines():
            if line.split()[0].startswith(_prefix + "-"):
                sh("ip", "netns", "del", line.split()[0], check=False)

    def add_host(self, host):
        name = f"h{host}"
        self.add(name)
        sh("ip", "link", "add", "eth0", "netns", netns(name), "type", "veth", "peer", "name", name, "netns",
           netns("router"))
        inside(name, "ip", "addr", "add", f"10.77.{host}.1/30", "dev", "eth0")
        inside("router", "ip", "addr", "add", f"10.77.{host}.2/30", "dev", name)
        inside(name, "ip", "link", "set", "eth0", "up")
        inside("router", "ip", "link", "set", name, "up")
        inside(name, "ip", "route", "add", "default", "via", f"10.77.{host}.2")
        inside("router", "ip", "route", "add", f"10.78.{host}.0/24", "via", f"10.77.{host}.1")
        self.shape(name)
        inside(name, "ip", "link", "add", "br0", "type", "bridge")
        inside(name, "ip", "addr", "add", f"10.78.{host}.1/24", "dev", "br0")
        inside(name, "ip", "link", "set", "br0", "up")

    def shape(self, name):
        shape(lambda *args: inside("router", *args), name, self.mbit, self.queue)

    def add_pod(self, host, name):
        """A pod's namespace behind the node's bridge; gives its address."""
        number = 2 + sum(1 for at, _ in self.pods if at == host)
        address = f"10.78.{host}.{number}"
        self.add(name)
        peer = f"p{number}"
        sh("ip", "link", "add", "eth0", "netns", netns(name), "type", "veth", "peer", "name", peer, "netns",
           netns(f"h{host}"))
        inside(f"h{host}", "ip", "link", "set", peer, "master", "br0", "up")
        inside(name, "ip", "addr", "add", f"{address}/24", "dev", "eth0")
        inside(name, "ip", "link", "set", "eth0", "up")
        inside(name, "ip", "route", "add", "default", "via", f"10.78.{host}.1")
        self.pods.append((host, name))
        return address

    def remove_pods(self):
        for _, name in self.pods:
            sh("ip", "netns", "del", netns(name))
        self.pods = []


def in_thread(function):
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    return thread
