"""Puts Trainyard itself onto a cluster: CRDs, rights, its two programs under their own ServiceAccounts."""
import os
import re
import time
from pathlib import Path

from . import helm, pki
from .controlplane import Program
from .errors import E2EError

REPOSITORY = Path(__file__).resolve().parent.parent.parent
DEFAULT_BIN = REPOSITORY / "build" / "release"
MANIFESTS = REPOSITORY / "e2e" / "manifests"
CRDS = REPOSITORY / "crds"
NAMESPACE = "trainyard-system"

OPERATOR, EXTENDER = "trainyard-operator", "trainyard-extender"
# Runs in pods of jobs; clusters of the tests get its image only where a case loads it.
LAUNCH = "trainyard-launch"
# Runs on nodes, where a case asks for it.
AGENT = "trainyard-agent"
# For people; no cluster runs it.
COMMAND_LINE = "trainyard"
LAUNCH_IMAGE = f"docker.io/local/{LAUNCH}:dev"

# Long enough for the longest soak run; the cluster and its signing key end before.
_TOKEN_SECONDS = 7 * 24 * 3600


def binaries(folder):
    """{name: path} of both programs below folder; a clear error when one is not built."""
    folder = Path(folder).resolve()
    found = {name: _binary(folder, name) for name in (OPERATOR, EXTENDER)}
    absent = [name for name, path in found.items() if path is None]
    if absent:
        raise E2EError(f"{' and '.join(absent)} not found in {folder}: build with `make build`, name another "
                       "directory with --bin, or leave Trainyard out with --no-trainyard")
    return found


def launcher(folder):
    """The path of trainyard-launch below folder."""
    return _built(folder, LAUNCH)


def agent(folder):
    """The path of trainyard-agent below folder."""
    return _built(folder, AGENT)


def command_line(folder):
    """The path of trainyard, for people, below folder."""
    return _built(folder, COMMAND_LINE)


def version():
    """That of the tree, as the programs and the chart have it."""
    return re.search(r"project\(trainyard VERSION (\S+)", (REPOSITORY / "CMakeLists.txt").read_text()).group(1)


def _built(folder, name):
    found = _binary(Path(folder).resolve(), name)
    if found is None:
        raise E2EError(f"{name} not found in {folder}: build with `make build`")
    return found


def _binary(folder, name):
    # CMake puts a program into the directory of its source, an installation into one.
    source = "cli" if name == COMMAND_LINE else name.removeprefix("trainyard-")
    for path in (folder / name, folder / "bin" / name, folder / source / name):
        if path.is_file() and os.access(path, os.X_OK):
            return path
    return None


def crd_files():
    return sorted([*CRDS.glob("*.yaml"), *CRDS.glob("*.yml")])


def install_objects(cluster):
    """Applies the chart's CRDs, ServiceAccounts and rights; returns once the API serves the new kinds."""
    namespace = f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {NAMESPACE}}}\n"
    values = {"workloads": {"kinds": cluster.options["kinds"]}, "kueue": {"enabled": cluster.options["kueue"]}}
    rendered = helm.template(cluster.tools["helm"], values, only=("crds", "serviceaccounts", "rbac"))
    cluster.kubectl("apply", "--server-side", "--field-manager=e2e", "-f", "-", input=f"{namespace}---\n{rendered}")
    wait_established(cluster)


def wait_established(cluster, timeout=30):
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    deadline = time.monotonic() + timeout
    while True:
        waiting = [item["metadata"]["name"] for item in cluster.api.list(path)
                   if not _established(item)]
        if not waiting:
            return
        if time.monotonic() > deadline:
            raise E2EError(f"the API server does not establish {', '.join(waiting)}")
        time.sleep(0.1)


def _established(crd):
    return any(condition["type"] == "Established" and condition["status"] == "True"
               for condition in crd.get("status", {}).get("conditions") or [])


def write_kubeconfig(cluster, account):
    """A kubeconfig with the rights of a ServiceAccount of the system's namespace; returns its path."""
    path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{account}/token"
    answer = cluster.api.call("POST", path, {
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
        "spec": {"expirationSeconds": _TOKEN_SECONDS}})
    target = cluster.dir / f"{account}.kubeconfig"
    pki.kubeconfig(target, cluster.server, cluster.pki, token=answer["status"]["token"], namespace=NAMESPACE)
    return target


def _policy(cluster):
    policy = cluster.dir / "policy.yaml"
    policy.write_text("# The defaults.\n")
    return policy


def operator(cluster, binary, kubeconfig):
    port = cluster.ports["operator"]
    policy = _policy(cluster)
    return Program(OPERATOR, [
        binary, f"--kubeconfig={kubeconfig}", f"--listen=127.0.0.1:{port}", f"--namespace={NAMESPACE}",
        f"--policy={policy}", "--policy-configmap=trainyard-policy", f"--launcher-image={LAUNCH_IMAGE}",
        # As the chart: the others are read only.
        "--workload-kinds=" + ",".join(kind for kind in cluster.options["kinds"] if kind not in ("LeaderWorkerSet", "PodGroup")),
        *(["--kueue"] if cluster.options["kueue"] else []),
    ], ready=f"http://127.0.0.1:{port}/readyz", metrics=f"http://127.0.0.1:{port}/metrics", port=port)


def extender(cluster, binary, kubeconfig):
    port, metrics = cluster.ports["extender"], cluster.ports["extender-metrics"]
    return Program(EXTENDER, [
        binary, f"--kubeconfig={kubeconfig}", f"--listen=127.0.0.1:{port}",
        f"--tls-cert={cluster.pki}/extender.crt", f"--tls-key={cluster.pki}/extender.key",
        f"--policy={_policy(cluster)}", f"--client-ca={cluster.pki}/extender-ca.crt",
        "--client-name=system:kube-scheduler", f"--metrics-listen=127.0.0.1:{metrics}",
    ], ready=f"http://127.0.0.1:{metrics}/readyz", metrics=f"http://127.0.0.1:{metrics}/metrics", port=port)
