"""Trainyard's chart: rendered, or installed into a cluster as users install it.

    from lib import helm

    helm.template(cluster.tools["helm"], only=["rbac"])          # YAML text
    release = helm.Release(cluster, bin_dir)
    release.load_images()                                        # of the release build, onto every real node
    release.install({"extender": {"replicas": 1}})               # and waits until the pods are ready
    release.wire_scheduler()                                     # kube-scheduler asks the extender from now on
    release.upgrade(...); release.rollback(); release.uninstall()
"""
import base64
import hashlib
import json
import subprocess
from pathlib import Path

from . import processes, programimage, tools
from .errors import E2EError

CHART = Path(__file__).resolve().parent.parent.parent / "helm" / "trainyard"
NAME, NAMESPACE = "trainyard", "trainyard-system"
_SECONDS = 180


def template(program, values=None, only=(), namespace=NAMESPACE, kubernetes=None, kinds=(), cluster=None):
    """The chart's objects as YAML; only: names of template files without .yaml; kubernetes: the cluster's version; kinds: what
    it serves beyond what helm assumes, such as "example.com/v1/Thing"; cluster: the one whose version and APIs count instead."""
    argv = [program, "template", "--no-hooks", NAME, CHART, f"--namespace={namespace}", *_values_arguments(values)]
    argv += [f"--kube-version={kubernetes}"] if kubernetes else []
    argv += [f"--api-versions={kind}" for kind in kinds]
    # As an upgrade: an installation refuses objects that exist already.
    argv += ["--validate", "--is-upgrade", f"--kubeconfig={cluster.kubeconfig}"] if cluster else []
    argv += [f"--show-only=templates/{name}.yaml" for name in only]
    return _run(argv, input=json.dumps(values or {}))


def lint(program, values=None):
    """Raises with helm's message if the chart with these values is not good."""
    return _run([program, "lint", "--strict", CHART, *_values_arguments(values)], input=json.dumps(values or {}))


class Release:
    """One installation of the chart on a cluster."""

    def __init__(self, cluster, bin_dir, tag="e2e"):
        self._cluster = cluster
        self._bin = Path(bin_dir)
        self._tag = tag
        self.scheduler_folder = cluster.dir / "scheduler-tls"

    # ---- images

    def load_images(self):
        """Makes the programs' images, unless they were made of the same builds, and gives them to every real node."""
        from .trainyard import binaries  # which needs this module
        for name, path in binaries(self._bin).items():
            self.load_image(path, name)

    def load_image(self, program, name):
        """The image of one program, the same way; returns its full name."""
        full = f"docker.io/local/{name}:{self._tag}"
        self._cluster.load_image(_image(program, full))
        return full

    # ---- helm

    def helm(self, *args, **options):
        home = self._cluster.dir / "helm"
        environment = {f"HELM_{kind}_HOME": str(home / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA")}
        return _run([self._cluster.tools["helm"], *args, f"--kubeconfig={self._cluster.kubeconfig}",
                     f"--namespace={NAMESPACE}"], environment=environment, **options)

    def values(self, more=None):
        """What these clusters need, with the caller's own values over it."""
        base = {"image": {"tag": self._tag, "pullPolicy": "Never"},
                "scheduler": {"certificateFolder": str(self.scheduler_folder)},
                # Uninstalling is to leave nothing.
                "crds": {"keep": False}}
        if self._cluster.plan:
            base["extender"] = {"service": {"clusterIP": self.service_address()}}
        return _merge(base, more or {})

    def service_address(self):
        """The address that the extender's Service asks for."""
        network = self._cluster.plan.services
        first, second, third = network.split("/", maxsplit=1)[0].split(".")[:3]
        return f"{first}.{second}.{third}.99"

    def install(self, values=None, wait=True):
        return self._apply("install", ["--create-namespace"], values, wait)

    def upgrade(self, values=None, wait=True):
        return self._apply("upgrade", [], values, wait)

    def _apply(self, command, more, values, wait):
        waiting = ["--wait", f"--timeout={_SECONDS}s"] if wait else []
        try:
            return self.helm(command, NAME, CHART, *more, *waiting, "--values=-",
                             input=json.dumps(self.values(values)))
        except E2EError as error:
            raise E2EError(f"{error}\n{self.describe()}") from None

    def rollback(self, wait=True):
        waiting = ["--wait", f"--timeout={_SECONDS}s"] if wait else []
        return self.helm("rollback", NAME, *waiting)

    def uninstall(self):
        return self.helm("uninstall", NAME, "--wait", f"--timeout={_SECONDS}s")

    def describe(self):
        """What the pods look like, for a failure's message."""
        pods = self._cluster.kubectl("get", "pods", "-n", NAMESPACE, "-o", "wide")
        events = self._cluster.kubectl("get", "events", "-n", NAMESPACE, "--sort-by=.lastTimestamp")
        return f"{pods}\n" + "\n".join(events.splitlines()[-25:])

    # ---- kube-scheduler, which an administrator configures

    def copy_client_certificate(self):
        """Does what an administrator does: copies the Secret to where kube-scheduler reads it."""
        secret = self._cluster.json("get", "secret", "trainyard-extender-client", "-n", NAMESPACE)
        self.scheduler_folder.mkdir(mode=0o700, exist_ok=True)
        for name in ("ca.crt", "tls.crt", "tls.key"):
            partial = self.scheduler_folder / f".{name}"
            partial.write_bytes(base64.b64decode(secret["data"][name]))
            partial.rename(self.scheduler_folder / name)

    def wire_scheduler(self):
        """Puts the stanza of the chart's ConfigMap into kube-scheduler's configuration and restarts it."""
        import yaml  # Debian's python3-yaml, which the rest of lib does without
        self.copy_client_certificate()
        config_map = self._cluster.json("get", "configmap", "trainyard-scheduler-config", "-n", NAMESPACE)
        path = self._cluster.dir / "kube-scheduler.yaml"
        config = {**yaml.safe_load(path.read_text()), **yaml.safe_load(config_map["data"]["extenders.yaml"])}
        path.write_text(json.dumps(config, indent=2) + "\n")
        self._cluster.restart("kube-scheduler")


def _image(program, name):
    """The image's tar file in the cache, named after the program's contents."""
    stamp = hashlib.sha256(program.read_bytes() + Path(programimage.__file__).read_bytes()).hexdigest()[:16]
    short = name.rpartition("/")[2].partition(":")[0]
    target = tools.cache_root().parent / "images" / f"{short}-{stamp}.tar"
    if not target.exists():
        programimage.make(program, target, name)
        for old in target.parent.glob(f"{short}-*.tar"):
            if old != target:
                old.unlink()
    return target


def _merge(base, more):
    merged = dict(base)
    for key, value in more.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merge(merged[key], value) if both else value
    return merged


def _values_arguments(values):
    return ["--values=-"] if values else []


def _run(argv, environment=None, input=None):  # pylint: disable=redefined-builtin
    done = subprocess.run([str(arg) for arg in argv], input=input or "", capture_output=True, text=True, check=False,
                          env={**processes.environment(), **(environment or {})})
    if done.returncode:
        raise E2EError(f"helm {argv[1]} failed: {done.stderr.strip()}")
    return done.stdout
