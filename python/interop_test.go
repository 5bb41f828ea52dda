//go:build interop

// Package python_test runs the tests of the Python client, and compares it with the Go
// library.
package python_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"

	"github.com/graphmill/graphmill/draw"
)

// python is a Python command with the client's sources on its path, in the environment of a peer.
func python(t *testing.T, peer string, args ...string) *exec.Cmd {
	t.Helper()
	peers := exec.Command("../bench/peers.sh", peer)
	peers.Stderr = os.Stderr
	exe, err := peers.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh %s: %v", peer, err)
	}
	cmd := exec.Command(string(bytes.TrimSpace(exe)), args...)
	cmd.Env = append(os.Environ(), "PYTHONPATH=src")
	return cmd
}

// The client's own tests pass with NumPy alone and with torch.
func TestClient(t *testing.T) {
	for _, peer := range []string{"tables", "pyg"} {
		if out, err := python(t, peer, "-m", "unittest", "discover", "-s", "tests").CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", peer, err, out)
		}
	}
}

// Both languages walk through the same items, on 1,000 random sizes, seeds and epochs.
func TestOrdersAgree(t *testing.T) {
	type order struct {
		N, Seed, Epoch uint64
		At, Items      []uint64
	}
	r := rand.New(rand.NewPCG(1, 2))
	var orders []order
	for range 1000 {
		o := order{N: 1 + r.Uint64N(1<<r.Uint64N(40)), Seed: r.Uint64(), Epoch: r.Uint64N(1000)}
		d := draw.NewOrder(o.N, draw.Key(o.Seed, o.Epoch, draw.OrderWord))
		for range 20 {
			o.At = append(o.At, r.Uint64N(o.N))
			o.Items = append(o.Items, d.At(o.At[len(o.At)-1]))
		}
		orders = append(orders, o)
	}
	cmd := python(t, "tables", "-c", `
import json, sys
import numpy as np
from graphmill._order import ORDER, Order, key
for o in json.load(sys.stdin):
    got = Order(o["N"], key(o["Seed"], o["Epoch"], ORDER))(np.array(o["At"], np.int64)).tolist()
    assert got == o["Items"], (o, got)
`)
	data, err := json.Marshal(orders)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = bytes.NewReader(data)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
