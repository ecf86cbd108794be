"""The small images that a cluster with real nodes brings along, made here and kept in the cache.

    docker.io/local/pause:1      the sandbox of every pod
    docker.io/local/busybox:1    Debian's static busybox with all its commands, for tests
    docker.io/local/coredns:1    cluster DNS

A pod that names one of them, or another that was loaded (`e2e/cluster load`), needs `imagePullPolicy: Never`: nothing
can be pulled here.
"""
import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import ociimage, tools
from .errors import E2EError
from .ociimage import Config

PAUSE, BUSYBOX, COREDNS = (f"docker.io/local/{name}:1" for name in ("pause", "busybox", "coredns"))
_BUSYBOX = Path("/bin/busybox")


def ensure(paths):
    """Returns {image name: tar file}; paths: those of tools.ensure(real=True)."""
    pause, coredns = program("pause"), paths["coredns"]
    return {
        PAUSE: _cached("pause", [pause], lambda tree: _install(tree, "pause", pause),
                       Config(entrypoint=["/bin/pause"])),
        BUSYBOX: _cached("busybox", [_BUSYBOX], busybox_tree, Config(cmd=["/bin/sh"])),
        COREDNS: _cached("coredns", [coredns], lambda tree: _install(tree, "coredns", coredns),
                         Config(entrypoint=["/bin/coredns"], user="65532:65532")),
    }


def program(name):
    """The path of a program of e2e/tools/node, compiled if need be."""
    source = tools.MODULES / "node" / f"{name}.c"
    target = _folder() / f"{name}-{_digest([source])}"
    if not target.exists():
        # Several may compile it at the same time; the last one's is as good as the first one's.
        with tempfile.TemporaryDirectory(prefix=f".{name}.", dir=_folder()) as scratch:
            built = Path(scratch) / name
            _run(["gcc", "-static", "-Os", "-s", "-Wall", "-Wextra", "-Werror", "-o", str(built), str(source)])
            built.rename(target)
    return target


def _folder():
    folder = tools.cache_root().parent / "images"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _digest(files):
    digest = hashlib.sha256()
    for path in files:
        digest.update(Path(path).read_bytes())
    return digest.hexdigest()[:16]


def _cached(name, inputs, fill, config):
    """The tar of an image whose tree fill(folder) makes of the input files; written when an input has changed."""
    for path in inputs:
        if not Path(path).is_file():
            raise E2EError(f"{path} is not there: install what real nodes need with `tools/deps real`")
    recipe = [*inputs, __file__, ociimage.__file__]
    target = _folder() / f"{name}-{_digest(recipe)}.tar"
    if not target.exists():
        with tempfile.TemporaryDirectory(prefix=f".{name}.", dir=_folder()) as tree:
            fill(Path(tree))
            ociimage.write(target, f"docker.io/local/{name}:1", [tree], config)
    return target


def _install(tree, name, binary):
    (tree / "bin").mkdir()
    shutil.copyfile(binary, tree / "bin" / name)
    (tree / "bin" / name).chmod(0o755)


def busybox_tree(tree):
    """Fills the folder with a root file system of busybox."""
    _install(tree, "busybox", _BUSYBOX)
    for command in _run([str(_BUSYBOX), "--list"]).split():
        if command != "busybox":
            (tree / "bin" / command).symlink_to("busybox")
    for folder in ("etc", "root", "tmp", "var"):
        (tree / folder).mkdir()
    (tree / "tmp").chmod(0o1777)
    (tree / "etc" / "passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    (tree / "etc" / "group").write_text("root:x:0:\n")


def _run(argv):
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise E2EError(f"{' '.join(argv)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout
