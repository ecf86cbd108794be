"""Where the cluster's own kube-scheduler cannot be configured: the chart's second one, as a pod, binds the jobs."""
import shutil

import charted
import support
from lib import ociimage
from lib.helm import NAMESPACE
from support import given, kubectl, wait_phase

CLUSTER = None
NAME, IMAGE = "trainyard-scheduler", "docker.io/local/kube-scheduler:1"

tearDownModule = charted.down  # a name that unittest knows


def setUpModule():
    charted.bare()
    tree = given().dir / "kube-scheduler-image"
    (tree / "usr/local/bin").mkdir(parents=True)
    shutil.copy(given().tools["kube-scheduler"], tree / "usr/local/bin")
    tar = given().dir / "kube-scheduler.tar"
    ociimage.write(tar, IMAGE, [tree])
    given().load_image(tar)
    charted.release().install({"scheduler": {"second": {"enabled": True, "image": IMAGE}}})
    support.wait_leader()


class SecondScheduler(support.Case):
    def test_it_binds_jobs_and_other_pods_that_name_it(self):
        with support.watch_pods(self.namespace) as seen, support.watch_jobs(self.namespace) as jobs:
            support.create_job(self.namespace, charted.job("first"))
            wait_phase(jobs, self.namespace, "first", "Succeeded")
            self.assertEqual({NAME}, {item["spec"]["schedulerName"] for _, item in seen.events})
            bound = {item["metadata"]["name"]: item["spec"]["nodeName"] for _, item in seen.events
                     if item["spec"].get("nodeName")}
            self.assertEqual(set(given().real_nodes), set(bound.values()))

            foreign = charted.foreign_pod("foreign")
            foreign["spec"]["schedulerName"] = NAME
            support.core().create_namespaced_pod(self.namespace, foreign)
            seen.wait(lambda all_: support.node_of(all_.get((self.namespace, "foreign"), {"spec": {}})),
                      "the foreign pod is bound")
        said = given().kubectl("logs", "-n", NAMESPACE, f"deployment/{NAME}")
        self.assertNotIn("forbidden", said, "what the second scheduler may not do")

    def test_the_other_scheduler_was_not_asked(self):
        """The cluster's own scheduler has no extender, and none of these pods names it."""
        self.assertNotIn("extenders", (given().dir / "kube-scheduler.yaml").read_text())
        self.assertEqual({}, {key: value for key, value in charted.attempts().items() if key == "error" and value})
        leases = kubectl("get", "leases", "-n", NAMESPACE, "-o", "name").split()
        self.assertIn(f"lease.coordination.k8s.io/{NAME}", leases)
