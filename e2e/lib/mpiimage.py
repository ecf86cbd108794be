"""The MPI image of the tests: Debian's Open MPI with ssh client and server, and a shell.

    cluster.load_image(archive(progress))         # made once, minutes at the first time

apt-get downloads the packages (100 MB) into the cache once, as if nothing was installed, so that the result does not
hang on what this machine has. They are unpacked and not configured: none of their scripts is needed here.
"""
import fcntl
import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

from . import ociimage, tools
from .errors import E2EError

NAME = "docker.io/local/trainyard-mpi:dev"
_PACKAGES = ["openmpi-bin", "openssh-server", "openssh-client", "dash", "coreutils", "libc-bin", "hostname"]
_LEFT_OUT = ["usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/info"]


def archive(progress):
    """The image's tar file in the cache. Safe when several run at once."""
    recipe = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]
    folder = tools.cache_root().parent / "images"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"trainyard-mpi-{recipe}.tar"
    with open(folder / ".mpi.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if target.is_file():
            return target
        with progress.step("MPI image"), tempfile.TemporaryDirectory(prefix=".mpi-", dir=folder) as scratch:
            tree, layer, partial = (Path(scratch) / name for name in ("tree", "layer.tar", "image.tar"))
            make_tree(tree, folder / "mpi-archives")
            ociimage.write_layer(tree, layer)
            ociimage.write(partial, NAME, [layer], ociimage.Config(
                cmd=["/bin/sh"], user="0:0", workdir="/root",
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"}))
            os.replace(partial, target)
    return target


def make_tree(tree, archives):
    """The image's root folder."""
    (archives / "partial").mkdir(parents=True, exist_ok=True)
    nothing_installed = archives / "status"
    nothing_installed.touch()
    _run("apt-get", "-o", f"Dir::State::status={nothing_installed}", "-o", f"Dir::Cache::archives={archives}",
         "-o", "APT::Sandbox::User=root", "-o", "Debug::NoLocking=1", "--no-install-recommends", "--download-only",
         "--yes", "install", *_PACKAGES)
    for folder in ("usr/bin", "usr/sbin", "usr/lib", "usr/lib64"):
        (tree / folder).mkdir(parents=True)
    for link in ("bin", "sbin", "lib", "lib64"):
        (tree / link).symlink_to(f"usr/{link}")
    for package in sorted(archives.glob("*.deb")):
        tar = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE)
        _run("tar", "-x", "--keep-directory-symlink", "-C", str(tree), stdin=tar.stdout)
        tar.wait()
    for name in _LEFT_OUT:
        _run("rm", "-rf", str(tree / name))
    # What the packages' scripts would do.
    (tree / "bin/sh").unlink(missing_ok=True)
    (tree / "bin/sh").symlink_to("dash")
    for name in ("mpirun", "mpiexec"):
        (tree / "usr/bin" / name).unlink(missing_ok=True)
        (tree / "usr/bin" / name).symlink_to("orterun")
    (tree / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\nsshd:x:100:65534::/run/sshd:/usr/sbin/nologin\n")
    (tree / "etc/group").write_text("root:x:0:\nnogroup:x:65534:\n")
    (tree / "etc/shadow").write_text("root:*:19000:0:99999:7:::\n")
    (tree / "etc/nsswitch.conf").write_text("passwd: files\ngroup: files\nhosts: files dns\n")
    for folder in ("root", "tmp", "proc", "dev", "run"):
        (tree / folder).mkdir(exist_ok=True)
    (tree / "tmp").chmod(0o1777)


def _run(*argv, **options):
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"}, **options)
    if done.returncode:
        raise E2EError(f"{argv[0]} failed: {(done.stderr or done.stdout).strip()[-2000:]}")
