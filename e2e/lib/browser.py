"""A headless Chromium, driven through its debugging pipe: no library, no port.

    with Browser(folder) as page:
        page.open("http://127.0.0.1:8090/", width=1280, height=800)
        page.wait("document.title === 'Trainyard'")
        page.shot("console.png")
"""
import base64
import json
import os
import shutil
import subprocess
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def find():
    """The browser's path; None where there is none."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Browser:
    def __init__(self, folder):
        self.folder = folder
        self.problems = []  # errors of scripts and of the content security policy, as the console tells them
        self._last = 0
        self._text = b""

    def __enter__(self):
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()

        def pipes():
            # The browser reads from 3 and writes to 4.
            kept = os.dup(to_browser), os.dup(from_browser)
            for target, source in zip((3, 4), kept):
                os.dup2(source, target)
        self._process = subprocess.Popen(  # pylint: disable=subprocess-popen-preexec-fn
            [find(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
             f"--user-data-dir={self.folder}/browser", "about:blank"],
            preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = None
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        os.close(self._write)
        os.close(self._read)

    def open(self, url, width=1280, height=800, phone=False, dark=False):
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if phone else 1,
                   mobile=phone)
        self._call("Emulation.setEmulatedMedia",
                   features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self._call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def run(self, script):
        """The value of an expression in the page."""
        answer = self._call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, script, timeout=30):
        deadline = time.monotonic() + timeout
        while not self.run(f"Boolean({script})"):
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {timeout} s: {script}\n{self.run('document.body.innerText')}\n{self.problems}")
            time.sleep(0.05)

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            text = {"text": key} if kind == "keyDown" and len(key) == 1 else {}
            self._call("Input.dispatchKeyEvent", type=kind, key=key, **text)

    def shot(self, path):
        """Writes a picture of what is visible, as PNG; returns its bytes."""
        data = base64.b64decode(self._call("Page.captureScreenshot", format="png")["data"])
        with open(path, "wb") as out:
            out.write(data)
        return data

    def _call(self, method, **params):
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if getattr(self, "_session", None):
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def _next(self):
        while b"\0" not in self._text:
            piece = os.read(self._read, 1 << 16)
            if not piece:
                raise AssertionError("the browser has ended")
            self._text += piece
        message, _, self._text = self._text.partition(b"\0")
        return json.loads(message)

    def _note(self, event):
        if event.get("method") == "Runtime.exceptionThrown":
            details = event["params"]["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        entry = event.get("params", {}).get("entry", {})
        if event.get("method") == "Log.entryAdded" and entry.get("level") == "error":
            self.problems.append(f"{entry['text']} {entry.get('url', '')}")
