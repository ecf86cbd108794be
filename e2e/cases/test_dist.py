"""The command line on users' machines: its archive (tools/dist), kubectl's plugin, krew, its image."""
import hashlib
import os
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

from lib import processes, programimage, tools, trainyard

import yaml

CLUSTER = None
TOOLS = ["krew"]
TOOL = trainyard.REPOSITORY / "tools" / "dist"
URL = "https://releases.example.com/trainyard"


def run(*argv, path=(), code=0, **environment):
    """The output of a program; path: entries before the rest of PATH."""
    env = {**processes.environment(), **environment}
    env["PATH"] = ":".join([*map(str, path), env.get("PATH", "/usr/bin:/bin")])
    done = subprocess.run(list(map(str, argv)), capture_output=True, text=True, check=False, env=env, stdin=subprocess.DEVNULL)
    if done.returncode != code:
        raise AssertionError(f"{' '.join(map(str, argv))}: exit code {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


class DistCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.bin = os.environ["TRAINYARD_E2E_BIN"]
        cls.kubectl = Path(tools.only("k8s")["kubectl"])
        folder = tempfile.TemporaryDirectory(prefix="trainyard-dist-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        run(TOOL, "--bin", cls.bin, "--out", cls.folder, "--url", URL)
        cls.archive, = cls.folder.glob("*.tar.gz")
        cls.manifest = cls.folder / "trainyard.yaml"
        cls.version = f"trainyard {trainyard.version()}\n"

    def unpacked(self):
        """The archive's folder, freshly unpacked."""
        folder = tempfile.TemporaryDirectory(prefix="trainyard-unpacked-")
        self.addCleanup(folder.cleanup)
        with tarfile.open(self.archive) as archive:
            archive.extractall(folder.name)
        return Path(folder.name) / self.archive.name.removesuffix(".tar.gz")


class ArchiveTest(DistCase):
    def test_the_same_build_gives_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as other:
            run(TOOL, "--bin", self.bin, "--out", other)
            self.assertEqual(self.archive.read_bytes(), (Path(other) / self.archive.name).read_bytes())
            self.assertFalse((Path(other) / "trainyard.yaml").exists(), "no URL of the archive was given")
        self.assertEqual(f"{hashlib.sha256(self.archive.read_bytes()).hexdigest()}  {self.archive.name}\n",
                         (self.folder / "SHA256SUMS").read_text())

    def test_it_needs_nothing_of_the_machine_but_the_c_library(self):
        folder = self.unpacked()
        self.assertEqual({"trainyard", "lib"}, {path.name for path in folder.iterdir()})
        loaded = dict(line.split(" => ") for line in run("ldd", folder / "trainyard").replace("\t", "").splitlines()
                      if " => " in line)
        for path in sorted((folder / "lib").iterdir()):
            self.assertTrue(loaded.pop(path.name).startswith(f"{folder}/lib/"), path.name)
        self.assertLessEqual(set(loaded), {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libresolv.so.2"})

    def test_kubectl_finds_it_by_its_name(self):
        folder = self.unpacked()
        self.assertEqual(self.version, run(folder / "trainyard", "version"))
        (folder / "kubectl-trainyard").symlink_to("trainyard")
        path = [folder, self.kubectl.parent]
        self.assertEqual(self.version, run("kubectl", "trainyard", "version", path=path))
        self.assertIn("kubectl trainyard: there is no command", run("kubectl", "trainyard", "nonsense", path=path, code=2))
        self.assertIn("trainyard: there is no command", run("trainyard", "nonsense", path=path, code=2))
        # A link from a folder of programs, as people make one.
        links = folder.parent / "bin"
        links.mkdir()
        (links / "kubectl-trainyard").symlink_to(folder / "trainyard")
        self.assertEqual(self.version, run("kubectl", "trainyard", "version", path=[links, self.kubectl.parent]))

    def test_bad_arguments_are_named(self):
        with tempfile.TemporaryDirectory() as empty:
            self.assertIn(f"trainyard not found in {empty}", run(TOOL, "--bin", empty, "--out", empty, code=1))
            self.assertIn("'ftp://x' is no http or https address", run(TOOL, "--out", empty, "--url", "ftp://x", code=2))


class KrewTest(DistCase):
    """krew itself reads the manifest, compares the sum, unpacks and links."""

    def setUp(self):
        super().setUp()
        root = tempfile.TemporaryDirectory(prefix="trainyard-krew-")
        self.addCleanup(root.cleanup)
        self.root = Path(root.name)
        self.path = [self.root / "bin", tools.only("krew")["kubectl-krew"].parent, self.kubectl.parent]

    def krew(self, *args, **options):
        return run("kubectl", "krew", *args, path=self.path, KREW_ROOT=str(self.root), KREW_NO_UPGRADE_CHECK="1", **options)

    def test_installed_and_used(self):
        with self.assertRaises(AssertionError):
            run("kubectl", "trainyard", "version", path=self.path)
        self.krew("install", f"--manifest={self.manifest}", f"--archive={self.archive}")
        self.assertEqual(self.version, run("kubectl", "trainyard", "version", path=self.path))

    def test_another_archive_is_refused(self):
        wrong = yaml.safe_load(self.manifest.read_text())
        wrong["spec"]["platforms"][0]["sha256"] = "0" * 64
        manifest = self.root / "trainyard.yaml"
        manifest.write_text(yaml.safe_dump(wrong))
        said = self.krew("install", f"--manifest={manifest}", f"--archive={self.archive}", code=1)
        self.assertIn("checksum does not match", said)

    def test_the_manifest_matches_the_archive(self):
        spec = yaml.safe_load(self.manifest.read_text())["spec"]
        self.assertEqual(f"v{trainyard.version()}", spec["version"])
        platform, = spec["platforms"]
        self.assertEqual(f"{URL}/{self.archive.name}", platform["uri"])
        self.assertEqual(f"trainyard-{trainyard.version()}-linux-{platform['selector']['matchLabels']['arch']}.tar.gz", self.archive.name)
        self.assertRegex(spec["caveats"], r"glibc 2\.\d+ or later")


class ImageTest(unittest.TestCase):
    def test_its_tree_runs_by_itself(self):
        """Its own loader, its own libraries; a container of it is in e2e/real."""
        program = trainyard.command_line(os.environ["TRAINYARD_E2E_BIN"])
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder) / "tree"
            programimage.plant(program, tree)
            loader, = tree.glob("lib*/ld-linux*")
            libraries, = tree.glob("usr/lib/*-linux-gnu")
            self.assertEqual(f"trainyard {trainyard.version()}\n",
                             run(loader, "--library-path", libraries, tree / "usr/bin/trainyard", "version"))
