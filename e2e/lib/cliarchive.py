"""The command line as an archive for people's machines: the program, and beside it in lib/ the libraries that it loads.

    from lib import cliarchive

    archive = cliarchive.make("build/release/cli/trainyard", "build/dist", "0.1.0")
    archive.path, archive.sha256, archive.platform, archive.glibc

The C library is the machine's own: it has to fit the machine's kernel and name services. archive.glibc is the oldest
that has all that is called. The same build gives the same bytes.
"""
import gzip
import hashlib
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from . import ociimage, programimage
from .errors import E2EError

_OF_GLIBC = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util))\.so\.\d+")
_CALLED = re.compile(r"\bGLIBC_(\d+(?:\.\d+)+)\b")


@dataclass
class Archive:
    path: Path
    folder: str                     # the one folder that all of it is in
    sha256: str
    platform: str                   # "linux-amd64"
    glibc: str                      # "2.36"


def make(program, out, version):
    """Writes OUT/trainyard-VERSION-PLATFORM.tar.gz."""
    program, out = Path(program), Path(out)
    libraries, _ = programimage.needs(program)
    platform = f"linux-{programimage.architecture(program)}"
    folder = f"trainyard-{version}-{platform}"
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder}.", dir=out) as scratch:
        tree = Path(scratch) / "tree" / folder
        (tree / "lib").mkdir(parents=True)
        programimage.strip(program, tree / program.name)
        for name, path in libraries.items():
            if not _OF_GLIBC.fullmatch(name):
                shutil.copyfile(Path(path).resolve(), tree / "lib" / name)
        plain, packed = Path(scratch) / "tar", Path(scratch) / "tar.gz"
        ociimage.write_layer(tree.parent, plain)
        with plain.open("rb") as source, packed.open("wb") as target, \
                gzip.GzipFile(filename="", mode="wb", fileobj=target, mtime=0) as zipped:
            shutil.copyfileobj(source, zipped, 1 << 20)
        digest = hashlib.sha256(packed.read_bytes()).hexdigest()
        glibc = _glibc([path for path in tree.rglob("*") if path.is_file()])
        return Archive(packed.rename(out / f"{folder}.tar.gz"), folder, digest, platform, glibc)


def _glibc(files):
    done = subprocess.run(["readelf", "--wide", "--version-info", *map(str, files)], capture_output=True, text=True, check=False)
    found = [tuple(map(int, version.split("."))) for version in _CALLED.findall(done.stdout)]
    if done.returncode or not found:
        raise E2EError(f"readelf tells of no GLIBC version: {done.stderr.strip()}")
    return ".".join(map(str, max(found)))
