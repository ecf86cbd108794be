"""A real Kubernetes control plane as plain processes, as an object for tests.

    from lib.cluster import Cluster

    cluster = Cluster.up(nodes=24)                # the whole control plane and Trainyard; see lib/bringup.py
    cluster.kubectl("apply", "-f", "job.yaml")    # returns stdout; raises E2EError with kubectl's words
    cluster.kubectl("apply", "-f", "-", input=text)
    cluster.json("get", "pods", "-A")             # kubectl … -o json, decoded
    cluster.api.get("/api/v1/nodes/n0000")        # raw API calls as admin (lib/api.py)
    cluster.kubeconfig                            # path, for other programs
    cluster.add_nodes(8, Shape(gpus=4))           # more simulated nodes (lib/kwok.py)
    cluster.crash_node("n0003"); cluster.revive_node("n0003")
    cluster.real_nodes; cluster.on_node("real0", "ip", "address"); cluster.load_image("train.tar")
    cluster.restart_kubelet("real0"); cluster.kill("kubelet-real0", signal.SIGSTOP)
    cluster.power_off("real0"); cluster.power_on("real0")

    cluster.kill("trainyard-operator")            # SIGKILL; kill(name, signal.SIGSTOP) pauses
    cluster.start("trainyard-operator")           # the same command line again; waits until it is ready
    cluster.restart("kube-scheduler")             # ends it (the API server by SIGKILL), starts it again
    cluster.run("standby", argv, ready=url)       # a process of the test's own, ended by down() with the rest
    cluster.metrics("kube-scheduler")             # {'name{label="value"}': float}
    cluster.log("kwok")                           # path of a log
    cluster.down()                                # ends exactly what was started, removes the directory

`with Cluster.up(...) as cluster:` ends it in any case. Cluster.load(directory) finds a running one, also
from another Python process. Several clusters live side by side, each in its own directory and block of ports.
Names of processes: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kwok, trainyard-operator,
trainyard-extender; with real nodes also node-N, containerd-N, kubelet-N, kube-proxy-N for each and kube-proxy-hub.
All failures are E2EError with a message for people.
"""
import os
import shutil
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import images, kwok, nodenet, processes, realnode, realnodes
from .api import Api, fetch
from .errors import E2EError
from .kubectl import Kubectl
from .ports import state_home
from .state import FILE, State

# With open watches the API server takes up to a minute to obey SIGTERM, and a successor meets its port taken.
_STOP_SIGNALS = {"kube-apiserver": signal.SIGKILL}
_STOP_SECONDS = 10


def _stop_signal(name, record):
    # What runs on a node ends with it, whatever it would like to do first.
    return signal.SIGKILL if record.get("enter") else _STOP_SIGNALS.get(name, signal.SIGTERM)


class Cluster:
    def __init__(self, state, port_lock=None):
        self._state = state
        self.dir = state.dir
        self.pki = self.dir / "pki"
        self.ports = state.data["ports"]
        self.spare_ports = state.data["spare"]
        self.tools = state.data["tools"]
        self.options = state.data["options"]
        self.kubeconfig = self.dir / "kubeconfig"
        self.kubectl = Kubectl(self.tools["kubectl"], self.kubeconfig, self.dir / "kubectl-cache")
        self._api = None
        # Inherited by the processes: the ports stay ours while one of them, or who called up(), lives.
        self._port_lock = port_lock

    @classmethod
    def up(cls, **options):
        """Brings a cluster up; see lib/bringup.py for the options."""
        from . import bringup  # bringup needs this class
        return bringup.up(cls, **options)

    @classmethod
    def load(cls, folder):
        return cls(State.load(Path(folder).resolve()))

    @classmethod
    def find(cls):
        """The only cluster in this user's default place; ended ones count only where none runs."""
        found = [cls.load(path.parent) for path in sorted(state_home().glob(f"cluster-*/{FILE}"))]
        found = [cluster for cluster in found if any(map(cluster.alive, cluster.processes()))] or found
        if not found:
            raise E2EError(f"no cluster in {state_home()}: start one with `e2e/cluster up`, or give --dir")
        if len(found) > 1:
            names = ", ".join(str(each.dir) for each in found)
            raise E2EError(f"several clusters, name one with --dir: {names}")
        return found[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.down()

    @property
    def plan(self):
        """The network of real nodes, a nodenet.Plan; None where there are only simulated ones."""
        plan = self._state.data.get("plan")
        return nodenet.Plan(**plan) if plan else None

    def note_plan(self, plan):
        with self._state.edit() as data:
            data["plan"] = plan.to_json() if plan else None

    @property
    def host(self):
        """The address of the API server."""
        return self.plan.host_address if self.plan else "127.0.0.1"

    @property
    def server(self):
        return f"https://{self.host}:{self.ports['apiserver']}"

    @property
    def api(self):
        if self._api is None:
            self._api = Api(self.ports["apiserver"], self.pki, host=self.host)
        return self._api

    def json(self, *args):
        return self.kubectl.json(*args)

    # ---- processes

    def add(self, program):
        """Records and starts a new process; does not wait for it."""
        with self._state.edit() as data:
            if program.name in data["processes"]:
                raise E2EError(f"there is a process {program.name!r} already")
            data["processes"][program.name] = {**program.to_json(), "pid": None, "ticks": None, "since": None}
        self._spawn(program.name)

    def run(self, name, argv, ready=None, metrics=None, timeout=30):
        """Starts a process of the caller's own; waits for ready (a URL that answers 200), if given."""
        from .controlplane import Program
        self.add(Program(name, argv, ready, metrics))
        self.wait_ready(name, timeout)

    def start(self, name, timeout=60):
        """Starts an ended process again with the same command line, and waits until it is ready."""
        if self.alive(name):
            raise E2EError(f"{name} is running already")
        self._spawn(name)
        self.wait_ready(name, timeout)

    def kill(self, name, sig=signal.SIGKILL):
        """Sends a signal; waits for the end where the signal is SIGKILL, for the halt where it is SIGSTOP."""
        record = self._state.process(name)
        if not processes.send(record["pid"], record["ticks"], sig):
            raise E2EError(f"{name} is not running")
        if sig == signal.SIGKILL:
            processes.wait_gone(record["pid"], record["ticks"], _STOP_SECONDS)
        if sig == signal.SIGSTOP:
            processes.wait_stopped(record["pid"], record["ticks"])

    def stop(self, name, sig=None, timeout=_STOP_SECONDS):
        """Ends a process the way it likes; SIGKILL if it does not obey within timeout seconds."""
        record = self._state.process(name)
        sig = sig or _STOP_SIGNALS.get(name, signal.SIGTERM)
        if record["pid"]:
            processes.stop(record["pid"], record["ticks"], sig, timeout)

    def restart(self, name, sig=None, timeout=60):
        self.stop(name, sig)
        self.start(name, timeout)

    def alive(self, name):
        record = self._state.process(name)
        return processes.alive(record["pid"], record["ticks"])

    def pid(self, name):
        return self._state.process(name)["pid"]

    def own_mb(self, name):
        return processes.own_mb(self.pid(name))

    def processes(self):
        """{name: record} of all processes, dead ones included."""
        self._state.reload()
        return self._state.data["processes"]

    def log(self, name):
        return self.dir / "logs" / f"{name}.log"

    def wait_ready(self, name, timeout=60):
        """Waits for the process' health URL; fails at once when the process ends."""
        record = self._state.process(name)
        deadline = time.monotonic() + timeout
        while True:
            answer = self.health(record)
            if answer == "ok":
                return
            if not processes.alive(record["pid"], record["ticks"]):
                raise E2EError(self.obituary(name))
            if time.monotonic() > deadline:
                raise E2EError(f"{name} is not ready after {timeout:.0f} s ({answer}); last lines of its log:"
                               "\n" + processes.tail(self.log(name)))
            time.sleep(0.05)

    def health(self, record):
        """'ok', or why not."""
        if not record["ready"]:
            return "ok"
        status, text = fetch(record["ready"])
        if status == 200:
            return "ok"
        return f"{record['ready']}: {text if status is None else f'HTTP {status}'}"

    def check_alive(self):
        """Raises for the first process that ended by itself."""
        for name, record in self.processes().items():
            if not processes.alive(record["pid"], record["ticks"]):
                raise E2EError(self.obituary(name))

    def obituary(self, name):
        record = self._state.process(name)
        how = processes.exit_text(record["pid"], record["ticks"])
        return f"{name} ended ({how}); last lines of {self.log(name)}:\n" + processes.tail(self.log(name))

    def metrics(self, name):
        """The process' Prometheus metrics: {'name{label="value",…}': float}."""
        url = self._state.process(name)["metrics"]
        if not url:
            raise E2EError(f"{name} has no metrics")
        if name == "kube-apiserver":
            text = self.api.get("/metrics")
        else:
            status, text = fetch(url, timeout=10)
            if status != 200:
                raise E2EError(f"{url}: {text if status is None else f'HTTP {status}'}")
        samples = (line.rpartition(" ") for line in text.splitlines() if line and not line.startswith("#"))
        return {key: float(value) for key, _, value in samples}

    # ---- nodes

    def add_nodes(self, count, shape=None, start=None, timeout=180):
        """Creates count simulated nodes and waits until pods can go there; numbered on from the last."""
        if start is None:
            start = sum(not realnode.is_real(item) for item in self.api.list("/api/v1/nodes"))
        indices = range(start, start + count)
        kwok.create_nodes(self.api, indices, shape or kwok.Shape())
        kwok.wait_ready(self.api, [kwok.node_name(index) for index in indices], timeout)

    def crash_node(self, name):
        kwok.crash(self.api, name)

    def revive_node(self, name):
        kwok.revive(self.api, name)

    @property
    def real_nodes(self):
        """Names of the real nodes."""
        return list(self.plan.nodes) if self.plan else []

    def restart_kubelet(self, node):
        """Kills a kubelet and restarts it; returns when it has listed its pods and the GPUs are back."""
        realnodes.restart_kubelet(self, node)

    def power_off(self, node):
        """Ends a real node and everything on it at once."""
        realnodes.power_off(self, node)

    def power_on(self, node):
        """Starts it again; returns when it is ready."""
        realnodes.power_on(self, node)

    def load_image(self, tar, nodes=None):
        """Imports an image's tar file (tools/image) into the named real nodes, or all of them."""
        unknown = set(nodes or ()) - set(self.real_nodes)
        if unknown or not self.real_nodes:
            raise E2EError(f"no real node {', '.join(sorted(unknown)) or 'at all'} in {self.dir} (there are: "
                           f"{', '.join(self.real_nodes) or 'none'})")
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda node: realnode.load_image(self, node, tar), nodes or self.real_nodes))

    def on_node(self, node, *argv):
        """Runs a command on a real node, as root there; returns stdout. Raises E2EError with its own words."""
        done = realnode.command(self, node, argv)
        if done.returncode:
            raise E2EError(f"{' '.join(argv)} on {node}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    # ---- end

    def down(self, keep=False):
        """Ends every process of the cluster; removes its directory unless keep."""
        with self._state.edit() as data:
            # A program that tends a process must not start it again from here on.
            data["ended"] = True
            live = {name: (record["pid"], record["ticks"], _stop_signal(name, record))
                    for name, record in data["processes"].items()
                    if processes.alive(record["pid"], record["ticks"])}
            plan = data.get("plan")
            on_nodes = {name for name, record in data["processes"].items() if record.get("enter")}
        # Trainyard first, while the API server still answers: it may give its lease back.
        base = {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"}
        for stage in (set(live) - on_nodes - base, on_nodes, base):
            processes.stop_all([target for name, target in live.items() if name in stage], _STOP_SECONDS)
        if plan:
            realnodes.remove(nodenet.Plan(**plan))
        if self._api:
            self._api.close()
        if self._port_lock is not None:
            os.close(self._port_lock)
            self._port_lock = None
        if not keep:
            shutil.rmtree(self.dir)

    def _spawn(self, name):
        with self._state.edit() as data:
            record = data["processes"][name]
            if data.get("ended"):
                raise E2EError(f"{name} is not started: the cluster ends")
            if processes.alive(record["pid"], record["ticks"]):
                raise E2EError(f"{name} is running already")
            pid, ticks = self._spawn_record(name, record, data)
            record.update(pid=pid, ticks=ticks, since=time.time())

    def _spawn_record(self, name, record, data):
        if where := record.get("enter"):
            first = data["processes"].get(where)
            if first and not processes.alive(first["pid"], first["ticks"]):
                raise E2EError(f"{name} is not started: {where} has ended")
            return processes.spawn_entering(images.program("enter"), first["pid"] if first else where,
                                            record["argv"], self.log(name))
        keep_open = () if self._port_lock is None else (self._port_lock,)
        return processes.spawn(record["argv"], self.log(name), self.dir, keep_open)
