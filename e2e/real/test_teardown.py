"""`e2e/cluster down` leaves nothing, in any state of the cluster. The clusters here are this file's own."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

E2E = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(E2E))
from lib import processes  # noqa: E402  pylint: disable=wrong-import-position
from lib.cluster import Cluster  # noqa: E402  pylint: disable=wrong-import-position
from lib.images import BUSYBOX  # noqa: E402  pylint: disable=wrong-import-position

CLUSTER = None


def traces():
    """What a cluster could leave on this machine, by kind."""
    links = json.loads(subprocess.check_output(["ip", "-j", "link"], text=True))
    mounts = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    return {
        "namespaces": {path.name for path in Path("/run/netns").glob("*")},
        "links": {link["ifname"] for link in links},
        "routes": set(subprocess.check_output(["ip", "route", "show", "table", "all"], text=True).splitlines()),
        "tables": set(subprocess.check_output(["nft", "list", "tables"], text=True).splitlines()),
        "mounts": {line.split()[1] for line in mounts},
        "groups": {str(path) for path in Path("/sys/fs/cgroup").glob("*/ty*")},
        "processes": {pid: name for pid, name in commands()
                      if re.search("containerd|kubelet|kube-|pause|coredns", name)},
        "run": set(os.listdir("/run")), "lib": set(os.listdir("/var/lib")), "log": set(os.listdir("/var/log")),
    }


def commands():
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield path.parent.name, path.read_text(encoding="utf-8", errors="replace").replace("\0", " ")
        except OSError:
            continue


class Teardown(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="trainyard-teardown-")
        self.addCleanup(self.down_anyhow)
        self.before = traces()

    def down_anyhow(self):
        if (Path(self.folder) / "cluster.json").exists():
            run("down", "--dir", self.folder)
        Path(self.folder).exists() and os.rmdir(self.folder)

    def up(self):
        done = run("up", "--real", "1", "--kwok", "0", "--no-trainyard", "--dir", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        cluster = Cluster.load(self.folder)
        cluster.kubectl("run", "stubborn", "--image", BUSYBOX, "--image-pull-policy=Never", "--command", "--",
                        "sh", "-c", "trap : TERM; while :; do sleep 1; done")
        cluster.kubectl("wait", "pod/stubborn", "--for=condition=Ready", "--timeout=60s")
        return cluster

    def check_nothing_left(self, name):
        after = traces()
        for kind, found in after.items():
            extra = {each for each in found if each not in self.before[kind]}
            if kind == "processes":
                extra = {found[each] for each in extra if self.folder in found[each] or name in found[each]}
            else:
                extra = {each for each in extra if mine(each, name)}
            self.assertEqual(extra, set(), f"{kind} left behind")
        self.assertFalse(Path(self.folder).exists())

    def test_down(self):
        name = self.up().plan.hub
        found = traces()
        for kind in ("namespaces", "links", "routes", "groups"):
            self.assertTrue(any(name in each for each in found[kind] - self.before[kind]), f"no {kind} seen at all")
        self.assertEqual(run("down", "--dir", self.folder).returncode, 0)
        self.check_nothing_left(name)

    def test_down_after_a_crash(self):
        """Control plane, kubelet and containerd ended without notice, the containers did not."""
        cluster = self.up()
        for name, record in cluster.processes().items():
            if not name.startswith("node-"):
                processes.send(record["pid"], record["ticks"], signal.SIGKILL)
        self.assertEqual(run("down", "--dir", self.folder).returncode, 0)
        self.check_nothing_left(cluster.plan.hub)

    def test_interrupted_up(self):
        argv = [E2E / "cluster", "up", "--real", "2", "--no-trainyard", "--dir", self.folder]
        with subprocess.Popen([str(each) for each in argv], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True) as child:
            for line in child.stderr:
                if "etcd ready" in line:
                    name = Cluster.load(self.folder).plan.hub
                    child.send_signal(signal.SIGTERM)
                    break
            child.stderr.read()
        self.assertEqual(child.returncode, 143)
        self.check_nothing_left(name)


def mine(trace, name):
    """False for what belongs to a cluster of another number, which may change meanwhile."""
    other = re.search(r"\bty\d+\b", trace)
    return not other or other.group() == name


def run(*words):
    return subprocess.run([str(E2E / "cluster"), *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False)
