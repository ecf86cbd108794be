"""The agents as the chart installs them, on real nodes with an uplink each: jobs whose parameter servers share one are
ordered there while they do, and nowhere else; killed agents and foreign changes are repaired; nothing is left.
"""
import contextlib
import os
import re
import tarfile
import unittest

import support
from lib import images, kwok, leaks, trainyard
from lib.cluster import Cluster
from lib.helm import Release
from network.jobs import Experiment, Training, shape_uplinks
from support import given, kubectl

CLUSTER = None
MBIT, JOBS = 50, 3
AGENTS = "trainyard-agent"
WORK = Training(model_bytes=250_000, steps=8)
_kept = {}


def setUpModule():
    cluster = Cluster.up(real=3, nodes=0, shape=kwok.Shape(gpus=4), with_trainyard=False, install=False)
    _kept["cluster"] = cluster
    support.give(cluster)
    release = _kept["release"] = Release(cluster, os.environ["TRAINYARD_E2E_BIN"])
    release.load_images()
    release.load_image(trainyard.agent(os.environ["TRAINYARD_E2E_BIN"]), AGENTS)
    _kept["experiment"] = Experiment(cluster, release.load_image(images.program("burst"), "burst"), WORK)
    release.install({"agent": {"enabled": True, "policy": "one", "rate": f"{MBIT * 990}kbit", "logLevel": "debug"}})
    release.wire_scheduler()
    support.wait_leader()
    shape_uplinks(cluster, MBIT)


def tearDownModule():
    cluster = _kept.pop("cluster", None)
    if cluster:
        cluster.down()


def classes(node):
    """{handle: (prio, bytes sent)} of the jobs' classes on the node's uplink, the first band first."""
    text = given().on_node(node, "tc", "-s", "class", "show", "dev", "eth0")
    found = re.findall(r"class htb (7472:\w+) parent 7472:1 (?:leaf \S+ )?prio (\d+).*\n Sent (\d+) bytes", text)
    # :2 is for all traffic that is not ordered.
    return dict(sorted(((handle, (int(prio), int(sent))) for handle, prio, sent in found if handle != "7472:2"),
                       key=lambda each: each[1][0]))


def addresses(node):
    """{address: class} of the node's filters."""
    text = given().on_node(node, "tc", "filter", "show", "dev", "eth0")
    found = re.findall(r"flowid (7472:\w+).*\n\s+match ([0-9a-f]{8})/ffffffff at 12", text)
    return {".".join(str(int(word[i:i + 2], 16)) for i in (0, 2, 4, 6)): handle for handle, word in found}


def metric(node, name):
    text = given().on_node(node, "busybox", "wget", "-qO-", f"http://{given().plan.node_address(node)}:9810/metrics")
    return sum(float(value) for value in re.findall(rf"^{name}(?:\{{.*\}})? (\S+)$", text, re.MULTILINE))


def agent_on(node):
    """The kubelet's status of the agent's container."""
    found = given().json("get", "pods", "-n", AGENTS, "--field-selector", f"spec.nodeName={node}")["items"]
    return found[0]["status"]["containerStatuses"][0]


@contextlib.contextmanager
def jobs_that_share(namespace, node):
    """Three jobs whose servers are all on this node; none has begun yet, and the agent there has ordered them. Yields
    the jobs as they run, and the servers' addresses by job."""
    with _kept["experiment"].start(namespace, [node] * JOBS) as running:
        pods = given().json("get", "pods", "-n", namespace, "-l", "trainyard.dev/role=ps")["items"]
        assert {node} == {item["spec"]["nodeName"] for item in pods}, pods
        servers = {support.job_of(item): item["status"]["podIP"] for item in pods}
        support.await_value(lambda: addresses(node), lambda found: set(found) == set(servers.values()),
                            "each server's address has a filter")
        yield running, servers


def disciplines(node):
    return given().on_node(node, "tc", "qdisc", "show", "dev", "eth0")


class Agents(support.Case):
    def all_succeed(self):
        with support.watch_jobs(self.namespace) as jobs:
            for number in range(JOBS):
                support.wait_phase(jobs, self.namespace, f"job{number}", "Succeeded", 120)

    def test_jobs_that_share_an_uplink_are_ordered(self):
        first, *others = given().real_nodes
        with jobs_that_share(self.namespace, first) as (running, servers):
            ordered, by_address = classes(first), addresses(first)
            self.assertEqual([by_address[servers[f"job{number}"]] for number in range(JOBS)], list(ordered),
                             "the oldest job first")
            self.assertEqual(JOBS, metric(first, "trainyard_agent_jobs"))
            self.assertEqual(1, metric(first, "trainyard_agent_ordering"))
            self.assertEqual(0, metric(first, "trainyard_agent_feature_missing"))
            self.assertGreater(metric(first, "process_resident_memory_bytes"), 0)
            self.assertGreater(metric(first, "trainyard_api_requests_total"), 0)
            for node in others:
                self.assertNotIn("htb", disciplines(node))
            running.go()
            seconds = running.await_ends()
            self.assertEqual({f"job{number}" for number in range(JOBS)}, set(seconds))
            least = len(others) * WORK.model_bytes * WORK.steps
            for handle, (_, sent) in classes(first).items():
                self.assertGreater(sent, least, f"what {handle} sent")
        self.all_succeed()
        support.await_value(lambda: disciplines(first),
                            lambda text: "htb" not in text, "nothing is left where no jobs share the uplink")

    def test_a_killed_agents_successor_continues(self):
        node = given().real_nodes[1]
        with jobs_that_share(self.namespace, node) as (running, _):
            before = addresses(node)
            running.go()
            # Not by the API: the kubelet would ask it to end, and it would take away what it made.
            given().on_node(node, "pkill", "-KILL", "-x", AGENTS)
            support.await_value(lambda: agent_on(node), lambda status: status["restartCount"] > 0 and status["ready"],
                                "the next agent is ready")
            self.assertEqual(before, addresses(node), "the same classes for the same servers")
            running.await_ends()
        self.all_succeed()

    def test_a_support_bundle_has_their_logs(self):
        path = given().dir / "bundle.tar"
        done = support.run([support.program("trainyard"), "support-bundle", f"--file={path}"],
                           environment={"KUBECONFIG": str(given().kubeconfig)})
        self.assertEqual(0, done.returncode, done.stderr)
        with tarfile.open(path) as bundle:
            logs = {item.name for item in bundle.getmembers() if item.size}
        for item in support.core().list_namespaced_pod(AGENTS).items:
            self.assertIn(f"trainyard-support/logs/{item.metadata.name}.log", logs)

    def test_what_others_change_is_repaired(self):
        node = given().real_nodes[2]
        with jobs_that_share(self.namespace, node) as (running, servers):
            handle = addresses(node)[servers["job1"]]
            repairs = metric(node, "trainyard_agent_repairs_total")
            for table in re.findall(rf"pref 29810 u32 .*fh (\S+) .*flowid {handle}",
                                    given().on_node(node, "tc", "filter", "show", "dev", "eth0")):
                given().on_node(node, "tc", "filter", "del", "dev", "eth0", "parent", "7472:", "protocol", "ip", "pref",
                                "29810", "handle", table, "u32")
            self.assertNotIn(servers["job1"], addresses(node))
            support.await_value(lambda: addresses(node), lambda found: servers["job1"] in found, "the filter is there again")
            ordered, by_address = classes(node), addresses(node)
            self.assertEqual([by_address[servers[f"job{number}"]] for number in range(JOBS)], list(ordered))
            self.assertGreater(metric(node, "trainyard_agent_repairs_total"), repairs)
            running.go()
            running.await_ends()
        self.all_succeed()


class Uninstalled(unittest.TestCase):
    def test_uninstalling_removes_what_agents_made(self):
        node = given().real_nodes[0]
        # With the pods their logs go.
        self.assertTrue(leaks.logs_of_pods(given(), AGENTS))
        self.assertEqual([], leaks.in_pods(given(), AGENTS))
        kubectl("create", "namespace", "left-behind")
        with jobs_that_share("left-behind", node):
            _kept["release"].uninstall()
            support.await_value(lambda: disciplines(node),
                                lambda text: "htb" not in text, "the kernel is as before")
        support.await_value(lambda: given().kubectl("get", "namespaces"), lambda text: AGENTS not in text,
                            "the agents' namespace is gone")
