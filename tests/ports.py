"""Ports on which servers of tests listen."""

import random
import socket


def free_port() -> int:
    """Return a port below those that the kernel gives to connections, one of which could take it meanwhile."""
    while True:
        port = random.randrange(10_000, 30_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
