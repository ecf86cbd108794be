"""Synchronous training as the network sees it: a parameter server sends the model to each worker, each computes and
sends as much back, and when all have, the next step begins. Real TCP; all sockets in one loop of one process."""
import heapq
import random
import selectors
import socket
import time

from network.namespaces import entered

CHUNK = 1 << 16
ZEROS = memoryview(bytes(1 << 20))


class End:
    """One side of a connection: owes bytes, and counts what comes."""

    def __init__(self, loop, sock, whole, got_all):
        self.loop, self.sock, self.whole, self.got_all = loop, sock, whole, got_all
        self.owes, self.got, self.writing = 0, 0, False
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        loop.selector.register(sock, selectors.EVENT_READ, self)

    def send(self):
        self.owes += self.whole
        self.pump()

    def pump(self):
        try:
            while self.owes:
                self.owes -= self.sock.send(ZEROS[:min(self.owes, len(ZEROS))])
        except BlockingIOError:
            pass
        if bool(self.owes) != self.writing:
            self.writing = bool(self.owes)
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if self.writing else 0)
            self.loop.selector.modify(self.sock, events, self)

    def ready(self, events):
        if events & selectors.EVENT_WRITE:
            self.pump()
        if events & selectors.EVENT_READ:
            try:
                self.got += self.sock.recv_into(self.loop.buffer)
            except BlockingIOError:
                return
            if self.got >= self.whole:
                self.got -= self.whole
                self.got_all(self)


class Loop:
    def __init__(self):
        self.selector, self.timers, self.count, self.buffer = selectors.DefaultSelector(), [], 0, bytearray(1 << 18)

    def after(self, seconds, call):
        self.count += 1
        heapq.heappush(self.timers, (time.monotonic() + seconds, self.count, call))

    def run(self, until, deadline):
        while not until() and time.monotonic() < deadline:
            wait = max(0, self.timers[0][0] - time.monotonic()) if self.timers else 0.1
            for key, events in self.selector.select(min(wait, 0.1)):
                key.data.ready(events)
            while self.timers and self.timers[0][0] <= time.monotonic():
                heapq.heappop(self.timers)[2]()
        self.selector.close()


class Job:
    """`ps` and `workers` are (namespace, address)."""

    def __init__(self, loop, name, ps, workers, model_bytes, compute, steps, seed, congestion):
        self.loop, self.name, self.steps, self.compute = loop, name, steps, compute
        self.random = random.Random(seed)
        self.step, self.answers, self.done = 0, 0, None
        self.servers, self.sockets = [], []
        with entered(ps[0]):
            listener = socket.create_server((ps[1], 0))
        for namespace, address in workers:
            with entered(namespace):
                worker = socket.create_connection(listener.getsockname(), source_address=(address, 0))
            server, _ = listener.accept()
            self.sockets += [worker, server]
            for each in (worker, server):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
            End(loop, worker, model_bytes, self.computes)
            self.servers.append(End(loop, server, model_bytes, self.answered))
        listener.close()

    def start(self):
        self.began = time.monotonic()
        for each in self.servers:
            each.send()

    def computes(self, worker):
        self.loop.after(self.compute * self.random.uniform(0.95, 1.05), worker.send)

    def answered(self, _):
        self.answers += 1
        if self.answers < len(self.servers):
            return
        self.answers = 0
        self.step += 1
        if self.step == self.steps:
            self.done = time.monotonic() - self.began
            return
        for each in self.servers:
            each.send()

    def close(self):
        for each in self.sockets:
            each.close()
