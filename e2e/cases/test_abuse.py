"""What a tenant may write who may create pods and TrainingJobs in one namespace, and nothing else: one test for each
harm that was tried. The operator that led before must lead after it, with the memory that the chart gives it, and the
jobs of others must start meanwhile.

    make abuse
"""
import time

import support
from kubernetes.client.exceptions import ApiException
from lib import processes
from support import OPERATOR, condition, given, job, wait_phase

CLUSTER = {"nodes": 4}  # of 8 GPUs
# The chart's limit is a gibibyte.
MOST_MB = 600
CALM_SECONDS = 10


class Abuse(support.Case):
    def setUp(self):
        super().setUp()
        self.others = self.make_namespace(f"{self.namespace[:50]}-others")
        with support.leases() as leases:
            self.leader = leases.wait(support.holder, "an operator leads")
        self.jobs = support.watch_jobs()
        self.addCleanup(self.jobs.stop)

    def tearDown(self):
        """Whatever was tried: nobody else is harmed by it."""
        support.create_job(self.others, job("neighbour", replicas=2))
        wait_phase(self.jobs, self.others, "neighbour", "Running")
        time.sleep(CALM_SECONDS)  # as long as a lease lasts
        with support.leases() as leases:
            self.assertEqual(leases.wait(support.holder, "an operator leads"), self.leader, "another one leads")
        self.assertTrue(given().alive(OPERATOR))
        self.assertLess(processes.peak_mb(given().pid(OPERATOR)), MOST_MB)
        super().tearDown()

    def submit(self, name, container=None, metadata=None, **options):
        body = job(name, **options)
        template = body["spec"]["roles"][0]["template"]
        template["spec"]["containers"][0].update(container or {})
        template["metadata"].update(metadata or {})
        support.create_job(self.namespace, body)
        return self.namespace, name

    def refused(self, key, says):
        def found(all_):
            said = condition(all_.get(key, {}), "Admitted")
            return said if said and said["status"] == "False" else None
        said = self.jobs.wait(found, f"{key[1]} is refused by reason")
        self.assertIn(said["reason"], ("InvalidTemplate", "InvalidSpec"))
        self.assertIn(says, said["message"])

    @staticmethod
    def status_writes():
        return sum(value for key, value in given().metrics(OPERATOR).items()
                   if key.startswith("trainyard_api_writes_total") and "trainingjobs/status" in key)

    def test_45000_names_of_resources_in_a_job(self):
        names = {f"x.io/r{i}": "1" for i in range(45_000)}
        with self.assertRaisesRegex(ApiException, "must have at most 64"):
            self.submit("wide", container={"resources": {"limits": names}})

    def test_as_many_names_of_resources_as_the_schema_allows(self):
        body = job("wide")
        body["spec"]["roles"][0]["template"]["spec"]["containers"] = [
            {"name": f"c{c}", "image": "c", "resources": {"limits": {f"x{c}.io/r{i}": "1" for i in range(64)}}}
            for c in range(64)]
        support.create_job(self.namespace, body)
        self.refused((self.namespace, "wide"), "more than 32 extended resources")

    def test_30000_names_of_resources_in_a_pod(self):
        """As many as etcd takes: the API server writes every limit down as a request too."""
        pod = support.pod("wide", gpus=0)
        pod["spec"]["containers"][0]["resources"]["limits"] = {f"x.io/r{i}": "1" for i in range(30_000)}
        pod["spec"]["schedulerName"] = "nobody"
        support.core().create_namespaced_pod(self.namespace, pod)

    def test_1500_replicas_of_a_template_of_600_kilobytes(self):
        key = self.submit("heavy", container={"args": ["x" * 600_000]}, replicas=1500, gpus=0)
        self.refused(key, "MiB together")

    def test_pods_of_300_kilobytes_that_fit(self):
        key = self.submit("bulky", container={"args": ["x" * 300_000]}, replicas=80, gpus=0)
        wait_phase(self.jobs, *key, "Running", 2 * support.PATIENCE)

    def test_more_gpus_than_can_be_counted(self):
        key = self.submit("greedy", replicas=4096, gpus=4_503_599_627_370_495)
        self.refused(key, "can be counted")
        before = self.status_writes()
        time.sleep(CALM_SECONDS)
        self.assertLessEqual(self.status_writes() - before, 3, "it is written again and again")
