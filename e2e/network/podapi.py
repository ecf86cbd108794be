"""As much of an API server as the agent asks for: the list and the watch of one node's pods, over plain HTTP."""
import json
import queue
import socket
import socketserver
import threading
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

from network.namespaces import entered, in_thread

JOB_UID = "trainyard.dev/job-uid"


def pod(name, node, address, job, role="ps", index=0, created="2026-01-01T00:00:00Z", network=None):
    annotations = {"trainyard.dev/network": json.dumps(network)} if network is not None else {}
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": name, "namespace": "ml", "uid": f"uid-{name}", "creationTimestamp": created,
            "labels": {JOB_UID: f"uid-{job}", "trainyard.dev/job-name": job, "trainyard.dev/role": role,
                       "trainyard.dev/index": str(index), "trainyard.dev/epoch": "1"},
            "annotations": annotations,
            "ownerReferences": [{"apiVersion": "trainyard.dev/v1alpha1", "kind": "TrainingJob", "name": job,
                                 "uid": f"uid-{job}", "controller": True}]},
        "spec": {"nodeName": node, "containers": [{"name": "main"}]},
        "status": {"phase": "Running", "startTime": created, "podIP": address, "podIPs": [{"ip": address}]},
    }


class PodApi:
    def __init__(self, namespace=None):
        self.lock, self.version, self.pods, self.watchers, self.past = threading.Lock(), 1, {}, [], []
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                api.answer(self)

            def log_message(self, *_):
                pass

        class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
            daemon_threads, allow_reuse_address = True, True

        if namespace is None:
            self.server = Server(("127.0.0.1", 0), Handler)
        else:
            with entered(namespace):
                self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        in_thread(self.server.serve_forever)

    def close(self):
        for each in self.watchers:
            each.put(None)
        self.server.shutdown()
        self.server.server_close()

    def put(self, pod):
        with self.lock:
            self.version += 1
            kind = "MODIFIED" if pod["metadata"]["name"] in self.pods else "ADDED"
            pod["metadata"]["resourceVersion"] = str(self.version)
            self.pods[pod["metadata"]["name"]] = pod
            self.send_event(kind, pod)

    def remove(self, name):
        with self.lock:
            self.version += 1
            pod = self.pods.pop(name)
            pod["metadata"]["resourceVersion"] = str(self.version)
            self.send_event("DELETED", pod)

    def send_event(self, kind, pod):
        event = {"type": kind, "object": json.loads(json.dumps(pod))}
        self.past.append((self.version, event))
        for each in self.watchers:
            each.put(event)

    def answer(self, request):
        query = parse_qs(urlsplit(request.path).query)
        if "watch" not in query:
            with self.lock:
                body = json.dumps({"kind": "PodList", "apiVersion": "v1",
                                   "metadata": {"resourceVersion": str(self.version)},
                                   "items": list(self.pods.values())}).encode()
            request.send_response(200)
            request.send_header("Content-Type", "application/json")
            request.send_header("Content-Length", str(len(body)))
            request.end_headers()
            request.wfile.write(body)
            return
        events, since = queue.Queue(), int(query["resourceVersion"][0])
        with self.lock:
            for version, event in self.past:
                if version > since:
                    events.put(event)
            self.watchers.append(events)
        request.send_response(200)
        request.send_header("Content-Type", "application/json")
        request.send_header("Transfer-Encoding", "chunked")
        request.end_headers()
        try:
            while (event := events.get()) is not None:
                line = json.dumps(event).encode() + b"\n"
                request.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
                request.wfile.flush()
        except OSError:
            pass  # the agent has gone
        finally:
            with self.lock:
                self.watchers.remove(events)


def kubeconfig(path, url):
    path.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "it",
        "clusters": [{"name": "it", "cluster": {"server": url}}], "users": [{"name": "it", "user": {}}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}]}))
    return path


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]
