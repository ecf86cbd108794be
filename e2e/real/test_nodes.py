"""Real nodes beside simulated ones: which programs run them, a kubelet that is paused, one that restarts."""
import signal

import pods
import support
from support import GPU, given

CLUSTER = "shared"


def nodes():
    return support.Recorder(support.core().list_node)


def readiness(item):
    return next((each["status"] for each in item["status"].get("conditions", []) if each["type"] == "Ready"), None)


class Nodes(support.Case):
    def test_real_beside_simulated(self):
        with nodes() as seen:
            runtimes = {name: item["status"]["nodeInfo"]["containerRuntimeVersion"].partition(":")[0]
                        for (_, name), item in seen.objects.items()}
            gpus = {name: item["status"]["allocatable"][GPU] for (_, name), item in seen.objects.items()}
        real = set(given().real_nodes)
        self.assertEqual({name for name, runtime in runtimes.items() if runtime == "containerd"}, real)
        self.assertGreater(len(runtimes), len(real), "there are simulated nodes too")
        self.assertEqual({gpus[name] for name in real}, {str(given().options["gpus"])})

        simulated = min(set(runtimes) - real)
        body = pods.pod("played", node=simulated, main={"image": "no-such-image"})
        pods.create(self.namespace, body)
        with support.watch_pods(self.namespace) as seen:
            pods.wait_pods(seen, self.namespace, ["played"], pods.ready, "ready on a simulated node")

    def test_each_node_has_its_own_credentials(self):
        """A kubelet may write about itself and about no other node."""
        first, second = given().real_nodes[:2]
        for target, allowed in ((first, True), (second, False)):
            run = given().on_node(first, "sh", "-c",
                                  f"{given().tools['kubectl']} --kubeconfig=/var/lib/node/kubelet.kubeconfig "
                                  f"annotate node {target} e2e.trainyard.dev/mark=1 --overwrite 2>&1 || true")
            self.assertEqual("annotated" in run, allowed, run)

    def test_a_stopped_kubelet(self):
        """Its node is not ready, its containers run on; when it continues, the node is ready again."""
        node = given().real_nodes[1]
        # Stays where it is in any state of the node.
        pods.create(self.namespace, pods.server("stays", node, tolerations=[{"operator": "Exists"}]))
        with support.watch_pods(self.namespace) as seen:
            pods.wait_pods(seen, self.namespace, ["stays"], pods.ready, "ready")
            address = seen.objects[(self.namespace, "stays")]["status"]["podIP"]
        with nodes() as seen:
            given().kill(f"kubelet-{node}", signal.SIGSTOP)
            try:
                seen.wait(lambda all_: readiness(all_[(None, node)]) == "Unknown", f"{node} is not ready")
                given().on_node(given().real_nodes[0], "/bin/busybox", "wget", "-qO-", f"http://{address}:8080/name")
            finally:
                given().kill(f"kubelet-{node}", signal.SIGCONT)
            seen.wait(lambda all_: readiness(all_[(None, node)]) == "True", f"{node} is ready")

    def test_a_new_kubelet_finds_the_containers(self):
        node = given().real_nodes[0]
        pods.create(self.namespace, pods.pod("stays", node=node))
        with support.watch_pods(self.namespace) as seen:
            pods.wait_pods(seen, self.namespace, ["stays"], pods.ready, "ready")
            before = seen.objects[(self.namespace, "stays")]["status"]["containerStatuses"]
        given().restart_kubelet(node)
        self.assertEqual(support.core().read_node(node).status.allocatable[GPU], str(given().options["gpus"]))
        self.assertEqual(pods.run_in(self.namespace, "stays", "hostname"), "stays\n")
        after = support.core().read_namespaced_pod("stays", self.namespace).status.container_statuses
        self.assertEqual([(each.container_id, each.restart_count) for each in after],
                         [(each["containerID"], 0) for each in before])
