"""Secrets in logs, Events and ConfigMaps are found by every case file (lib/leaks.py), and are not printed
themselves."""
import base64
import json
import tempfile
import unittest
from pathlib import Path

from lib import casefile, leaks

CLUSTER = None


def encoded(data):
    return base64.urlsafe_b64encode(json.dumps(data).encode()).decode().rstrip("=")


TOKEN = f"{encoded({'alg': 'RS256', 'kid': 'k'})}.{encoded({'sub': 'system:serviceaccount:x:y'})}.{'s1G' * 20}"
KEY = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----\n"
SECRETS = {
    "token (JWT)": [TOKEN, f"Authorization: Bearer {TOKEN}", json.dumps({"token": TOKEN})],
    "private key": [KEY, json.dumps({"tls.key": KEY}), base64.b64encode(KEY.encode()).decode(),
                    base64.b64encode(KEY.replace("EC ", "").encode()).decode()],
    "ssh key": ["openssh-key-v1\0none", base64.b64encode(b"openssh-key-v1\0none").decode()],
    "bearer token": ["authorization: bearer 0123456789abcdef0123", "Bearer=abc/def+0ghijklmnop=="],
}
NO_SECRETS = ["the bearer token has expired", "bearer authentication-of-somebody", "eyJ.eyJ.x", "a PRIVATE KEY is missing",
              "-----BEGIN CERTIFICATE-----", base64.b64encode(b"-----BEGIN CERTIFICATE-----").decode(),
              "tls.key of Secret trainyard-extender-tls", "ssh-ed25519 is no kind of key that is known"]


class FakeApi:
    def __init__(self, items):
        self._items = items

    def list(self, path):
        return self._items.get(path.rpartition("/")[2], [])


class FakeCluster:
    """The part of a cluster that the search for secrets uses."""

    def __init__(self, folder, programs=(), items=None):
        self.dir = Path(folder)
        (self.dir / "logs").mkdir(exist_ok=True)
        self._programs = programs
        self.api = FakeApi(items or {})

    def processes(self):
        return {name: {"argv": [f"/build/{program}"]} for name, program in self._programs}

    def log(self, name):
        return self.dir / "logs" / f"{name}.log"

    def write(self, name, *lines):
        with self.log(name).open("a", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


class FinderTest(unittest.TestCase):
    def test_every_form_is_found(self):
        for kind, texts in SECRETS.items():
            for text in texts:
                with self.subTest(text[:40]):
                    self.assertEqual([(2, kind)], leaks.find(f"first\nbefore {text} after\n".encode())[:1])
                    self.assertEqual([], leaks.find(leaks.hide(text).encode()))

    def test_text_about_secrets_is_none(self):
        for text in NO_SECRETS:
            with self.subTest(text):
                self.assertEqual([], leaks.find(text.encode()))
                self.assertEqual(text, leaks.hide(text))

    def test_lines_are_counted(self):
        text = "\n".join(["x", TOKEN, "y", f"{TOKEN} {TOKEN}", "z", "openssh-key-v1"])
        self.assertEqual([(2, "token (JWT)"), (4, "token (JWT)"), (6, "ssh key")], leaks.find(text.encode()))

    def test_events_and_config_maps_are_named(self):
        def item(name, **more):
            return {"metadata": {"namespace": "x", "name": name}, **more}
        with tempfile.TemporaryDirectory() as folder:
            cluster = FakeCluster(folder, items={"events": [item("told", note=f"used {TOKEN}"), item("good", note="fine")],
                                                 "configmaps": [item("members", data={"key": KEY})]})
            self.assertEqual(["Event x/told: token (JWT)", "ConfigMap x/members: private key"], leaks.in_objects(cluster))


    def test_pods_on_real_nodes_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            cluster = FakeCluster(folder)
            for namespace in ("trainyard-system", "others"):
                log = cluster.dir / f"nodes/real0/log/pods/{namespace}_trainyard-operator-x_1-2/operator/0.log"
                log.parent.mkdir(parents=True)
                log.write_text(f"2026-01-01T00:00:00Z stderr F fine\n2026-01-01T00:00:00Z stderr F {TOKEN}\n")
            self.assertEqual(["trainyard-operator-x, operator, 0.log, line 2: token (JWT)"],
                             leaks.in_pods(cluster, "trainyard-system"))


class CaseFileTest(unittest.TestCase):
    """A test in which a program logs a secret fails, and no other."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.report = Path(folder.name) / "report"
        self.cluster = FakeCluster(folder.name, [("trainyard-operator", "trainyard-operator"), ("standby", "trainyard-operator"),
                                                 ("kube-apiserver", "kube-apiserver")])

    def outcomes(self, *bodies):
        """The report's lines of tests with these bodies, one after the other."""
        class Story(unittest.TestCase):
            pass
        for number, body in enumerate(bodies):
            setattr(Story, f"test_{number}", lambda _, body=body: body())
        result = casefile.Result(casefile.Report(self.report), casefile.Logs(self.cluster))
        unittest.defaultTestLoader.loadTestsFromTestCase(Story).run(result)
        self.assertEqual(any(line["outcome"] == "failed" for line in self.lines()), result.bad)
        return [(line["outcome"], line["text"]) for line in self.lines()]

    def lines(self):
        return [json.loads(line) for line in self.report.read_text().splitlines()]

    def test_program_and_line_and_kind_are_reported(self):
        write = self.cluster.write
        good, bad, after = self.outcomes(
            lambda: write("trainyard-operator", "one", "two"),
            lambda: (write("standby", "fine", f"patched with {TOKEN}"), write("trainyard-operator", f"three {TOKEN}")),
            lambda: write("trainyard-operator", "four"))
        self.assertEqual(("passed", ""), good)
        self.assertEqual("failed", bad[0])
        self.assertIn("secrets are logged:\ntrainyard-operator, line 3: token (JWT)\nstandby, line 2: token (JWT)\n", bad[1])
        self.assertIn("three (token (JWT))", bad[1])
        self.assertNotIn(TOKEN, bad[1])
        self.assertEqual(("passed", ""), after)

    def test_the_api_servers_own_log_is_not_ours(self):
        self.assertEqual([("passed", "")], self.outcomes(lambda: self.cluster.write("kube-apiserver", TOKEN)))

    def test_a_line_that_is_still_written_is_read_when_it_is_whole(self):
        watched = leaks.Watched(self.cluster)
        with self.cluster.log("standby").open("w", encoding="utf-8") as file:
            for piece, expected in ((TOKEN[:20], []), (TOKEN[20:], []), ("\n", ["standby, line 1: token (JWT)"])):
                file.write(piece)
                file.flush()
                self.assertEqual(expected, watched.more())
