"""tools/image: the same folders give the same bytes in any run, folder, owner or mask."""
import json
import os
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "image"
IMAGES = TOOL.with_name("images")


class Images(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="trainyard-images-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def tree(self, name, mode, order):
        """The same content in another order, with other masks and times."""
        root = self.folder / name
        root.mkdir(mode=mode)
        for path in order:
            (root / path).parent.mkdir(mode=mode, exist_ok=True)
            (root / path).write_text(path)
            (root / path).chmod(mode & (0o777 if path.startswith("bin") else 0o666))
            os.utime(root / path, (mode, mode))
        os.link(root / "etc/a", root / "etc/z") if mode == 0o700 else (root / "etc/z").write_text("etc/a")
        (root / "etc/z").chmod(mode & 0o666)
        (root / "sbin").symlink_to("bin")
        return root

    def image(self, *words, name="docker.io/local/test:1"):
        return subprocess.run([str(TOOL), "--name", name, *map(str, words)], capture_output=True, text=True,
                              check=False)

    def test_same_bytes(self):
        first = self.tree("first", 0o700, ["etc/a", "bin/run", "etc/b"])
        second = self.tree("second", 0o755, ["etc/b", "etc/a", "bin/run"])
        for options in ([], ["--gzip"]):
            digests = [self.image("--out", self.folder / f"{root.name}.tar", *options, "--env", "A=1", root)
                       for root in (first, second)]
            self.assertEqual([run.returncode for run in digests], [0, 0], digests)
            self.assertRegex(digests[0].stdout, "^sha256:[0-9a-f]{64}\n$")
            self.assertEqual(digests[0].stdout, digests[1].stdout)
            self.assertEqual((self.folder / "first.tar").read_bytes(), (self.folder / "second.tar").read_bytes())

    def test_a_layer_for_each_tree(self):
        base, more = self.tree("base", 0o755, ["etc/a"]), self.tree("more", 0o755, ["etc/a", "bin/run"])
        self.assertEqual(self.image("--out", self.folder / "image.tar", base, more).returncode, 0)
        with tarfile.open(self.folder / "image.tar") as archive:
            self.assertEqual(sum(name.startswith("blobs/") for name in archive.getnames()), 4)

    def test_bad_input_is_named(self):
        root = self.tree("root", 0o755, ["etc/a"])
        os.mkfifo(root / "pipe")
        for words, name, message in (
                ([root], "docker.io/local/test:1", f"{root}/pipe: only files, folders and symbolic links"),
                (["/no/such"], "docker.io/local/test:1", "/no/such is neither a folder nor a layer's tar file"),
                ([TOOL], "docker.io/local/test:1", "is no plain tar file"),
                ([root], "test:1", "'test:1' is no full image name")):
            run = self.image("--out", self.folder / "image.tar", *words, name=name)
            self.assertEqual(run.returncode, 1)
            self.assertIn(message, run.stderr)
            self.assertFalse((self.folder / "image.tar").exists())


class Programs(unittest.TestCase):
    """tools/images: one image for each program, its contents, and the chart's values that name it."""

    def test_what_they_are_made_of(self):
        built = os.environ.get("TRAINYARD_E2E_BIN") or str(TOOL.parents[1] / "build" / "release")
        with tempfile.TemporaryDirectory(prefix="trainyard-images-") as folder:
            run = subprocess.run([str(IMAGES), "--bin", built, "--out", folder], capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, 0, run.stderr)
            values = (Path(folder) / "digests.yaml").read_text()
            for line in run.stdout.splitlines():
                name, _, _, digest, _ = line.split()
                program = name.rpartition("/")[2].partition(":")[0]
                # What the chart runs, and no more.
                self.assertEqual(program != "trainyard-cli", f"    {program}: {digest}\n" in values)
                bill = json.loads((Path(folder) / f"{program}.spdx.json").read_text())
                self.assertEqual(bill["packages"][0]["checksums"][0]["checksumValue"], digest.removeprefix("sha256:"))
                ids = {each["SPDXID"] for each in bill["packages"]}
                self.assertEqual(len(ids), len(bill["packages"]))
                self.assertEqual({each["relatedSpdxElement"] for each in bill["relationships"]}, ids)
                # Nothing that is in the image is left out: every library belongs to a package that is named.
                names = {each["name"] for each in bill["packages"]}
                self.assertLessEqual({"libc6-dev"} if program == "trainyard-launch" else {"libc6", "libssl3", "libstdc++6"}, names)
