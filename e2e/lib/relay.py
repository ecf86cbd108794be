"""Relays on loopback: one that passes connections on to an address, one that is an HTTP proxy for tunnels.

    with relay.to(("127.0.0.1", 6443), host="::1") as there: ...    # there.port
    with relay.proxy() as proxy: ...                                # proxy.url, proxy.asked
"""
import contextlib
import socket
import threading


def _pump(source, target):
    with contextlib.suppress(OSError):
        while piece := source.recv(65536):
            target.sendall(piece)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _join(client, server):
    with client, server:
        back = threading.Thread(target=_pump, args=(server, client), daemon=True)
        back.start()
        _pump(client, server)
        back.join()


class _Relay:
    def __init__(self, host, serve):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, 0), family=family)
        self._serve = serve
        self.port = self._listener.getsockname()[1]
        self.url = f"http://{host}:{self.port}"
        self.asked = []  # "host:port" of each tunnel
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(self, client), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Without it a thread in accept() keeps the socket open.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


def to(address, host="127.0.0.1"):
    return _Relay(host, lambda _, client: _join(client, socket.create_connection(address)))


def _tunnel(relay, client):
    head = b""
    while b"\r\n\r\n" not in head:
        piece = client.recv(4096)
        if not piece:
            return
        head += piece
    method, target, _ = head.split(b"\r\n")[0].decode().split(" ")
    relay.asked.append(target if method == "CONNECT" else f"{method} {target}")
    host, _, port = target.rpartition(":")
    server = socket.create_connection((host.strip("[]"), int(port)))
    client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
    _join(client, server)


def proxy():
    return _Relay("127.0.0.1", _tunnel)
