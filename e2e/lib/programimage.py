"""One image per program of the release build: the program, the libraries it loads, and nothing else.

    from lib.programimage import make

    image = make("build/release/operator/trainyard-operator", "operator.tar", "docker.io/local/trainyard-operator:dev")

No shell, no package manager, no CA bundle: the programs trust the CAs that they are given. The container runs as
65532, a number that no Secret's or volume's files belong to by accident.

A program for another processor takes its libraries from where tools/sysroot unpacked them.
"""
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import ociimage, sbom
from .errors import E2EError

USER = 65532
# As the header of an ELF file has it: the name in images, and Debian's folder of libraries.
_MACHINES = {62: ("amd64", "usr/lib/x86_64-linux-gnu"), 183: ("arm64", "usr/lib/aarch64-linux-gnu")}
_SYSROOTS = Path(__file__).resolve().parent.parent.parent / "build"
_NEEDED = re.compile(r"\(NEEDED\)\s+Shared library: \[(\S+)\]")
_INTERPRETER = re.compile(r"Requesting program interpreter: (/[^\]]+)\]")
_LOADED = re.compile(r"^\s*(\S+) => (/\S+) \(0x", re.MULTILINE)
_LOADER = re.compile(r"^\s*(/\S*ld-linux\S*) \(0x", re.MULTILINE)
_ABSENT = re.compile(r"^\s*(\S+) => not found", re.MULTILINE)


def make(program, out, names, user=USER, bill=None):
    """Writes the image of one program; returns ociimage.Image. bill: where to write what it is made of (lib/sbom.py)."""
    program = Path(program)
    with tempfile.TemporaryDirectory(prefix="trainyard-image-") as folder:
        tree = Path(folder) / "tree"
        plant(program, tree)
        image = ociimage.write(out, names, [tree], ociimage.Config(
            entrypoint=[f"/usr/bin/{program.name}"], user=f"{user}:{user}", env={},
            architecture=architecture(program)))
    if bill:
        libraries, loader = needs(program)
        sbom.write(image, program, {**libraries, "loader": _below(_sysroot(program), loader)} if loader else {}, bill,
                   _sysroot(program))
    return image


def architecture(program):
    """What image indexes call the processor that the program is for."""
    machine = _machine(Path(program))
    if machine not in _MACHINES:
        raise E2EError(f"{program}: images are made for amd64 and arm64")
    return _MACHINES[machine][0]


def plant(program, tree):
    """The file tree in which the program runs."""
    libraries, loader = needs(program)
    folder = _MACHINES[_machine(program)][1]
    binary = tree / "usr/bin" / program.name
    binary.parent.mkdir(parents=True)
    strip(program, binary)
    for name, path in libraries.items():
        _copy(path, tree / folder / name)
    # The one path that is written into every program; a static one has none.
    if loader:
        _copy(_below(_sysroot(program), loader), tree / loader.lstrip("/"))
    etc = tree / "etc"
    etc.mkdir()
    (etc / "passwd").write_text("root:x:0:0:root:/:/sbin/nologin\n"
                                f"nonroot:x:{USER}:{USER}:nonroot:/:/sbin/nologin\n")
    (etc / "group").write_text(f"root:x:0:\nnonroot:x:{USER}:\n")
    (etc / "nsswitch.conf").write_text("hosts: files dns\n")


def strip(program, target):
    own = _sysroot(program) is None
    _run("strip" if own else f"{Path(_MACHINES[_machine(program)][1]).name}-strip", "--strip-all", "-o", str(target), str(program))
    target.chmod(0o755)


def needs(program):
    """{name: path} of the shared libraries, and the loader's path."""
    if not program.is_file():
        raise E2EError(f"{program} is not there: build with `make build`")
    root = _sysroot(program)
    if root is not None:
        return _needs_of_sysroot(program, root)
    text = _run("ldd", str(program), accept=(0, 1))
    if "statically linked" in text or "not a dynamic executable" in text:
        return {}, None
    if absent := _ABSENT.findall(text):
        raise E2EError(f"{program} needs {', '.join(absent)}, which this machine does not have")
    loader = _LOADER.search(text)
    if not loader:
        raise E2EError(f"{program} names no loader:\n{text}")
    return dict(_LOADED.findall(text)), loader.group(1)


def _sysroot(program):
    """Where the libraries of a program for another processor are; None: those of this machine are its own."""
    name = architecture(program)
    if _machine(program) == _machine(Path("/proc/self/exe")):
        return None
    root = _SYSROOTS / f"sysroot-{name}"
    if not root.is_dir():
        raise E2EError(f"{program} is for {name}, and {root} is not there: run `tools/sysroot {name}`")
    return root


def _below(root, path):
    return path if root is None else str(root / path.lstrip("/"))


def _needs_of_sysroot(program, root):
    """As _needs, by what the files say: this machine cannot ask their loader."""
    loader = _INTERPRETER.search(_run("readelf", "--program-headers", str(program)))
    if not loader:
        return {}, None
    found, open_ = {}, [program]
    folder = root / _MACHINES[_machine(program)][1]
    while open_:
        for name in _NEEDED.findall(_run("readelf", "--dynamic", str(open_.pop()))):
            if name in found or name == Path(loader.group(1)).name:
                continue
            path = folder / name
            if not path.exists():
                raise E2EError(f"{program} needs {name}, which {root} does not have")
            found[name] = str(path)
            open_.append(path)
    return dict(sorted(found.items())), loader.group(1)


def _machine(program):
    """The processor that an ELF file is for, as its header has it."""
    with program.open("rb") as file:
        return int.from_bytes(file.read(20)[18:], "little")


def _copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(Path(source).resolve(), target)
    target.chmod(0o755)


def _run(*argv, accept=(0,)):
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise E2EError(f"{argv[0]} is not installed (Debian: apt-get install binutils libc-bin)") from None
    if done.returncode not in accept:
        raise E2EError(f"{' '.join(argv)} failed: {(done.stderr or done.stdout).strip()}")
    # ldd says there of a static program that it is one.
    return done.stdout + (done.stderr if done.returncode else "")
