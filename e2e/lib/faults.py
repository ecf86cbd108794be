"""Our programs behind the fault proxy (lib/faultproxy.py), and started again when they end, as Kubernetes
would.

    with FaultProxy(cluster, ["operator-a"]) as proxy:
        replica = Replica(cluster, proxy, "operator-a", identity="a")
        proxy.rules("operator-a", {"kind": "write", "nth": 7, "fault": "kill-before"})
        ...
        proxy.state("operator-a")["hits"]

A successor takes over at once, without waiting for the Lease of the killed one to run out, where both have
the same --identity: the Lease then names the successor itself, which takes it with a higher term.
"""
import json
import socket
import sys
import threading

from . import processes, trainyard
from .errors import E2EError


class FaultProxy:
    """names: the clients it is for; each gets a port of its own. services: {port: [ports]}, addresses that
    stand for several."""

    def __init__(self, cluster, names, services=None, process="fault-proxy"):
        self._cluster, self.process = cluster, process
        self._control = take_port(cluster)
        self.ports = {name: take_port(cluster) for name in names}
        self.log = cluster.dir / "logs" / f"{process}.jsonl"
        argv = [sys.executable, "-m", "lib.faultproxy", f"--upstream={cluster.ports['apiserver']}",
                f"--ca={cluster.pki}/ca.crt", f"--control={self._control}", f"--log={self.log}"]
        argv += [f"--client={name}={port}" for name, port in self.ports.items()]
        for port, backends in (services or {}).items():
            argv.append(f"--service={port}={','.join(map(str, backends))}")
        # The cluster starts its processes in its own directory.
        cluster.run(process, ["/usr/bin/env", f"PYTHONPATH={trainyard.REPOSITORY}/e2e",
                              "PYTHONDONTWRITEBYTECODE=1", *argv])
        self._await_control()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self._cluster.stop(self.process)

    def _await_control(self):
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self._control)).close()
            except ConnectionRefusedError:
                if not self._cluster.alive(self.process):
                    raise E2EError(self._cluster.obituary(self.process)) from None

    def kubeconfig(self, source, client):
        """A copy of the kubeconfig source that leads to the client's port; returns its path."""
        text = source.read_text().replace(self._cluster.server, f"http://127.0.0.1:{self.ports[client]}")
        target = self._cluster.dir / f"{client}.proxied.kubeconfig"
        target.touch(mode=0o600)
        target.write_text(text)
        return target

    def order(self, client, do, **more):
        """One order to the process; returns the client's state: counts, hits, watches, tail."""
        with socket.create_connection(("127.0.0.1", self._control)) as connection:
            connection.sendall((json.dumps({"do": do, "client": client, **more}) + "\n").encode())
            answer = json.loads(connection.makefile().readline() or '{"error": "the proxy ended"}')
        if "error" in answer:
            raise E2EError(f"fault proxy: {do} {client}: {answer['error']}")
        return answer

    def reset(self, client):
        """Counts from 1 again, without rules."""
        return self.order(client, "reset")

    def rules(self, client, *rules):
        return self.order(client, "rules", rules=list(rules))

    def state(self, client):
        return self.order(client, "state")

    def wait_hits(self, client, count, timeout=60):
        """Waits, at most timeout seconds, until faults have struck count times since the reset; returns the
        state."""
        return self.order(client, "wait", hits=count, timeout=timeout)

    def story(self, client, lines=40):
        """What to print when a case fails."""
        state = self.state(client)
        tail = "\n  ".join(state["tail"][-lines:])
        return f"{client}: counts {state['counts']}, hits {state['hits']}\nits last requests:\n  {tail}"


class Tended:
    """A process of the cluster that is started again when it ends, by whatever cause, until stop()."""

    def __init__(self, cluster, name):
        self._cluster, self.name = cluster, name
        self.deaths = []
        self._stopping = threading.Event()
        self._error = None
        self._started()
        self._thread = threading.Thread(target=self._tend, daemon=True)
        self._thread.start()

    def stop(self, end=True):
        """Tends it no more, and ends it unless end is false."""
        self._stopping.set()
        self._thread.join()
        if end:
            self._cluster.stop(self.name)
        self.check()

    def check(self):
        if self._error:
            raise self._error

    def signal(self, sig):
        record = self._record()
        return processes.send(record["pid"], record["ticks"], sig)

    def _record(self):
        return self._cluster.processes()[self.name]

    def _started(self):
        """Called after each start."""

    def _tend(self):
        try:
            while not self._stopping.is_set():
                record = self._record()
                if not processes.wait_gone(record["pid"], record["ticks"], 0.2):
                    continue
                self.deaths.append(processes.exit_text(record["pid"], record["ticks"]))
                if not self._stopping.is_set():
                    self._start()
        except Exception as error:  # pylint: disable=broad-except
            self._error = error

    def _start(self):
        try:
            self._cluster.start(self.name)
        except E2EError:
            # Killed again before it was ready: the next round sees that. Or it waits for others, as long as they need.
            if not self._cluster.alive(self.name):
                return
        self._started()


class Replica(Tended):
    """An operator behind the proxy."""

    def __init__(self, cluster, proxy, client, identity):
        self._proxy, self.client = proxy, client
        port = take_port(cluster)
        binary, *flags = cluster.processes()[trainyard.OPERATOR]["argv"]
        kubeconfig = proxy.kubeconfig(cluster.dir / f"{trainyard.OPERATOR}.kubeconfig", client)
        flags = [flag for flag in flags if not flag.startswith(("--kubeconfig", "--listen"))]
        argv = [binary, f"--kubeconfig={kubeconfig}", f"--listen=127.0.0.1:{port}", f"--identity={identity}",
                *flags]
        url = f"http://127.0.0.1:{port}"
        cluster.run(f"trainyard-{client}", argv, ready=f"{url}/readyz", metrics=f"{url}/metrics", timeout=60)
        super().__init__(cluster, f"trainyard-{client}")

    def _started(self):
        record = self._record()
        self._proxy.order(self.client, "pid", pid=record["pid"], ticks=record["ticks"])


class ExtenderReplica(Tended):
    """One of several extenders behind one address; listens at port."""

    def __init__(self, cluster, name, port):
        metrics = take_port(cluster)
        binary, *flags = cluster.processes()[trainyard.EXTENDER]["argv"]
        flags = [flag for flag in flags if not flag.startswith(("--listen", "--metrics-listen"))]
        argv = [binary, f"--listen=127.0.0.1:{port}", f"--metrics-listen=127.0.0.1:{metrics}", *flags]
        url = f"http://127.0.0.1:{metrics}"
        cluster.run(f"trainyard-{name}", argv, ready=f"{url}/readyz", metrics=f"{url}/metrics", timeout=60)
        super().__init__(cluster, f"trainyard-{name}")


def take_port(cluster):
    """A free port of the cluster's own block."""
    return cluster.spare_ports.pop(0)
