//go:build interop

package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// root is the root of the repository.
const root = "../../.."

// The pyarrow client of docs/flight.md gets batches that equal the feed's in shared memory. Over TLS it
// needs the certificate and the token.
func TestPeerPyArrow(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "flight.md"))
	if err != nil {
		t.Fatal(err)
	}
	var client strings.Builder
	for _, block := range regexp.MustCompile("(?s)```python\n(.*?)```").FindAllSubmatch(page, -1) {
		client.Write(block[1])
	}
	if client.Len() == 0 {
		t.Fatal("found no client in docs/flight.md")
	}
	peers := exec.Command(filepath.Join(root, "bench", "peers.sh"), "tables")
	peers.Stderr = os.Stderr
	python, err := peers.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh tables: %v", err)
	}
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, args := range [][]string{
		{"go", "-C", root, "build", "-o", in("graphmill"), "./cmd/graphmill"},
		{"go", "build", "-o", in("graphmill-flight"), "."},
		{in("graphmill"), "generate", "rmat", "--scale", "12", "--edge-factor", "8", "--out", in("rmat.store")},
		{in("graphmill"), "quickstart", "--out", in("quickstart")},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	typesStore(t, in)
	selfSigned(t, in("cert.pem"), in("key.pem"))
	write(t, in("token"), "correct-horse-battery\n")
	write(t, in("client.py"), client.String())
	write(t, in("check.py"), checkScript)
	for name, c := range map[string]struct{ feed, flight []string }{
		"homogeneous": {feed: []string{in("rmat.store"), "--fanout", "7,5", "--batch-size", "300", "--shuffle", "--seed", "5"}},
		"every dtype": {feed: []string{in("types.store"), "--fanout", "3,3", "--batch-size", "90", "--edge-features", "all"}},
		"heterogeneous": {
			feed: []string{in("quickstart/debian.store"), "--fanout", "depends=4,3;has_tag=3", "--direction", "out", "--seeds", "package", "--batch-size", "256",
				"--ops", "--edge-features", "all"},
			flight: []string{"--tls-cert", in("cert.pem"), "--tls-key", in("key.pem"), "--token-file", in("token")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := exec.Command(in("graphmill-flight"), append(c.feed, c.flight...)...)
			server.Stderr = os.Stderr
			stdout, err := server.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				_ = server.Process.Signal(os.Interrupt)
				if err := server.Wait(); err != nil {
					t.Errorf("found %v, expected a server that ends without an error", err)
				}
			}()
			line, err := bufio.NewReader(stdout).ReadBytes('\n')
			if err != nil {
				t.Fatal(err)
			}
			var ready struct{ Addr string }
			if err := json.Unmarshal(line, &ready); err != nil {
				t.Fatal(err)
			}
			args := []string{in("check.py"), ready.Addr, "", ""}
			if c.flight != nil {
				args[2], args[3] = in("cert.pem"), in("token")
			}
			check := exec.Command(strings.TrimSpace(string(python)), append(args, c.feed...)...)
			check.Env = append(os.Environ(), "GRAPHMILL_COMMAND="+in("graphmill"), "PYTHONPATH="+filepath.Join(root, "python", "src"), "PYTHONDONTWRITEBYTECODE=1")
			out, err := check.CombinedOutput()
			if err != nil || !strings.HasSuffix(string(out), "equal\n") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// checkScript compares every batch of Flight with the batch of the Python package's feed.
const checkScript = `
import json
import sys

import numpy as np
import pyarrow as pa

from client import asking, batches, fl
from graphmill import _arrays, _feed

addr, cert, token = sys.argv[1:4]
options = None
if cert:
  good = b"Bearer " + open(token, "rb").read().strip()
  root = open(cert).read()
  client = fl.connect("grpc+tls://" + addr, tls_root_certs=root)

  def refused(client, error, header=None):
    headers = [(b"authorization", header)] if header else []
    try:
      next(batches(client, fl.FlightCallOptions(headers=headers, timeout=10)))
    except error:
      return
    raise SystemExit(f"found batches with the header {header}, expected {error}")

  refused(client, fl.FlightUnauthenticatedError)
  refused(client, fl.FlightUnauthenticatedError, good + b"x")
  refused(fl.connect("grpc+tls://" + addr), (fl.FlightUnavailableError, fl.FlightTimedOutError), good)
  refused(fl.connect("grpc://" + addr), (fl.FlightUnavailableError, fl.FlightTimedOutError, fl.FlightInternalError), good)
  options = fl.FlightCallOptions(headers=[(b"authorization", good)])
else:
  client = fl.connect("grpc://" + addr)

process = _feed.Process(sys.argv[4:])
compared = 0


def equal(arrays, want):
  global compared
  want = {k: _arrays.widened(x) if k in feed.bfloat16 else x for k, x in want.items()}
  assert list(arrays) == list(want), (list(arrays), list(want))
  for name, a in arrays.items():
    b = want[name]
    assert a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b), name
    compared += a.size


for epoch, first, rank, world, tail in (0, 0, 0, 1, ""), (3, 0, 0, 1, "drop"), (1, 2, 1, 3, ""), (1, 2, 2, 4, "fill"), (1, 0, 1, 3, "short"):
  feed = _feed.Connection(process.addr, process.token, rank, world, 4, process.died, tail=tail)
  count = 0
  for number, arrays in batches(client, options, epoch=epoch, first=first, rank=rank, world=world, tail=tail):
    if count == 0:
      run = feed.start(epoch, first)
    batch = feed.next(run)
    assert number == batch.number == first + rank + count * world
    equal(arrays, batch.columns)
    count += 1
    del batch
  assert feed.next(run) is None and count > 0
  seeds = [5, 1, 5, 40]
  sampled = list(batches(client, options, epoch=epoch, first=9, seeds=seeds))
  assert len(sampled) == 1 and sampled[0][0] == 9
  equal(sampled[0][1], feed.sample(np.array(seeds), epoch, 9).columns)
  request = json.dumps(dict(epoch=epoch, first=first, rank=rank, world=world, tail=tail)).encode()
  flight = client.get_flight_info(fl.FlightDescriptor.for_command(request), options)
  assert flight.total_records == count
  assert flight.schema.names == list(arrays)
  table = client.do_get(flight.endpoints[0].ticket, options).read_all()
  table.validate(full=True)
  assert table.num_rows == count
feed = _feed.Connection(process.addr, process.token, 0, 1, 4, process.died)
ask = asking(client, options)
for number in range(50):
  seeds = np.random.default_rng(number).integers(0, 60, 1 + number % 5)
  arrays = ask(seeds=seeds.tolist(), epoch=number % 3, batch=number)
  want = feed.sample(seeds, number % 3, number).columns
  assert list(arrays) == list(want)
  for name, a in arrays.items():
    assert a.tobytes() == want[name].tobytes(), name
  try:
    ask(seeds=[-1])
    raise SystemExit("found an answer about node -1")
  except RuntimeError as e:
    assert "found node -1" in str(e), e
try:
  list(batches(client, options, seeds=[-1]))
  raise SystemExit("found a batch of node -1")
except pa.ArrowInvalid as e:
  assert "found node -1" in str(e), e
process.close()
assert compared > 100_000, compared
print("equal")
`

// typesStore makes a store of 600 nodes and 1,200 edges with a column of every numeric dtype.
func typesStore(t *testing.T, in func(string) string) {
	t.Helper()
	var names, columns []string
	for _, d := range []string{"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64"} {
		names, columns = append(names, d), append(columns, d+": "+d)
	}
	rows := func(header string, n int, keys func(i int) string) string {
		text := header + "," + strings.Join(names, ",") + "\n"
		for i := range n {
			text += keys(i)
			for k := range names {
				if k == 0 {
					text += fmt.Sprintf(",%d", i%2)
				} else {
					text += fmt.Sprintf(",%d", (i+k)%127)
				}
			}
			text += "\n"
		}
		return text
	}
	dir := in("types")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	of := "{" + strings.Join(columns, ", ") + "}"
	write(t, filepath.Join(dir, "n.csv"), rows("id", 600, strconv.Itoa))
	write(t, filepath.Join(dir, "e.csv"), rows("src,dst", 1200, func(i int) string { return fmt.Sprintf("%d,%d", i*7%600, i*11%600) }))
	write(t, filepath.Join(dir, "graph.yaml"), "nodes: {n: {table: n.csv, id: id, columns: "+of+"}}\nedges: {'n:e:n': {table: e.csv, columns: "+of+"}}\n")
	if out, err := exec.Command(in("graphmill"), "import", dir, "--out", in("types.store")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// selfSigned writes a self-signed certificate of 127.0.0.1 and its key.
func selfSigned(t *testing.T, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, certFile, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	write(t, keyFile, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs})))
}
