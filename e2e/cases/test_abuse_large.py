"""A tenant who writes the largest objects that the API server accepts, and as many as it accepts. Each docstring names the
harm that is prevented.

    make abuse
"""
from concurrent.futures import ThreadPoolExecutor

import support
from abuse import Abuse
from lib.api import ApiError, MERGE_PATCH
from support import EXTENDER, GPU, GROUP, OPERATOR, VERSION, given, job, wait_phase

RUNS = "whole"
CLUSTER = {"nodes": 4}  # of 8 GPUs
# Of a condition's message, by the schema.
LONGEST = 32_768
POLICY = "preemption: {minRuntime: 2s}\n"


class Large(Abuse):
    def test_200_objects_of_1400_kilobytes(self):
        """A page of 500 could exceed what a client reads and be requested for ever, so that nothing is synced."""
        def create(number):
            body = support.pod(f"large-{number}", gpus=0)
            body["spec"]["schedulerName"] = "no-such-scheduler"
            body["spec"]["containers"][0].pop("resources")
            body["spec"]["containers"][0]["args"] = ["x" * 1_400_000]
            support.core().create_namespaced_pod(self.namespace, body)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(create, range(200)))
        # A program that starts now has to list all of them.
        for name in (OPERATOR, EXTENDER):
            given().kill(name)
            given().start(name, timeout=120)
        with support.leases() as leases:
            self.leader = leases.wait(lambda all_: (lambda holder: holder != self.leader and holder)(support.holder(all_)),
                                      "another operator leads", 2 * support.PATIENCE)

    def test_8000_members(self):
        """Their list could exceed a ConfigMap: the attempt would be aborted again and again, after other gangs were
        preempted for it."""
        body = job("a-job-with-a-name-of-forty-two-characters", replicas=10_000, gpus=0)
        body["spec"]["roles"][0]["name"] = "w"
        space = self.make_namespace("a-namespace-with-a-name-of-fifty-two-characters-in-all")
        support.create_job(space, body)
        self.refused((space, body["metadata"]["name"]), "host names")
        key = self.submit("many", replicas=8_000, gpus=1)
        self.waits(key, "TooLarge")
        self.assertNotIn("backoff", self.jobs.objects[key]["status"].get("gang", {}))

    def test_an_answer_of_the_api_server_that_is_longer_than_a_condition(self):
        """The schema could refuse the status for ever, and the user get no message."""
        body = job("wordy", replicas=1)
        body["spec"]["roles"][0]["template"]["spec"]["containers"][0]["env"] = [
            {"name": f"no=name-of-a-variable-{i}", "value": "x"} for i in range(1_000)]
        support.create_job(self.namespace, body)
        said = self.refused((self.namespace, "wordy"), "no=name-of-a-variable")
        self.assertLessEqual(len(said["message"]), LONGEST)

    def fill(self, path):
        """Adds annotations and labels until the API server accepts no more."""
        def written(metadata):
            try:
                given().api.call("PATCH", path, {"metadata": metadata}, MERGE_PATCH)
            except ApiError as error:
                self.assertIn("too large", str(error))
                return False
            return True

        def name(number):
            return f"{'k' * 50}-{number}.invalid/{'n' * 50}"
        self.assertTrue(written({"annotations": {name(i): "v" * 1_500 for i in range(150)}}), "the first annotations")
        number = 0
        for count in (100, 10, 1):
            # Each costs thrice its size: the writer of the field is stored as well.
            while written({"labels": {name(number + i): "v" * 63 for i in range(count)}}):
                number += count
        last = 0  # and the last bytes
        for more in (512, 256, 128, 64, 32, 16, 8, 4, 2, 1):
            last += more if written({"annotations": {name(0): "v" * (1_500 + last + more)}}) else 0

    def owner_gets_its_nodes(self):
        support.create_job(self.others, job("own", replicas=4, queue="owner"))
        wait_phase(self.jobs, self.others, "own", "Running", 2 * support.PATIENCE)
        support.delete_job(self.others, "own")

    def lend(self):
        self.policy(POLICY)
        self.create_queue("owner", guaranteed={GPU: 32})
        self.create_queue("borrower")
        return self.runs("lent", container={"args": ["x" * 900_000]}, replicas=4, queue="borrower")

    def test_a_job_that_is_filled_up(self):
        """No further write to the job could succeed, so that it could not be preempted and the owner of its nodes would
        wait for ever."""
        self.lend()
        self.fill(f"/apis/{GROUP}/{VERSION}/namespaces/{self.namespace}/{support.JOBS}/lent")
        self.owner_gets_its_nodes()

    def test_a_member_that_is_filled_up(self):
        """A deletion with a grace period writes the pod once more, which could fail."""
        self.lend()
        for i in range(4):
            self.fill(f"/api/v1/namespaces/{self.namespace}/pods/lent-worker-{i}")
        self.owner_gets_its_nodes()

    def test_replicas_times_template(self):
        """1,500 bodies of 0.6 MB could be built at once, also by the successor: 1.8 GB, where the chart's limit is
        one."""
        key = self.submit("heavy", container={"args": ["x" * 600_000]}, replicas=1500, gpus=0)
        self.refused(key, "MiB together")
        fits = self.submit("fits", container={"args": ["x" * 600_000]}, replicas=200, gpus=0)
        wait_phase(self.jobs, *fits, "Running", 2 * support.PATIENCE)
