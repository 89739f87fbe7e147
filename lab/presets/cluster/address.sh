#!/usr/bin/env bash
# Prints the address at which another node, named by the first word if there is one, reaches this one.
# The way to that node tells; this node's own name does not: on Debian it stands for 127.0.1.1.
set -euo pipefail
"${PYTHON:-python}" - "$@" <<'END'
import ipaddress
import socket
import sys

other = sys.argv[1] if len(sys.argv) > 1 else "192.0.2.1"  # stands for any machine outside
try:
    # Nothing is sent: to connect a datagram socket only chooses the way.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((other, 9))
        address = probe.getsockname()[0]
except OSError as error:
    sys.exit(f"there is no way from this node to {other} ({error}): "
             "say ADDRESS=... before sbatch, this node's IPv4 address in the cluster's network")
if ipaddress.ip_address(address).is_loopback:
    sys.exit(f"the way from this node to {other} starts at {address}, where no other reaches it: "
             "say ADDRESS=... before sbatch, this node's IPv4 address in the cluster's network")
print(address)
END
