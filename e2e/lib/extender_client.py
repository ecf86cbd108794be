"""Sends requests to the extender over sockets of its own, as kube-scheduler does and as no client should.

`python3 -m lib.extender_client PORT PKI NODES` asks good questions until its standard input ends, one after the
other on a kept connection and now and then on a fresh one, and prints one JSON object: the times in
milliseconds, and what went wrong. A process of its own, so that a busy Python thread
beside it is not taken for a slow extender.
"""
import json
import select
import socket
import ssl
import sys
import time
from pathlib import Path

FILTER, PRIORITIZE, PREEMPT = (f"/v1/extender/{verb}" for verb in ("filter", "prioritize", "preempt"))
_PATIENCE = 20


def tls(pki, client="extender-client"):
    """A context that trusts the extender; shows the client's certificate (a path without .crt), if any."""
    context = ssl.create_default_context(cafile=str(Path(pki) / "extender-ca.crt"))
    if client:
        path = Path(pki) / client
        context.load_cert_chain(f"{path}.crt", f"{path}.key")
    return context


def connect(port, context=None, timeout=_PATIENCE):
    plain = socket.create_connection(("127.0.0.1", port), timeout)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if context is None:
        return plain
    try:
        return context.wrap_socket(plain, server_hostname="127.0.0.1")
    except BaseException:
        plain.close()
        raise


def head(path, length, method="POST"):
    return (f"{method} {path} HTTP/1.1\r\nHost: extender\r\nContent-Type: application/json\r\n"
            f"Content-Length: {length}\r\n\r\n").encode()


def read_answer(sock):
    """(status, body); status None where the connection ended without an answer."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = sock.recv(65536)
        if not more:
            return None, data.decode(errors="replace")
        data += more
    first, _, body = data.partition(b"\r\n\r\n")
    length = next((int(line.split(b":")[1]) for line in first.split(b"\r\n")
                   if line.lower().startswith(b"content-length:")), 0)
    while len(body) < length:
        more = sock.recv(65536)
        if not more:
            break
        body += more
    return int(first.split()[1]), body.decode(errors="replace")


def send_all(sock, data):
    """False when the other side did not want all of it."""
    try:
        sock.sendall(data)
        return True
    except OSError:
        return False


def ask(sock, path, body, method="POST"):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    send_all(sock, head(path, len(raw), method) + raw)
    return read_answer(sock)


def pod(name, gpus):
    return {"metadata": {"namespace": "ml", "name": name, "uid": f"uid-{name}"},
            "spec": {"containers": [{"name": "c", "resources": {"requests": {"nvidia.com/gpu": str(gpus)}}}]}}


def question(name, nodes, gpus=1):
    return {"Pod": pod(name, gpus), "Nodes": None, "NodeNames": nodes}


def answered_rightly(status, body, nodes):
    """All nodes are free and nothing is reserved, so all are offered."""
    if status != 200:
        return False
    answer = json.loads(body)
    return answer["Error"] == "" and answer["NodeNames"] == nodes


class Probe:
    """Good questions, each timed."""

    def __init__(self, port, pki, nodes):
        self._port, self._nodes = port, nodes
        self._context = tls(pki)
        self._kept = connect(port, self._context)
        self.kept, self.fresh, self.wrong = [], [], []

    def one(self, number, fresh):
        body = question(f"good-{number % 50}", self._nodes)
        begun = time.perf_counter()
        try:
            sock = connect(self._port, self._context) if fresh else self._kept
            status, text = ask(sock, FILTER, body)
            good = answered_rightly(status, text, self._nodes)
            if fresh:
                sock.close()
            what = "" if good else f"status {status}: {text[:200]}"
        except (OSError, ValueError, KeyError) as error:
            what = f"{type(error).__name__}: {error}"
        (self.fresh if fresh else self.kept).append((time.perf_counter() - begun) * 1000)
        if what:
            self.wrong.append(("fresh: " if fresh else "kept: ") + what)
            if not fresh:
                self._kept = connect(self._port, self._context)

    def run(self, until, pause=0.004):
        number = 0
        while not until():
            self.one(number, fresh=number % 20 == 19)
            number += 1
            time.sleep(pause)


def _probe_main():
    probe = Probe(int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]))
    print("ready", flush=True)
    probe.run(until=lambda: select.select([sys.stdin], [], [], 0)[0])
    print(json.dumps({"kept": probe.kept, "fresh": probe.fresh, "wrong": probe.wrong}))


if __name__ == "__main__":
    _probe_main()
