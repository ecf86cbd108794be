"""What admission does to pods, and races for names: pods enlarged by a LimitRange or by an injected sidecar, a quota, names
that are taken, templates edited between the reservation and the pods. A gang ends placed as a whole, or is pending
without a pod and reports why, with numbers.
"""
import time
import unittest

import support
from phases import ALL, NAME, SIZE, PhaseCase

RUNS = "whole"
CLUSTER = {"nodes": 6}
# Of 96 cores: two of these never fit one node, one of these does not either.
ONE_A_NODE, NOWHERE = 50, 100
SIDECAR = "sidecar.e2e.invalid"


class AdmissionCase(PhaseCase):
    def clean_waiting(self, reason, *words):
        """Waits until the gang is pending for that reason, with all the words, and has no pod."""
        def waits():
            pending = self.pending()
            return (pending.get("reason") == reason and all(word in pending["message"] for word in words)
                    and not self.members() and not self.gang().get("proposal"))
        self.wait(waits, f"it waits, {reason} with {words}")
        return self.pending()["message"]

    def still_waiting(self, seconds=3):
        """It makes no attempt for so long from now."""
        epoch, ends = self.gang().get("lastEpoch"), time.monotonic() + seconds

        def check():
            self.assertEqual(self.gang().get("lastEpoch"), epoch, self.seen.digest())
            self.assertEqual(self.members(), {})
            return time.monotonic() >= ends
        self.wait(check, "it goes on waiting")

    def patch(self, **spec):
        support.custom().patch_namespaced_custom_object(
            support.GROUP, support.VERSION, self.namespace, support.JOBS, NAME, {"spec": spec})

    def assert_first_attempt(self):
        self.assertEqual(self.gang()["placed"]["epoch"], 1, self.story())
        self.assertEqual(self.reasons(), ["Placed"])


class Enlarged(AdmissionCase):
    """The template requests half a node's GPUs and no cores: unchanged, two members would share a node."""

    def limit(self, cores, namespace=None):
        limits = [{"type": "Container", "defaultRequest": {"cpu": str(cores)}, "default": {"cpu": str(cores)}}]
        support.core().create_namespaced_limit_range(
            namespace or self.namespace, {"metadata": {"name": "defaults"}, "spec": {"limits": limits}})

    def inject(self, cores):
        """A sidecar for every pod of this namespace, by a policy: no webhook."""
        api = support.client.CustomObjectsApi(support.api_client())
        name = f"{self.namespace}.{SIDECAR}"
        group = ("admissionregistration.k8s.io", "v1")
        if "mutatingadmissionpolicies" not in support.kubectl("api-resources", f"--api-group={group[0]}"):
            self.skipTest("this API server has no MutatingAdmissionPolicy, which is stable since 1.36")
        # As an apply configuration: JSONPatch with a list of objects makes the API server of 1.36.3 panic.
        sidecar = ('Object{spec: Object.spec{initContainers: [Object.spec.initContainers{name: "sidecar", '
                   'image: "sidecar", restartPolicy: "Always", resources: Object.spec.initContainers.resources{'
                   f'requests: {{"cpu": "{cores}"}}}}}}]}}}}')
        policy = {"apiVersion": "/".join(group), "kind": "MutatingAdmissionPolicy", "metadata": {"name": name},
                  "spec": {"matchConstraints": {
                      "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.namespace}},
                      "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                                         "resources": ["pods"]}]},
                      "matchConditions": [{"name": "none-yet", "expression": "!has(object.spec.initContainers)"}],
                      "failurePolicy": "Fail", "reinvocationPolicy": "Never",
                      "mutations": [{"patchType": "ApplyConfiguration",
                                     "applyConfiguration": {"expression": sidecar}}]}}
        binding = {"apiVersion": "/".join(group), "kind": "MutatingAdmissionPolicyBinding",
                   "metadata": {"name": name}, "spec": {"policyName": name}}
        for plural, body in (("mutatingadmissionpolicies", policy), ("mutatingadmissionpolicybindings", binding)):
            api.create_cluster_custom_object(*group, plural, body)
            self.addCleanup(api.delete_cluster_custom_object, *group, plural, name)

        def injected():
            probe = support.core().create_namespaced_pod(
                self.namespace, support.pod("probe", 1), dry_run="All")
            return probe.spec.init_containers
        support.await_value(injected, bool, "the API server injects sidecars")

    def one_a_node(self):
        self.create(replicas=SIZE, gpus=4)
        self.assertEqual(len(set(self.whole())), SIZE)
        self.assert_first_attempt()

    def nowhere(self):
        self.create(replicas=SIZE, gpus=4)
        self.clean_waiting("TooLarge", f"{NOWHERE} cpu", "96 cpu")
        self.still_waiting()
        self.assertNotIn("Aborted", self.reasons())

    def test_limit_range_one_a_node(self):
        self.limit(ONE_A_NODE)
        self.one_a_node()

    def test_limit_range_nowhere(self):
        self.limit(NOWHERE)
        self.nowhere()

    def test_sidecar_one_a_node(self):
        self.inject(ONE_A_NODE)
        self.one_a_node()

    def test_sidecar_nowhere(self):
        self.inject(NOWHERE)
        self.nowhere()

    def test_enlarged_while_waiting(self):
        """The created pods are larger than planned: the barrier detects it, the next attempt uses the new size."""
        with self.taken(sorted(self.seen.nodes), 5):
            self.create(replicas=SIZE, gpus=4)
            self.clean_waiting("WaitingForCapacity", "4 nvidia.com/gpu")
            self.limit(ONE_A_NODE)
        self.assertEqual(len(set(self.whole())), SIZE)
        self.await_event("Aborted", "cpu")
        self.assertEqual(self.gang()["placed"]["epoch"], 2, self.story())


class TakenNames(AdmissionCase):
    def blocked(self, *words):
        self.await_event("Aborted", *words)
        self.clean_waiting("BackingOff", *words)

    def test_pod(self):
        support.core().create_namespaced_pod(self.namespace, support.pod(f"{NAME}-worker-2", 1))
        self.create()
        self.blocked("NameTaken", f"{self.namespace}/{NAME}-worker-2", "is not owned by this TrainingJob")
        foreign = self.seen.pods[(self.namespace, f"{NAME}-worker-2")]
        self.assertNotIn("deletionTimestamp", foreign["metadata"], "it is not ours to delete")
        support.core().delete_namespaced_pod(f"{NAME}-worker-2", self.namespace)
        self.whole()

    def test_service(self):
        support.core().create_namespaced_service(
            self.namespace, {"metadata": {"name": NAME}, "spec": {"ports": [{"port": 80}], "clusterIP": "None"}})
        self.create()
        self.blocked("NameTaken", f'services "{NAME}"')
        support.core().delete_namespaced_service(NAME, self.namespace)
        self.whole()

    def test_quota(self):
        """Capacity for three of four pods: none stays. The dry run of one pod succeeds."""
        support.core().create_namespaced_resource_quota(
            self.namespace, {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "3"}}})
        with support.Recorder(support.core().list_namespaced_resource_quota, self.namespace) as quotas:
            quotas.wait(lambda all_: all_[(self.namespace, "few")].get("status", {}).get("hard"), "it counts")
        self.create()
        self.blocked("exceeded quota", "few", "limited: pods=3")
        support.core().patch_namespaced_resource_quota("few", self.namespace, {"spec": {"hard": {"pods": "4"}}})
        self.whole()


class Edited(AdmissionCase):
    def edit(self, **run):
        """The template is immutable while the job is not suspended."""
        roles = self.job()["spec"]["roles"]
        roles[0]["template"]["spec"]["containers"][0]["image"] = "edited"
        self.patch(roles=roles, run={"suspend": False, **run})

    def images(self):
        return {pod["spec"]["containers"][0]["image"] for pod in self.members().values()}

    def test_not_without_suspending(self):
        with self.held("creating"):
            with self.assertRaises(support.client.exceptions.ApiException) as refused:
                self.edit()
            self.assertEqual(refused.exception.status, 422)
            self.assertIn("suspend", refused.exception.body)
        self.whole()
        self.assertEqual(self.images(), {"train"})
        self.assert_first_attempt()

    def test_between_reservation_and_pods(self):
        with self.door.hold("CREATE", self.namespace) as hold:
            self.create()
            hold.wait(SIZE)
            self.patch(run={"suspend": True})
            self.edit()
        self.whole()
        self.assertEqual(self.images(), {"edited"})
        self.await_event("Aborted")

    def test_between_pods_and_release(self):
        with self.held("creating"):
            self.patch(run={"suspend": True})
            self.edit()
        self.whole()
        self.assertEqual(self.images(), {"edited"})
        self.await_event("Aborted")


class Suspended(AdmissionCase):
    """In every phase: all of its pods are deleted; resumed, the whole gang runs."""

    def suspend_and_resume(self, phase):
        with self.held(phase):
            self.patch(run={"suspend": True})
        self.reach("Suspended")
        self.wait(lambda: not self.members(), "its pods are gone")
        self.patch(run={"suspend": False})
        self.whole()


def _make_test(phase):
    def test(self):
        self.suspend_and_resume(phase)
    return test


for _phase in ALL:
    setattr(Suspended, f"test_{_phase}", _make_test(_phase))

if __name__ == "__main__":
    unittest.main()
