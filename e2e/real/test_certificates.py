"""The certificates between kube-scheduler and the extender: a client without one is refused, and they are renewed under load
without one scheduling attempt that fails.
"""
import hashlib
import socket
import ssl
import unittest

import charted
import support
from lib import pki
from lib.helm import NAMESPACE
from support import EXTENDER, given, kubectl

CLUSTER = None

setUpModule, tearDownModule = charted.up, charted.down  # names that unittest knows

# The operator looks once a minute; a kubelet writes a changed Secret into a pod within about as much.
_RENEWAL_SECONDS = 240


def connect(certificate=None, key=None, authority=None):
    """A TLS connection to the extender's Service; reads, so that the server's verdict is known."""
    folder = charted.release().scheduler_folder
    context = ssl.create_default_context(cafile=authority or folder / "ca.crt")
    if certificate:
        context.load_cert_chain(certificate, key)
    address = (charted.release().service_address(), 443)
    with socket.create_connection(address, 10) as plain, \
            context.wrap_socket(plain, server_hostname=f"{EXTENDER}.{NAMESPACE}.svc") as secure:
        secure.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        if not secure.recv(100).startswith(b"HTTP/1.1"):
            raise AssertionError("no HTTP answer")
        return hashlib.sha256(secure.getpeercert(True)).hexdigest()


def served():
    folder = charted.release().scheduler_folder
    return connect(folder / "tls.crt", folder / "tls.key")


def renew(which):
    kubectl("annotate", "secret", f"{EXTENDER}-{which}", "-n", NAMESPACE, "trainyard.dev/renew=now", "--overwrite")


def data(which):
    return given().json("get", "secret", f"{EXTENDER}-{which}", "-n", NAMESPACE).get("data", {})


class Refused(unittest.TestCase):
    def test_the_right_certificate_is_accepted(self):
        served()

    def test_no_certificate(self):
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            connect()

    def test_a_certificate_of_another_authority(self):
        # The API server's clients are not, by that alone, the scheduler's.
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            connect(given().pki / "admin.crt", given().pki / "admin.key")

    def test_a_certificate_with_only_the_right_name(self):
        folder = given().dir / "forged"
        pki.create(folder)
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            connect(folder / "extender-client.crt", folder / "extender-client.key")

    def test_another_authority_is_not_trusted(self):
        with self.assertRaises(ssl.SSLError):
            connect(authority=given().pki / "ca.crt")


class Renewed(support.Case):
    def test_under_load_without_a_failed_attempt(self):
        failed = charted.attempts().get("error", 0)
        with charted.load(self.namespace) as bound:
            self.renew_the_server(bound)
            self.renew_the_client(bound)
            self.assertEqual(failed, charted.attempts().get("error", 0), "scheduling attempts that failed")
            self.renew_the_authority(bound)
            # Counted since kube-scheduler was restarted.
            self.assertEqual(0, charted.attempts().get("error", 0), "scheduling attempts that failed")

    def renew_the_server(self, bound):
        """The Secret changes, then what the running extenders present: no pod restarted."""
        before, uids = served(), self.uids()
        renew("tls")
        # Both replicas: no connection meets the old one any more.
        support.await_value(lambda: [served() for _ in range(6)], lambda seen: before not in seen,
                            "every replica shows the new certificate", _RENEWAL_SECONDS)
        self.assertEqual(uids, self.uids())
        self.some_more(bound)

    def renew_the_client(self, bound):
        """The administrator copies it; kube-scheduler presents it on its next connection, which the restart makes it
        open."""
        before = data("client")["tls.crt"]
        renew("client")
        support.await_value(lambda: data("client")["tls.crt"], lambda text: text != before,
                            "the client's Secret has a new certificate", _RENEWAL_SECONDS)
        charted.release().copy_client_certificate()
        kubectl("rollout", "restart", f"deployment/{EXTENDER}", "-n", NAMESPACE)
        charted.await_rollout(EXTENDER)
        self.some_more(bound)

    def renew_the_authority(self, bound):
        """The next one is trusted from now on, the old one still signs."""
        signed = data("ca")["ca.crt"]
        renew("ca")
        support.await_value(lambda: data("ca"), lambda found: "next.crt" in found, "there is a next authority",
                            _RENEWAL_SECONDS)
        self.assertEqual(signed, data("ca")["ca.crt"])
        support.await_value(lambda: data("tls")["ca.crt"], lambda text: text == data("client")["ca.crt"],
                            "both sides trust the same authorities")
        charted.release().copy_client_certificate()
        given().restart("kube-scheduler")
        self.some_more(bound)

    def uids(self):
        return sorted(item["metadata"]["uid"] for item in charted.pods_of(EXTENDER))

    def some_more(self, bound):
        begun = bound()
        support.await_value(bound, lambda count: count >= begun + 5, "foreign pods are bound")
