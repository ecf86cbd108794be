"""The cases in which nodes are added for pending gangs share this."""
import support
from support import condition, given, kubectl

from lib import helm

POLICY = "provisioning: {{with: {}, after: 1s, giveUpAfter: 10m, retryAfter: 2s}}\n"


class AutoscalingCase(support.Case):
    def ask_with(self, how):
        """Sets the policy and, as the chart does, the right to follow it."""
        rendered = helm.template(given().tools["helm"], {"policy": {"provisioning": {"with": how}}}, only=["rbac"])
        kubectl("apply", "-f", "-", input=rendered)
        file = given().dir / "policy.yaml"
        self.addCleanup(self.write, file, file.read_text())
        self.write(file, POLICY.format(how))

    @staticmethod
    def write(file, text):
        fresh = file.with_suffix(".new")
        fresh.write_text(text)
        fresh.rename(file)

    def await_report(self, jobs, name, reason, timeout=60):
        def found(all_):
            said = condition(all_.get((self.namespace, name), {}), "NodesRequested")
            return said if said and said["reason"] == reason else None
        return jobs.wait(found, f"{name} reports {reason}", timeout)
