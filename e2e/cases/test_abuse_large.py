"""A tenant who writes the largest objects that the API server accepts, and as many as it accepts. Each docstring names the
harm that is prevented.

    make abuse
"""
from concurrent.futures import ThreadPoolExecutor

import support
from abuse import Abuse
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

    def owner_gets_its_nodes(self):
        support.create_job(self.others, job("own", replicas=4, queue="owner"))
        wait_phase(self.jobs, self.others, "own", "Running", 2 * support.PATIENCE)
        support.delete_job(self.others, "own")
        support.delete_job(self.namespace, "lent")  # else it may take all nodes again before the neighbour's job

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

    def test_a_job_that_is_filled_up_with_finalizers(self):
        """They could not be removed with the labels, and the job could neither be preempted nor deleted."""
        self.lend()
        path = f"/apis/{GROUP}/{VERSION}/namespaces/{self.namespace}/{support.JOBS}/lent"
        own = support.get_job(self.namespace, "lent")["metadata"]["finalizers"]
        names = [f"{'k' * 60}.{'l' * 60}.{'m' * 60}.{'n' * 55}/{'f' * 55}{i:07d}" for i in range(6_000)]

        def written(count):
            metadata = {"finalizers": own + names[:count], "managedFields": [{}]}
            return self.is_written(path, metadata)
        fits, beyond = 1, len(names)
        while beyond - fits > 1:
            middle = (fits + beyond) // 2
            if written(middle):
                fits = middle
            else:
                beyond = middle
        written(fits)
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
