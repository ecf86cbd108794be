"""What cases about gangs of other kinds share: a fair cluster, an urgent class, and gangs to wait for."""
import support
from lib.api import fetch
from support import OPERATOR, core, given, kubectl, phase

POLICY = "ordering: fifo\npreemption: {minRuntime: 2s}\n"
PLACE = {"name": "trainyard.dev/place"}
GANG, ROLE, QUEUE = "trainyard.dev/gang", "trainyard.dev/gang-role", "trainyard.dev/queue"
URGENT = """
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: e2e-urgent}
value: 1000
"""


def gates(item):
    return [each["name"] for each in item["spec"].get("schedulingGates", [])]


class GangCase(support.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        kubectl("apply", "-f", "-", input=URGENT)
        file = given().dir / "policy.yaml"
        if file.read_text() == POLICY:
            return
        fresh = file.with_suffix(".new")
        fresh.write_text(POLICY)
        fresh.rename(file)
        line = 'trainyard_policy_reloads_total{result="taken"} 1'
        support.await_value(lambda: fetch(given().processes()[OPERATOR]["metrics"])[1].splitlines(),
                            lambda lines: line in lines, "the policy is taken")

    def create(self, *bodies):
        """Creates pods, which are deleted at the end of the test: they have no owner."""
        for body in bodies:
            core().create_namespaced_pod(self.namespace, body)
            self.addCleanup(kubectl, "delete", "pod", body["metadata"]["name"], "-n", self.namespace, "--ignore-not-found",
                            "--wait=false")

    def wait_running(self, pods, *names):
        return pods.wait(lambda all_: all(phase(all_.get((self.namespace, name))) == "Running" for name in names) and all_,
                         f"{', '.join(names)} run")

    def gang(self, gangs, name, wanted, timeout=support.PATIENCE):
        return gangs.wait(lambda all_: phase(all_.get((self.namespace, name))) == wanted and all_[(self.namespace, name)],
                          f"{name} is {wanted}", timeout)

    def row(self, name):
        return kubectl("get", "gangs", name, "-n", self.namespace, "--no-headers").split()
