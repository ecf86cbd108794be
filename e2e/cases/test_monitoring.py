"""A real Prometheus scrapes the real programs: every metric is one of the reference, every panel and rule has an answer."""
import json
import re
import shutil
import sys
import tempfile
import unittest

import support
from lib import tools
from lib.prometheus import Prometheus
from support import EXTENDER, OPERATOR, given, job, kubectl, wait_phase

import yaml

sys.path.insert(0, str(support.ROOT / "tests"))
import monitoring  # noqa: E402  pylint: disable=wrong-import-position

CLUSTER = {"nodes": 4}
TOOLS = ["dashboards"]
# Nothing of it comes up in this story, so that their panels are empty: certificates (no chart), nodes that are suspected
# are reported as 0.
EMPTY = {"control-plane.json: Certificates end in", "cluster.json: Waiting by cause"}


class DashboardsTest(unittest.TestCase):
    """Dashboards fit the schema that Grafana publishes, with its panels and its queries of Prometheus."""

    # (where in cluster.json, the planted value, the expected error)
    PLANTED = [
        ("colour", "red", r"colour: unexpected field"),
        ("schemaVersion", "new", r"schemaVersion: .*cannot unmarshal string"),
        ("panels.0.gridPos.w", "6", r"panels\[0\]\.gridPos\.w: .*cannot unmarshal string"),
        ("panels.0.type", "singlestat", r'panels\[0\]\.type: Grafana has no panel "singlestat"'),
        ("panels.0.targets.0.promql", "up", r"panels\[0\]\.targets\[0\]\.promql: unexpected field"),
        ("panels.0.targets.0.datasource.type", "promtheus", r"panels\[0\]\.targets\[0\]\.datasource: of no type"),
        ("panels.4.fieldConfig.defaults.custom", {"fillOpacty": 40}, r"fillOpacty: unexpected field"),
        ("templating.list.0.refresh", "never", r"templating\.list\[0\]\.refresh: .*cannot unmarshal string"),
    ]

    def checked(self, *files):
        done = support.run([tools.only("dashboards")["dashboard-check"], *files])
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertEqual("", done.stderr)
        self.assertEqual(done.returncode == 1, bool(done.stdout))
        return done.stdout

    def test_every_dashboard_fits_the_schema(self):
        self.assertEqual("", self.checked(*monitoring.DASHBOARDS))

    def test_a_mistake_is_found_with_its_position(self):
        good = next(path for path in monitoring.DASHBOARDS if path.name == "cluster.json")
        for where, value, expected in self.PLANTED:
            with self.subTest(where), tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                board = json.loads(good.read_text())
                *above, last = where.split(".")
                at = board
                for step in above:
                    at = at[int(step) if step.isdigit() else step]
                at[last] = value
                json.dump(board, file)
                file.flush()
                self.assertRegex(self.checked(file.name), rf"(?m)^{re.escape(file.name)}: .*{expected}")


@unittest.skipUnless(shutil.which("prometheus"), "Prometheus is not installed: tools/deps monitoring")
class MonitoringTest(support.Case):
    def test_every_panel_has_data(self):
        prometheus = Prometheus(given(), monitoring.RULES.read_text(), {
            f"{name}-metrics": [name] for name in (OPERATOR, EXTENDER)})
        support.await_value(lambda: [each["health"] for each in prometheus.get("targets")["activeTargets"]],
                            lambda found: found == ["up", "up"], "both programs are scraped")
        self.live()
        # Rates want two scrapes after the last change.
        empty = support.await_value(lambda: self.empty_panels(prometheus), lambda found: not found, "every panel has data")
        self.assertEqual([], empty)
        for group in prometheus.get("rules")["groups"]:
            for rule in group["rules"]:
                self.assertEqual("ok", rule["health"], rule)
        # Nothing is wrong here, and so nothing fires but what a cluster of a minute cannot know.
        firing = {each["labels"]["alertname"] for each in prometheus.get("alerts")["alerts"] if each["state"] == "firing"}
        self.assertEqual(set(), firing)
        self.known_names(prometheus)
        self.no_leader(prometheus)

    def live(self):
        """What happens in a cluster in a day: queues, jobs that end, wait, fail, are suspended and are preempted."""
        kubectl("apply", "-f", "-", input=yaml.safe_dump_all([
            {"apiVersion": "trainyard.dev/v1alpha1", "kind": "Queue", "metadata": {"name": name},
             "spec": {"guaranteed": {support.GPU: 16}}} for name in ("vision", "speech")]))
        self.addCleanup(kubectl, "delete", "tyq", "vision", "speech")
        fails = {support.EXIT_CODE: "1"}
        with support.watch_jobs(self.namespace) as jobs:
            support.create_job(self.namespace, job("ends", replicas=2, run_for="1s", queue="vision"))
            support.create_job(self.namespace, job("fails", replicas=2, run_for="1s", queue="vision", annotations=fails,
                                                   failure={"maxRestarts": 0}))
            wait_phase(jobs, self.namespace, "ends", "Succeeded")
            wait_phase(jobs, self.namespace, "fails", "Failed")
            self.resize(jobs)
            support.create_job(self.namespace, job("lent", replicas=4, queue="vision"))
            wait_phase(jobs, self.namespace, "lent", "Running")
            # Speech reclaims its guarantee: lent is preempted, and waits. No job is preempted in its first minute.
            support.create_job(self.namespace, job("reclaims", replicas=2, queue="speech"))
            wait_phase(jobs, self.namespace, "reclaims", "Running", 3 * support.PATIENCE)
            kubectl("create", "-n", self.namespace, "-f", "-", input=json.dumps(support.pod("foreign", gpus=1)))

    def resize(self, jobs):
        """A gang that restarts for another size that its user requests."""
        support.create_job(self.namespace, job("stretch", replicas=1, framework="Custom", elastic={
            "role": "worker", "replicas": 1, "minReplicas": 1, "maxReplicas": 2}))
        wait_phase(jobs, self.namespace, "stretch", "Running")
        kubectl("scale", "trainingjob", "stretch", "-n", self.namespace, "--replicas=2")
        jobs.wait(lambda all_: all_[(self.namespace, "stretch")]["status"].get("ready") == "2/2", "it has two members")
        support.delete_job(self.namespace, "stretch")

    @staticmethod
    def empty_panels(prometheus):
        return [where for where, expression in monitoring.expressions()
                if where not in EMPTY and not prometheus.query(monitoring.runnable(expression).replace("[5m]", "[1m]"))
                # Ages of what is not there at this moment.
                and "timestamp_seconds" not in expression]

    def known_names(self, prometheus):
        """The programs export what the reference lists, label by label."""
        page = (support.ROOT / "docs" / "metrics.md").read_text()
        rows = {name: set(re.findall(r"`(\w+)`", labels))
                for name, labels in re.findall(r"^\| `(\w+)` \| \w+ \| ([^|]*) \|", page, re.M)}
        for series in prometheus.get("series", **{"match[]": '{__name__=~"trainyard_.*|process_.*",job=~"trainyard.*"}'}):
            name = re.sub(r"_(bucket|sum|count)$", "", series["__name__"])
            name = name if name in rows else series["__name__"]
            self.assertIn(name, rows)
            self.assertEqual(rows[name], set(series) - {"__name__", "job", "instance", "le"}, name)

    def no_leader(self, prometheus):
        """The alert of an incident is pending at once, and resolved when the incident is over."""
        given().stop(OPERATOR)
        support.await_value(lambda: prometheus.states("TrainyardNoLeader"), lambda found: found == {"pending"},
                            "the alert is pending")
        given().start(OPERATOR)
        support.wait_leader()
        support.await_value(lambda: prometheus.states("TrainyardNoLeader"), lambda found: not found, "the alert is over")
