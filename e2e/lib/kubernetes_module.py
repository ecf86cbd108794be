"""Another version of Kubernetes than the one of e2e/tools/k8s: a Go module made from that version's own go.mod.

Its staging modules are those of the same release (v0.33.13 for v1.33.13), everything else is what upstream built it
with. The module is kept in the cache; e2e/run then tries the tree against that version:

    TRAINYARD_KUBERNETES=1.33.13 e2e/run
"""
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from .errors import E2EError

_KUBERNETES = "k8s.io/kubernetes"


def cache_root():
    base = os.environ.get("TRAINYARD_CACHE")
    if base:
        return Path(base) / "tools"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trainyard" / "tools"


def other_kubernetes(version, packages):
    """The folder of the module from which these packages of that version build; made when it is not there."""
    if not re.fullmatch(r"1\.\d+\.\d+", version):
        raise E2EError(f"TRAINYARD_KUBERNETES must be a release such as 1.33.13, is {version!r}")
    name = "-".join(sorted(package.rpartition("/")[2] for package in packages))
    folder = cache_root() / "modules" / f"kubernetes-{version}-{name}"
    if (folder / "go.mod").is_file():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        made = Path(scratch) / folder.name
        made.mkdir()
        _write(made, version)
        # Completes go.sum by what upstream left out: its staging modules are folders there.
        _go(made, "list", "-mod=mod", "-deps", *packages)
        # A process that was quicker made the same.
        if not folder.exists():
            made.rename(folder)
    return folder


def _write(made, version):
    upstream = Path(_go(made, "mod", "download", "-json", f"{_KUBERNETES}@v{version}", field="Dir"))
    text = (upstream / "go.mod").read_text()
    staging = re.findall(r"^\s*(k8s\.io/\S+) => \./staging/", text, re.MULTILINE)
    release = "v0." + version.partition(".")[2]
    required = re.findall(r"^\s+(\S+) (v\S+)", text.partition("replace (")[0], re.MULTILINE)
    requires = {module: release if module in staging else at for module, at in required}
    requires[_KUBERNETES] = f"v{version}"
    go = re.search(r"^go (\S+)", text, re.MULTILINE).group(1)
    lines = ["module trainyard.invalid/tools/k8s", "", f"go {go}", "", "require ("]
    lines += [f"\t{module} {at}" for module, at in sorted(requires.items())]
    lines += [")", "", "replace ("]
    lines += [f"\t{module} => {module} {release}" for module in staging]
    (made / "go.mod").write_text("\n".join([*lines, ")", ""]))
    shutil.copyfile(upstream / "go.sum", made / "go.sum")
    (made / "go.sum").chmod(0o644)


def _go(folder, *arguments, field=None):
    done = subprocess.run(["go", *arguments], cwd=folder, capture_output=True, text=True, check=False, errors="replace",
                          env={**os.environ, "GOWORK": "off", "GOFLAGS": ""})
    if done.returncode != 0:
        last = (done.stderr.strip() or "it said nothing").splitlines()[-1]
        raise E2EError(f"Kubernetes {folder.name}: go {arguments[0]} failed: {last}")
    found = re.search(rf'"{field}": "([^"]+)"', done.stdout) if field else None
    return found.group(1) if found else done.stdout
