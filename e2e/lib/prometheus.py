"""A real Prometheus beside a cluster of the tests: it scrapes the programs every second and evaluates rules."""
import json
import shutil
import urllib.parse
import urllib.request

import yaml


class Prometheus:
    """rules: the text of a rule file. jobs: {job: [names of processes of the cluster]}, all of which serve metrics.
    more: {job: further settings of its scrapes}."""

    def __init__(self, cluster, rules, jobs, more=None):
        port = cluster.spare_ports.pop(0)
        self.url = f"http://127.0.0.1:{port}"
        (cluster.dir / "rules.yaml").write_text(rules)
        hosts = {job: [urllib.parse.urlsplit(cluster.processes()[name]["metrics"]).netloc for name in names]
                 for job, names in jobs.items()}
        config = cluster.dir / "prometheus.yaml"
        config.write_text(yaml.safe_dump({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(cluster.dir / "rules.yaml")],
            "scrape_configs": [{"job_name": job, "static_configs": [{"targets": targets}], **(more or {}).get(job, {})}
                               for job, targets in hosts.items()]}))
        cluster.run("prometheus", [shutil.which("prometheus"), f"--config.file={config}",
                                   f"--storage.tsdb.path={cluster.dir}/prometheus", f"--web.listen-address=127.0.0.1:{port}"],
                    ready=f"{self.url}/-/ready")

    def get(self, path, **parameters):
        with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}", timeout=20) as answer:
            return json.load(answer)["data"]

    def query(self, expression):
        return self.get("query", query=expression)["result"]

    def states(self, alert):
        """"pending", "firing", or nothing, of the alert of this name."""
        return {each["state"] for each in self.get("alerts")["alerts"] if each["labels"]["alertname"] == alert}
