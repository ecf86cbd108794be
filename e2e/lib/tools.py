"""Builds the cluster's programs from their Go modules into a cache outside the tree.

TRAINYARD_KUBERNETES names another Kubernetes version than the tree's ("1.33.13"; lib/kubernetes_module.py).

One module per tool under e2e/tools: Kubernetes needs its replace directives, which would force foreign
versions on the others. A cache entry is named after its module files and the build recipe, so a changed
version never meets an old binary, and an entry is either complete or not there.
"""
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from .errors import E2EError
from .kubernetes_module import cache_root, other_kubernetes
from .progress import Progress

MODULES = Path(__file__).resolve().parent.parent / "tools"

_KUBERNETES = "k8s.io/kubernetes/cmd"

# tool -> {binary: package}
RECIPES = {
    "etcd": {"etcd": "go.etcd.io/etcd/server/v3"},
    "k8s": {name: f"{_KUBERNETES}/{name}"
            for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")},
    "kwok": {"kwok": "sigs.k8s.io/kwok/cmd/kwok"},
    "helm": {"helm": "helm.sh/helm/v3/cmd/helm"},
}
# What only real nodes need.
REAL_RECIPES = {
    "node": {name: f"{_KUBERNETES}/{name}" for name in ("kubelet", "kube-proxy")},
    "coredns": {"coredns": "."},
}
# What single case files need; each names its own: TOOLS = ["dashboards"]. They find it by tools.only("dashboards").
CASE_RECIPES = {
    "dashboards": {"dashboard-check": "."},
    "krew": {"kubectl-krew": "sigs.k8s.io/krew/cmd/krew"},
    # With the provider whose machines are nodes that kwok plays.
    "karpenter": {"karpenter": "sigs.k8s.io/karpenter/kwok"},
    # Controllers of other workload kinds (lib/controllers.py).
    "mpi-operator": {"mpi-operator": "github.com/kubeflow/mpi-operator/cmd/mpi-operator"},
    "jobset": {"jobset": "sigs.k8s.io/jobset"},
    "training-operator": {"training-operator": "github.com/kubeflow/training-operator/cmd/training-operator.v1"},
    "kuberay": {"kuberay": "github.com/ray-project/kuberay/ray-operator"},
    "kueue": {"kueue": "sigs.k8s.io/kueue/cmd/kueue"},
    "lws": {"lws": "sigs.k8s.io/lws/cmd"},
    "trainer": {"trainer": "github.com/kubeflow/trainer/v2/cmd/trainer-controller-manager"},
    # The programs that its operator would deploy (lib/kai.py).
    "kai": {f"kai-{name}": f"github.com/NVIDIA/KAI-scheduler/cmd/{name}"
            for name in ("scheduler", "binder", "podgrouper", "podgroupcontroller", "queuecontroller")},
}
# tool -> (module, file, line, the line instead, …): what of a module is built otherwise.
# kwok ends a pod by its name, at times twice, and the second call met the next pod of that name; a kubelet names the
# uid.
_PATCHES = {
    "kwok": ("sigs.k8s.io/kwok", "pkg/kwok/controllers/pod_controller.go",
             "Delete(ctx, pod.Name, deleteOpt)",
             "Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: deleteOpt.GracePeriodSeconds, "
             "Preconditions: &metav1.Preconditions{UID: &pod.UID}})"),
    # Its health port is a constant: clusters side by side would meet on it.
    "mpi-operator": ("github.com/kubeflow/mpi-operator", "cmd/mpi-operator/app/server.go",
                     'Addr:    fmt.Sprintf(":%d", healthCheckPort)', 'Addr:    os.Getenv("HEALTH_ADDRESS")'),
    # It rotates its own certificate, without a name for loopback; here it is given one.
    "training-operator": ("github.com/kubeflow/training-operator", "pkg/cert/cert.go",
                          "setupFinished chan struct{}) error {",
                          "setupFinished chan struct{}) error {\n\tclose(setupFinished)\n\treturn nil"),
    # The folder of its metrics' certificate is a constant outside the cluster's folder.
    "kueue": ("sigs.k8s.io/kueue", "cmd/kueue/main.go",
              'metricsCertPath := "/etc/kueue/metrics/certs"', "metricsCertPath := cfg.Webhook.CertDir"),
    # One of its programs ignores its option for the address of its metrics, and would take a port of the machine.
    "kai": ("github.com/NVIDIA/KAI-scheduler", "cmd/podgroupcontroller/app/app.go",
            "mgr, err := ctrl.NewManager(config, ctrl.Options{",
            "managerOptions := ctrl.Options{",
            """	})
	if err != nil {
		setupLog.Error(err, "unable to start manager")""",
            """	}
	managerOptions.Metrics.BindAddress = options.MetricsAddr
	mgr, err := ctrl.NewManager(config, managerOptions)
	if err != nil {
		setupLog.Error(err, "unable to start manager")"""),
}
# tool -> folder of its module, where that is not its name: all of Kubernetes is of one version.
_MODULE_OF = {"node": "k8s"}


def ensure(progress=None, real=False):
    """Returns {binary name: path}, building what the cache lacks. Safe when several run at once.

    real: the programs of real nodes too.
    """
    paths = {}
    for tool in _tools(real):
        paths.update(only(tool, progress))
    return paths


def only(tool, progress=None):
    """The same of one tool."""
    folder = _entry(tool)
    if not _complete(tool, folder):
        _build_locked(tool, folder, progress or Progress())
    return {name: folder / name for name in _recipe(tool)}


def module_folder(tool, module):
    """Where the module is unpacked of which `tool` is built: definitions and other files of it."""
    return fetched(f"{module}@{_required_version(tool, module)}")


def fetched(module):
    """Where a module ("sigs.k8s.io/karpenter@v1.13.0") is unpacked; fetched where it is not."""
    go = _find_go(module)
    result = subprocess.run([go, "mod", "download", "-json", module], cwd=MODULES, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, text=True, check=False, env={**os.environ, "GOWORK": "off"})
    said = json.loads(result.stdout or "{}")
    if result.returncode != 0 or "Dir" not in said:
        raise E2EError(f"cannot fetch {module}: {said.get('Error', 'go mod download said nothing')}")
    return Path(said["Dir"])


def missing(real=False):
    """The tools that a call of ensure() would have to build."""
    return [tool for tool in _tools(real) if not _complete(tool, _entry(tool))]


def _tools(real):
    return [*RECIPES, *(REAL_RECIPES if real else ())]


def _recipe(tool):
    return {**RECIPES, **REAL_RECIPES, **CASE_RECIPES}[tool]


def _module(tool):
    folder = MODULES / _MODULE_OF.get(tool, tool)
    version = os.environ.get("TRAINYARD_KUBERNETES")
    return other_kubernetes(version, _recipe(tool).values()) if version and folder.name == "k8s" else folder


def _entry(tool):
    digest, module = hashlib.sha256(), _module(tool)
    try:
        for path in (module / "go.mod", module / "go.sum", *sorted(module.glob("*.go"))):
            digest.update(path.read_bytes())
    except FileNotFoundError as error:
        raise E2EError(f"{error.filename} is missing: the checkout is incomplete") from None
    parts = [_recipe(tool), _ldflags(tool)]
    if tool in _PATCHES:
        parts.append(_PATCHES[tool])
    digest.update(json.dumps(parts).encode())
    return cache_root() / f"{tool}-{digest.hexdigest()[:16]}"


def _complete(tool, folder):
    return all((folder / name).is_file() for name in _recipe(tool))


def _ldflags(tool):
    flags = "-s -w"
    if _MODULE_OF.get(tool, tool) == "k8s":
        # Unstamped, the servers report a placeholder version, which breaks every version check of a client.
        version = _required_version(tool, "k8s.io/kubernetes")
        major, minor, _ = version[1:].split(".", 2)
        stamp = "k8s.io/component-base/version"
        flags += (f" -X {stamp}.gitVersion={version} -X {stamp}.gitMajor={major} -X {stamp}.gitMinor={minor}"
                  f" -X k8s.io/client-go/pkg/version.gitVersion={version}")
    if tool == "helm":
        # Unstamped, it renders for Kubernetes 1.20 by default.
        _, minor, _ = _required_version(tool, "k8s.io/client-go")[1:].split(".", 2)
        stamp = "helm.sh/helm/v3/pkg/chartutil"
        flags += (f" -X helm.sh/helm/v3/internal/version.version={_required_version(tool, 'helm.sh/helm/v3')}"
                  f" -X {stamp}.k8sVersionMajor=1 -X {stamp}.k8sVersionMinor={minor}")
    return flags


def _required_version(tool, module):
    text = (_module(tool) / "go.mod").read_text()
    match = re.search(rf"^\s*(?:require\s+)?{re.escape(module)}\s+(v\S+)", text, re.MULTILINE)
    if not match:
        raise E2EError(f"{_module(tool) / 'go.mod'} requires no version of {module}")
    return match.group(1)


def _find_go(tool):
    go = shutil.which("go")
    if not go:
        raise E2EError(f"the {tool} programs are not built yet and there is no go on PATH: "
                       "install Go 1.26 or later, then run e2e/tools/build")
    return go


def _build_locked(tool, folder, progress):
    go = _find_go(tool)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.parent / f".{tool}.lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.say(f"{tool}: another build is running, waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f"trainyard-{tool}-") as scratch:
            flags = None
            for name, package in _recipe(tool).items():
                if not (folder / name).is_file():
                    progress.say(f"{tool}: building {name} (minutes when nothing is cached)")
                    with progress.step(f"{tool}: built {name}"):
                        flags = _patched(go, tool, Path(scratch)) if flags is None else flags
                        _build(go, tool, package, folder / name, flags)


def _patched(go, tool, scratch):
    """The flags that build `tool` with its patch, from a copy of the module in `scratch`."""
    if tool not in _PATCHES:
        return []
    module, file, *lines = _PATCHES[tool]
    _run(go, tool, "the module", ["mod", "download", module])
    source = _run(go, tool, "the module", ["list", "-m", "-f", "{{.Dir}}", module]).strip()
    copy = scratch / "module"
    shutil.copytree(source, copy, copy_function=shutil.copyfile)  # the module cache is read-only
    for folder in (copy, *(path for path in copy.rglob("*") if path.is_dir())):
        folder.chmod(0o755)
    text = (copy / file).read_text()
    for old, new in zip(lines[::2], lines[1::2]):
        if text.count(old) != 1:
            raise E2EError(f"{module}: {file} has {text.count(old)} places that read `{old}`; the patch needs exactly one")
        text = text.replace(old, new)
    (copy / file).write_text(text)
    for name in ("go.mod", "go.sum"):
        shutil.copyfile(_module(tool) / name, scratch / name)
    _run(go, tool, "the module", ["mod", "edit", f"-replace={module}={copy}", str(scratch / "go.mod")])
    return [f"-modfile={scratch / 'go.mod'}"]


def _build(go, tool, package, target, flags):
    # Built beside its place and renamed: who sees the name sees a whole binary.
    partial = target.with_name(f".{target.name}.partial")
    try:
        _run(go, tool, target.name, ["build", "-trimpath", "-buildvcs=false", "-mod=readonly", *flags,
                                     "-ldflags", _ldflags(tool), "-o", str(partial), package])
    except E2EError:
        partial.unlink(missing_ok=True)
        raise
    partial.rename(target)


def _run(go, tool, name, arguments):
    """What `go ARGUMENTS` prints in the folder of the tool's module; `name` is what is built by it."""
    result = subprocess.run([go, *arguments], cwd=_module(tool),
                            env={**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"},
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, errors="replace", check=False)
    if result.returncode != 0:
        raise E2EError(_explain(tool, name, result.stdout))
    return result.stdout


def _explain(tool, name, output):
    lines = [line for line in output.splitlines() if line.strip() and not line.startswith("go: downloading")]
    last = lines[-1] if lines else "go build said nothing"
    if re.search(r"dial tcp|no such host|i/o timeout|proxyconnect|connection refused|TLS handshake", output):
        return (f"cannot build {name}: the Go module proxy is not reachable, and its modules are not in the "
                f"local module cache ({last})")
    if re.search(r"toolchain not available|requires go >=", output):
        return f"cannot build {name}: the installed Go is too old for e2e/tools/{_module(tool).name}/go.mod ({last})"
    return f"cannot build {name} from e2e/tools/{_module(tool).name}:\n" + "\n".join(lines[-20:])
