"""Starts the catalog server of Iceberg's own tests, makes tables in it by make_catalog.py, and serves them until its input ends.

    python serve_catalog.py OUT

Run it with the Python that bench/peers.sh catalog prints. It prints the address of the server in its first line.
"""

import os
import socket
import subprocess
import sys
import time

import requests

OUT = sys.argv[1]

with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    port = s.getsockname()[1]
uri = f"http://127.0.0.1:{port}"
settings = {"CATALOG_WAREHOUSE": "s3://lakes/wh", "CATALOG_IO__IMPL": "org.apache.iceberg.inmemory.InMemoryFileIO", "CATALOG_REST_PORT": str(port)}
server = subprocess.Popen(
    ["java", "-cp", os.path.join(sys.prefix, "catalog", "*"), "org.apache.iceberg.rest.RESTCatalogServer"],
    env={**os.environ, **settings},
    stdout=sys.stderr,
    stdin=subprocess.DEVNULL,
)
try:
    while True:
        try:
            requests.get(uri + "/v1/config", timeout=5).raise_for_status()
            break
        except requests.RequestException:
            if server.poll() is not None:
                sys.exit("the server ended")
            time.sleep(0.1)
    subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__), "make_catalog.py"), uri, OUT], check=True, stdout=sys.stderr)
    print(uri, flush=True)
    sys.stdin.read()
finally:
    server.kill()
    server.wait()
