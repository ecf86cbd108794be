"""The training image of the tests and the demo: Debian's Python with PyTorch (CPU, gloo), and busybox for a shell.

    from lib.trainimage import make

    image = make("train.tar", "docker.io/local/trainyard-train:dev")
    cluster.load_image(archive(progress))         # the same, made once

apt-get downloads the packages (250 MB) into the cache once, as if nothing was installed, so that the result does not
hang on what this machine has. Of their closure only what `import torch` can reach is kept: the interpreter, its library,
torch, numpy and yaml, and the shared libraries that these name, one after the other.
"""
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import ociimage, tools
from .errors import E2EError
from .programimage import USER
from .progress import Progress

NAME = "docker.io/local/trainyard-train:dev"
_PACKAGES = ["python3-torch", "python3-numpy", "python3-yaml", "busybox-static"]
_LIBRARIES = "usr/lib/x86_64-linux-gnu"
# In the order in which the loader looks; the last two hold what update-alternatives would link.
_SEARCH = [_LIBRARIES, "lib/x86_64-linux-gnu", "usr/lib", "lib", f"{_LIBRARIES}/blas", f"{_LIBRARIES}/lapack"]
_LOADER = "lib64/ld-linux-x86-64.so.2"
_STDLIB, _SITE = "usr/lib/python3.11", "usr/lib/python3/dist-packages"
_MODULES = ["torch", "torchgen", "numpy", "yaml", "typing_extensions.py", "six.py", "astunparse", "pkg_resources"]
_LEFT_OUT = {"test", "tests", "idlelib", "lib2to3", "ensurepip", "tkinter", "turtledemo", "include", "__pycache__"}
_APPLETS = ["sh", "cat", "echo", "env", "false", "head", "hostname", "id", "kill", "ls", "nslookup", "ps", "sleep",
            "tail", "test", "timeout", "true", "wc", "wget"]
_NEEDED = re.compile(r"\(NEEDED\)[^\[]*\[([^\]]+)\]")


def make(out, names, progress=None):
    """Writes the image; returns ociimage.Image. Minutes at the first time, seconds afterwards."""
    layer = ensure(progress or Progress(quiet=True))
    return ociimage.write(out, names, [layer], ociimage.Config(
        cmd=["/usr/bin/python3"], user=f"{USER}:{USER}", workdir="/tmp",
        env={"PATH": "/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1",
             "PYTHONUNBUFFERED": "1"}))


def archive(progress):
    """The image's tar file in the cache, by the name that examples/real uses."""
    layer = ensure(progress)
    target = layer.with_name(f"trainyard-{layer.name}")
    if not target.exists():
        for old in target.parent.glob("trainyard-train-*.tar"):
            old.unlink()
        partial = target.with_name(f".{target.name}.{os.getpid()}")
        make(partial, NAME, progress)
        partial.rename(target)
    return target


def ensure(progress):
    """The layer as a tar file in the cache, made if it is not there. Safe when several run at once."""
    recipe = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]
    folder = tools.cache_root().parent / "images"
    folder.mkdir(parents=True, exist_ok=True)
    layer = folder / f"train-{recipe}.tar"
    with open(folder / ".train.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if layer.is_file():
            return layer
        with progress.step("training image: packages downloaded"):
            packages = _download(folder / "archives")
        with tempfile.TemporaryDirectory(prefix=".train-", dir=folder) as scratch, \
                progress.step("training image: layer made"):
            everything, tree = Path(scratch) / "everything", Path(scratch) / "tree"
            _unpack(packages, everything)
            _pick(everything, tree)
            partial = Path(scratch) / "layer.tar"
            ociimage.write_layer(tree, partial)
            os.replace(partial, layer)
        # Older recipes' layers are half a gigabyte each.
        for old in folder.glob("train-*.tar"):
            if old != layer:
                old.unlink()
    return layer


def _download(archives):
    (archives / "partial").mkdir(parents=True, exist_ok=True)
    nothing_installed = archives / "status"
    nothing_installed.touch()
    # Settings of this very machine's packages must not stop a download.
    _run("apt-get", "-o", f"Dir::State::status={nothing_installed}", "-o", f"Dir::Cache::archives={archives}",
         "-o", "APT::Sandbox::User=root", "-o", "Debug::NoLocking=1", "--no-install-recommends", "--download-only",
         "--yes", "install", *_PACKAGES)
    return sorted(archives.glob("*.deb"))


def _unpack(packages, folder):
    folder.mkdir()
    for package in packages:
        _run("dpkg-deb", "--extract", str(package), str(folder))


def _pick(source, tree):
    """Copies from the unpacked packages what the image needs."""
    for module in _MODULES:
        _copy(source / _SITE / module, tree / _SITE / module)
    # Beside this one helper there are tests, which need libraries of their own.
    for program in (tree / _SITE / "torch/bin").iterdir():
        if program.name != "torch_shm_manager":
            program.unlink()
    _copy(source / _STDLIB, tree / _STDLIB)
    for name, target in {"python3.11": "usr/bin/python3.11", "busybox": "usr/bin/busybox"}.items():
        found = [path for path in (source / "usr/bin" / name, source / "bin" / name) if path.is_file()]
        if not found:
            raise E2EError(f"the downloaded packages have no {name}")
        _copy(found[0], tree / target)
    (tree / "usr/bin/python3").symlink_to("python3.11")
    for applet in _APPLETS:
        (tree / "usr/bin" / applet).symlink_to("busybox")
    (tree / "bin").symlink_to("usr/bin")
    _copy(source / _LOADER, tree / _LOADER)
    # torch opens this one by a link of its own; no file names it as needed.
    opened = [link.readlink().name for link in (tree / _SITE / "torch/lib").glob("libtorch_global_deps.so*")]
    for name, path in _closure(source, tree, opened).items():
        _copy(path, tree / _LIBRARIES / name)
    for path in list(tree.rglob("*")):
        if path.is_symlink() and not path.exists():
            path.unlink()
    _compile(tree)
    (tree / "tmp").mkdir()
    (tree / "tmp").chmod(0o1777)
    etc = tree / "etc"
    etc.mkdir()
    (etc / "passwd").write_text(f"root:x:0:0:root:/:/bin/sh\nnonroot:x:{USER}:{USER}:nonroot:/tmp:/bin/sh\n")
    (etc / "group").write_text(f"root:x:0:\nnonroot:x:{USER}:\n")
    (etc / "nsswitch.conf").write_text("hosts: files dns\n")


def _copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    if not source.is_dir():
        shutil.copy(source, target)
        return
    shutil.copytree(source, target, ignore=lambda _, names: [name for name in names if name in _LEFT_OUT],
                    symlinks=True)


def _closure(source, tree, opened):
    """{name: file} of the shared libraries that the programs and modules in tree need, and those need in turn."""
    found, absent = {name: source / _LIBRARIES / name for name in opened}, set()
    todo = [path for path in tree.rglob("*") if path.is_file() and not path.is_symlink() and _is_elf(path)]
    todo += found.values()
    while todo:
        needed = set(_NEEDED.findall(_run("readelf", "--dynamic", "--wide", *map(str, todo))))
        todo = []
        for name in sorted(needed - found.keys() - absent):
            path = next((source / folder / name for folder in _SEARCH if (source / folder / name).is_file()), None)
            if path:
                found[name] = path.resolve()
                todo.append(found[name])
            else:
                absent.add(name)
    if absent:
        raise E2EError(f"the downloaded packages lack {', '.join(sorted(absent))}")
    return found


def _is_elf(path):
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def _compile(tree):
    # A container cannot write the compiled modules beside their sources, and compiling them takes seconds in each
    # process. Unchecked: the times of the sources are lost in the image.
    _run("/usr/bin/python3", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", "-s", str(tree), "-p", "/",
         str(tree / _STDLIB), str(tree / _SITE), accept=(0, 1))


def _run(*argv, accept=(0,)):
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"})
    except FileNotFoundError:
        raise E2EError(f"{argv[0]} is not installed (Debian: apt-get install apt dpkg binutils python3)") from None
    if done.returncode not in accept:
        raise E2EError(f"{argv[0]} failed: {(done.stderr or done.stdout).strip()[-2000:]}")
    return done.stdout
