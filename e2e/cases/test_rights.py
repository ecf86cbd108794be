"""The chart grants what the programs request, as the API server's audit log has it: no right is missing, none is unused.

One story, in which every request of a program occurs: gangs and a single-pod job to their end, jobs that are deleted while
they run, names that foreign objects have, users who write at the same time, an election lost and won, certificates made.
"""
import json
import threading
import unittest
from dataclasses import dataclass

import support
from support import EXTENDER, OPERATOR, SYSTEM, core, given, job, kubectl, wait_phase

import yaml
from lib import helm, trainyard

CLUSTER = {"nodes": 4, "audit": True}

# Granted, but asked for where no audit log shows it, or not within this story.
NOT_IN_THE_LOG = {
    # Checked by the admission plug-in OwnerReferencesPermissionEnforcement, where a cluster has it, when a pod is
    # created whose owner reference blocks the owner's deletion.
    "operator: update trainyard.dev/trainingjobs/finalizers",
    # Only where a policy cannot be used: cases/test_queues.py.
    "operator: get /configmaps trainyard-policy in trainyard-system",
}
# What was learnt is written a minute after it was learnt at the earliest: a slow machine's story is long enough.
SOMETIMES_IN_THE_LOG = {"operator: patch /configmaps trainyard-run-times in trainyard-system",
                        # After a conflict.
                        "operator: get trainyard.dev/gangs", "operator: get batch/jobs"}


@dataclass(frozen=True, order=True)
class Right:
    program: str
    verb: str
    resource: str       # GROUP/RESOURCE[/SUBRESOURCE]
    name: str = ""      # where the rule is for one name
    namespace: str = ""  # where the rule is for one namespace

    def __str__(self):
        where = f" {self.name}" if self.name else ""
        return f"{self.program}: {self.verb} {self.resource}{where}" + (f" in {self.namespace}" if self.namespace else "")


def granted():
    """Every right that the chart's roles give, one by one."""
    objects = [item for item in yaml.safe_load_all(helm.template(given().tools["helm"], only=["rbac"])) if item]
    found = set()
    for item in objects:
        if item["kind"] not in ("ClusterRole", "Role"):
            continue
        program = item["metadata"]["name"].removeprefix("trainyard-")
        for rule in item["rules"]:
            found |= {Right(program, verb, f"{group}/{resource}", name, item["metadata"].get("namespace", ""))
                      for verb in rule["verbs"] for group in rule["apiGroups"]
                      for resource in rule["resources"] for name in rule.get("resourceNames", [""])}
    return found


def requests():
    """The programs' requests to the API server: the audit log's lines."""
    with open(given().dir / "audit.log", encoding="utf-8") as log:
        for line in log:
            entry = json.loads(line)
            user = entry["user"]["username"]
            if user.startswith(f"system:serviceaccount:{SYSTEM}:trainyard-") and "objectRef" in entry:
                yield user.rpartition("-")[2], entry


def asked(rights):
    """The rights that were used; a request that no right covers is a Right of its own."""
    by_verb = {}
    for right in rights:
        by_verb.setdefault((right.program, right.verb, right.resource), []).append(right)
    found = set()
    for program, entry in requests():
        about = entry["objectRef"]
        resource = f"{about.get('apiGroup', '')}/{about['resource']}"
        if about.get("subresource"):
            resource += f"/{about['subresource']}"
        covering = [right for right in by_verb.get((program, entry["verb"], resource), [])
                    if right.name in ("", about.get("name", "")) and right.namespace in ("", about.get("namespace"))]
        found |= set(covering) or {Right(program, entry["verb"], resource, about.get("name", ""),
                                         about.get("namespace", ""))}
    return found


class RightsTest(support.Case):
    def test_granted_rights_are_the_requested_ones(self):
        with support.watch_jobs() as jobs, support.watch_pods() as pods:
            self.names_that_are_taken(jobs)
            self.gangs_to_their_end(jobs)
            self.gangs_of_others(pods)
            self.deleted_while_it_runs(jobs, pods)
            self.claims_that_do_not_exist(jobs)
            self.events_that_repeat()
            self.users_who_write_at_the_same_time(jobs)
            self.another_leader_makes_certificates(jobs)
        rights = granted()
        used = asked(rights)
        refused = {f"{program}: {entry['verb']} {entry['requestURI']}" for program, entry in requests()
                   if entry.get("responseStatus", {}).get("code") == 403}
        self.assertEqual(set(), refused, "requests that were refused")
        self.assertEqual([], sorted(map(str, used - rights)), "asked for and not granted")
        self.assertEqual(sorted(NOT_IN_THE_LOG), sorted(set(map(str, rights - used)) - SOMETIMES_IN_THE_LOG),
                         "granted and not asked for")

    def gangs_to_their_end(self, jobs):
        support.create_job(self.namespace, job("gang", replicas=2, run_for="1s",
                                               gang={"disruptionBudget": True}))
        support.create_job(self.namespace, job("alone", replicas=1, run_for="1s"))
        support.create_job(self.namespace, job("launched", replicas=2, run_for="1s", framework="MPI"))
        for name in ("gang", "alone", "launched"):
            wait_phase(jobs, self.namespace, name, "Succeeded")
        support.create_job(self.namespace, job("brief", replicas=1, run_for="1s", run={"ttlSecondsAfterFinished": 1}))
        jobs.wait(lambda all_: (self.namespace, "brief") in all_, "brief is there")
        jobs.wait(lambda all_: (self.namespace, "brief") not in all_, "its time after its end is over")
        support.create_job(self.namespace, job("fails", replicas=2, run_for="1s", annotations={support.EXIT_CODE: "1"},
                                               failure={"maxRestarts": 0}))
        wait_phase(jobs, self.namespace, "fails", "Failed")

    def gangs_of_others(self, pods):
        """A Job in a queue, and a pod that is evicted because its Gang is held."""
        place, queue = [{"name": "trainyard.dev/place"}], {"labels": {"trainyard.dev/queue": "default"}}
        template = {"metadata": {"annotations": {support.RUN_FOR: "1s"}}, "spec": {
            "restartPolicy": "Never", "containers": [{"name": "c", "image": "c"}]}}
        with support.watch_gangs(self.namespace) as gangs:
            kubectl("apply", "-n", self.namespace, "-f", "-", input=json.dumps({
                "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "indexed", **queue}, "spec": {
                    "suspend": True, "completionMode": "Indexed", "completions": 2, "parallelism": 2, "template": template}}))
            gangs.wait(lambda all_: support.phase(all_.get((self.namespace, "indexed.job"))) == "Succeeded", "the Job has ended")
            kubectl("delete", "job", "indexed", "-n", self.namespace)
            core().create_namespaced_pod(self.namespace, {"metadata": {"name": "bare", **queue}, "spec": {
                "schedulingGates": place, "containers": [{"name": "c", "image": "c"}]}})
            gangs.wait(lambda all_: support.phase(all_.get((self.namespace, "bare.pod"))) == "Running", "the pod runs")
            kubectl("patch", "gang", "bare.pod", "-n", self.namespace, "--type=merge", "-p", '{"spec":{"hold":true}}')
            pods.wait(lambda all_: (self.namespace, "bare") not in all_, "the pod is evicted")
            gangs.wait(lambda all_: not all_, "no Gang is left")

    def deleted_while_it_runs(self, jobs, pods):
        support.create_job(self.namespace, job("unwanted", replicas=2))
        wait_phase(jobs, self.namespace, "unwanted", "Running")
        support.delete_job(self.namespace, "unwanted")
        jobs.wait(lambda all_: (self.namespace, "unwanted") not in all_, "the job is gone")
        pods.wait(lambda all_: not support.members(all_, "unwanted"), "its pods are gone")

    def claims_that_do_not_exist(self, jobs):
        """A template that names a ResourceClaimTemplate: no member is created without it."""
        claims = job("claims", replicas=1)
        claims["spec"]["roles"][0]["template"]["spec"]["resourceClaims"] = [{"name": "nic", "resourceClaimTemplateName": "nic"}]
        support.create_job(self.namespace, claims)
        jobs.wait(lambda all_: "does not exist" in json.dumps(all_.get((self.namespace, "claims"), {}).get("status", {})),
                  "the claim that is missing is named")
        support.delete_job(self.namespace, "claims")

    def names_that_are_taken(self, jobs):
        """A foreign Service and a foreign pod, each under a name that a job needs."""
        space = self.namespace
        core().create_namespaced_service(space, {"metadata": {"name": "service"}, "spec": {"ports": [{"port": 1}]}})
        core().create_namespaced_pod(space, support.pod("pod-worker-0", gpus=0))
        for name in ("service", "pod"):
            support.create_job(space, job(name, replicas=2))
        for name in ("service", "pod"):
            jobs.wait(lambda all_, name=name: "NameTaken" in json.dumps(all_.get((space, name), {}).get("status", {})),
                      f"{name} reports that its name is taken")

    def events_that_repeat(self):
        """The names are still taken: a repeated message is counted in the same Event."""
        support.await_value(lambda: [entry for _, entry in requests()
                                     if entry["objectRef"]["resource"] == "events" and entry["verb"] == "patch"],
                            bool, "an Event that repeats is patched", timeout=90)
        for name in ("service", "pod"):
            support.delete_job(self.namespace, name)

    def users_who_write_at_the_same_time(self, jobs):
        """A status that is written concurrently conflicts, and is read again: a job's and its queue's."""
        def read():
            return {entry["objectRef"]["resource"] for program, entry in requests()
                    if program == "operator" and entry["verb"] == "get"}

        api = "/apis/trainyard.dev/v1alpha1"
        given().api.call("POST", f"{api}/queues", {"apiVersion": "trainyard.dev/v1alpha1", "kind": "Queue",
                                                   "metadata": {"name": "edited"}, "spec": {}})
        self.addCleanup(kubectl, "delete", "tyq", "edited")
        for attempt in range(20):
            if {"trainingjobs", "queues"} <= read():
                return
            name = f"busy{attempt}"
            support.create_job(self.namespace, job(name, replicas=2, run_for="1s", queue="edited"))
            over = threading.Event()
            paths = [f"{api}/namespaces/{self.namespace}/trainingjobs/{name}", f"{api}/queues/edited"]
            writers = [threading.Thread(target=self.annotate, args=(path, over)) for path in paths for _ in range(2)]
            for writer in writers:
                writer.start()
            try:
                wait_phase(jobs, self.namespace, name, "Succeeded")
            finally:
                over.set()
                for writer in writers:
                    writer.join()
        self.fail(f"no status write of the operator ever met another writer of each kind; it has read {read()}")

    def annotate(self, path, over):
        count = 0
        while not over.is_set():
            count += 1
            given().api.call("PATCH", path, {"metadata": {"annotations": {"count": str(count)}}},
                             "application/merge-patch+json")

    def another_leader_makes_certificates(self, jobs):
        secrets = helm.template(given().tools["helm"], only=["certificates"])
        kubectl("apply", "-f", "-", input=secrets)
        given().stop(OPERATOR)
        kubectl("delete", "lease", OPERATOR, "-n", SYSTEM)
        port = given().spare_ports[0]
        given().run("heir", [*given().processes()[OPERATOR]["argv"][:1],
                             f"--kubeconfig={given().dir}/{OPERATOR}.kubeconfig", f"--listen=127.0.0.1:{port}",
                             "--certificates-for=trainyard-extender"], ready=f"http://127.0.0.1:{port}/readyz")
        support.await_value(
            lambda: [core().read_namespaced_secret(f"trainyard-extender-{which}", SYSTEM).data or {}
                     for which in ("ca", "tls", "client")],
            lambda data: all(data) and all("ca.crt" in each for each in data), "the three Secrets are filled")
        support.create_job(self.namespace, job("after", replicas=2, run_for="1s"))
        wait_phase(jobs, self.namespace, "after", "Succeeded")


class ChartTest(unittest.TestCase):
    """The chart's objects, as the API server accepts them."""

    VALUES = {
        "default": {},
        "second scheduler": {"scheduler": {"second": {"enabled": True}}},
        "everything": {"scheduler": {"second": {"enabled": True, "replicas": 2}},
                       "networkPolicy": {"enabled": True, "schedulerCIDRs": ["10.0.0.1/32"]},
                       "operator": {"tolerations": [{"operator": "Exists"}], "nodeSelector": {"a": "b"},
                                    "podLabels": {"team": "x"}, "podAnnotations": {"note": "y"},
                                    "topologySpread": [{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone",
                                                        "whenUnsatisfiable": "ScheduleAnyway"}]},
                       "commonLabels": {"cost-center": "42"},
                       "admissionPolicy": {"schedulerNames": ["default-scheduler"], "exemptNamespaces": []},
                       "image": {"pullSecrets": [{"name": "mine"}]},
                       "extender": {"service": {"clusterIP": "10.0.200.1"}},
                       "crds": {"keep": False},
                       "policy": yaml.safe_load((support.ROOT / "examples" / "policy.yaml").read_text())},
        "placeholders": {"policy": {"provisioning": {"with": "PlaceholderPods"}}},
        "both families": {"ipFamily": "DualStack"},
        "secure metrics": {"metrics": {"secure": True}},
        "console inside of the pod": {"console": {"enabled": True}},
        "console on the network": {"console": {"enabled": True, "tlsSecret": "console-tls",
                                               "from": [{"namespaceSelector": {}}]},
                                   "networkPolicy": {"enabled": True, "schedulerCIDRs": ["10.0.0.1/32"]}},
        "agents": {"agent": {"enabled": True, "namespace": "default", "createNamespace": False}},
        "asks for nodes": {"policy": {"provisioning": {"with": "ProvisioningRequest"}}},
        "finalizers": {"admissionPolicy": {"podFinalizers": ["example.com/audit"]}},
        "one replica": {"operator": {"replicas": 1}, "extender": {"replicas": 1}},
        "existing": {"certificates": {"source": "existing", "existing": {"serverSecret": "s", "clientSecret": "c"}}},
        "pods of tenants": {"admissionPolicy": {
            "gpusForJobsOnly": True, "highestPriority": -5, "systemNamespaces": ["a", "b-*"], "systemUsers": ["x:y"],
            "antiAffinityTopologyKeys": ["kubernetes.io/hostname"]}},
        "no namespace of the system": {"admissionPolicy": {"systemNamespaces": [], "exemptNamespaces": []}},
        "bare": {"rbac": {"create": False}, "admissionPolicy": {
            "reserved": False, "jobMetadata": False, "priorityClasses": False, "antiAffinity": False, "systemClasses": False}, "crds": {"install": False}, "metrics": {"annotations": False},
                 "podDisruptionBudget": {"enabled": False}},
    }
    # Kinds that only clusters with Prometheus' operator have.
    MONITORED = {"metrics": {"serviceMonitor": {"enabled": True}, "rules": {"enabled": True},
                             "dashboards": {"enabled": True}}}
    REFUSED = {
        "an unknown key": ({"operator": {"replica": 2}}, "replica"),
        "a wrong type": ({"extender": {"replicas": "two"}}, "replicas"),
        "an unknown source": ({"certificates": {"source": "mine"}}, "source"),
        "an address missing": ({"networkPolicy": {"enabled": True}}, "schedulerCIDRs"),
        "an unknown key of the policy": ({"policy": {"relaxation": {"perGPU": "5s"}}}, "perGPU"),
        "a duration without unit": ({"policy": {"usageHalfLife": "5"}}, "usageHalfLife"),
        "a GPU without a vendor": ({"policy": {"gpuResources": ["gpu"]}}, "gpuResources"),
        "neither a duration nor never": ({"policy": {"unreachableGrace": "soon"}}, "unreachableGrace"),
        "a label that selects": ({"commonLabels": {"app.kubernetes.io/name": "x"}}, "app.kubernetes.io/name"),
        "a spread without key": ({"operator": {"topologySpread": [{"maxSkew": 1}]}}, "topologySpread"),
        "an agent among the other programs": ({"agent": {"enabled": True, "namespace": "trainyard-system"}}, "agent.namespace"),
        "an agent's policy that is none": ({"agent": {"policy": "srpt"}}, "policy"),
        "a token without a key": ({"metrics": {"serviceMonitor": {"tokenSecret": {"name": "x"}}}}, "tokenSecret"),
        "a namespace that is none": ({"admissionPolicy": {"systemNamespaces": ["*-system"]}}, "systemNamespaces"),
        "a user with quotes": ({"admissionPolicy": {"systemUsers": ["a'b"]}}, "systemUsers"),
        "a Secret missing": ({"certificates": {"source": "existing"}}, "certificates.existing.serverSecret"),
    }

    def test_every_set_of_values_makes_good_objects(self):
        for name, values in self.VALUES.items():
            with self.subTest(name):
                rendered = helm.template(given().tools["helm"], values)
                objects = [item for item in yaml.safe_load_all(rendered) if item]
                mine = [item for item in objects if item["kind"] not in ("TrainingJob", "Queue")]
                text = json.dumps({"apiVersion": "v1", "kind": "List", "items": mine})
                said = kubectl("apply", "--dry-run=server", "--validate=strict", "--server-side", "--force-conflicts",
                               "--field-manager=e2e-chart", "-f", "-", input=text)
                self.assertEqual(len(mine), len(said.splitlines()), said)

    def test_every_set_of_values_passes_helm_lint(self):
        for name, values in {**self.VALUES, "monitored": self.MONITORED}.items():
            with self.subTest(name):
                helm.lint(given().tools["helm"], values)

    def test_monitoring_objects_are_made_only_on_request(self):
        """Prometheus' operator is not on this cluster: the objects that need it are made only on request."""
        def kinds(values):
            text = helm.template(given().tools["helm"], values)
            return {item["kind"] for item in yaml.safe_load_all(text) if item}
        self.assertFalse({"ServiceMonitor", "PrometheusRule"} & kinds({}))
        self.assertLessEqual({"ServiceMonitor", "PrometheusRule"}, kinds(self.MONITORED))

    def test_common_labels_are_everywhere_and_select_nothing(self):
        text = helm.template(given().tools["helm"], {**self.VALUES["everything"], "commonLabels": {"cost-center": "42"}})
        for item in yaml.safe_load_all(text):
            if not item:
                continue
            with self.subTest(f"{item['kind']} {item['metadata']['name']}"):
                self.assertEqual("42", item["metadata"]["labels"]["cost-center"])
                spec = item.get("spec", {})
                if item["kind"] in ("Deployment", "DaemonSet", "Job"):
                    self.assertEqual("42", spec["template"]["metadata"]["labels"]["cost-center"])
                self.assertNotIn("cost-center", json.dumps(spec.get("selector", {})))

    def test_annotations_of_the_operator_are_guarded(self):
        """The API server's own verdict is in test_user_roles.py."""
        text = helm.template(given().tools["helm"], only=["admission-policies"])
        rules, = [item["spec"]["validations"] for item in yaml.safe_load_all(text)
                  if item and item["kind"] == "ValidatingAdmissionPolicy" and item["metadata"]["name"].endswith("gang-pods")]
        for key in ("membership", "network"):
            with self.subTest(key):
                self.assertTrue(any(f"[?'trainyard.dev/{key}']" in rule["expression"] for rule in rules))

    def test_the_chart_is_of_the_programs_version(self):
        chart = yaml.safe_load((helm.CHART / "Chart.yaml").read_text())
        said = support.run([trainyard.binaries(support.bin_dir())[OPERATOR], "--version"]).stdout.split()
        self.assertEqual([OPERATOR, chart["appVersion"]], said)

    def test_a_second_scheduler_is_of_upstreams_version(self):
        """Managed clusters append a suffix of their own, for which there is no image."""
        second = {"scheduler": {"second": {"enabled": True}}}
        for version in ("v1.30.4-eks-a737599", "v1.30.4+k3s1", "v1.30.4-gke.1348000", "v1.30.4"):
            with self.subTest(version):
                text = helm.template(given().tools["helm"], second, only=["second-scheduler"], kubernetes=version)
                self.assertIn("image: registry.k8s.io/kube-scheduler:v1.30.4\n", text)
                # It has no other health check before 1.31.
                self.assertEqual(2, text.count("path: /healthz"))
        text = helm.template(given().tools["helm"], second, only=["second-scheduler"], kubernetes="v1.31.0-eks-1")
        self.assertIn("path: /readyz", text)
        self.assertIn("path: /livez", text)
        with self.assertRaisesRegex(Exception, "the operator's Lease has that name"):
            helm.template(given().tools["helm"], {"scheduler": {"second": {"enabled": True, "name": OPERATOR}}})

    def test_dashboards_may_be_without_labels(self):
        for labels in (None, {"grafana_dashboard": None}):
            values = {"metrics": {"dashboards": {"enabled": True, "labels": labels}}}
            for item in yaml.safe_load_all(helm.template(given().tools["helm"], values, only=["dashboards"])):
                self.assertNotIn("grafana_dashboard", item["metadata"]["labels"])

    def test_every_version_of_a_cluster_is_accepted_with_any_suffix(self):
        """A version before the first Kubernetes with all required features is refused."""
        names = ("v1.30.4", "v1.30.4-eks-a737599", "v1.31.6-gke.1020000", "v1.32.1+k3s1", "v1.32.3-eks-123", "v1.33.0-rc.1",
                 "v1.33.2-gke.100", "v1.36.3")
        for version in names:
            for name, values in self.VALUES.items():
                with self.subTest(f"{version}, {name}"):
                    self.assertIn("kind: Deployment", helm.template(given().tools["helm"], values, kubernetes=version))
        with self.assertRaises(Exception) as caught:
            helm.template(given().tools["helm"], kubernetes="v1.29.15")
        self.assertIn("incompatible", str(caught.exception))

    def test_addresses_are_of_the_requested_family(self):
        def rendered(values):
            text = helm.template(given().tools["helm"], {**self.MONITORED, **values})
            return {(item["kind"], item["metadata"]["name"]): item for item in yaml.safe_load_all(text) if item}
        policies = {"IPv4": None, "IPv6": "SingleStack", "DualStack": "PreferDualStack"}
        for family, policy in policies.items():
            objects = rendered({"ipFamily": family, "agent": {"enabled": True},
                                "console": {"enabled": True, "tlsSecret": "console-tls"}})
            listens = [argument for kind in ("Deployment", "DaemonSet") for key, item in objects.items() if key[0] == kind
                       for container in item["spec"]["template"]["spec"]["containers"]
                       for argument in container["args"] if "listen=" in argument]
            with self.subTest(family):
                self.assertEqual(4, len(listens), listens)
                self.assertTrue(all(("=[::]:" in each) == (family != "IPv4") for each in listens), listens)
                services = [item["spec"] for key, item in objects.items() if key[0] == "Service"]
                self.assertEqual(5, len(services))
                for spec in services:
                    self.assertEqual(policy, spec.get("ipFamilyPolicy"))
                    self.assertEqual(["IPv6"] if family == "IPv6" else None, spec.get("ipFamilies"))
        config = rendered({"ipFamily": "IPv6", "extender": {"service": {"clusterIP": "fd00:10:96::42"}}})
        stanza = yaml.safe_load(config["ConfigMap", "trainyard-scheduler-config"]["data"]["extenders.yaml"])
        self.assertEqual("https://[fd00:10:96::42]:443/v1/extender", stanza["extenders"][0]["urlPrefix"])

    def test_the_prefix_of_names_can_be_changed(self):
        values = {**self.MONITORED, **self.VALUES["second scheduler"], "agent": {"enabled": True}}
        def rendered(more, only=()):
            text = helm.template(given().tools["helm"], {**values, **more}, only=only)
            return [item for item in yaml.safe_load_all(text) if item and item["kind"] != "CustomResourceDefinition"]
        names = lambda objects: sorted((item["kind"], item["metadata"]["name"]) for item in objects)
        usual, named = rendered({}), rendered({"fullnameOverride": "acme-gangs"})
        self.assertEqual(names(named), names(rendered({"nameOverride": "acme-gangs"})))
        # What the programs know by name, and the agent's namespace, which has a value of its own.
        fixed = {("Lease", "trainyard-operator"), ("Lease", "trainyard-scheduler"),
                 ("ConfigMap", "trainyard-run-times"), ("Namespace", "trainyard-agent")}
        self.assertEqual(sorted(each if each in fixed else (each[0], each[1].replace("trainyard", "acme-gangs", 1))
                                for each in names(usual)), names(named))
        there = set(names(named))
        for item in named:
            with self.subTest(f"{item['kind']} {item['metadata']['name']}"):
                self.assertLessEqual(set(self.referred_to(item)), there)
        # What is called by name is called by the new one.
        config, = rendered({"fullnameOverride": "acme-gangs"}, ["scheduler-config"])
        self.assertIn(f"https://acme-gangs-extender.{SYSTEM}.svc:443", config["data"]["extenders.yaml"])
        self.assertIn(f"serverName: acme-gangs-extender.{SYSTEM}.svc", config["data"]["extenders.yaml"])
        operator = next(item for item in named if item["kind"] == "Deployment" and item["metadata"]["name"].endswith("operator"))
        self.assertIn("--certificates-for=acme-gangs-extender", operator["spec"]["template"]["spec"]["containers"][0]["args"])

    @staticmethod
    def referred_to(item):
        """(kind, name) of the chart's objects that it needs."""
        if "roleRef" in item and not item["roleRef"]["name"].startswith(("system:", "extension-")):
            yield item["roleRef"]["kind"], item["roleRef"]["name"]
        for subject in item.get("subjects", []):
            yield subject["kind"], subject["name"]
        if item["kind"] not in ("Deployment", "DaemonSet"):
            return
        pod = item["spec"]["template"]["spec"]
        yield "ServiceAccount", pod["serviceAccountName"]
        for volume in pod.get("volumes", []):
            if "configMap" in volume:
                yield "ConfigMap", volume["configMap"]["name"]
            if "secret" in volume:
                yield "Secret", volume["secret"]["secretName"]

    def test_secure_metrics_are_scraped_by_https_with_a_token(self):
        def rendered(metrics):
            values = {**self.MONITORED, "agent": {"enabled": True}}
            values["metrics"] = {**values["metrics"], **metrics}
            text = helm.template(given().tools["helm"], values)
            return {(item["kind"], item["metadata"]["name"]): item for item in yaml.safe_load_all(text) if item}

        def endpoint(objects, name):
            found, = objects["ServiceMonitor", name]["spec"]["endpoints"]
            return found
        reviews = {("tokenreviews", "create"), ("subjectaccessreviews", "create")}
        for secure in (False, True):
            objects = rendered({"secure": secure})
            with self.subTest(secure=secure):
                for program in (OPERATOR, EXTENDER, "trainyard-agent"):
                    rules = {(resource, verb) for rule in objects["ClusterRole", program]["rules"]
                             for resource in rule["resources"] for verb in rule["verbs"]}
                    self.assertEqual(reviews if secure else set(), rules & reviews)
                    item = objects.get(("Deployment", program)) or objects["DaemonSet", program]
                    container, = item["spec"]["template"]["spec"]["containers"]
                    self.assertEqual(secure, "--metrics-secure" in container["args"])
                    for probe in ("readinessProbe", "livenessProbe"):
                        self.assertEqual("HTTPS" if secure else None, container[probe]["httpGet"].get("scheme"))
                    self.assertEqual("https" if secure else None,
                                     item["spec"]["template"]["metadata"]["annotations"].get("prometheus.io/scheme"))
                self.assertEqual(secure, ("ClusterRole", "trainyard-metrics-reader") in objects)
                for name in ("trainyard", "trainyard-agent"):
                    self.assertEqual("https" if secure else None, endpoint(objects, name).get("scheme"))
                    self.assertEqual(secure, "bearerTokenFile" in endpoint(objects, name))
        self.assertEqual({"ca": {"secret": {"name": "trainyard-extender-tls", "key": "ca.crt"}},
                          "serverName": f"trainyard-extender.{SYSTEM}.svc"}, endpoint(objects, "trainyard")["tlsConfig"])
        objects = rendered({"secure": True, "serviceMonitor": {"enabled": True, "tokenSecret": {"name": "scrape", "key": "token"}}})
        for name in ("trainyard", "trainyard-agent"):
            self.assertEqual({"credentials": {"name": "scrape", "key": "token"}}, endpoint(objects, name)["authorization"])
            self.assertNotIn("bearerTokenFile", endpoint(objects, name))

    def test_agents_only_on_request_and_with_one_capability(self):
        program = given().tools["helm"]
        self.assertNotIn("kind: DaemonSet", helm.template(program))
        rendered = helm.template(program, {"agent": {"enabled": True, "rate": "25gbit"}}, only=["agent"])
        objects = {each["kind"]: each for each in yaml.safe_load_all(rendered) if each}
        self.assertEqual([{"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "watch"]}],
                         objects["ClusterRole"]["rules"])
        self.assertEqual("privileged", objects["Namespace"]["metadata"]["labels"]["pod-security.kubernetes.io/enforce"])
        self.assertEqual({"trainyard-agent"}, {each["metadata"].get("namespace", "trainyard-agent") for each in objects.values()})
        container, = objects["DaemonSet"]["spec"]["template"]["spec"]["containers"]
        self.assertEqual({"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                          "capabilities": {"drop": ["ALL"], "add": ["NET_ADMIN"]}}, container["securityContext"])
        self.assertIn("--rate=25gbit", container["args"])

    def test_jobs_are_not_deleted_with_the_chart(self):
        """Unless requested: neither with the release nor when the CRDs leave it."""
        for values, kept in (({}, True), ({"crds": {"keep": False}}, False)):
            objects = list(yaml.safe_load_all(helm.template(given().tools["helm"], values, only=["crds"])))
            self.assertEqual(3, len(objects))
            for each in objects:
                policy = each["metadata"].get("annotations", {}).get("helm.sh/resource-policy")
                self.assertEqual("keep" if kept else None, policy)

    def test_images_by_their_digests(self):
        """Each program has its own, as tools/images writes them; a program without one is named by its tag."""
        digest = "sha256:" + "a" * 64
        text = helm.template(given().tools["helm"], {"image": {"digests": {OPERATOR: digest}}}, only=["operator", "extender"])
        images = {item["metadata"]["name"]: item["spec"]["template"]["spec"]["containers"][0]["image"]
                  for item in yaml.safe_load_all(text) if item and item["kind"] == "Deployment"}
        self.assertTrue(images[OPERATOR].endswith("@" + digest), images)
        self.assertNotIn("@", images[EXTENDER])
        for wrong in ({OPERATOR: "latest"}, {"trainyard-other": digest}):
            with self.assertRaises(Exception) as caught:
                helm.template(given().tools["helm"], {"image": {"digests": wrong}})
            self.assertIn("digests", str(caught.exception))

    def test_rendering_twice_gives_the_same(self):
        program = given().tools["helm"]
        self.assertEqual(helm.template(program), helm.template(program))

    def test_contradicting_values_are_refused_with_a_message(self):
        for name, (values, word) in self.REFUSED.items():
            with self.subTest(name), self.assertRaises(Exception) as caught:
                helm.template(given().tools["helm"], values)
            self.assertIn(word, str(caught.exception))

    def test_programs_and_scheduler_use_the_same_gpus(self):
        """One value; a program that reads it only at its start is restarted."""
        names = ["nvidia.com/gpu", "amd.com/gpu", "nvidia.com/mig-1g.5gb"]
        def rendered(values):
            text = helm.template(given().tools["helm"], values, only=["scheduler-config", "operator", "extender"])
            return {(item["kind"], item["metadata"]["name"]): item for item in yaml.safe_load_all(text) if item}
        for values, expected in (({}, ["nvidia.com/gpu"]), ({"policy": {"gpuResources": names}}, names)):
            objects = rendered(values)
            stanza = yaml.safe_load(objects["ConfigMap", "trainyard-scheduler-config"]["data"]["extenders.yaml"])
            self.assertEqual(expected, [each["name"] for each in stanza["extenders"][0]["managedResources"]])
            policy = yaml.safe_load(objects["ConfigMap", "trainyard-policy"]["data"]["policy.yaml"]) or {}
            self.assertEqual(expected, policy.get("gpuResources", ["nvidia.com/gpu"]))
            for program in (OPERATOR, EXTENDER):
                pod = objects["Deployment", program]["spec"]["template"]
                self.assertIn("--policy=/etc/trainyard/policy/policy.yaml", pod["spec"]["containers"][0]["args"])
                self.assertIn({"name": "policy", "configMap": {"name": "trainyard-policy"}}, pod["spec"]["volumes"])
                self.assertEqual(bool(values), "trainyard.dev/gpu-resources" in pod["metadata"].get("annotations", {}))

    def test_the_stanza_is_what_a_scheduler_reads(self):
        objects = yaml.safe_load_all(helm.template(given().tools["helm"], only=["scheduler-config"]))
        config = yaml.safe_load(next(objects)["data"]["extenders.yaml"])
        self.assertEqual(100, config["percentageOfNodesToScore"])
        stanza = config["extenders"][0]
        self.assertEqual(f"https://{EXTENDER}.{SYSTEM}.svc:443/v1/extender", stanza["urlPrefix"])
        self.assertEqual(f"{EXTENDER}.{SYSTEM}.svc", stanza["tlsConfig"]["serverName"])
        self.assertFalse(stanza["ignorable"])
