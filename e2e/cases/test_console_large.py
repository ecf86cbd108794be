"""The console with 5,000 nodes: the first page, every change and the keyboard, in a browser where there is one."""
import unittest

import support
import test_console  # its console, not its tests
from lib import browser, kwok
from support import given, job

CLUSTER = {"nodes": 0}
NODES = 5000
# Racks of 4, 16 nodes in a block, 64 in a zone: 79 headings. With racks of 16 and 10 zones all is on one screen of 1000.
SHAPE = kwok.Shape()


@unittest.skipUnless(browser.find(), "there is no Chromium (tools/deps monitoring brings it)")
class LargeConsoleTest(support.Case):
    def test_all_nodes_at_once(self):
        token = self.admin_token()
        # These kubelets are not simulated. Without controllers this has no effect, and pods stay bound.
        given().stop("kube-controller-manager")
        kwok.create_nodes(given().api, range(NODES), SHAPE)
        with browser.Browser(given().dir) as page:
            page.open(f"http://127.0.0.1:{test_console.PORT}/", width=1600, height=1000)
            page.wait("!document.getElementById('ask').hidden")
            page.run(f"document.getElementById('token').value = '{token}'")
            # Times by the browser's own clock; they are printed, not checked.
            page.run("window.longest = 0; new PerformanceObserver((list) => list.getEntries().forEach((each) => {"
                     " longest = Math.max(longest, each.duration); })).observe({entryTypes: ['longtask']})")
            page.run("window.began = performance.now(); document.querySelector('#ask button').click()")
            page.wait("document.getElementById('totals').textContent.includes('5,000 nodes, 0 of 40,000 GPUs')")
            print(f"5,000 nodes are shown after {page.run('Math.round(performance.now() - began)')} ms, longest task "
                  f"{page.run('Math.round(longest)')} ms", flush=True)
            page.shot(given().dir / "console-5000.png")
            # Not the page's height times 5,000 elements: one canvas.
            self.assertLess(page.run("document.querySelectorAll('*').length"), 1000)
            # Headings stand side by side; one below the other they took 3,500.
            self.assertLess(page.run("document.getElementById('canvas').getBoundingClientRect().bottom"), 2000)
            page.run("window.longest = 0")
            spec = job("wide", replicas=64)
            spec["spec"]["roles"][0]["template"]["spec"]["tolerations"] = [
                {"key": "node.kubernetes.io/not-ready", "operator": "Exists"}]
            support.create_job(self.namespace, spec)
            # kwok makes five thousand kubelets speak meanwhile.
            page.wait("document.getElementById('totals').textContent.includes('512 of 40,000 GPUs')", 150)
            print(f"a gang of 64 nodes appears, longest task {page.run('Math.round(longest)')} ms", flush=True)
            page.run("document.querySelector('canvas').focus()")
            for key in ("ArrowRight", "ArrowDown"):
                before = page.run("document.getElementById('spot').textContent")
                page.press(key)
                page.wait(f"document.getElementById('spot').textContent !== {before!r}")
            self.assertEqual([], [each for each in page.problems if "favicon" not in each])

    def admin_token(self):
        namespace = self.namespace
        support.core().create_namespaced_service_account(namespace, {"metadata": {"name": "root"}})
        support.kubectl("create", "clusterrolebinding", f"{namespace}-root", "--clusterrole=cluster-admin",
                        f"--serviceaccount={namespace}:root")
        self.addCleanup(support.kubectl, "delete", "clusterrolebinding", f"{namespace}-root")
        answer = given().api.call("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts/root/token",
                                  {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
        token = answer["status"]["token"]
        test_console.PORT = test_console.start_console()
        self.assertEqual(404, test_console.get("/api/job?namespace=none&name=none", token)[0])
        return token
