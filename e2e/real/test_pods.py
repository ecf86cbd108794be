"""Containers on real nodes do what containers do: names, Services, logs, signals, exit codes, memory, images."""
import json
import subprocess
import unittest

import pods
import support
from lib.api import fetch
from lib.errors import E2EError
from support import given, kubectl

CLUSTER = "shared"


class PodCase(support.Case):
    def start(self, *bodies):
        """Creates pods and waits until they are ready."""
        pods.create(self.namespace, *bodies)
        with support.watch_pods(self.namespace) as seen:
            pods.wait_pods(seen, self.namespace, [body["metadata"]["name"] for body in bodies], pods.ready, "ready")

    def end_of(self, body):
        """Creates a pod; returns how its container ended, and the pod's phase then."""
        pods.create(self.namespace, body)
        with support.watch_pods(self.namespace) as seen:
            pods.wait_pods(seen, self.namespace, [body["metadata"]["name"]], support.ended, "ended")
            item = seen.objects[(self.namespace, body["metadata"]["name"])]
            return pods.ended(item), support.phase(item)

    def fetch(self, name, url):
        # No -T: this busybox crashes on it.
        return pods.run_in(self.namespace, name, "wget", "-qO-", url).strip()


    def may_fetch(self, name, url):
        """The same, or the reason of the failure."""
        try:
            return self.fetch(name, url)
        except E2EError as error:
            return str(error)


class Network(PodCase):
    def start_pair(self):
        """One server on each node: a on the first, b on the second."""
        first, second = given().real_nodes[:2]
        self.start(pods.server("a", first, labels={"app": "pair", "one": "a"}, hostname="a", subdomain="pair"),
                   pods.server("b", second, labels={"app": "pair", "one": "b"}, hostname="b", subdomain="pair"))

    def test_pods_on_two_nodes_talk_by_name(self):
        pods.create_service(self.namespace, "pair", {"app": "pair"}, headless=True)
        self.start_pair()
        for here, there in (("a", "b"), ("b", "a")):
            self.assertEqual(self.fetch(here, f"http://{there}.pair:8080/name"), there)
            whole = f"{there}.pair.{self.namespace}.svc.cluster.local"
            self.assertEqual(self.fetch(here, f"http://{whole}:8080/name"), there)

    def test_cluster_ip(self):
        """From a pod to the other node, to its own, to itself; and from this machine."""
        self.start_pair()
        for name in "ab":
            address = pods.create_service(self.namespace, f"only-{name}", {"one": name})
            # Each kube-proxy learns of it in its own time.
            for here in "ab":
                support.await_value(lambda: self.may_fetch(here, f"http://{address}/name"),
                                    lambda got: got == name, f"{here} reaches {name}")
                self.assertEqual(self.fetch(here, f"http://only-{name}/name"), name)
            support.await_value(lambda: from_here(f"http://{address}/name"), lambda got: got == name,
                                f"this machine reaches {name}")

    def test_the_api_server_from_a_pod(self):
        """By the Service `kubernetes` and the pod's ServiceAccount token, without any configuration of the client."""
        program = str(given().tools["kubectl"])
        body = pods.pod("client", "exec /kubectl auth whoami -o json",
                        main={"volumeMounts": [{"name": "kubectl", "mountPath": "/kubectl"}]},
                        volumes=[{"name": "kubectl", "hostPath": {"path": program, "type": "File"}}])
        self.assertEqual(self.end_of(body)[0]["exitCode"], 0)
        answer = json.loads(kubectl("logs", "-n", self.namespace, "client"))
        self.assertEqual(answer["status"]["userInfo"]["username"], f"system:serviceaccount:{self.namespace}:default")

    def test_an_unknown_name_is_refused_at_once(self):
        self.start(pods.server("a", given().real_nodes[0]))
        with self.assertRaisesRegex(Exception, "bad address"):
            self.fetch("a", "http://nobody:8080/name")

    def test_the_traffic_of_pods_uses_the_links_of_their_nodes(self):
        """So a node's NIC can be shaped: 8 MB from a pod to one on another node are counted on both uplinks."""
        self.start_pair()
        first, second = given().real_nodes[:2]
        before = sent(first)
        pods.run_in(self.namespace, "a", "sh", "-c", "head -c 8000000 /dev/zero >/www/big")
        address = support.core().read_namespaced_pod("a", self.namespace).status.pod_ip
        pods.run_in(self.namespace, "b", "wget", "-qO", "/dev/null", f"http://{address}:8080/big")
        self.assertGreater(sent(first) - before, 8_000_000)
        self.assertIn("htb 1:", given().on_node(second, "sh", "-c", "tc qdisc add dev eth0 root handle 1: htb && "
                                                "tc qdisc show dev eth0; tc qdisc del dev eth0 root"))


class Life(PodCase):
    def test_logs_and_exec(self):
        self.start(pods.pod("talks", "echo to stdout; echo to stderr >&2; exec sleep 3600"))
        self.assertEqual(sorted(kubectl("logs", "-n", self.namespace, "talks").splitlines()),
                         ["to stderr", "to stdout"])
        self.assertEqual(pods.run_in(self.namespace, "talks", "hostname"), "talks\n")
        self.assertEqual(kubectl("exec", "-i", "-n", self.namespace, "talks", "--", "tr", "a-z", "A-Z", input="loud"),
                         "LOUD")
        with self.assertRaisesRegex(Exception, "exit code 5"):
            pods.run_in(self.namespace, "talks", "sh", "-c", "exit 5")

    def test_exit_codes_arrive(self):
        for code, *expected in ((7, "Error", "Failed"), (0, "Completed", "Succeeded")):
            end, phase = self.end_of(pods.pod(f"ends-{code}", f"exit {code}"))
            self.assertEqual([end["exitCode"], end["reason"], phase], [code, *expected])

    def test_deletion_sends_sigterm(self):
        script = "trap 'echo was told to end; exit 143' TERM; echo up; while :; do sleep 0.1; done"
        self.start(pods.pod("obeys", script, terminationGracePeriodSeconds=60))
        with support.watch_pods(self.namespace) as seen, follow(self.namespace, "obeys") as log:
            self.assertEqual(log.stdout.readline(), "up\n")
            kubectl("delete", "pod", "-n", self.namespace, "obeys", "--wait=false")
            seen.wait(lambda all_: not all_, "the pod is gone")
            self.assertEqual(log.stdout.read(), "was told to end\n")
            codes = {pods.ended(item)["exitCode"] for _, item in seen.events if pods.ended(item)}
        self.assertEqual(codes, {143})

    def test_a_container_that_exceeds_its_memory_is_killed(self):
        pods.create(self.namespace, pods.pod("greedy", pods.GREEDY,
                                             main={"resources": {"limits": {"memory": "32Mi"}}}))
        with support.watch_pods(self.namespace) as seen:
            pods.wait_pods(seen, self.namespace, ["greedy"], pods.ready, "runs")
            pods.end_greedy(seen.objects[(self.namespace, "greedy")])
            end, = pods.wait_pods(seen, self.namespace, ["greedy"], pods.ended, "ended")
        self.assertEqual((end["exitCode"], end["reason"]), (137, "OOMKilled"))

    def test_an_image_that_is_not_there(self):
        for policy, reasons in (("Never", {"ErrImageNeverPull"}), ("IfNotPresent", {"ImagePullBackOff"})):
            name = policy.lower()
            pods.create(self.namespace, pods.pod(
                name, main={"image": "docker.io/local/absent:1", "imagePullPolicy": policy}))
            with support.watch_pods(self.namespace) as seen:
                pods.wait_pods(seen, self.namespace, [name],
                               lambda item: pods.main_state(item).get("waiting", {}).get("reason") in reasons,
                               f"waits, {reasons}")
            # Nothing pretends that it runs: these are no simulated nodes.
            self.assertEqual(support.core().read_namespaced_pod(name, self.namespace).status.phase, "Pending")


def from_here(url):
    """What this machine gets, or the reason of the failure."""
    status, text = fetch(url)
    return text.strip() if status == 200 else f"{status} {text}"


def sent(node):
    link = json.loads(given().on_node(node, "ip", "-j", "-s", "link", "show", "eth0"))[0]
    return link["stats64"]["tx"]["bytes"]


def follow(namespace, name):
    """A running `kubectl logs -f`, to be used as a context."""
    argv = [given().tools["kubectl"], f"--kubeconfig={given().kubeconfig}", "logs", "-f", "-n", namespace, name]
    return subprocess.Popen([str(word) for word in argv], stdout=subprocess.PIPE, text=True,
                            env=support.processes.environment())


if __name__ == "__main__":
    unittest.main()
