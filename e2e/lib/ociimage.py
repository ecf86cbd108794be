"""Writes a container image as one tar file, without a container engine, the same bytes on every run.

    from lib.ociimage import Config, write

    image = write("operator.tar", "docker.io/local/trainyard-operator:dev", ["build/image/operator"],
                  Config(entrypoint=["/usr/bin/trainyard-operator"], user="65532:65532"))
    image.digest        # sha256:… of the manifest; image.id is that of the configuration

The file is an OCI layout that carries docker's manifest.json too: `ctr images import`, `docker load`, `podman
load` and `skopeo copy oci-archive:…` read it. Each tree becomes one layer, the first one lowest.

What a run could change is left out: entries are sorted, times are 0, owners are root unless said otherwise in
the configuration's user, modes are 0755 for folders and what is executable, 0644 for the rest (the sticky and
set-id bits stay), hard links are files of their own.
"""
import gzip
import hashlib
import io
import json
import os
import shutil
import stat
import tarfile
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from .errors import E2EError

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_EPOCH = "1970-01-01T00:00:00Z"
_LAYER = "application/vnd.oci.image.layer.v1.tar"
_CONFIG = "application/vnd.oci.image.config.v1+json"
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_INDEX = "application/vnd.oci.image.index.v1+json"


@dataclass
class Config:
    """How a container of the image starts, unless its pod says otherwise."""
    entrypoint: list = field(default_factory=list)
    cmd: list = field(default_factory=list)
    env: dict = field(default_factory=lambda: {"PATH": _PATH})
    user: str = ""                  # "65532:65532"; empty: root
    workdir: str = "/"
    labels: dict = field(default_factory=dict)
    architecture: str = "amd64"


@dataclass
class Image:
    path: Path
    names: list
    digest: str                     # of the manifest: what a registry and a node call it
    id: str                         # of the configuration: what a pod's status calls it
    size: int                       # bytes of the file


@dataclass
class _Blob:
    digest: str
    size: int
    content: object                 # bytes, or the path of a file
    diff_id: str = ""

    def name(self):
        return "blobs/sha256/" + self.digest.removeprefix("sha256:")

    def descriptor(self, media_type, **more):
        return {"mediaType": media_type, "digest": self.digest, "size": self.size, **more}


def write(out, names, trees, config=None, compress=False):
    """Writes the image to out (whole or not at all) and returns what it is.

    names: one full name or several ("docker.io/local/train:1"). trees: folders, or tar files that are taken for a
    layer as they are. compress: gzip the layers; for files that travel. A node imports the plain form faster.
    """
    names = [names] if isinstance(names, str) else list(names)
    for name in names:
        _check_name(name)
    out, config = Path(out), config or Config()
    if not trees:
        raise E2EError(f"{out}: an image needs at least one tree")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as scratch:
        layers = [_layer(Path(tree), Path(scratch) / str(number), compress)
                  for number, tree in enumerate(trees)]
        configuration = _json_blob(_configuration(config, layers))
        media_type = _LAYER + ("+gzip" if compress else "")
        manifest = _json_blob({
            "schemaVersion": 2, "mediaType": _MANIFEST, "config": configuration.descriptor(_CONFIG),
            "layers": [layer.descriptor(media_type) for layer in layers]})
        partial = Path(scratch) / "image"
        _write_archive(partial, names, manifest, configuration, layers)
        os.replace(partial, out)
    return Image(out, names, manifest.digest, configuration.digest, out.stat().st_size)


def write_index(out, images):
    """One file of several images of the same names, one a processor: a node or a registry takes what it can run.

    For `skopeo copy --all oci-archive:…` and `ctr images import`; `docker load` reads files of one image only.
    """
    out = Path(out)
    platforms, blobs = [], {}
    with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as scratch:
        for number, image in enumerate(images):
            folder = Path(scratch) / str(number)
            with tarfile.open(image.path) as archive:
                archive.extractall(folder)  # written by write()
            blobs.update({f"blobs/sha256/{path.name}": path for path in (folder / "blobs" / "sha256").iterdir()})
            manifest = blobs["blobs/sha256/" + image.digest.removeprefix("sha256:")]
            configuration = json.loads(blobs["blobs/sha256/" + image.id.removeprefix("sha256:")].read_bytes())
            platforms.append({"mediaType": _MANIFEST, "digest": image.digest, "size": manifest.stat().st_size,
                              "platform": {"architecture": configuration["architecture"], "os": configuration["os"]}})
        index = _json_blob({"schemaVersion": 2, "mediaType": _INDEX, "manifests": platforms})
        partial = Path(scratch) / "image"
        with tarfile.open(partial, "w", format=tarfile.PAX_FORMAT) as archive:
            _add(archive, "oci-layout", _bytes({"imageLayoutVersion": "1.0.0"}))
            _add(archive, "index.json", _bytes({"schemaVersion": 2, "mediaType": _INDEX,
                                                "manifests": _named(index, _INDEX, images[0].names)}))
            for name, content in sorted({**blobs, index.name(): index.content}.items()):
                _add(archive, name, content)
        os.replace(partial, out)
    return Image(out, images[0].names, index.digest, index.digest, out.stat().st_size)


def write_layer(tree, out):
    """Writes a folder as a layer's tar file, to be given to write() as a tree more than once."""
    with Path(out).open("wb") as file:
        _write_tree(Path(tree), file)


def _check_name(name):
    host, _, rest = name.partition("/")
    if not rest or ":" not in rest or not ("." in host or ":" in host) or name != name.lower().strip():
        # Short names mean one thing to docker and nothing to a node.
        raise E2EError(f"{name!r} is no full image name: wanted HOST/NAME:TAG, as docker.io/local/train:1")


def _layer(tree, scratch, compress):
    """A tree, or a ready layer tar, as a blob in a file."""
    plain = tree
    if tree.is_dir():
        plain = scratch
        with plain.open("wb") as file:
            _write_tree(tree, file)
    elif not tree.is_file():
        raise E2EError(f"{tree} is neither a folder nor a layer's tar file")
    elif not tarfile.is_tarfile(tree) or tree.open("rb").read(2) == b"\x1f\x8b":
        raise E2EError(f"{tree} is no plain tar file")
    digest, size = _hash(plain)
    if not compress:
        return _Blob(digest, size, plain, digest)
    packed = scratch.with_suffix(".gz")
    with plain.open("rb") as source, packed.open("wb") as target, \
            gzip.GzipFile(filename="", mode="wb", fileobj=target, compresslevel=6, mtime=0) as zipped:
        shutil.copyfileobj(source, zipped, 1 << 20)
    return _Blob(*_hash(packed), packed, digest)


def _write_tree(tree, file):
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in _sorted_paths(tree):
            # A second name of a file would become a link to the first, by what inodes happen to be shared.
            archive.inodes = {}
            info = archive.gettarinfo(path, arcname=os.path.relpath(path, tree))
            if info is None or not (info.isreg() or info.isdir() or info.issym()):
                raise E2EError(f"{path}: only files, folders and symbolic links can be in an image")
            _make_plain(info)
            if info.isreg():
                with open(path, "rb") as content:
                    archive.addfile(info, content)
            else:
                archive.addfile(info)


def _sorted_paths(tree):
    """Every path below tree, folders before what is in them."""
    for folder, folders, files in os.walk(tree):
        folders.sort()
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        if folder != str(tree):
            yield folder
        for name in sorted(files + links):
            yield os.path.join(folder, name)


def _make_plain(info):
    special = info.mode & (stat.S_ISVTX | stat.S_ISUID | stat.S_ISGID)
    if info.issym():
        info.mode = 0o777
    elif special & stat.S_ISVTX:
        info.mode = 0o777 | special
    else:
        info.mode = (0o755 if info.isdir() or info.mode & 0o111 else 0o644) | special
    info.uid = info.gid = info.mtime = 0
    info.uname = info.gname = ""


def _configuration(config, layers):
    how = {
        "Entrypoint": list(config.entrypoint), "Cmd": list(config.cmd), "User": config.user,
        "WorkingDir": config.workdir, "Env": [f"{key}={value}" for key, value in sorted(config.env.items())],
        "Labels": dict(sorted(config.labels.items())),
    }
    return {
        "architecture": config.architecture, "os": "linux", "created": _EPOCH,
        "config": {key: value for key, value in how.items() if value},
        "rootfs": {"type": "layers", "diff_ids": [layer.diff_id for layer in layers]},
        "history": [{"created": _EPOCH, "created_by": "tools/image"} for _ in layers],
    }


def _write_archive(path, names, manifest, configuration, layers):
    entries = _named(manifest, _MANIFEST, names)
    docker = [{"Config": configuration.name(), "RepoTags": names, "Layers": [layer.name() for layer in layers]}]
    blobs = {blob.name(): blob for blob in [manifest, configuration, *layers]}
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        _add(archive, "oci-layout", _bytes({"imageLayoutVersion": "1.0.0"}))
        _add(archive, "index.json", _bytes({"schemaVersion": 2, "mediaType": _INDEX, "manifests": entries}))
        _add(archive, "manifest.json", _bytes(docker))
        for name, blob in sorted(blobs.items()):
            _add(archive, name, blob.content)


def _named(blob, media_type, names):
    # containerd names an image by the first annotation, others take the tag of the second.
    return [blob.descriptor(media_type, annotations={
        "io.containerd.image.name": name,
        "org.opencontainers.image.ref.name": name.rpartition(":")[2],
    }) for name in names]


def _add(archive, name, content):
    info = tarfile.TarInfo(name)
    info.mode = 0o644
    if isinstance(content, bytes):
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
        return
    info.size = content.stat().st_size
    with content.open("rb") as file:
        archive.addfile(info, file)


def _json_blob(value):
    raw = _bytes(value)
    return _Blob("sha256:" + hashlib.sha256(raw).hexdigest(), len(raw), raw)


def _bytes(value):
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()


def _hash(path):
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return "sha256:" + digest.hexdigest(), path.stat().st_size
