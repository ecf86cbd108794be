"""The console beside the leader: which clients it serves, what each sees of others, and the page in a browser where
there is one."""
import http.client
import json
import unittest
import urllib.parse

import support
from support import OPERATOR, SYSTEM, core, given, job, kubectl, wait_phase

import yaml
from lib import browser, helm

CLUSTER = {"nodes": 4, "audit": True}
CONSOLE = "trainyard-operator-console"
# What a reason may not do to the page.
HOSTILE = "<img src=x onerror=document.title='injected'>"


def start_console():
    """A standby replica serves it as the leader does."""
    text = helm.template(given().tools["helm"], {"console": {"enabled": True}}, only=["rbac"])
    kubectl("apply", "--server-side", "--force-conflicts", "--field-manager=e2e", "-f", "-", input=text)
    cluster = given()
    health, port = cluster.spare_ports[1], cluster.spare_ports[2]
    argv = [each for each in cluster.processes()[OPERATOR]["argv"] if not each.startswith("--listen")]
    argv += [f"--listen=127.0.0.1:{health}", "--identity=console", f"--console=127.0.0.1:{port}"]
    cluster.run(CONSOLE, argv, ready=f"http://127.0.0.1:{health}/readyz", timeout=60)
    return port


PORT = None


def setUpModule():
    global PORT  # pylint: disable=global-statement
    PORT = start_console()


def get(path, token=None, method="GET", body=None):
    """(status, headers, text)"""
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=30)
    connection.request(method, path, body=body, headers={"Authorization": f"Bearer {token}"} if token else {})
    response = connection.getresponse()
    return response.status, response.headers, response.read().decode()


class Stream:
    """A stream's sections in their present state."""

    def __init__(self, token):
        self._connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=support.PATIENCE)
        self._connection.request("GET", "/api/stream", headers={"Authorization": f"Bearer {token}"})
        self._response = self._connection.getresponse()
        assert self._response.status == 200, self._response.read()
        self.sections = {}
        self.text = ""
        self.ended_by = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._connection.sock.close()
        self._response.close()

    def read(self):
        """The next event's name."""
        name = ""
        for line in iter(self._response.readline, b""):
            line = line.decode().rstrip("\n")
            self.text += line
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                self.sections[name] = json.loads(line[6:])
                return name
        raise AssertionError("the stream has ended")

    def wait(self, test):
        while True:
            if self.read() == "ready" and test(self):
                return self

    @property
    def jobs(self):
        return {f"{each['ns']}/{each['name']}": each for name, part in self.sections.items()
                if name.startswith("jobs/") for each in part}

    @property
    def holders(self):
        return {holder for name, part in self.sections.items() if name.startswith("nodes/")
                for node in part for holder in node[4::2]}


class Account(support.Case):
    """Has accounts of Kubernetes with a token."""

    def account(self, namespace, name):
        core().create_namespaced_service_account(namespace, {"metadata": {"name": name}})
        answer = given().api.call("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token",
                                  {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
        return answer["status"]["token"]


class ConsoleTest(Account):
    def setUp(self):
        super().setUp()
        self.other = self.make_namespace(f"{self.namespace}-secret")
        self.tenant = self.account(self.namespace, "tenant")
        kubectl("create", "role", "reader", "-n", self.namespace, "--verb=get", "--resource=trainingjobs.trainyard.dev")
        kubectl("create", "rolebinding", "reader", "-n", self.namespace, "--role=reader",
                f"--serviceaccount={self.namespace}:tenant")
        self.admin = self.account(self.namespace, "root")
        self.bind("cluster-admin", "root")

    def bind(self, role, account):
        kubectl("create", "clusterrolebinding", f"{self.namespace}-{role}", f"--clusterrole={role}",
                f"--serviceaccount={self.namespace}:{account}")
        self.addCleanup(kubectl, "delete", "clusterrolebinding", f"{self.namespace}-{role}")

    def place_jobs(self):
        with support.watch_jobs() as jobs:
            support.create_job(self.namespace, job("mine", replicas=2, gpus=2))
            support.create_job(self.other, job("plan9", replicas=1, gpus=2))
            wait_phase(jobs, self.namespace, "mine", "Running")
            wait_phase(jobs, self.other, "plan9", "Running")

    def test_without_a_token_nothing_is_served(self):
        for path in ("/api/stream", "/api/job?namespace=a&name=b", "/api/what-if?namespace=a&members=1&gpus=1"):
            for token in (None, "forged", self.tenant[:-4] + "AAAA"):
                status, headers, text = get(path, token)
                self.assertEqual((401, "Bearer"), (status, headers["WWW-Authenticate"]), text)
        status, headers, text = get("/")
        self.assertEqual(200, status)
        self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
        self.assertEqual(("nosniff", "no-store"), (headers["X-Content-Type-Options"], headers["Cache-Control"]))
        self.assertEqual(405, get("/api/stream", self.admin, "POST")[0])

    def test_a_tenant_sees_its_namespace_and_an_admin_all(self):
        self.place_jobs()
        mine, theirs = f"{self.namespace}/mine", f"{self.other}/plan9"
        with Stream(self.tenant) as tenant, Stream(self.admin) as admin:
            admin.wait(lambda s: {mine, theirs} <= set(s.jobs) and {mine, theirs} <= s.holders)
            tenant.wait(lambda s: mine in s.jobs)
            self.assertEqual({mine}, set(tenant.jobs))
            self.assertNotIn("plan9", tenant.text)
            self.assertNotIn("nodes/0", tenant.sections)
            self.assertIsNone(tenant.sections["queues"])
            self.assertEqual([self.namespace], tenant.sections["me"]["namespaces"])
            # Changes are sent without a request.
            support.create_job(self.namespace, job("next", replicas=99))
            tenant.wait(lambda s: f"{self.namespace}/next" in s.jobs and "reason" in s.jobs[f"{self.namespace}/next"])
            admin.wait(lambda s: f"{self.namespace}/next" in s.jobs)
        query = urllib.parse.urlencode({"namespace": self.other, "name": "plan9"})
        self.assertEqual(404, get(f"/api/job?{query}", self.tenant)[0])
        self.assertEqual(200, get(f"/api/job?{query}", self.admin)[0])
        query = urllib.parse.urlencode({"namespace": self.namespace, "name": "mine"})
        status, _, text = get(f"/api/job?{query}", self.tenant)
        self.assertEqual(200, status, text)
        self.assertIn("Placed", [each["what"] for each in json.loads(text)["timeline"]])

    def test_a_user_who_may_list_nodes_sees_others_without_names(self):
        kubectl("create", "clusterrole", f"{self.namespace}-nodes", "--verb=list", "--resource=nodes")
        self.addCleanup(kubectl, "delete", "clusterrole", f"{self.namespace}-nodes")
        self.bind(f"{self.namespace}-nodes", "tenant")
        self.place_jobs()
        with Stream(self.tenant) as tenant:
            # The console may see one later than the other.
            tenant.wait(lambda s: len(s.holders) > 1)
            self.assertEqual({f"{self.namespace}/mine", "?"}, tenant.holders)
            self.assertNotIn("plan9", tenant.text)

    def test_what_if(self):
        def ask(token, **values):
            status, _, text = get(f"/api/what-if?{urllib.parse.urlencode(values)}", token)
            return status, json.loads(text)
        status, answer = ask(self.tenant, namespace=self.namespace, members=2, gpus=8)
        self.assertEqual((200, "Starts"), (status, answer.get("outcome")), answer)
        status, answer = ask(self.admin, namespace=self.namespace, members=99, gpus=8)
        self.assertEqual((200, "TooLarge"), (status, answer.get("reason")), answer)
        self.assertEqual(403, ask(self.tenant, namespace=self.other, members=1, gpus=1)[0])
        self.assertEqual(400, ask(self.tenant, namespace=self.namespace, members=0, gpus=1)[0])
        self.assertEqual([], [item for item in support.custom().list_namespaced_custom_object(
            support.GROUP, support.VERSION, self.namespace, support.JOBS)["items"]], "nothing was created")

    def simulate(self, file, *args, code):
        done = support.run([support.program("trainyard"), "simulate", "-f", file, "-n", self.namespace, *args,
                            f"--kubeconfig={given().kubeconfig}"], timeout=120)
        self.assertEqual(code, done.returncode, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_a_user_who_may_not_read_the_cluster_can_simulate_jobs(self):
        kubectl("create", "role", "user", "-n", self.namespace, "--verb=create", "--resource=trainingjobs.trainyard.dev,pods")
        kubectl("create", "rolebinding", "user", "-n", self.namespace, "--role=user",
                f"--serviceaccount={self.namespace}:tenant")
        self.place_jobs()
        token, console = f"--token={self.tenant}", f"--console=http://127.0.0.1:{PORT}"
        folder = given().dir
        large, small = folder / f"{self.namespace}-large.json", folder / f"{self.namespace}-small.json"
        large.write_text(json.dumps(job("large", replicas=4, gpus=8)))
        small.write_text(json.dumps(job("small", replicas=1, gpus=8)))
        refused = self.simulate(large, token, code=2)
        self.assertIn("forbidden", refused)
        self.assertIn("--console", refused)
        self.assertIn("would start now on", self.simulate(small, token, console, code=0))
        text = self.simulate(large, token, console, code=1)
        self.assertIn("large would wait: WaitingForCapacity", text)
        self.assertIn("one of another namespace", text)
        self.assertNotIn("plan9", text)
        self.assertNotIn(self.other, text)

        def answer(*args):
            item = json.loads(self.simulate(large, "-o", "json", *args, code=1))["items"][0]
            for moment in ("since", "reservedSince"):
                del item["status"]["pending"][moment]
            return item
        whole = json.dumps(answer())
        self.assertIn("plan9", whole)
        hidden = whole.replace(f"{self.other}/plan9", "one of another namespace").replace(
            f'"namespace": "{self.other}", "name": "plan9"', '"namespace": "", "name": "one of another namespace"')
        self.assertEqual(json.loads(hidden), answer(token, console))
        # A user who may read everything sees everything.
        self.assertEqual(json.loads(whole), answer(f"--token={self.admin}", console))

        def post(token, body):
            status, _, text = get("/api/simulate", token, "POST", body)
            return status, text
        theirs = job("a", replicas=1)
        theirs["metadata"]["namespace"] = self.other
        self.assertEqual(403, post(self.tenant, json.dumps({"items": [{"job": theirs}]}))[0])
        self.assertEqual(401, post("forged", "{}")[0])
        status, text = post(self.tenant, '{"items":\n[')
        self.assertEqual(400, status)
        self.assertIn("line 2", text)
        self.assertEqual(413, post(self.tenant, " " * (3 << 20))[0])
        self.assertEqual(["mine"], [item["metadata"]["name"] for item in support.custom().list_namespaced_custom_object(
            support.GROUP, support.VERSION, self.namespace, support.JOBS)["items"]], "nothing was created")

    @unittest.skipUnless(browser.find(), "there is no Chromium (tools/deps monitoring brings it)")
    def test_in_a_browser(self):
        self.place_jobs()
        support.create_job(self.namespace, job("odd", replicas=99))
        # As an Event of the job, which any user who may create Events can write.
        uid = support.get_job(self.namespace, "odd")["metadata"]["uid"]
        core().create_namespaced_event(self.namespace, {
            "metadata": {"name": "odd.hostile"}, "reason": HOSTILE, "message": HOSTILE, "type": "Normal",
            "firstTimestamp": "2026-01-01T00:00:00Z",
            "involvedObject": {"apiVersion": f"{support.GROUP}/{support.VERSION}", "kind": "TrainingJob",
                               "name": "odd", "namespace": self.namespace, "uid": uid}})
        folder = given().dir
        with browser.Browser(folder) as page:
            url = f"http://127.0.0.1:{PORT}/"
            page.open(url)
            page.wait("!document.getElementById('ask').hidden")
            page.run("document.getElementById('token').value = 'forged'")
            page.run("document.querySelector('#ask button').click()")
            page.wait("document.getElementById('refused').textContent.includes('token')")
            page.run(f"document.getElementById('token').value = '{self.admin}'")
            page.run("document.querySelector('#ask button').click()")
            page.wait("document.getElementById('live').textContent.startsWith('live')")
            page.wait("document.getElementById('totals').textContent.includes('4 nodes, 6 of 32 GPUs')")
            self.assertNotIn(self.admin, page.run("location.href"))
            self.assertGreater(len(page.shot(folder / "console-map.png")), 5000)
            page.press("2")
            page.wait("document.querySelectorAll('#rows tr').length >= 3")
            page.run(f"location.hash = 'job=' + encodeURIComponent('{self.namespace}/odd')")
            page.wait("document.querySelector('#job .timeline')")
            text = page.run("document.getElementById('job').innerText")
            self.assertIn("TooLarge", text)
            self.assertIn(HOSTILE, text, "shown as it was written")
            self.assertEqual(0, page.run("document.images.length"))
            page.press("Escape")
            page.wait("document.getElementById('job').hidden")
            page.open(url, width=390, height=800, phone=True)
            page.wait("document.getElementById('live').textContent.startsWith('live')")
            self.assertTrue(page.run("document.documentElement.scrollWidth <= innerWidth"), "too wide for a phone")
            page.shot(folder / "console-phone.png")
            self.assertEqual("Trainyard", page.run("document.title"))
            self.assertEqual([], [each for each in page.problems if "favicon" not in each and "401" not in each])


class ZRightsTest(support.Case):
    """Last by its name: checks what the console did during all other tests of this file."""

    def test_the_chart_grants_what_it_requests(self):
        def rules(values):
            objects = yaml.safe_load_all(helm.template(given().tools["helm"], values, only=["rbac"]))
            return {(group, resource, verb) for item in objects if item and item["kind"] == "ClusterRole"
                    for rule in item["rules"] for group in rule["apiGroups"] for resource in rule["resources"]
                    for verb in rule["verbs"]}
        more = rules({"console": {"enabled": True}}) - rules({})
        used, refused = set(), set()
        with (given().dir / "audit.log").open(encoding="utf-8") as log:
            for line in log:
                entry = json.loads(line)
                if "console" not in entry.get("userAgent", "") or "objectRef" not in entry:
                    continue
                self.assertEqual(f"system:serviceaccount:{SYSTEM}:{OPERATOR}", entry["user"]["username"])
                about = entry["objectRef"]
                used.add((about.get("apiGroup", ""), about["resource"], entry["verb"]))
                if entry.get("responseStatus", {}).get("code") == 403:
                    refused.add(entry["requestURI"])
        self.assertEqual((more, set()), (used, refused))

    def test_no_token_is_in_the_logs(self):
        for name in (OPERATOR, CONSOLE):
            self.assertNotIn("eyJ", given().log(name).read_text())
