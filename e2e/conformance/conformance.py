"""Reads the conformance script, runs it against one API server and normalises what comes back.

The script (requests/*.txt) is a sequence of steps:

    ### name of the step
    METHOD[:kind] /path?query          kind of a PATCH: merge, json, strategic, apply; WATCH and COLLECT below
    Header: value                      any number
    save VAR = metadata.uid            takes a member of the answer for later steps
    until 404 | until status.phase = Active | until items = 3
                                       repeats the request until it holds; what is compared is the last answer
    events N                           of WATCH and COLLECT: how many events to read
    { body }                           everything from the first line that begins with { or [ (or `raw: text`)

`let NAME = text` defines a macro (to the end of the line); ${NAME} is replaced everywhere.
WATCH opens a watch, reads N events and closes it. OPEN name /path opens one that stays; COLLECT name reads from it.
${ns} is a namespace of this run alone.
"""

import http.client
import json
import pathlib
import re
import ssl
import threading
import time
import queue

HERE = pathlib.Path(__file__).resolve().parent
PATCH_TYPES = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
EVENT_TIMEOUT = 10
UNTIL_TIMEOUT = 90  # a fresh control plane collects garbage of new types only after half a minute


class Step:
    def __init__(self, name, where):
        self.name, self.where = name, where
        self.method = self.kind = self.path = self.handle = ""
        self.headers, self.saves = {}, []
        self.until = None
        self.events = None
        self.body = None


def read_script(files):
    steps, macros = [], {}
    for file in files:
        step, body, section = None, None, ""

        def finish():
            if step is not None:
                if body is not None:
                    step.body = "\n".join(body).strip()
                steps.append(step)

        for number, line in enumerate(file.read_text().splitlines(), 1):
            where = f"{file.name}:{number}"
            if line.startswith("### "):
                finish()
                step, body = Step(line[4:].strip(), where), None
            elif line.startswith("let "):
                name, value = line[4:].split("=", 1)
                macros[name.strip()] = value.strip()
            elif line.startswith("#") and body is None:
                continue
            elif step is None:
                if line.strip():
                    raise SystemExit(f"{where}: text outside of a step: {line}")
            elif body is not None:
                body.append(line)
            elif line.startswith(("{", "[", "$")):
                body = [line]
            elif line.startswith("raw:"):
                body = [line[4:].lstrip()]
            elif line.startswith("save "):
                name, path = line[5:].split("=", 1)
                step.saves.append((name.strip(), path.strip()))
            elif line.startswith("until "):
                step.until = line[6:].strip()
            elif line.startswith("events "):
                step.events = int(line[7:])
            elif not step.method and line.strip():
                parts = line.split()
                step.method, _, step.kind = parts[0].partition(":")
                if step.method in ("OPEN", "COLLECT"):
                    step.handle = parts[1]
                    step.path = parts[2] if len(parts) > 2 else ""
                else:
                    step.path = parts[1]
            elif ":" in line:
                name, value = line.split(":", 1)
                step.headers[name.strip()] = value.strip()
            elif line.strip():
                raise SystemExit(f"{where}: cannot read: {line}")
        finish()
    names = [s.name for s in steps]
    for name in names:
        if names.count(name) > 1:
            raise SystemExit(f"step name used twice: {name}")
    return steps, macros


class Server:
    """One API server: where it is and how to be let in."""

    def __init__(self, url, token=None, ca=None, cert=None, key=None):
        self.token = token
        scheme, _, rest = url.partition("://")
        self.host = rest.rstrip("/")
        self.context = None
        if scheme == "https":
            self.context = ssl.create_default_context(cafile=ca)
            if ca is None:
                self.context.check_hostname = False
                self.context.verify_mode = ssl.CERT_NONE
            if cert:
                self.context.load_cert_chain(cert, key)
        self.connection = None

    @staticmethod
    def from_kubeconfig(file, scratch):
        """Understands kubeconfigs with one cluster and one user, certificates as files or inline."""
        import base64
        text = pathlib.Path(file).read_text()

        def value(key):
            match = re.search(rf"(?<![\w-]){key}\"?:\s*\"?([^\s\",}}]+)", text)
            return match[1] if match else None

        def material(key, name):
            inline = value(key + "-data")
            if inline:
                target = pathlib.Path(scratch) / name
                target.write_bytes(base64.b64decode(inline))
                target.chmod(0o600)
                return str(target)
            path = value(key)
            return str(pathlib.Path(file).parent / path) if path else None

        return Server(value("server"), value("token"), material("certificate-authority", "ca.pem"),
                      material("client-certificate", "client.pem"), material("client-key", "client-key.pem"))

    def connect(self, timeout=30):
        if self.context:
            return http.client.HTTPSConnection(self.host, timeout=timeout, context=self.context)
        return http.client.HTTPConnection(self.host, timeout=timeout)

    def all_headers(self, headers):
        result = {"Accept": "application/json", "User-Agent": "conformance"}
        if self.token:
            result["Authorization"] = "Bearer " + self.token
        result.update(headers)
        return result

    def request(self, method, path, headers=None, body=None):
        for attempt in range(2):
            try:
                if self.connection is None:
                    self.connection = self.connect()
                self.connection.request(method, path, body, self.all_headers(headers or {}))
                response = self.connection.getresponse()
                return response.status, response.read().decode()
            except (http.client.HTTPException, ConnectionError):
                self.connection = None
                if attempt:
                    raise


class Watch:
    """A watch read by a thread of its own; events() hands out what came."""

    def __init__(self, server, path):
        self.lines = queue.Queue()
        self.connection = server.connect(timeout=60)
        self.connection.request("GET", path, headers=server.all_headers({}))
        self.response = self.connection.getresponse()
        self.status = self.response.status
        self.closed = False
        if self.status == 200:
            threading.Thread(target=self.read, daemon=True).start()
        else:
            self.lines.put(self.response.read())

    def read(self):
        try:
            for line in self.response:
                if line.strip():
                    self.lines.put(line)
        except (OSError, ValueError, AttributeError, http.client.HTTPException):
            pass
        self.lines.put(None)

    def events(self, count):
        """Up to `count` events; fewer when the watch ends or nothing comes for a while."""
        found = []
        while len(found) < count:
            try:
                line = self.lines.get(timeout=EVENT_TIMEOUT)
            except queue.Empty:
                break
            if line is None:
                break
            found.append(json.loads(line))
        return found


def lookup(value, path):
    for part in path.split("."):
        if isinstance(value, list):
            value = value[int(part)] if int(part) < len(value) else None
        else:
            value = value.get(part) if isinstance(value, dict) else None
    return value


def holds(condition, status, value):
    if condition.isdigit():
        return status == int(condition)
    path, wanted = [part.strip() for part in condition.split("=", 1)]
    if path == "items":
        return isinstance(value, dict) and len(value.get("items") or []) == int(wanted)
    found = lookup(value, path)
    return str(found if found is not None else "") == wanted


class Runner:
    def __init__(self, server, macros, namespace):
        self.server = server
        self.variables = dict(macros, ns=namespace)
        self.watches = {}
        self.requests = 0

    def fill(self, text):
        for _ in range(5):
            text = re.sub(r"\$\{([\w.]+)\}", self.replacement, text)
        return text

    def replacement(self, match):
        name = match[1]
        if name not in self.variables:
            return f"(no {name})"
        return str(self.variables[name])

    def run(self, step):
        path = self.fill(step.path)
        if step.method == "OPEN":
            self.requests += 1
            self.watches[step.handle] = Watch(self.server, path)
            return {"code": self.watches[step.handle].status}
        if step.method == "COLLECT":
            return {"events": self.watches[step.handle].events(step.events)}
        if step.method == "WATCH":
            self.requests += 1
            watch = Watch(self.server, path)
            return {"code": watch.status, "events": watch.events(step.events or 1)}
        headers = {key: self.fill(value) for key, value in step.headers.items()}
        if step.body is not None and "Content-Type" not in headers:
            headers["Content-Type"] = PATCH_TYPES.get(step.kind or "merge") if step.method == "PATCH" else "application/json"
        body = self.fill(step.body).encode() if step.body is not None else None
        deadline = time.monotonic() + UNTIL_TIMEOUT
        while True:
            self.requests += 1
            status, text = self.server.request(step.method, path, headers, body)
            try:
                value = json.loads(text)
            except ValueError:
                value = text
            if step.until is None or holds(step.until, status, value):
                break
            if time.monotonic() > deadline:
                return {"code": status, "timeout": step.until, "body": value}
            self.requests -= 1  # polling is no further request
            time.sleep(0.1)
        for name, where in step.saves:
            self.variables[name] = lookup(value, where)
        return {"code": status, "body": value}


# ---- what two servers may differ in -----------------------------------------------------------------------------

UID = re.compile(r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")
IPV4 = re.compile(r"^\d+\.\d+\.\d+\.\d+$")
GENERATED = re.compile(r"(gen-|kube-api-access-)[a-z0-9]{5}\b")


def normalise(value, namespace, key=""):
    """Takes out what is chance or time; see README.md for the list and the reasons."""
    if isinstance(value, dict):
        if value.get("kind") == "Status" and value.get("apiVersion") == "v1" and value.get("status") == "Failure":
            return failure(value, namespace)
        result = {}
        for name, member in value.items():
            if name == "managedFields":
                continue
            if name in ("creationTimestamp", "deletionTimestamp", "lastTransitionTime") and isinstance(member, str):
                member = "(time)"
            elif name in ("resourceVersion", "continue") and isinstance(member, str):
                member = f"({name})"
            result[name] = normalise(member, namespace, name)
        return result
    if isinstance(value, list):
        return [normalise(member, namespace, key) for member in value]
    if isinstance(value, str):
        if UID.match(value):
            return "(uid)"
        if key in ("clusterIP", "clusterIPs") and IPV4.match(value):
            return "(address)"
        return GENERATED.sub(r"\1(random)", value).replace(namespace, "NS")
    return value


def failure(value, namespace):
    """Of a refusal: everything but the wording, which is for people."""
    details = value.get("details") or {}
    causes = sorted({(c.get("reason", ""), c.get("field", "")) for c in details.get("causes", [])})
    result = {"kind": "Status", "code": value.get("code"), "reason": value.get("reason")}
    for name in ("name", "group", "kind"):
        if name in details:
            result[name] = GENERATED.sub(r"\1(random)", details[name]).replace(namespace, "NS")
    if causes:
        result["causes"] = [list(cause) for cause in causes]
    return result


def install_crds(server, files):
    """Creates CRDs (or leaves those that exist) and waits until they are served."""
    for file in files:
        text = pathlib.Path(file).read_text()
        collection = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        for document in re.split(r"(?m)^---\s*$", text):
            match = re.search(r"(?m)^metadata:\s*(?:\{\s*name:\s*([\w.-]+)|[^\n]*\n(?:\s+.*\n)*?\s+name:\s*([\w.-]+))", document)
            if not match:
                continue
            name = match[1] or match[2]
            status, answer = server.request("POST", collection, {"Content-Type": "application/yaml"}, document.encode())
            if status not in (201, 409):
                raise SystemExit(f"{file}: {status} {answer}")
            deadline = time.monotonic() + UNTIL_TIMEOUT
            while '"Established","status":"True"' not in server.request("GET", f"{collection}/{name}")[1].replace(" ", ""):
                if time.monotonic() > deadline:
                    raise SystemExit(f"{file}: {name} is not established")
                time.sleep(0.2)
            # Established says little about being served: ask until a list works.
            group = name.split(".", 1)[1]
            plural = name.split(".", 1)[0]
            version = re.search(r"(?m)^\s*-?\s*name: (v\d\w*)", document)[1]
            while server.request("GET", f"/apis/{group}/{version}/{plural}")[0] != 200:
                if time.monotonic() > deadline:
                    raise SystemExit(f"{file}: {name} is not served")
                time.sleep(0.2)
