//go:build interop

package batch

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

// The committed values equal the executable definition's.
func TestPeerReferenceIsCurrent(t *testing.T) {
	python, err := exec.Command("../bench/peers.sh", "tables").Output()
	if err != nil {
		t.Fatalf("the Python of bench/peers.sh tables: %v", err)
	}
	got, err := exec.Command(string(bytes.TrimSpace(python)), "testdata/reference/orders.py").Output()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/orders.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("testdata/orders.json: found other values than orders.py gives; run it")
	}
}
