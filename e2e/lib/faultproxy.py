"""A proxy between one of our programs and the API server that counts requests and injects faults by rules.

    python3 -m lib.faultproxy --upstream PORT --ca CA --control PORT --log FILE --client NAME=PORT …

Every client has a port of its own (plain HTTP; its credentials go through), a count and rules. Requests are
of a kind: `watch`, `read`, `lease` (anything about Leases), `event` (a POST or PATCH of an Event), `write`
(all others that change something, dry runs included). Only those of one kind are counted together, so the
writes of a gang's life have the same numbers whatever the time takes. A request is numbered when all of it
has arrived.

A rule: {"kind": "write", "fault": F} and, all optional, "nth": only the n-th of that kind; "share", "seed":
each one with this probability; "times": at most so often; "match": regular expression, searched in "VERB
PATH"; "after": only once the rule of this number, from 0, has struck. Faults:
    kill-before    SIGKILL to the client, the request never reaches the server
    kill-after     the server carries it out, then SIGKILL to the client
    stop           SIGSTOP to the client; this request and all later writes wait for "forward", which returns
                   when they are carried out
    lose           the server carries it out, the connection is cut in place of the answer
    drop           the connection is cut, the server never sees the request
    cut            all watches of the client are cut, the request goes on
    delay          "seconds" before it goes on
    delay-reply    "seconds" after it was carried out
    answer         "code" (and "reason", "retryAfter") in place of the server's; 200 and "expired" for a
                   watch: an ERROR event of code 410

Control: one JSON object a line, answered by one: {"do": D, "client": NAME, …} with D one of reset, rules,
pid, state, wait, forward, cut. The log holds one JSON object a request, written when it is over.
"""
import argparse
import asyncio
import collections
import contextlib
import json
import random
import re
import signal
import ssl
import time

from . import processes

_REASONS = {400: "BadRequest", 403: "Forbidden", 404: "NotFound", 409: "Conflict", 410: "Expired",
            429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable", 504: "Timeout"}
_TAIL = 60


class Closed(Exception):
    """The other side, or we ourselves, closed the connection."""


# ---- HTTP/1.1, as much as is needed

class Wire:
    """One side of a connection."""

    def __init__(self, reader, writer):
        self._reader, self._writer = reader, writer
        self._early = b""

    async def line(self):
        if self._early:
            early, self._early = self._early, b""
            line = early + await self._reader.readline()
        else:
            line = await self._reader.readline()
        if not line.endswith(b"\n"):
            raise Closed
        return line

    async def exactly(self, count):
        try:
            return await self._reader.readexactly(count)
        except asyncio.IncompleteReadError:
            raise Closed from None

    async def head(self):
        """First line, headers (lower-case names), and all of it as it came."""
        first = await self.line()
        raw, headers = [first], {}
        while (line := await self.line()) != b"\r\n":
            raw.append(line)
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        return first.decode("latin-1").split(), headers, b"".join(raw) + b"\r\n"

    async def body(self, headers, sink):
        """Gives the raw body, framing included, to sink piece by piece."""
        if headers.get("transfer-encoding", "").lower() == "chunked":
            while True:
                line = await self.line()
                size = int(line.split(b";")[0], 16)
                await sink(line + await self.exactly(size + 2))
                if size == 0:
                    return
        elif length := int(headers.get("content-length", 0)):
            await sink(await self.exactly(length))

    async def left(self):
        """Waits until the other side closes; a byte that comes before that is kept."""
        self._early += await self._reader.read(1)

    async def send(self, data):
        if self._writer.is_closing():
            raise Closed
        self._writer.write(data)
        await self._writer.drain()

    def ended(self):
        return self._reader.at_eof() or self._writer.is_closing()

    def close(self):
        self._writer.close()

    def abort(self):
        self._writer.transport.abort()


async def collect(wire, headers):
    parts = []

    async def sink(data):
        parts.append(data)
    await wire.body(headers, sink)
    return b"".join(parts)


def made_up(rule):
    """An answer in place of the server's."""
    code = rule["code"]
    reason = rule.get("reason", _REASONS.get(code, "Unknown"))
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": reason,
              "message": f"a fault made by the tests: {reason}", "code": code}
    extra = ""
    if "retryAfter" in rule:
        status["details"] = {"retryAfterSeconds": rule["retryAfter"]}
        extra = f"Retry-After: {rule['retryAfter']}\r\n"
    if rule.get("expired"):
        status.update(code=410, reason="Expired", message="too old: a fault made by the tests")
        body = json.dumps({"type": "ERROR", "object": status}) + "\n"
    else:
        body = json.dumps(status)
    return (f"HTTP/1.1 {code} {reason}\r\nContent-Type: application/json\r\n{extra}"
            f"Content-Length: {len(body)}\r\n\r\n{body}").encode()


def kind_of(verb, path):
    if "/apis/coordination.k8s.io/" in path:
        return "lease"
    if verb in ("GET", "HEAD"):
        return "watch" if re.search(r"[?&]watch=(true|1)", path) else "read"
    return "event" if re.search(r"/events(/|\?|$)", path) else "write"


# ---- clients and their rules

class Rule:
    def __init__(self, data):
        self.data = data
        self.fault = data["fault"]
        self.hits = 0
        self._source = random.Random(data.get("seed", 0))
        self._match = re.compile(data.get("match", ""))

    def strikes(self, kind, number, what):
        data = self.data
        if kind != data["kind"] or not self._match.search(what):
            return False
        # Drawn for each request, so that it depends on nothing but the seed and the count.
        drawn = self._source.random() < data.get("share", 1)
        if not drawn or data.get("nth", number) != number or self.hits >= data.get("times", 1 << 30):
            return False
        self.hits += 1
        return True


class Client:
    """One of our programs: every process that connects to its port."""

    def __init__(self, name, upstream, log):
        self.name, self.upstream, self._log = name, upstream, log
        self.changed = asyncio.Condition()
        self.pid = asyncio.get_running_loop().create_future()
        self.forward = asyncio.Event()
        self.forward.set()
        self.writing = 0
        self.connections, self.watches = set(), set()
        self.tail = collections.deque(maxlen=_TAIL)
        self.reset()

    def reset(self):
        self.counts = collections.Counter()
        self.rules, self.hits, self.kills = [], [], 0
        self.forward.set()

    def set_rules(self, rules):
        self.rules = [Rule(each) for each in rules]

    def set_pid(self, pid, ticks):
        if self.pid.done():
            self.pid = asyncio.get_running_loop().create_future()
        self.pid.set_result((pid, ticks))

    async def strike(self, request):
        """The rule that this request falls under, if any."""
        kind = request["kind"]
        self.counts[kind] += 1
        request["n"] = self.counts[kind]
        what = f"{request['verb']} {request['path']}"
        for rule in self.rules:
            after = rule.data.get("after")
            if (after is None or self.rules[after].hits) and rule.strikes(kind, request["n"], what):
                request["fault"] = rule.fault
                self.hits.append({key: request[key] for key in ("kind", "n", "verb", "path", "fault")})
                async with self.changed:
                    self.changed.notify_all()
                return rule
        return None

    async def hit(self, count):
        async with self.changed:
            await self.changed.wait_for(lambda: len(self.hits) >= count)

    async def signal(self, sig):
        """A process that connects before its pid is known waits here until it is."""
        pid, ticks = await self.pid
        processes.send(pid, ticks, sig)
        if sig == signal.SIGKILL:
            self.kills += 1
            self.pid = asyncio.get_running_loop().create_future()
            # What it had sent before its end and we had not read yet is lost with it.
            for connection in list(self.connections):
                connection.orphan()

    def cut_watches(self):
        for relay in list(self.watches):
            relay.cancel()

    def note(self, request, code):
        line = json.dumps({"at": round(time.time(), 3), "client": self.name, **request, "code": code})
        self.tail.append(line)
        self._log.write(line + "\n")

    def state(self):
        return {"counts": dict(self.counts), "hits": self.hits, "kills": self.kills,
                "watches": len(self.watches), "tail": list(self.tail)}


class Connection:
    """One connection of a client and its counterpart to the server."""

    def __init__(self, client, wire):
        self._client, self._wire = client, wire
        self._server = None
        self._orphan = False

    def orphan(self):
        self._orphan = True
        self._wire.abort()

    async def run(self):
        self._client.connections.add(self)
        try:
            while not self._orphan:
                await self._exchange()
        except (Closed, OSError, ssl.SSLError):
            pass
        finally:
            self._client.connections.discard(self)
            self._wire.close()
            if self._server:
                self._server.close()

    async def _exchange(self):
        (verb, path, _), headers, raw = await self._wire.head()
        body = await collect(self._wire, headers)
        if self._orphan:
            raise Closed
        request = {"kind": kind_of(verb, path), "verb": verb, "path": path}
        code = "cut"
        try:
            rule = await self._client.strike(request)
            code = await self._carry_out(request, raw + body, rule)
        finally:
            self._client.note(request, code)

    async def _carry_out(self, request, data, rule):
        fault = rule.fault if rule else None
        if fault == "kill-before":
            await self._kill()
            raise Closed
        if fault == "drop":
            raise Closed
        if fault == "answer":
            await self._wire.send(made_up(rule.data))
            return rule.data["code"]
        if fault == "cut":
            self._client.cut_watches()
        if fault == "stop":
            self._client.forward.clear()
            await self._client.signal(signal.SIGSTOP)
        if fault == "delay":
            await asyncio.sleep(rule.data["seconds"])
        if self._orphan:
            raise Closed
        status, headers, head = await self._ask(request, data)
        code = int(status[1])
        if request["kind"] == "watch" and code == 200:
            await self._stream(headers, head)
            return code
        answer = head + (await collect(self._server, headers) if request["verb"] != "HEAD" else b"")
        if fault == "kill-after":
            await self._kill()
        if fault in ("kill-after", "lose"):
            request["done"] = code
            raise Closed
        if fault == "delay-reply":
            await asyncio.sleep(rule.data["seconds"])
        await self._wire.send(answer)
        return code

    async def _kill(self):
        """The process that sent this request, if it still lives: not its successor."""
        await self._client.pid
        if not self._orphan:
            await self._client.signal(signal.SIGKILL)

    async def _ask(self, request, data):
        """Sends the request on, writes when they may; returns what the answer begins with."""
        write = request["kind"] == "write"
        self._client.writing += write
        try:
            if write:
                await self._client.forward.wait()
            if self._server is None or self._server.ended():
                self._server = Wire(*await asyncio.open_connection(**self._client.upstream))
            await self._server.send(data)
            return await self._server.head()
        finally:
            self._client.writing -= write
            async with self._client.changed:
                self._client.changed.notify_all()

    async def _stream(self, headers, head):
        """A watch, until one of the three sides has enough."""
        await self._wire.send(head)
        relay = asyncio.create_task(self._server.body(headers, self._wire.send))
        left = asyncio.create_task(self._wire.left())
        self._client.watches.add(relay)
        try:
            await asyncio.wait({relay, left}, return_when=asyncio.FIRST_COMPLETED)
            if not relay.done() or relay.cancelled():
                raise Closed
            relay.result()
        finally:
            self._client.watches.discard(relay)
            relay.cancel()
            left.cancel()
            await asyncio.gather(relay, left, return_exceptions=True)


# ---- several replicas behind one address

class Service:
    """Hands each connection to one of the ports in turn, or to the next if no process listens, as a Service of
    Kubernetes does. Its connections are neither counted nor read."""

    def __init__(self, ports):
        self._ports = collections.deque(ports)

    async def accept(self, reader, writer):
        backend = await self._connect()
        if backend:
            other_reader, other_writer = backend
            await asyncio.gather(self._pipe(reader, other_writer), self._pipe(other_reader, writer))
        writer.close()

    async def _connect(self):
        self._ports.rotate(-1)
        for port in self._ports:
            with contextlib.suppress(OSError):
                return await asyncio.open_connection("127.0.0.1", port)
        return None

    @staticmethod
    async def _pipe(reader, writer):
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
        writer.close()


# ---- the process

class Proxy:
    def __init__(self, args):
        self._args = args
        self._log = open(args.log, "a", encoding="utf-8", buffering=1)  # pylint: disable=consider-using-with
        self._clients = {}

    async def run(self):
        context = ssl.create_default_context(cafile=self._args.ca)
        upstream = {"host": "127.0.0.1", "port": self._args.upstream, "ssl": context, "limit": 1 << 22}
        for each in self._args.client:
            name, _, port = each.partition("=")
            client = self._clients[name] = Client(name, upstream, self._log)
            await asyncio.start_server(self._acceptor(client), "127.0.0.1", int(port), limit=1 << 22)
        for each in self._args.service:
            port, _, backends = each.partition("=")
            service = Service([int(backend) for backend in backends.split(",")])
            await asyncio.start_server(service.accept, "127.0.0.1", int(port))
        control = await asyncio.start_server(self._control, "127.0.0.1", self._args.control, limit=1 << 22)
        await control.serve_forever()

    @staticmethod
    def _acceptor(client):
        async def accept(reader, writer):
            await Connection(client, Wire(reader, writer)).run()
        return accept

    async def _control(self, reader, writer):
        while line := await reader.readline():
            try:
                answer = await self._obey(json.loads(line))
            except Exception as error:  # pylint: disable=broad-except
                answer = {"error": repr(error)}
            writer.write((json.dumps(answer) + "\n").encode())
            await writer.drain()
        writer.close()

    async def _obey(self, order):
        client = self._clients[order["client"]]
        do = order["do"]
        if do == "reset":
            client.reset()
        elif do == "rules":
            client.set_rules(order["rules"])
        elif do == "pid":
            client.set_pid(order["pid"], order["ticks"])
        elif do == "forward":
            client.forward.set()
            async with client.changed:
                await client.changed.wait_for(lambda: client.writing == 0)
        elif do == "cut":
            client.cut_watches()
        elif do == "wait":
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(client.hit(order["hits"]), order["timeout"])
        elif do != "state":
            raise ValueError(f"no such order: {do}")
        return client.state()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--upstream", type=int, required=True, metavar="PORT", help="of the API server")
    parser.add_argument("--ca", required=True, help="who signed its certificate")
    parser.add_argument("--control", type=int, required=True, metavar="PORT")
    parser.add_argument("--log", required=True)
    parser.add_argument("--client", action="append", default=[], metavar="NAME=PORT")
    parser.add_argument("--service", action="append", default=[], metavar="PORT=PORT,PORT",
                        help="a port whose connections go to the others in turn")
    asyncio.run(Proxy(parser.parse_args()).run())


if __name__ == "__main__":
    main()
