"""An admission webhook that admits everything, but holds the requests that a test names: so a gang stands still in the
middle of its creation, its release or its deletion, without any hook in the product.

    with Door(cluster) as door:
        core.create_namespace({"metadata": {"name": "x", "labels": door.labels}})
        door.watches("x")                                   # the API server asks about this namespace from here on
        with door.hold("CREATE", "x", "gang-worker-3") as hold:
            ...
            hold.wait()                                     # the request has arrived: the others are through, this one waits
        # leaving the block opens the door

The API server waits 30 s at most, then continues without an answer.
"""
import base64
import http.server
import json
import ssl
import threading
import time

from kubernetes import client, config

_NAME = "door.e2e.invalid"
_LABEL = {"e2e-door": "yes"}


class Hold:
    """operation: CREATE, UPDATE (a release is one) or DELETE; name: of the pod, None for all of the namespace; after: so
    many pods pass before the first is held, for pods whose names their controller draws."""

    def __init__(self, door, operation, namespace, name, after):
        self._door, self._operation, self._namespace, self._name = door, operation, namespace, name
        self._after, self._passed = after, set()
        self.arrived = []

    def matches(self, request):
        name = name_of(request)
        if not (request["operation"] == self._operation and not request.get("dryRun")
                and request["namespace"] == self._namespace and self._name in (None, name)):
            return False
        if len(self._passed) < self._after:
            self._passed.add(name)
        return name not in self._passed

    def wait(self, count=1, timeout=60):
        """Waits until count requests stand before the door."""
        def there():
            return len(self.arrived) >= count
        if not self._door.wait(there, timeout):
            raise AssertionError(f"not within {timeout} s: {count} × {self._operation} of {self._name or 'pods'}; "
                                 f"came: {self.arrived}")

    def open(self):
        self._door.drop(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.open()


def name_of(request):
    meta = (request.get("object") or {}).get("metadata", {})
    return request.get("name") or meta.get("name")


class Door:
    labels = _LABEL

    def __init__(self, cluster):
        self._cluster = cluster
        self._api = config.new_client_from_config(str(cluster.kubeconfig))
        self._changed = threading.Condition()
        self._holds, self._asked = [], set()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        # The extender's server certificate is for 127.0.0.1 as well.
        context.load_cert_chain(cluster.pki / "extender.crt", cluster.pki / "extender.key")
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.door = self
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True,
                                                  do_handshake_on_connect=False)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self._hooks = client.AdmissionregistrationV1Api(self._api)
        self._hooks.create_validating_webhook_configuration(self._configuration())

    def _configuration(self):
        authority = (self._cluster.pki / "extender-ca.crt").read_bytes()
        url = f"https://127.0.0.1:{self._server.server_address[1]}/"
        return {"metadata": {"name": _NAME}, "webhooks": [{
            "name": _NAME, "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Ignore",
            "timeoutSeconds": 30, "namespaceSelector": {"matchLabels": _LABEL},
            "clientConfig": {"url": url, "caBundle": base64.b64encode(authority).decode()},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"],
                       "operations": ["CREATE", "UPDATE", "DELETE"]}]}]}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        with self._changed:
            self._holds.clear()
            self._changed.notify_all()
        self._hooks.delete_validating_webhook_configuration(_NAME)
        self._server.shutdown()
        self._server.server_close()

    def watches(self, namespace, timeout=60):
        """Waits until the API server asks about pods of the namespace: it reads its configuration now and then."""
        core = client.CoreV1Api(self._api)
        probe = {"metadata": {"name": "probe"}, "spec": {"containers": [{"name": "c", "image": "c"}]}}
        deadline = time.monotonic() + timeout
        while not self.wait(lambda: namespace in self._asked, 0.1):
            if time.monotonic() > deadline:
                raise AssertionError(f"the API server does not ask about {namespace} within {timeout} s")
            core.create_namespaced_pod(namespace, probe, dry_run="All")

    def hold(self, operation, namespace, name=None, after=0):
        hold = Hold(self, operation, namespace, name, after)
        with self._changed:
            self._holds.append(hold)
        return hold

    def drop(self, hold):
        with self._changed:
            if hold in self._holds:
                self._holds.remove(hold)
            self._changed.notify_all()

    def wait(self, predicate, timeout):
        with self._changed:
            return self._changed.wait_for(predicate, timeout)

    def pass_through(self, request):
        """Returns when the request may go on."""
        with self._changed:
            self._asked.add(request["namespace"])
            for hold in self._holds:
                if hold.matches(request):
                    hold.arrived.append(name_of(request))
            self._changed.notify_all()
            self._changed.wait_for(lambda: not any(hold.matches(request) for hold in self._holds), 30)


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    # No client waits for requests that the API server has given up.
    block_on_close = False

    def handle_error(self, request, client_address):
        """The API server closes idle connections as it likes: no news."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):  # pylint: disable=invalid-name
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        request = review["request"]
        self.server.door.pass_through(request)
        review = {"apiVersion": review["apiVersion"], "kind": review["kind"],
                  "response": {"uid": request["uid"], "allowed": True}}
        body = json.dumps(review).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass
