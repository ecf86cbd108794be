"""The cases of a hostile tenant share this: another tenant must be able to work meanwhile, and the leader must keep its
lease."""
import time

import support
from lib import processes
from lib.api import ApiError, MERGE_PATCH, fetch
from support import GPU, GROUP, OPERATOR, VERSION, condition, custom, given, job, wait_phase

# The chart's limit is a gibibyte.
MOST_MB = 600
CALM_SECONDS = 10
QUEUES = "queues"
KEEP = "e2e.invalid/keep"


class Abuse(support.Case):
    def setUp(self):
        super().setUp()
        self.others = self.make_namespace(f"{self.namespace[:50]}-others")
        with support.leases() as leases:
            self.leader = leases.wait(support.holder, "an operator leads")
        self.jobs = support.watch_jobs()
        self.addCleanup(self.jobs.stop)

    def tearDown(self):
        """Checks that the attempt harmed neither the other tenant nor the leader."""
        support.create_job(self.others, job("neighbour", replicas=2))
        wait_phase(self.jobs, self.others, "neighbour", "Running")
        time.sleep(CALM_SECONDS)  # as long as a lease lasts
        with support.leases() as leases:
            self.assertEqual(leases.wait(support.holder, "an operator leads"), self.leader, "another one leads")
        self.assertTrue(given().alive(OPERATOR))
        self.assertLess(processes.peak_mb(given().pid(OPERATOR)), MOST_MB)
        super().tearDown()

    def is_written(self, path, metadata):
        """Returns False if the object would be too large."""
        try:
            given().api.call("PATCH", path, {"metadata": metadata}, MERGE_PATCH)
        except ApiError as error:
            self.assertIn("too large", str(error))
            return False
        return True

    def fill(self, path):
        """Adds annotations and labels until the API server accepts no more."""
        def written(metadata):
            return self.is_written(path, metadata)

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

    def submit(self, name, container=None, metadata=None, **options):
        body = job(name, **options)
        template = body["spec"]["roles"][0]["template"]
        template["spec"]["containers"][0].update(container or {})
        template["metadata"].update(metadata or {})
        support.create_job(self.namespace, body)
        return self.namespace, name

    def runs(self, name, **options):
        return wait_phase(self.jobs, *self.submit(name, **options), "Running")

    def patch(self, name, spec):
        return custom().patch_namespaced_custom_object(GROUP, VERSION, self.namespace, support.JOBS, name, {"spec": spec})

    def not_admitted(self, key):
        def found(all_):
            said = condition(all_.get(key, {}), "Admitted")
            return said if said and said["status"] == "False" else None
        return self.jobs.wait(found, f"{key[1]} is refused by reason")

    def refused(self, key, words):
        said = self.not_admitted(key)
        self.assertIn(said["reason"], ("InvalidTemplate", "InvalidSpec"))
        self.assertIn(words, said["message"])
        return said

    def waits(self, key, reason):
        def found(all_):
            pending = all_.get(key, {}).get("status", {}).get("pending", {})
            return pending if pending.get("reason") == reason else None
        return self.jobs.wait(found, f"{key[1]} waits: {reason}")

    def create_queue(self, name, **spec):
        body = {"apiVersion": f"{GROUP}/{VERSION}", "kind": "Queue", "metadata": {"name": name}, "spec": spec}
        custom().create_cluster_custom_object(GROUP, VERSION, QUEUES, body)
        self.addCleanup(custom().delete_cluster_custom_object, GROUP, VERSION, QUEUES, name)

    @staticmethod
    def used(name):
        """GPUs that a queue is charged for, from its status."""
        status = custom().get_cluster_custom_object(GROUP, VERSION, QUEUES, name).get("status", {})
        return int(status.get("usage", {}).get(GPU, 0))

    def await_used(self, name, gpus):
        support.await_value(lambda: self.used(name), lambda found: found == gpus, f"queue {name} holds {gpus} GPUs")

    def hold(self, name):
        """Puts the tenant's own finalizer on the pods of a job: once deleted, they stay Terminating until
        end_hold()."""
        for key in self.pods_of(name):
            support.core().patch_namespaced_pod(key, self.namespace, {"metadata": {"finalizers": [KEEP]}})
        self.addCleanup(self.end_hold, name)

    def end_hold(self, name):
        for key in self.pods_of(name):
            try:
                support.core().patch_namespaced_pod(key, self.namespace, {"metadata": {"finalizers": None}})
            except support.client.exceptions.ApiException as error:
                if error.status != 404:
                    raise

    def pods_of(self, name):
        found = support.core().list_namespaced_pod(self.namespace, label_selector=f"{support.JOB_NAME}={name}").items
        return [each.metadata.name for each in found]

    def policy(self, text):
        """Changes it as a ConfigMap's volume changes; returns when the operator has loaded it."""
        file = given().dir / "policy.yaml"
        if file.read_text() == text:
            return
        def taken():
            lines = fetch(given().processes()[OPERATOR]["metrics"])[1].splitlines()
            return sum(float(each.rpartition(" ")[2]) for each in lines
                       if each.startswith('trainyard_policy_reloads_total{result="taken"}'))
        before = taken()
        fresh = file.with_suffix(".new")
        fresh.write_text(text)
        fresh.rename(file)
        support.await_value(taken, lambda now: now > before, "the policy is loaded")

    @staticmethod
    def status_writes():
        return sum(value for key, value in given().metrics(OPERATOR).items()
                   if key.startswith("trainyard_api_writes_total") and "trainingjobs/status" in key)
