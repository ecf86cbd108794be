"""The commands that the pages give a new user, typed: images, install, kube-scheduler's stanza, the first job, console,
upgrade, uninstall. Only what a page leaves to the reader is replaced, and each such replacement is named here.
"""
import json
import os
import re
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

import charted
import support
import yaml
from lib import images, ociimage
from lib.helm import NAMESPACE
from support import ROOT, given, kubectl

CLUSTER = None
TRAIN = "registry.example.com/bert:1"
# The README's program: what torchrun would be given, and an end.
TORCHRUN = '#!/bin/sh\necho "rank $RANK of $WORLD_SIZE at $MASTER_ADDR"\n'


def setUpModule():
    """Two nodes that hold the README's job of four members with 8 GPUs each, both in one rack; nothing installed."""
    charted.empty(gpus=16)


tearDownModule = charted.down


def blocks(page, heading, language="sh"):
    """The code blocks of one language below a heading, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    part = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", text, re.S | re.M)
    found = re.findall(rf"^```{language}\n(.*?)^```", part.group(1), re.S | re.M) if part else []
    if not found:
        raise AssertionError(f"{page} has no block of {language} below {heading!r}")
    return found


def without(text, pattern):
    """The block without the lines that another step does here; the pattern has to be in it."""
    left, count = re.subn(pattern, "", text, flags=re.S | re.M)
    if not count:
        raise AssertionError(f"nothing in this block is {pattern}:\n{text}")
    return left


class Pages(support.Case):
    """In the order of their names, as the pages follow each other."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory(prefix="trainyard-pages-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        tools = given().tools
        for name in ("kubectl", "helm"):
            (cls.folder / name).symlink_to(tools[name])
        subprocess.run(["cmake", "--install", str(Path(os.environ["TRAINYARD_E2E_BIN"])), "--prefix", str(cls.folder / "usr")],
                       check=True, capture_output=True)
        cls.environment = {**os.environ, "KUBECONFIG": str(given().kubeconfig),
                           "PATH": f"{cls.folder}:{cls.folder}/usr/bin:{os.environ['PATH']}",
                           **{f"HELM_{kind}_HOME": str(cls.folder / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA")}}

    def type(self, text, timeout=240):
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=ROOT, env=self.environment, text=True,
                              capture_output=True, timeout=timeout, check=False)
        self.assertEqual(0, done.returncode, f"{text}\n{done.stdout}{done.stderr}")
        return done.stdout

    def load(self):
        """Instead of skopeo's push: where these nodes look for images."""
        for archive in sorted((ROOT / "build" / "images").glob("trainyard-*.tar")):
            given().load_image(archive)

    def test_1_install_and_a_first_job(self):
        first = blocks("README.md", "On your cluster")
        install = without(first[0], r"^make build\n")  # which made what runs here
        install = without(install, r"^for f in .*?^done\n")
        making, installing = install.split("helm install", 1)
        self.type(making)
        self.load()
        self.bring_the_first_image()
        began = time.monotonic()
        # The address by which kube-scheduler, a host's process, finds the extender: docs/install.md.
        address = charted.release().service_address()
        self.type(f"helm install{installing.rstrip()} --set extender.service.clusterIP={address}")
        for program in (support.OPERATOR, support.EXTENDER):
            charted.await_rollout(program)
        self.configure_kube_scheduler()
        self.type(without(first[1], r"^make install.*\n"))
        self.type("kubectl create namespace ml")
        job = blocks("README.md", "A first job", "yaml")[0]
        (self.folder / "bert.yaml").write_text(job)
        shown = blocks("README.md", "A first job", "console")[0]
        for line in [line[2:] for line in shown.splitlines() if line.startswith("$ ")]:
            said = self.type(f"cd {self.folder}; {line}")
        print(f"from `helm install` to the end of the first job: {time.monotonic() - began:.0f} s", flush=True)
        self.assertRegex(said, r"(?m)^NAME +PHASE +QUEUE +READY +GPUS +WHY +DONE +AGE\nbert +Succeeded ")
        self.assertEqual("rank 3 of 4 at bert-worker-0", self.type("kubectl trainyard logs bert -n ml --rank 3").strip()
                         .split(".")[0])

    def bring_the_first_image(self):
        tree = self.folder / "tree"
        tree.mkdir()
        images.busybox_tree(tree)
        (tree / "usr/bin").mkdir(parents=True)
        (tree / "usr/bin/torchrun").write_text(TORCHRUN)
        (tree / "usr/bin/torchrun").chmod(0o755)
        archive = self.folder / "bert.tar"
        ociimage.write(archive, TRAIN, [tree], ociimage.Config(cmd=["torchrun"]))
        given().load_image(archive)

    def configure_kube_scheduler(self):
        """docs/install.md, on the machine of kube-scheduler; its folder is the one that this cluster's kube-scheduler
        reads."""
        text = blocks("docs/install.md", "A kube-scheduler of yours")[0]
        folder = charted.release().scheduler_folder
        self.assertIn("/etc/kubernetes/trainyard", text)
        stanza = self.type(text.replace("/etc/kubernetes/trainyard", str(folder)))
        path = given().dir / "kube-scheduler.yaml"
        stanza = stanza.replace("/etc/kubernetes/trainyard", str(folder))
        config = {**yaml.safe_load(path.read_text()), **yaml.safe_load(stanza)}
        path.write_text(json.dumps(config, indent=2) + "\n")
        given().restart("kube-scheduler")

    def test_2_the_console(self):
        turn_on, *_ = blocks("docs/console.md", "Turn it on and open it")
        upgrade, forward = turn_on.strip().splitlines()
        self.type(upgrade)
        charted.await_rollout(support.OPERATOR)
        self.type("kubectl create rolebinding reader -n ml --clusterrole=view --serviceaccount=ml:default")
        words = forward.split()
        # A port of kubectl's choice: 8090 of this machine may be in use.
        with subprocess.Popen([*words[:-1], f":{words[-1]}"], env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True) as process:
            try:
                line = process.stdout.readline()
                self.assertIn("Forwarding from 127.0.0.1:", line)
                page = f"http://{line.split()[2]}/"
                with urllib.request.urlopen(page, timeout=20) as answer:
                    self.assertIn("Trainyard", answer.read().decode())
                token = blocks("docs/console.md", "Turn it on and open it")[1]
                token = self.type(token.replace("SERVICEACCOUNT", "default").replace("NAMESPACE", "ml")).strip()
                self.assertEqual(200, self.status(f"{page}api/job?namespace=ml&name=bert", token))
                self.assertEqual(401, self.status(f"{page}api/job?namespace=ml&name=bert", token + "x"))
            finally:
                process.terminate()

    @staticmethod
    def status(url, token):
        request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def test_3_tasks(self):
        text = next(block for block in blocks("docs/tasks.md", "An image from a private registry") if "docker-registry" in block)
        (self.folder / "password.txt").write_text("secret")
        self.type(f"cd {self.folder}; {text}")
        kubectl("get", "secret", "pull", "-n", "ml")

    def test_4_upgrade(self):
        self.type("tools/images --registry registry.example.com/trainyard --tag 0.2.0")
        self.load()
        self.type(blocks("docs/upgrade.md", "Upgrade")[0])
        for program in (support.OPERATOR, support.EXTENDER):
            charted.await_rollout(program)
            self.assertEqual({f"registry.example.com/trainyard/{program}:0.2.0"},
                             {item["spec"]["containers"][0]["image"] for item in charted.pods_of(program)
                              if "deletionTimestamp" not in item["metadata"]})

    def test_5_uninstall(self):
        self.type(blocks("docs/install.md", "Upgrade, rollback, uninstall")[0], timeout=420)
        names = given().json("get", "namespaces")["items"]
        self.assertNotIn(NAMESPACE, [item["metadata"]["name"] for item in names])
        # CRDs stay, and with them the jobs: docs/install.md.
        self.assertIn("bert", kubectl("get", "trainingjobs", "-n", "ml", "-o", "name"))


if __name__ == "__main__":
    unittest.main()
