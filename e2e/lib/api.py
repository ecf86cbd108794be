"""A small HTTPS client of the API server: what the tests' tooling needs, without kubectl's start-up time."""
import http.client
import json
import socket
import ssl
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

from .errors import E2EError

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
# The API server closes a connection on which nothing came for 90 s.
_IDLE_SECONDS = 60


class ApiError(E2EError):
    """An answer other than 2xx. code: HTTP status; body: the Status object, where there was one."""

    def __init__(self, method, path, code, body):
        reason = body.get("message") if isinstance(body, dict) else str(body)[:300]
        super().__init__(f"{method} {path}: HTTP {code}: {reason}")
        self.code = code
        self.body = body


class Api:
    """Thread-safe: each thread keeps one connection alive."""

    def __init__(self, port, pki, client="admin", host="127.0.0.1"):
        pki = Path(pki)
        self._host, self._port = host, port
        self._context = ssl.create_default_context(cafile=str(pki / "ca.crt"))
        self._context.load_cert_chain(pki / f"{client}.crt", pki / f"{client}.key")
        self._start()

    def _start(self):
        self._local = threading.local()
        self._lock = threading.Lock()
        self._connections = []

    def fork(self):
        """The same client with connections of its own, to be closed by themselves."""
        other = object.__new__(Api)
        other._host, other._port, other._context = self._host, self._port, self._context
        other._start()
        return other

    def call(self, method, path, body=None, content_type=JSON, timeout=30):
        """Returns the decoded answer. Raises ApiError, or OSError when the server is not there."""
        payload = json.dumps(body).encode() if body is not None else None
        headers = {"Accept": JSON, "Content-Type": content_type}
        for attempt in (1, 2):
            connection, fresh = self._connection(timeout)
            try:
                connection.request(method, path, payload, headers)
                response = connection.getresponse()
                raw = response.read()
                self._local.used = time.monotonic()
                break
            except (OSError, http.client.HTTPException) as error:
                self._local.connection = None
                connection.close()
                # The server was restarted, perhaps: once, a kept connection may fail for no other reason.
                if fresh or attempt == 2 or method not in ("GET", "DELETE", "PATCH"):
                    raise error if isinstance(error, OSError) else OSError(repr(error)) from error
        try:
            answer = json.loads(raw) if raw else None
        except ValueError:
            answer = raw.decode(errors="replace")
        if not 200 <= response.status < 300:
            raise ApiError(method, path, response.status, answer)
        return answer

    def stream(self, path, timeout=3600):
        """An answer that goes on, as of a watch, to be read line by line, and what ends it from another thread; on
        a connection of its own, closed with the others."""
        connection = http.client.HTTPSConnection(self._host, self._port, context=self._context, timeout=timeout)
        with self._lock:
            self._connections.append(connection)
        connection.request("GET", path, headers={"Accept": JSON})
        response = connection.getresponse()
        if response.status != 200:
            raise ApiError("GET", path, response.status, response.read().decode(errors="replace"))
        return response, lambda: connection.sock.shutdown(socket.SHUT_RDWR)

    def get(self, path, **kwargs):
        return self.call("GET", path, **kwargs)

    def list(self, path, limit=500):
        """All items of a collection, page by page."""
        items, token = [], ""
        while True:
            page = self.get(f"{path}?limit={limit}" + (f"&continue={token}" if token else ""))
            items += page["items"]
            token = page["metadata"].get("continue", "")
            if not token:
                return items

    def create(self, path, body):
        """POST; an object that exists already is left as it is."""
        try:
            return self.call("POST", path, body)
        except ApiError as error:
            if error.code == 409 and error.body.get("reason") == "AlreadyExists":
                return None
            raise

    def _connection(self, timeout):
        connection = getattr(self._local, "connection", None)
        if connection is not None and time.monotonic() - self._local.used > _IDLE_SECONDS:
            connection.close()
            connection = None
        if connection is not None:
            connection.timeout = timeout
            if connection.sock is not None:
                connection.sock.settimeout(timeout)
            return connection, False
        connection = http.client.HTTPSConnection(self._host, self._port, context=self._context,
                                                 timeout=timeout)
        self._local.connection = connection
        with self._lock:
            self._connections.append(connection)
        return connection, True

    def close(self):
        """Closes the connections of all threads, of those that ended as well; no thread may be in a call."""
        for connection in self._connections:
            connection.close()
        self._start()


def fetch(url, timeout=2):
    """GET without credentials and without a proxy; returns (status, text), or (None, why it failed)."""
    context = ssl.create_default_context()
    # Only for health and metrics on loopback: scheduler and controller manager sign their own certificates.
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}),
                                         urllib.request.HTTPSHandler(context=context))
    try:
        with opener.open(url, timeout=timeout) as response:
            return response.status, response.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace")
    except (OSError, http.client.HTTPException) as error:
        return None, str(getattr(error, "reason", error))
