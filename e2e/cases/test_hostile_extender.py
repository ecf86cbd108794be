"""A client that sends nonsense to the extender's port gets a clear answer or none, and valid requests keep theirs.

Everything uses sockets of the test's own to the extender that kube-scheduler uses, in a running cluster.
"""
import contextlib
import json
import os
import resource
import shutil
import ssl
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

import support
from lib import extender_client as client
from lib import pki as certificates
from lib.extender_client import (FILTER, PREEMPT, PRIORITIZE, ask, connect, head, pod, question, read_answer,
                                 send_all)

CLUSTER = {"nodes": 32}
# What the extender may need beyond what it had, whatever is thrown at it: its connections and the bodies that
# it takes at a time are bounded.
MOST_GROWTH_MB = 192
# And beyond that, however long it goes on.
MOST_LEAK_MB = 48
QUIET_SECONDS, HOSTILE_SECONDS = 4, 12
IDLE, SLOW = 1000, 300
MIB = 1 << 20
CORES = os.sched_getaffinity(0)
ATTACKERS_CORES, EXTENDERS_CORES = {min(CORES)}, {max(CORES)}


def setUpModule():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))


def port():
    return support.given().ports["extender"]


def pki():
    return support.given().pki


def nodes():
    return [f"n{index:04}" for index in range(CLUSTER["nodes"])]


def memory_mb():
    """(now, most ever) of the extender's resident memory."""
    text = Path(f"/proc/{support.given().pid(support.EXTENDER)}/status").read_text(encoding="ascii")
    lines = dict(line.split(":", 1) for line in text.splitlines())
    return tuple(int(lines[key].split()[0]) // 1024 for key in ("VmRSS", "VmHWM"))


def error_in(verb, status, body):
    """The error that the extender reports: filter has a field for it, which appears in the pod's events."""
    if verb == FILTER and status == 200:
        return json.loads(body)["Error"]
    return body.strip()


class BadRequests(unittest.TestCase):
    """One bad request each, by a client with a good certificate; the same connection continues where it can."""

    def setUp(self):
        self.context = client.tls(pki())
        self.sock = connect(port(), self.context)
        self.addCleanup(self.sock.close)

    def tearDown(self):
        # Whatever was asked, the next question is answered.
        with connect(port(), self.context) as sock:
            status, body = ask(sock, FILTER, question("after", nodes()))
            self.assertTrue(client.answered_rightly(status, body, nodes()), body)

    def check(self, body, words, verbs=(FILTER, PRIORITIZE)):
        for verb in verbs:
            with self.subTest(verb=verb, words=words):
                status, text = ask(self.sock, verb, body)
                self.assertEqual(status, 200 if verb == FILTER else 400, text)
                complaint = error_in(verb, status, text)
                for word in words:
                    self.assertIn(word, complaint)
                self.assertLess(len(complaint), 400)
                self.assertNotIn("\n", complaint)

    def test_requests_of_the_wrong_shape(self):
        names = nodes()
        good = pod("a", 1)
        cases = [
            ({"Pod": good, "Nodes": None, "NodeNames": None}, ["NodeNames", "null"]),
            ({"Pod": good}, ["NodeNames", "missing"]),
            ({"NodeNames": names}, ["Pod", "missing"]),
            ({"Pod": None, "NodeNames": names}, ["Pod", "expected an object"]),
            ({"Pod": [], "NodeNames": names}, ["Pod", "expected an object"]),
            ({"Pod": good, "NodeNames": "n0000"}, ["NodeNames", "expected a list"]),
            ({"Pod": good, "NodeNames": {"n0000": 1}}, ["NodeNames", "expected a list"]),
            ({"Pod": good, "NodeNames": ["n0000", 5]}, ["NodeNames[1]", "expected a text"]),
            ({"Pod": good, "NodeNames": [names]}, ["NodeNames[0]"]),
            ({"Pod": {"metadata": {"name": 5}}, "NodeNames": names}, ["Pod", "metadata.name"]),
            ({"Pod": {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "resources": {
                "requests": {"nvidia.com/gpu": "-1"}}}]}}, "NodeNames": names}, ["Pod", "nvidia.com/gpu"]),
            ({"Pod": good, "Nodes": {"items": [{"metadata": {"name": "n0000"}}]}, "NodeNames": names},
             ["Nodes", "nodeCacheCapable"]),
            ({"Pod": good, "Nodes": {"items": []}}, ["Nodes", "nodeCacheCapable"]),
            ([], ["expected an object"]),
            (b"", ["body"]),
            (b"null", ["body"]),
            (b"\xff\xfe{}", ["body"]),
            (b'{"Pod":{},"Pod":{}}', ["Pod"]),
            (json.dumps(question("a", names)).encode()[:-40], ["extender request"]),
            (json.dumps(question("a", names)).encode() + b"{}", ["body"]),
        ]
        for body, words in cases:
            self.check(body, words)

    def test_preemption_of_the_wrong_shape(self):
        good = pod("a", 1)
        key = "NodeNameToMetaVictims"
        for body, words in [
                ({"Pod": good}, [key, "missing"]),
                ({"Pod": good, key: []}, [key, "expected an object"]),
                ({"Pod": good, key: {"n0000": 3}}, [f"{key}[n0000]", "expected an object"]),
                ({"Pod": good, key: {"n0000": {"Pods": [{"UID": 3}]}}}, [f"{key}[n0000].Pods[0].UID"]),
                ({"Pod": good, "NodeNameToVictims": {"n0000": {}}}, ["NodeNameToVictims", "nodeCacheCapable"])]:
            self.check(body, words, verbs=[PREEMPT])

    def test_unknown_nodes_are_refused_by_name(self):
        status, body = ask(self.sock, FILTER, question("a", ["n0000", "nowhere", ""]))
        self.assertEqual(status, 200)
        answer = json.loads(body)
        self.assertEqual(answer["NodeNames"], ["n0000"])
        self.assertEqual(set(answer["FailedAndUnresolvableNodes"]), {"nowhere", ""})
        self.assertIn("not known yet", answer["FailedAndUnresolvableNodes"]["nowhere"])
        status, body = ask(self.sock, PRIORITIZE, question("a", ["n0000", "nowhere"]))
        self.assertEqual([each["Score"] for each in json.loads(body)][1:], [0])

    def test_a_node_named_twice_is_answered_twice(self):
        names = ["n0000", "n0001", "n0000"]
        status, body = ask(self.sock, FILTER, question("a", names))
        self.assertTrue(client.answered_rightly(status, body, names), body)
        status, body = ask(self.sock, PRIORITIZE, question("a", names))
        self.assertEqual([each["Host"] for each in json.loads(body)], names)

    def test_a_hundred_thousand_levels(self):
        for opening, closing in ((b"[", b"]"), (b'{"a":', b"}")):
            deep = opening * 100_000 + b"1" + closing * 100_000
            self.check(deep, ["extender request"])
            self.check(b'{"Pod":' + deep + b',"NodeNames":["n0000"]}', ["extender request"])
            self.check(b'{"X":' + deep + b',"NodeNames":["n0000"],"Pod":{}}', ["extender request"])

    def test_too_many_names(self):
        many = [f"x{index}" for index in range(300_000)]
        self.check(question("a", many), ["NodeNames", "more than"])

    def test_fifty_megabytes(self):
        piece = b" " * MIB
        for verb in (FILTER, PREEMPT):
            for chunked in (False, True):
                with self.subTest(verb=verb, chunked=chunked), connect(port(), self.context) as sock:
                    if chunked:
                        send_all(sock, f"POST {verb} HTTP/1.1\r\nHost: x\r\n"
                                       "Transfer-Encoding: chunked\r\n\r\n".encode())
                    else:
                        send_all(sock, head(verb, 50 * MIB))
                    framed = b"%x\r\n" % MIB + piece + b"\r\n" if chunked else piece
                    for _ in range(50):
                        if not send_all(sock, framed):
                            break
                    status, body = read_answer(sock)
                    self.assertEqual(status, 413, body)
                    self.assertIn("body is larger than 8388608 bytes", body)

    def test_cut_off_in_the_middle(self):
        whole = head(FILTER, 200) + json.dumps(question("a", nodes())).encode()
        for length in (1, 20, len(head(FILTER, 200)), len(head(FILTER, 200)) + 50):
            with connect(port(), self.context) as sock:
                send_all(sock, whole[:length])
                sock.unwrap()

    def test_half_a_request_and_silence(self):
        whole = head(FILTER, 200) + json.dumps(question("a", nodes())).encode()
        with contextlib.ExitStack() as stack:
            halves = [stack.enter_context(connect(port(), self.context)) for _ in range(3)]
            for sock, length in zip(halves, (1, 60, len(head(FILTER, 200)) + 50)):
                send_all(sock, whole[:length])
            for sock in halves:
                status, body = read_answer(sock)
                self.assertEqual(status, 408)
                self.assertIn("did not arrive in time", body)

    def test_bytes_that_are_no_requests(self):
        for raw, wanted, word in [
                (b"GET /v1/extender/filter HTTP/1.1\r\nHost: x\r\n\r\n", 405, "only POST"),
                (b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", 405, ""),
                (b"BREW / HTTP/1.1\r\nHost: x\r\n\r\n", 405, "BREW"),
                (head("/v1/extender/bind", 0), 404, "try /v1/extender/filter"),
                (head("/" + "x" * 20_000, 0), 431, "16384 bytes"),
                (b"nonsense\r\n\r\n", 400, ""),
                (b"POST /v1/extender/filter HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400, ""),
                (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", 400, "")]:
            with self.subTest(raw=raw[:40]), connect(port(), self.context) as sock:
                send_all(sock, raw)
                status, body = read_answer(sock)
                self.assertEqual(status, wanted, body)
                self.assertIn(word, body)


class UntrustedClients(unittest.TestCase):
    """No request of a client without a certificate of the extender's CA is read."""

    def test_plain_http_gets_an_answer_that_names_https(self):
        with connect(port()) as sock:
            send_all(sock, head(FILTER, 0))
            status, body = read_answer(sock)
        self.assertEqual(status, 400)
        self.assertIn("HTTPS only", body)

    def test_no_certificate(self):
        self.refused(client.tls(pki(), None), "certificate required")

    def test_a_certificate_of_the_cluster_CA(self):
        # A client of the API server may not, by that alone, steer the scheduler.
        self.refused(client.tls(pki(), "admin"), "unknown ca")

    def test_a_certificate_of_another_extender_CA(self):
        folder = support.given().dir / "other-pki"
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        certificates.create(folder)
        self.refused(client.tls(pki(), folder / "extender-client"), "")

    def test_another_client_of_the_same_CA_gets_no_answer(self):
        certificates.issue(pki(), "neighbour", "client", "/CN=system:kube-scheduler-2", ca="extender-ca")
        with connect(port(), client.tls(pki(), "neighbour")) as sock:
            self.assertEqual((403, "this client certificate has another common name\n"), ask(sock, FILTER, question("a", nodes())))

    def test_the_servers_own_certificate_is_not_a_clients(self):
        self.refused(client.tls(pki(), "extender"), "")

    def test_noise(self):
        for noise in (b"\x00" * 4096, b"\x16\x03\x01\xff\xff" + b"x" * 4096, b"\x7fELF", b"\r\n" * 100):
            with connect(port()) as sock:
                send_all(sock, noise)
                sock.shutdown(1)
                with contextlib.suppress(ConnectionResetError):
                    self.assertNotIn(b"HTTP/1.1 200", sock.recv(65536))

    def refused(self, context, word):
        # In TLS 1.3 the client hears of it only when it reads.
        with self.assertRaises(OSError) as caught, connect(port(), context) as sock:
            status, body = ask(sock, FILTER, question("a", nodes()))
            if status is None:
                raise ConnectionResetError("closed without an answer")
            self.fail(f"was answered: {status} {body[:200]}")
        if isinstance(caught.exception, ssl.SSLError):
            self.assertIn(word, str(caught.exception))


class Hostile:
    """Everything at once, until stop(); each kind in a thread of its own."""

    def __init__(self):
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._guarded, args=(each,), daemon=True) for each in (
            self._idle, self._idle_tls, self._slow, self._slow_tls, self._large, self._deep, self._strange)]
        self.counts = {}
        self.errors = []

    def __enter__(self):
        for each in self._threads:
            each.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        for each in self._threads:
            each.join()

    def _guarded(self, function):
        try:
            os.sched_setaffinity(0, ATTACKERS_CORES)
            function()
        except Exception as error:  # pylint: disable=broad-except
            self.errors.append(f"{function.__name__}: {error!r}")

    def _count(self, what, by=1):
        self.counts[what] = self.counts.get(what, 0) + by

    def _hold(self, count, make, each_round, what):
        """Keeps count connections, and opens a new one for each that the extender closed."""
        held = []
        try:
            while not self._over.is_set():
                while len(held) < count and not self._over.is_set():
                    with contextlib.suppress(OSError):
                        held.append(make())
                        self._count(what)
                held = [sock for sock in held if each_round(sock) or sock.close()]
                self._over.wait(0.3)
        finally:
            for sock in held:
                sock.close()

    @staticmethod
    def _alive(sock):
        sock.setblocking(False)
        try:
            return sock.recv(1) != b""
        except (BlockingIOError, ssl.SSLWantReadError):
            return True
        except OSError:
            return False

    def _idle(self):
        self._hold(IDLE, lambda: connect(port()), self._alive, "idle connections")

    def _idle_tls(self):
        context = client.tls(pki())
        self._hold(50, lambda: connect(port(), context), self._alive, "idle connections after the handshake")

    def _slow(self):
        # A TLS record that announces more than ever comes.
        self._hold(SLOW, lambda: connect(port()), lambda sock: send_all(sock, b"\x16"), "slow handshakes")

    def _slow_tls(self):
        context = client.tls(pki())

        def make():
            sock = connect(port(), context)
            send_all(sock, b"POST /v1/extender/filter HTTP/1.1\r\nHost: x\r\n")
            return sock
        self._hold(50, make, lambda sock: send_all(sock, b"X-More: y\r\n"), "slow requests")

    def _large(self):
        context, piece = client.tls(pki()), b" " * MIB
        while not self._over.is_set():
            with contextlib.suppress(OSError), connect(port(), context) as sock:
                send_all(sock, head(FILTER, 50 * MIB))
                for _ in range(9):
                    if not send_all(sock, piece):
                        break
                self._count("bodies of 50 MB")
            # Eight connections that each keep back the last byte of what is just allowed.
            with contextlib.ExitStack() as stack:
                for _ in range(8):
                    with contextlib.suppress(OSError):
                        sock = stack.enter_context(connect(port(), context))
                        send_all(sock, head(FILTER, 4 * MIB) + piece * 3)
                        self._count("bodies that never end")
                self._over.wait(1)

    def _deep(self):
        context, deep = client.tls(pki()), b"[" * 100_000 + b"]" * 100_000
        while not self._over.is_set():
            with contextlib.suppress(OSError), connect(port(), context) as sock:
                ask(sock, FILTER, b'{"Pod":' + deep + b"}")
                self._count("100,000 levels")
            self._over.wait(0.02)

    def _strange(self):
        contexts = [None, client.tls(pki(), None), client.tls(pki(), "admin")]
        number = 0
        while not self._over.is_set():
            number += 1
            with contextlib.suppress(OSError), connect(port(), contexts[number % 3]) as sock:
                ask(sock, FILTER, b"nonsense")
            self._count("untrusted")
            self._over.wait(0.01)


def probe(seconds):
    """How valid requests fare for so long; another process sends them."""
    argv = [sys.executable, "-m", "lib.extender_client", str(port()), str(pki()), json.dumps(nodes())]
    with subprocess.Popen(argv, cwd=support.ROOT / "e2e", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as child:
        os.sched_setaffinity(child.pid, EXTENDERS_CORES)
        assert child.stdout.readline() == "ready\n"
        time.sleep(seconds)
        return json.loads(child.communicate("")[0])


def quantile(times, share):
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def compare(name, share, before, beside):
    a, b = quantile(before, share), quantile(beside, share)
    return f"{name} {a:.2f} -> {b:.2f} ms (x{b / a:.1f})"


@contextlib.contextmanager
def extender_apart():
    """The extender on cores that the attackers do not use: the rest is what they cost it."""
    def pin(cores):
        for thread in os.listdir(f"/proc/{pid}/task"):
            os.sched_setaffinity(int(thread), cores)
    pid = support.given().pid(support.EXTENDER)
    pin(EXTENDERS_CORES)
    try:
        yield
    finally:
        pin(CORES)


class Load(unittest.TestCase):
    def setUp(self):
        self.enterContext(extender_apart())

    def test_good_requests_are_answered_beside_a_thousand_bad_ones(self):
        before, _ = memory_mb()
        quiet = probe(QUIET_SECONDS)
        with Hostile() as hostile:
            time.sleep(2)  # until all of it is going on
            loud = probe(HOSTILE_SECONDS / 2)
            _, halfway = memory_mb()
            more = probe(HOSTILE_SECONDS / 2)
        loud = {key: loud[key] + more[key] for key in loud}
        after, most = memory_mb()
        print(json.dumps(hostile.counts))
        print(f"memory of the extender: {before} MB before, at most {halfway} MB halfway, {most} MB at "
              f"the end, {after} MB after")
        for kind in ("kept", "fresh"):
            print(f"good questions, {kind} connection: {len(quiet[kind])} quiet, {len(loud[kind])} beside it; "
                  f"{compare('median', 0.5, quiet[kind], loud[kind])}, "
                  f"{compare('p99', 0.99, quiet[kind], loud[kind])}")
        self.assertEqual(hostile.errors, [])
        self.assertEqual(quiet["wrong"], [])
        self.assertEqual(loud["wrong"], [])
        self.assertGreater(len(loud["kept"]), 20)
        self.assertGreater(hostile.counts["idle connections"], IDLE - 1)
        self.assertLess(most - before, MOST_GROWTH_MB)
        self.assertLess(most - halfway, MOST_LEAK_MB)
