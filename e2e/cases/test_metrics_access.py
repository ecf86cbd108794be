"""Metrics by HTTPS for permitted tokens: a real Prometheus, the real API server, both programs beside those of the
cluster."""
import collections
import http.client
import json
import shutil
import signal
import ssl
import time
import unittest
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

import support
from support import EXTENDER, OPERATOR, SYSTEM, core, given, kubectl

from lib import helm
from lib.api import fetch
from lib.prometheus import Prometheus

CLUSTER = {"nodes": 1, "audit": True}
SECURE = {OPERATOR: f"{OPERATOR}-secure", EXTENDER: f"{EXTENDER}-secure"}
METRICS = {}


def setUpModule():
    """Beside those of the cluster: a standby replica asks and answers as the leader does."""
    rights = helm.template(given().tools["helm"], {"metrics": {"secure": True}}, only=["rbac"])
    kubectl("apply", "--server-side", "--force-conflicts", "--field-manager=e2e", "-f", "-", input=rights)
    cluster = given()
    for program, listen in ((OPERATOR, "--listen"), (EXTENDER, "--metrics-listen")):
        port = cluster.spare_ports.pop(0)
        argv = [each for each in cluster.processes()[program]["argv"] if not each.startswith(listen + "=")]
        argv += [f"{listen}=127.0.0.1:{port}", "--metrics-secure"]
        if program == OPERATOR:
            argv += ["--identity=secure", f"--metrics-tls-cert={cluster.pki}/extender.crt",
                     f"--metrics-tls-key={cluster.pki}/extender.key"]
        else:
            argv = [each for each in argv if not each.startswith("--listen=")]
            argv += [f"--listen=127.0.0.1:{cluster.spare_ports.pop(0)}"]
        METRICS[program] = f"https://127.0.0.1:{port}/metrics"
        # Kubelets probe like that: without a token, and without a look at the certificate.
        cluster.run(SECURE[program], argv, ready=f"https://127.0.0.1:{port}/readyz", metrics=METRICS[program])


def get(url, token=None, source="127.0.0.1"):
    """(status, text), of a server with a certificate of the tests' authority."""
    context = ssl.create_default_context(cafile=str(given().pki / "extender-ca.crt"))
    address = urllib.parse.urlsplit(url)
    connection = http.client.HTTPSConnection(address.hostname, address.port, timeout=support.PATIENCE, context=context,
                                             source_address=(source, 0))
    try:
        connection.request("GET", address.path, headers={"Authorization": f"Bearer {token}"} if token else {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


class MetricsAccessTest(support.Case):
    def setUp(self):
        super().setUp()
        self.reader = self.account("reader")
        self.unprivileged = self.account("unprivileged")
        kubectl("create", "clusterrolebinding", f"{self.namespace}-reader", "--clusterrole=trainyard-metrics-reader",
                f"--serviceaccount={self.namespace}:reader")
        self.addCleanup(kubectl, "delete", "clusterrolebinding", f"{self.namespace}-reader")

    def account(self, name):
        core().create_namespaced_service_account(self.namespace, {"metadata": {"name": name}})
        return self.token(name)

    def token(self, name):
        answer = given().api.call("POST", f"/api/v1/namespaces/{self.namespace}/serviceaccounts/{name}/token",
                                  {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
        return answer["status"]["token"]

    def test_metrics_need_a_permitted_token(self):
        for program, url in METRICS.items():
            with self.subTest(program):
                status, text = support.await_value(lambda url=url: get(url, self.reader), lambda got: got[0] == 200,
                                                   "the right is known to the API server")
                self.assertIn("trainyard_build_info{", text)
                self.assertEqual(401, get(url)[0])
                self.assertEqual(401, get(url, self.reader[:-4] + "AAAA")[0])
                status, text = get(url, self.unprivileged)
                self.assertEqual(403, status)
                self.assertIn(f"system:serviceaccount:{self.namespace}:unprivileged may not get /metrics", text)
                self.assertEqual((200, "ok\n"), get(url.replace("/metrics", "/healthz")))
                # Plain HTTP does not get as far as a request.
                self.assertIn("HTTPS only", fetch(url.replace("https", "http"))[1])
        self.check_reviews()

    def check_reviews(self):
        """The programs themselves asked, with the rights that they were given; and no token is written anywhere."""
        asked, refused = set(), []
        with open(given().dir / "audit.log", encoding="utf-8") as log:
            for line in log:
                entry = json.loads(line)
                if entry.get("objectRef", {}).get("resource") in ("tokenreviews", "subjectaccessreviews"):
                    asked.add((entry["user"]["username"], entry["objectRef"]["resource"]))
                    refused += [entry["requestURI"]] if entry["responseStatus"]["code"] == 403 else []
        self.assertEqual({(f"system:serviceaccount:{SYSTEM}:{program}", resource) for program in METRICS
                          for resource in ("tokenreviews", "subjectaccessreviews")}, asked)
        self.assertEqual([], refused)
        for name in SECURE.values():
            text = given().log(name).read_text()
            for token in (self.reader, self.unprivileged):
                self.assertNotIn(token.rpartition(".")[2], text)

    def test_a_rush_of_wrong_tokens_costs_little(self):
        """The tokens come from one pod; kubelets and Prometheus have other addresses."""
        def wrong(number):
            try:
                return get(url, f"wrong-{number}", source="127.0.0.9")[0]
            except OSError:
                return "sent away"
        url = METRICS[EXTENDER]
        support.await_value(lambda: get(url, self.reader), lambda got: got[0] == 200, "the right is known to the API server")
        before, began = self.reviews(), time.monotonic()
        with ThreadPoolExecutor(40) as pool:
            rush = [pool.submit(wrong, number) for number in range(1000)]
            while not all(each.done() for each in rush):
                self.assertEqual(200, get(url, self.reader)[0])
                self.assertEqual(200, get(url.replace("/metrics", "/readyz"))[0])
            said = collections.Counter(each.result() for each in rush)
        self.assertLessEqual(set(said), {401, 429, 503, "sent away"}, said)
        self.assertGreater(said[429], 0, said)
        # Twenty at once, then ten a second.
        self.assertLessEqual(self.reviews() - before, 20 + 10 * (time.monotonic() - began + 1))

    @staticmethod
    def reviews():
        with open(given().dir / "audit.log", encoding="utf-8") as log:
            return sum(1 for line in log if json.loads(line).get("objectRef", {}).get("resource") == "tokenreviews")

    def test_while_the_api_server_is_unreachable_a_new_token_gets_none(self):
        url = METRICS[EXTENDER]
        support.await_value(lambda: get(url, self.reader), lambda got: got[0] == 200, "the right is known to the API server")
        new = self.token("reader")
        given().kill("kube-apiserver", signal.SIGSTOP)
        try:
            status, text = get(url, new)
            self.assertEqual((503, "the API server cannot check permissions now\n"), (status, text))
            self.assertEqual(200, get(url, self.reader)[0])
            self.assertEqual(200, get(url.replace("/metrics", "/healthz"))[0])
        finally:
            given().kill("kube-apiserver", signal.SIGCONT)
        support.await_value(lambda: get(url, new), lambda got: got[0] == 200, "the API server answers again")

    @unittest.skipUnless(shutil.which("prometheus"), "Prometheus is not installed: tools/deps monitoring")
    def test_prometheus_scrapes_with_its_token(self):
        (given().dir / "reader.token").write_text(self.reader)
        https = {"scheme": "https", "authorization": {"credentials_file": str(given().dir / "reader.token")},
                 "tls_config": {"ca_file": str(given().pki / "extender-ca.crt")}}
        jobs = {f"{program}-metrics": [name] for program, name in SECURE.items()}
        more = {job: https for job in jobs}
        jobs["refused"] = [SECURE[OPERATOR]]
        more["refused"] = {**https, "authorization": {"credentials": self.unprivileged}}
        prometheus = Prometheus(given(), "groups: []", jobs, more)
        support.await_value(
            lambda: {each["labels"]["job"]: each["health"] for each in prometheus.get("targets")["activeTargets"]},
            lambda found: found == {**{job: "up" for job in jobs}, "refused": "down"}, "both programs are scraped")
        refused, = [each for each in prometheus.get("targets")["activeTargets"] if each["labels"]["job"] == "refused"]
        self.assertIn("403", refused["lastError"])
        self.assertEqual(2, len(prometheus.query("trainyard_build_info")))
