"""What users may do by Kubernetes' own roles, and what the admission policies refuse them, as the API server reports
it."""
import json
from pathlib import Path

import support
from support import core, given, job, kubectl, wait_phase

import yaml
from lib import helm
from lib.errors import E2EError

CLUSTER = {"nodes": 2}
SCHEDULER = "gpu-scheduler"
# The chart's own objects, with rules about schedulers as a cluster with a second scheduler has them.
VALUES = {"admissionPolicy": {"schedulerNames": ["default-scheduler", SCHEDULER]}}

ELASTIC = {"role": "worker", "replicas": 1, "minReplicas": 1, "maxReplicas": 2}


def setUpModule():
    text = helm.template(given().tools["helm"], VALUES, only=["user-roles", "admission-policies"])
    kubectl("apply", "--server-side", "--field-manager=e2e", "-f", "-", input=text)


def tearDownModule():
    kubectl("delete", "validatingadmissionpolicies,validatingadmissionpolicybindings", "--all")


class UserCase(support.Case):
    def setUp(self):
        super().setUp()
        for role in ("admin", "edit", "view"):
            kubectl("create", "rolebinding", role, "-n", self.namespace, f"--clusterrole={role}", f"--user={role}")
        # kube-controller-manager puts the aggregated rules into the roles.
        support.await_value(lambda: [self.may(user, "get", "trainingjobs") for user in ("admin", "edit", "view")], all,
                            "the roles are aggregated")

    def may(self, user, verb, what, everywhere=False, group=support.GROUP):
        resource, _, subresource = what.partition("/")
        asked = {"group": group, "resource": resource, "subresource": subresource, "verb": verb,
                 "namespace": "" if everywhere else self.namespace}
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
                  "spec": {"user": user, "resourceAttributes": asked}}
        return given().api.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)["status"]["allowed"]

    def as_user(self, user, *args, **options):
        return kubectl(*args, f"--as={user}", "-n", self.namespace, **options)

    def refused(self, words, user, *args, **options):
        with self.assertRaises(E2EError) as caught:
            self.as_user(user, *args, **options)
        self.assertIn(words, str(caught.exception))


class RolesTest(UserCase):
    def test_an_admin_of_a_namespace_creates_scales_and_deletes(self):
        body = job("mine", replicas=1, gpus=1, elastic=ELASTIC)
        for user in ("admin", "edit"):
            with self.subTest(user), support.watch_jobs(self.namespace) as jobs:
                self.as_user(user, "create", "-f", "-", input=json.dumps(body))
                wait_phase(jobs, self.namespace, "mine", "Running")
                self.as_user(user, "scale", "tj/mine", "--replicas=2")
                self.assertEqual(2, support.get_job(self.namespace, "mine")["spec"]["elastic"]["replicas"])
                self.as_user(user, "patch", "tj/mine", "--type=merge", "-p", '{"spec":{"run":{"suspend":true}}}')
                self.as_user(user, "delete", "tj/mine", "--wait=false")
                jobs.wait(lambda all_: not all_, "the job is gone")

    def test_a_viewer_looks_and_no_more(self):
        support.create_job(self.namespace, job("seen", replicas=1, gpus=1, elastic=ELASTIC))
        self.assertIn("seen", self.as_user("view", "get", "tj"))
        self.as_user("view", "get", "tj/seen", "--subresource=scale")
        for args in (["delete", "tj/seen"], ["scale", "tj/seen", "--replicas=2"],
                     ["patch", "tj/seen", "--type=merge", "-p", '{"spec":{"run":{"suspend":true}}}']):
            self.refused("forbidden", "view", *args)
        self.refused("forbidden", "view", "create", "-f", "-", input=json.dumps(job("not-mine")))

    def test_records_and_queues_are_not_written_by_users(self):
        for user in ("admin", "edit", "view"):
            for verb, what in (("patch", "trainingjobs/status"), ("update", "trainingjobs/status"),
                               ("update", "trainingjobs/finalizers"), ("create", "queues")):
                self.assertFalse(self.may(user, verb, what), f"{user} may {verb} {what}")

    def test_queues_have_roles_of_their_own(self):
        for user, role in (("keeper", "trainyard-queue-admin"), ("reader", "trainyard-queue-viewer")):
            kubectl("create", "clusterrolebinding", f"e2e-{user}", f"--clusterrole={role}", f"--user={user}")
            self.addCleanup(kubectl, "delete", "clusterrolebinding", f"e2e-{user}")
        for user, verb, expected in (("keeper", "create", True), ("keeper", "delete", True), ("reader", "list", True),
                                     ("reader", "create", False)):
            self.assertEqual(expected, self.may(user, verb, "queues", everywhere=True), f"{user} {verb}")
        self.assertFalse(self.may("keeper", "create", "trainingjobs"))

    def test_a_user_who_may_see_the_cluster_can_simulate_a_job(self):
        def run(*args, code):
            done = support.run([Path(support.bin_dir()) / "cli" / "trainyard", *args, f"--kubeconfig={given().kubeconfig}", "--as=seer"])
            self.assertEqual(code, done.returncode, done.stdout + done.stderr)
            return done.stdout + done.stderr
        self.assertIn("trainyard-cluster-viewer", run("nodes", code=1))
        kubectl("create", "clusterrolebinding", "e2e-seer", "--clusterrole=trainyard-cluster-viewer", "--user=seer")
        self.addCleanup(kubectl, "delete", "clusterrolebinding", "e2e-seer")
        support.await_value(lambda: self.may("seer", "list", "queues", everywhere=True), bool, "it is bound")
        for command in ("nodes", "top"):
            run(command, code=0)
        kubectl("create", "rolebinding", "seer", "-n", self.namespace, "--clusterrole=edit", "--user=seer")
        support.await_value(lambda: self.may("seer", "create", "trainingjobs"), bool, "jobs are as well")
        file = given().dir / "seen.json"
        file.write_text(json.dumps(job("seen", replicas=1, gpus=1)))
        run("simulate", "-f", file, "-n", self.namespace, code=0)


class PoliciesTest(UserCase):
    def setUp(self):
        super().setUp()
        # The API server reads policies by watches of its own, and takes what it has read once a second.
        gated = support.pod("gated", gpus=0)
        gated["spec"]["schedulingGates"] = [{"name": support.GATE}]
        for body in (gated, support.pod("past", gpus=1, scheduler="another")):
            support.await_value(lambda body=body: self.is_refused(body), bool, "the policies are in effect")

    def is_refused(self, body):
        try:
            self.as_user("admin", "create", "--dry-run=server", "-f", "-", input=json.dumps(body))
        except E2EError:
            return True
        return False

    def test_the_names_of_gangs_are_the_operators(self):
        for key in ("job-name", "job-uid", "epoch", "role", "index"):
            body = support.pod("forged", gpus=0)
            body["metadata"]["labels"] = {f"trainyard.dev/{key}": "1"}
            self.refused("are the operator's", "admin", "create", "-f", "-", input=json.dumps(body))
        body = support.pod("gated", gpus=0)
        body["spec"]["schedulingGates"] = [{"name": support.GATE}]
        self.refused("gate trainyard.dev/gang", "admin", "create", "-f", "-", input=json.dumps(body))
        body["spec"]["schedulingGates"] = [{"name": "example.com/mine"}]
        body["metadata"]["labels"] = {"trainyard.dev/mine": "1"}
        body["metadata"]["annotations"] = {"trainyard.dev/network": '{"band":0}'}
        self.refused("trainyard.dev/network", "admin", "create", "-f", "-", input=json.dumps(body))
        del body["metadata"]["annotations"]
        self.as_user("admin", "create", "-f", "-", input=json.dumps(body))

    def test_members_stay_what_they_are(self):
        support.create_job(self.namespace, job("gang", replicas=2, gpus=1))
        with support.watch_jobs(self.namespace) as jobs:
            wait_phase(jobs, self.namespace, "gang", "Running")
        pod = "pod/gang-worker-0"
        self.refused("are the operator's", "admin", "label", pod, "trainyard.dev/job-uid-")
        self.refused("are the operator's", "admin", "label", pod, "trainyard.dev/index=7", "--overwrite")
        self.refused("trainyard.dev/membership", "admin", "annotate", pod, "trainyard.dev/membership=x")
        self.refused("trainyard.dev/network", "admin", "annotate", pod, 'trainyard.dev/network={"band":0}')
        # It would hold the members' nodes after them, for ever.
        keep = ["--type=merge", "-p", '{"metadata":{"finalizers":["example.com/keep"]}}']
        self.refused("a finalizer on a gang's pod", "admin", "patch", pod, *keep)
        self.as_user("admin", "label", pod, "team=mine")
        self.as_user("admin", "annotate", pod, "note=mine")
        # A user who may write its status may write labels and annotations with it.
        kubectl("create", "role", "nurse", "-n", self.namespace, "--verb=get,patch", "--resource=pods,pods/status")
        kubectl("create", "rolebinding", "nurse", "-n", self.namespace, "--role=nurse", "--user=nurse")
        support.await_value(lambda: self.may("nurse", "patch", "pods/status", group=""), bool, "the user may")
        for text, meta in (("are the operator's", {"labels": {"trainyard.dev/job-uid": "another"}}),
                           ("trainyard.dev/network", {"annotations": {"trainyard.dev/network": '{"band":0}'}})):
            self.refused(text, "nurse", "patch", pod, "--subresource=status", "-p", json.dumps({"metadata": meta}))
        self.as_user("nurse", "patch", pod, "--subresource=status", "-p",
                     '{"status":{"message":"looked at"},"metadata":{"labels":{"team":"theirs"}}}')

    def test_members_keep_their_controller(self):
        """Without it no queue would be charged for them, and they could not be preempted."""
        support.create_job(self.namespace, job("gang", replicas=2, gpus=1))
        with support.watch_jobs(self.namespace) as jobs:
            wait_phase(jobs, self.namespace, "gang", "Running")
        pod = "pod/gang-worker-0"
        owner = given().json("get", pod, "-n", self.namespace)["metadata"]["ownerReferences"][0]
        for kind, change in (
                ("merge", {"metadata": {"ownerReferences": None}}), ("merge", {"metadata": {"ownerReferences": []}}),
                ("merge", {"metadata": {"ownerReferences": [{**owner, "controller": False}]}}),
                ("merge", {"metadata": {"ownerReferences": [{**owner, "uid": "another"}]}}),
                ("merge", {"metadata": {"ownerReferences": [{**owner, "kind": "ConfigMap"}]}}),
                ("strategic", {"metadata": {"ownerReferences": [{"$patch": "delete", "uid": owner["uid"]}]}}),
                ("json", [{"op": "remove", "path": "/metadata/ownerReferences"}]),
                ("json", [{"op": "remove", "path": "/metadata/ownerReferences/0/controller"}])):
            with self.subTest(change=change):
                self.refused("ownerReferences of a gang's pod", "admin", "patch", pod, f"--type={kind}",
                             "-p", json.dumps(change))
        # With a second owner the pod stays when its job is deleted.
        second = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "x"}
        self.refused("no other owner than its job", "admin", "patch", pod, "--type=merge", "-p", json.dumps(
            {"metadata": {"ownerReferences": [owner, second]}}))
        # Whether the pod holds up a deletion in the foreground changes nothing of that.
        self.as_user("admin", "patch", pod, "--dry-run=server", "--type=merge", "-p", json.dumps(
            {"metadata": {"ownerReferences": [{**owner, "blockOwnerDeletion": False}]}}))
        kubectl("patch", pod, "-n", self.namespace, "--dry-run=server", "--type=merge",
                "-p", '{"metadata":{"ownerReferences":null}}')  # an administrator

    def test_a_job_is_not_deleted_without_its_pods(self):
        body = job("gang", replicas=2, gpus=1)
        body["metadata"]["finalizers"] = ["orphan"]
        self.refused("policy Orphan", "admin", "create", "-f", "-", input=json.dumps(body))
        support.create_job(self.namespace, job("gang", replicas=2, gpus=1))
        with support.watch_jobs(self.namespace) as jobs:
            wait_phase(jobs, self.namespace, "gang", "Running")
            self.refused("policy Orphan", "admin", "delete", "tj/gang", "--cascade=orphan", "--wait=false")
            self.refused("policy Orphan", "admin", "delete", "tj", "--all", "--cascade=orphan", "--wait=false")
            self.refused("policy Orphan", "admin", "patch", "tj/gang", "--type=json", "-p", json.dumps(
                [{"op": "add", "path": "/metadata/finalizers/-", "value": "orphan"}]))
            self.as_user("admin", "delete", "tj/gang", "--cascade=foreground", "--wait=false")
            jobs.wait(lambda all_: not all_, "the job is gone")
            support.create_job(self.namespace, job("gang", replicas=2, gpus=1))
            wait_phase(jobs, self.namespace, "gang", "Running")
            self.as_user("admin", "delete", "tj", "--all", "--wait=false")
            jobs.wait(lambda all_: not all_, "the job is gone")

    @staticmethod
    def plain(name, **spec):
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
                "spec": {"containers": [{"name": "c", "image": "c"}], **spec}}

    @classmethod
    def apart(cls, name, **scope):
        body = cls.plain(name)
        body["spec"]["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {}, "topologyKey": "kubernetes.io/os", **scope}]}}
        return body

    def test_anti_affinity_stays_within_its_namespace(self):
        create = ["create", "--dry-run=server", "-f", "-"]
        for scope in ({"namespaceSelector": {}}, {"namespaces": ["default"]}, {"namespaces": [self.namespace, "default"]},
                      {"namespaceSelector": {"matchLabels": {"a": "b"}}, "topologyKey": "kubernetes.io/hostname"}):
            with self.subTest(scope):
                body = json.dumps(self.apart("apart", **scope))
                self.refused("must not reach into other namespaces", "admin", *create, input=body)
        for scope in ({}, {"namespaces": [self.namespace]}, {"namespaces": []}):
            self.as_user("admin", *create, input=json.dumps(self.apart("apart", **scope)))
        preferred = self.apart("apart", namespaceSelector={})
        term = preferred["spec"]["affinity"]["podAntiAffinity"].pop("requiredDuringSchedulingIgnoredDuringExecution")[0]
        preferred["spec"]["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": 1, "podAffinityTerm": term}]
        self.as_user("admin", *create, input=json.dumps(preferred))
        kubectl(*create, "-n", "kube-system", input=json.dumps(self.apart("apart", namespaceSelector={})))

    def make_admin(self, user, namespace):
        kubectl("create", "rolebinding", f"e2e-{user}", "-n", namespace, "--clusterrole=admin", f"--user={user}")
        self.addCleanup(kubectl, "delete", "rolebinding", f"e2e-{user}", "-n", namespace)
        def may():
            try:
                return kubectl("auth", "can-i", "create", "pods", "-n", namespace, f"--as={user}")
            except E2EError as error:
                return str(error)
        support.await_value(may, lambda text: text.strip() == "yes", f"{user} may create pods in {namespace}")

    def priority_class(self, name, value):
        kubectl("create", "priorityclass", name, f"--value={value}")
        self.addCleanup(kubectl, "delete", "priorityclass", name)
        body = json.dumps(self.plain("mine", priorityClassName=name))
        support.await_value(lambda: self.tried(body), lambda text: "no PriorityClass" not in text, "the class is seen")
        return body

    def test_high_classes_are_the_systems(self):
        create = ["create", "--dry-run=server", "-f", "-"]
        self.make_admin("admin", "kube-system")
        for name in ("system-node-critical", "system-cluster-critical"):
            body = json.dumps(self.plain("critical", priorityClassName=name))
            self.refused(f"{name} is for the cluster's own programs", "admin", *create, input=body)
            kubectl(*create, "-n", "kube-system", "--as=admin", input=body)
        for name, value in (("highest", 1_000_000_000), ("higher-than-most", 999)):
            self.as_user("admin", *create, input=self.priority_class(name, value))

    def tried(self, body):
        try:
            return self.as_user("admin", "create", "--dry-run=server", "-f", "-", input=body)
        except E2EError as error:
            return str(error)

    def test_gpus_may_be_for_jobs_only(self):
        """Classes, namespaces and users are those of the values."""
        strict = {"admissionPolicy": {
            "gpusForJobsOnly": True, "highestPriority": 0, "systemNamespaces": ["default", "e2e-sys*"], "systemUsers": ["robot"],
            "antiAffinityTopologyKeys": ["kubernetes.io/hostname"]}}
        apply = ["apply", "--server-side", "--force-conflicts", "--field-manager=e2e", "-f", "-"]
        def undo():
            kubectl("delete", "validatingadmissionpolicy,validatingadmissionpolicybinding", "trainyard-gpus-for-jobs")
            kubectl(*apply, input=helm.template(given().tools["helm"], VALUES, only=["admission-policies"]))
        self.addCleanup(undo)
        kubectl(*apply, input=helm.template(given().tools["helm"], strict, only=["admission-policies"]))
        pod = json.dumps(support.pod("bare", gpus=1))
        support.await_value(lambda: self.tried(pod), lambda text: "must be a member of a TrainingJob" in text, "it is refused")
        positive = self.priority_class("positive", 1)
        support.await_value(lambda: self.tried(positive), lambda text: "positive is for the cluster's own" in text,
                            "its class, too")
        create = ["create", "--dry-run=server", "-f", "-"]
        elsewhere = json.dumps(self.apart("a", namespaceSelector={}))
        by_node = json.dumps(self.apart("a", namespaceSelector={}, topologyKey="kubernetes.io/hostname"))
        self.as_user("admin", *create, input=by_node)
        self.refused("must not reach", "admin", *create, input=elsewhere)
        system = self.make_namespace("e2e-sys-" + self.namespace[-20:].strip("-"))
        for namespace in ("default", system):
            self.make_admin("admin", namespace)
            for body in (pod, positive, elsewhere):
                kubectl(*create, "-n", namespace, "--as=admin", input=body)
        self.make_admin("robot", self.namespace)
        for body in (pod, positive, elsewhere):
            self.as_user("robot", *create, input=body)
        support.create_job(self.namespace, job("gang", replicas=2, gpus=1))
        with support.watch_jobs(self.namespace) as jobs:
            wait_phase(jobs, self.namespace, "gang", "Running")

    def test_a_gate_is_removed_only_by_the_operator(self):
        body = support.pod("closed", gpus=0)
        body["spec"]["schedulingGates"] = [{"name": support.GATE}]
        core().create_namespaced_pod(self.namespace, body)  # by an administrator, who may
        self.refused("gate trainyard.dev/gang", "admin", "patch", "pod/closed", "--type=json",
                     "-p", '[{"op":"remove","path":"/spec/schedulingGates"}]')

    def test_the_finalizer_is_removed_only_by_the_operator(self):
        support.create_job(self.namespace, job("kept", replicas=2, gpus=1))
        with support.watch_jobs(self.namespace) as jobs:
            wait_phase(jobs, self.namespace, "kept", "Running")
            self.assertIn("trainyard.dev/release", support.get_job(self.namespace, "kept")["metadata"]["finalizers"])
            away = ["--type=merge", "-p", '{"metadata":{"finalizers":null}}']
            self.refused("trainyard.dev/release", "admin", "patch", "tj/kept", *away)
            self.as_user("admin", "annotate", "tj/kept", "note=mine")
            # The operator may, and an administrator of the cluster.
            self.as_user("admin", "delete", "tj/kept", "--wait=false")
            jobs.wait(lambda all_: not all_, "the job is gone")

    def test_a_job_has_few_finalizers_and_owners(self):
        """Each costs the API server time at every write of the job. No user is exempt."""
        def finalizers(count):
            return {"finalizers": [f"example.com/{number}" for number in range(count)]}

        def owners(count):
            return {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": f"{number}"}
                                        for number in range(count)]}
        edit = ["patch", "tj/many", "--type=merge", "-p"]
        create = ["create", "--dry-run=server", "-f", "-"]
        body = job("many", replicas=2, gpus=1)

        def having(metadata):
            return json.dumps({**body, "metadata": {**body["metadata"], **metadata}})
        for field, entries in (("finalizers", finalizers), ("ownerReferences", owners)):
            words = f"metadata.{field} of a TrainingJob or a Gang must not have more than 16 entries"
            for group in ([], ["--as-group=system:masters"]):
                self.refused(words, "admin", *create, *group, input=having(entries(17)))
            self.as_user("admin", *create, input=having(entries(16)))
        # The operator adds its own finalizer to sixteen others.
        with support.watch_jobs(self.namespace) as jobs:
            self.as_user("admin", "create", "-f", "-", input=having(finalizers(16)))
            wait_phase(jobs, self.namespace, "many", "Running")
            has = support.get_job(self.namespace, "many")["metadata"]["finalizers"]
            self.assertEqual(17, len(has), has)
            self.refused("must not have more than 16 entries", "admin", *edit,
                         json.dumps({"metadata": {"finalizers": [*has, "example.com/one-more"]}}))
            self.as_user("admin", "annotate", "tj/many", "note=mine")
            self.as_user("admin", *edit, '{"metadata":{"finalizers":["trainyard.dev/release"]}}')
            self.as_user("admin", "delete", "tj/many", "--wait=false")
            jobs.wait(lambda all_: not all_, "the job is gone")

    def test_gpus_need_a_scheduler_that_asks_the_extender(self):
        create = ["create", "-f", "-"]
        self.refused("must have spec.schedulerName", "admin", *create,
                     input=json.dumps(support.pod("past", gpus=1, scheduler="another")))
        placed = support.pod("placed", gpus=1)
        placed["spec"]["nodeName"] = "n0000"
        self.refused("may not name its node", "admin", *create, input=json.dumps(placed))
        self.as_user("admin", *create, input=json.dumps(support.pod("other", gpus=1, scheduler=SCHEDULER)))
        without = support.pod("without", gpus=0, scheduler="another")
        del without["spec"]["containers"][0]["resources"]
        self.as_user("admin", *create, input=json.dumps(without))
        self.as_user("admin", *create, "--dry-run=server", input=json.dumps(support.pod("plain", gpus=1)))

    def test_the_rules_are_well_typed(self):
        """kube-controller-manager checks every expression against the types of what it is about."""
        typed = {"admissionPolicy": {**VALUES["admissionPolicy"], "gpusForJobsOnly": True}}
        text = helm.template(given().tools["helm"], typed, only=["admission-policies"])
        policies = {item["metadata"]["name"]: item for item in yaml.safe_load_all(text)
                    if item and item["kind"] == "ValidatingAdmissionPolicy"}
        # Without its binding, as the others here have GPUs in pods of no job.
        kubectl("apply", "-f", "-", input=json.dumps(policies["trainyard-gpus-for-jobs"]))
        for name in policies:
            with self.subTest(name):
                checked = support.await_value(
                    lambda name=name: given().json("get", "validatingadmissionpolicy", name).get("status", {}),
                    lambda status: "observedGeneration" in status, "the policy is checked")
                self.assertEqual({}, checked.get("typeChecking", {}))
        self.assertEqual(9, len(policies))


class PriorityClassesTest(UserCase):
    """The list of a Queue applies when a job is written, also for users with all rights."""

    def setUp(self):
        super().setUp()
        self.queue("vision", ["urgent", "batch", "night"])
        self.wait_refused(self.job("probe", "vision", "other"))

    def queue(self, name, classes=None, **spec):
        body = {"apiVersion": "trainyard.dev/v1alpha1", "kind": "Queue", "metadata": {"name": name},
                "spec": {**spec, **({} if classes is None else {"allowedPriorityClasses": classes})}}
        kubectl("apply", "-f", "-", input=json.dumps(body))
        self.addCleanup(kubectl, "delete", "tyq", name, "--ignore-not-found")

    @staticmethod
    def job(name, queue=None, wanted=None):
        return job(name, replicas=1, gpus=1, **({"queue": queue} if queue else {}),
                   **({"priorityClassName": wanted} if wanted else {}))

    def tried(self, body, user="admin"):
        """The API server's message; empty if it has none."""
        try:
            self.as_user(user, "create", "--dry-run=server", "-f", "-", input=json.dumps(body))
        except E2EError as error:
            return str(error)
        return ""

    def wait_refused(self, body):
        """The API server follows policies, Queues and namespaces by watches."""
        return support.await_value(lambda: self.tried(body), bool, "it is refused")

    def test_a_class_that_the_queue_does_not_list_is_refused_by_name(self):
        words = 'spec.priorityClassName: queue vision does not allow PriorityClass "other", only urgent, batch and night'
        for user in ("admin", "edit"):
            self.assertIn(words, self.tried(self.job("mine", "vision", "other"), user))
        with self.assertRaises(E2EError) as caught:
            kubectl("create", "-n", self.namespace, "-f", "-", input=json.dumps(self.job("mine", "vision", "other")))
        self.assertIn(words, str(caught.exception))
        for wanted in ("urgent", "batch", "night", None):
            self.assertEqual("", self.tried(self.job("mine", "vision", wanted)), wanted)

    def test_simulate_reports_the_refusal_beforehand(self):
        file = given().dir / "refused.json"
        file.write_text(json.dumps(self.job("mine", "vision", "other")))
        done = support.run([support.program("trainyard"), "simulate", "-f", file, "-n", self.namespace,
                            f"--kubeconfig={given().kubeconfig}"])
        self.assertEqual(2, done.returncode, done.stdout + done.stderr)
        self.assertIn('spec.priorityClassName: queue vision does not allow PriorityClass "other"', done.stderr)

    def test_a_queue_may_list_none_or_leave_it_open(self):
        self.queue("plain", [])
        self.queue("open")
        self.assertIn('queue plain does not allow PriorityClass "batch", only jobs without any',
                      self.wait_refused(self.job("mine", "plain", "batch")))
        self.assertEqual("", self.tried(self.job("mine", "plain")))
        for queue in ("open", "not-there", None):
            self.assertEqual("", self.tried(self.job("mine", queue, "other")), queue)

    def test_a_list_that_is_too_long_is_not_printed(self):
        self.queue("long", [f"{number:02}-{'x' * 240}" for number in range(64)])
        self.assertIn("the job's queue does not allow this PriorityClass", self.wait_refused(self.job("mine", "long", "other")))

    def test_a_job_that_names_no_queue_is_checked_by_its_namespaces(self):
        self.assertEqual("", self.tried(self.job("mine", wanted="other")))
        self.queue("default", ["batch"])
        self.assertIn("queue default does not allow", self.wait_refused(self.job("mine", wanted="urgent")))
        kubectl("label", "namespace", self.namespace, "trainyard.dev/default-queue=vision")
        self.assertIn("queue vision does not allow", self.wait_refused(self.job("mine", wanted="other")))
        support.await_value(lambda: self.tried(self.job("mine", wanted="urgent")), lambda text: not text, "the label counts")

    def test_only_another_queue_or_class_is_checked_again(self):
        """A Queue whose list gets shorter prevents no edit, end or resize of an existing job."""
        self.queue("shrinks", ["batch"])
        kubectl("create", "-f", "-", input=json.dumps({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                                                       "metadata": {"name": "batch"}, "value": 1}))
        self.addCleanup(kubectl, "delete", "priorityclass", "batch")
        with support.watch_jobs(self.namespace) as jobs:
            self.as_user("admin", "create", "-f", "-", input=json.dumps(self.job("old", "shrinks", "batch")))
            wait_phase(jobs, self.namespace, "old", "Running")
            self.queue("shrinks", ["night"])
            self.wait_refused(self.job("new", "shrinks", "batch"))
            self.as_user("admin", "annotate", "tj/old", "note=mine")
            self.as_user("admin", "patch", "tj/old", "--type=merge", "-p", '{"spec":{"run":{"suspend":true}}}')
            for change in ({"priorityClassName": "other"}, {"queue": "vision", "priorityClassName": "other"}):
                self.refused("does not allow PriorityClass \"other\"", "admin", "patch", "tj/old", "--type=merge",
                             "-p", json.dumps({"spec": change}))
            self.as_user("admin", "patch", "tj/old", "--type=merge", "-p", '{"spec":{"priorityClassName":"night"}}')
            self.as_user("admin", "patch", "tj/old", "--type=merge",
                         "-p", '{"spec":{"queue":"vision","priorityClassName":null}}')
            # The operator takes its finalizer off.
            self.as_user("admin", "delete", "tj/old", "--wait=false")
            jobs.wait(lambda all_: not all_, "the job is gone")
