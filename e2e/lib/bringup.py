"""The way from nothing to a ready cluster."""
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import controlplane, kwok, pki, ports, realnode, realnodes, tools, trainyard
from .api import ApiError
from .errors import E2EError
from .progress import Progress
from .state import State

_READY_SECONDS = 60


def up(cls, directory=None, nodes=16, shape=None, ports_from=None, with_trainyard=True, bin_dir=None,
       fast_eviction=False, audit=False, api_only=False, real=0, install=True, workloads=False, kinds=("Job",), kueue=False,
       emulates=None, gates=(), devices=False, progress=None):
    """Starts a cluster and returns it ready; on failure ends what it started and keeps the logs.

    directory: must be new or empty; default: a fresh one. nodes, shape: simulated nodes (kwok.Shape, or its
    fields).
    ports_from: first port of its block; default: a free block. with_trainyard: operator and extender from
    bin_dir (CRDs and rights are installed in any case). fast_eviction: pods leave a crashed node within
    seconds. audit: all requests with their clients, in D/audit.log. api_only: the API server with its garbage collector, namespaces
    and service accounts, and no other program that changes objects: no scheduler, no nodes, no Trainyard.
    install: False leaves CRDs and rights out too, for callers that install the chart (lib/helm.py).
    workloads: also the controllers of Deployments, StatefulSets and DaemonSets, as with real nodes.
    kinds: workloads of other controllers that the operator queues.
    kueue: jobs with a queue of Kueue wait for it; the caller starts Kueue (lib/controllers.py).
    emulates: the version whose APIs and features Kubernetes' own programs have, such as "1.33".
    gates: features of the API server and of kube-scheduler that are turned on, with the API that they need.
    devices: the controller of ResourceClaims, and kube-scheduler asks about pods that claim devices.
    real: real nodes besides the simulated ones (lib/realnode.py), with shape's GPUs and labels; needs root.
    """
    progress = progress or Progress(quiet=True)
    if api_only:
        nodes, with_trainyard = 0, False
    binaries = trainyard.binaries(bin_dir or trainyard.DEFAULT_BIN) if with_trainyard else {}
    if with_trainyard and not trainyard.crd_files():
        raise E2EError(f"no CRDs in {trainyard.CRDS}: the operator would have nothing to watch")
    if real:
        realnode.check_machine()
    paths = tools.ensure(progress, real=bool(real))
    block = ports.claim(ports_from)
    folder = _new_directory(directory)
    shape = shape if isinstance(shape, kwok.Shape) else kwok.Shape(**(shape or {}))
    options = {"nodes": nodes, "gpus": shape.gpus, "trainyard": with_trainyard, "fast_eviction": fast_eviction,
               "audit": audit, "api_only": api_only, "real": real, "install": install,
               "workloads": workloads or bool(real), "kinds": list(kinds), "kueue": kueue, "emulates": emulates,
               "gates": list(gates), "devices": devices}
    cluster = cls(State.create(folder, block.ports, block.spare, paths, options), block.lock_fd)
    try:
        progress.say(f"cluster in {folder}, ports from {block.base}")
        _bring_up(cluster, nodes, shape, binaries, progress)
    except BaseException as error:
        raise _abandon(cluster, error) from error
    return cluster


def _new_directory(wanted):
    if wanted is None:
        home = ports.state_home()
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix="cluster-", dir=home))
    folder = Path(wanted).resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise E2EError(f"{folder} is not empty: end the cluster there with "
                       f"`e2e/cluster down --dir {folder}`, or name another directory")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _bring_up(cluster, nodes, shape, binaries, progress):
    (cluster.dir / "logs").mkdir()
    options = cluster.options
    if options["real"]:
        with progress.step("network made"):
            realnodes.make_network(cluster, options["real"])
    with progress.step("certificates made"):
        pki.create(cluster.pki, **(realnodes.certificates(cluster) if cluster.plan else {}))
        pki.kubeconfig(cluster.kubeconfig, cluster.server, cluster.pki, "admin")
        for client in ("kube-controller-manager", "kube-scheduler", "kwok"):
            pki.kubeconfig(cluster.dir / f"{client}.kubeconfig", cluster.server, cluster.pki, client)
    with ThreadPoolExecutor(1) as pool:
        # The machines come up meanwhile: they need the API server's address, not the API server.
        machines = pool.submit(realnodes.begin, cluster, progress) if cluster.plan else None
        with progress.step("etcd ready"):
            cluster.add(controlplane.etcd(cluster))
            cluster.wait_ready("etcd", _READY_SECONDS)
        with progress.step("kube-apiserver ready"):
            cluster.add(controlplane.apiserver(cluster, options["fast_eviction"], options["audit"]))
            cluster.wait_ready("kube-apiserver", _READY_SECONDS)
        if machines:
            machines.result()

    if not options["api_only"]:
        # The garbage collector asks which kinds there are when it starts, and then every half minute: of a kind that comes
        # later the first deletion waits that long.
        _install(cluster, binaries, progress)
    cluster.add(controlplane.controller_manager(cluster, options["fast_eviction"], options["api_only"],
                                                options["workloads"]))
    if options["api_only"]:
        return _wait_api(cluster, progress)
    cluster.add(controlplane.scheduler(cluster, with_extender=bool(binaries)))
    stages = _copy(trainyard.MANIFESTS / "stages.yaml", cluster.dir)
    cluster.add(controlplane.kwok(cluster, stages, kwok.SELECTOR, options["fast_eviction"]))
    if cluster.plan:
        with progress.step("kubelets, kube-proxies and CoreDNS started"):
            realnodes.join(cluster, shape)
    with progress.step(f"{nodes} nodes created"):
        kwok.create_nodes(cluster.api, range(nodes), shape)
    with progress.step("kube-controller-manager, kube-scheduler, kwok ready"):
        for name in ("kube-controller-manager", "kube-scheduler", "kwok"):
            cluster.wait_ready(name, _READY_SECONDS)
    with progress.step(f"{nodes} nodes ready and free of start-up taints"):
        _wait_nodes(cluster, nodes, progress)
    if cluster.plan:
        with progress.step(f"{options['real']} real nodes ready, cluster DNS answers"):
            realnodes.wait(cluster, shape, progress)
    for name in binaries:
        with progress.step(f"{name} ready"):
            cluster.wait_ready(name, _READY_SECONDS)
    cluster.check_alive()


def _wait_api(cluster, progress):
    with progress.step("kube-controller-manager ready"):
        cluster.wait_ready("kube-controller-manager", _READY_SECONDS)
        _wait_nodes(cluster, 0, progress)


def _install(cluster, binaries, progress):
    if not cluster.options["install"]:
        return
    with progress.step(f"{len(trainyard.crd_files())} CRD files and rights installed"):
        trainyard.install_objects(cluster)
    makers = {trainyard.OPERATOR: trainyard.operator, trainyard.EXTENDER: trainyard.extender}
    for name, binary in binaries.items():
        cluster.add(makers[name](cluster, binary, trainyard.write_kubeconfig(cluster, name)))


def _wait_nodes(cluster, nodes, progress):
    def watch(text=None):
        cluster.check_alive()
        if text:
            progress.say(text)

    # Without this account every pod is refused; a controller makes it soon after the start.
    kwok.poll(lambda: _exists(cluster, "/api/v1/namespaces/default/serviceaccounts/default"), 60,
              lambda: "namespace default has no ServiceAccount yet", watch)
    kwok.wait_ready(cluster.api, [kwok.node_name(index) for index in range(nodes)], 60 + nodes / 10, watch)


def _exists(cluster, path):
    try:
        return cluster.api.get(path) is not None
    except ApiError as error:
        if error.code == 404:
            return False
        raise


def _copy(source, folder):
    target = folder / source.name
    target.write_text(source.read_text())
    return target


def _abandon(cluster, error):
    """Ends what was started; returns the error that describes best what happened."""
    if not isinstance(error, Exception):
        # Interrupted: the cause is not needed.
        cluster.down()
        return error
    try:
        cluster.check_alive()
    except E2EError as death:
        # A dead process explains the refused connection, not the other way round.
        error = death
    cluster.down(keep=True)
    if isinstance(error, E2EError):
        return E2EError(f"{error}\nall processes were ended; logs are kept in {cluster.dir}/logs")
    return error
