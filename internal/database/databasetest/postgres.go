//go:build interop

package databasetest

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Postgres is a real server of PostgreSQL.
type Postgres struct {
	Bin, Password, Address string
}

// Start starts a server, which ends with the test. root is the folder of the repository. The password is in the environment of the test.
func Start(t *testing.T, root string) (p Postgres) {
	t.Helper()
	peers := exec.Command(filepath.Join(root, "bench/peers.sh"), "databases")
	var stderr bytes.Buffer
	peers.Stderr = &stderr
	python, err := peers.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh databases: %v\n%s", err, stderr.String())
	}
	server := exec.Command(string(bytes.TrimSpace(python)), "-B", filepath.Join(root, "python/tests/server.py"))
	server.Stderr = &stderr
	stdin, errIn := server.StdinPipe()
	stdout, errOut := server.StdoutPipe()
	if errIn != nil || errOut != nil {
		t.Fatal(errIn, errOut)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close() // the server stops when its input ends
		if err := server.Wait(); err != nil {
			t.Errorf("the server: %v\n%s", err, stderr.String())
		}
	})
	if err := json.NewDecoder(stdout).Decode(&p); err != nil {
		t.Fatalf("the server: %v\n%s", err, stderr.String())
	}
	t.Setenv("PGPASSWORD", p.Password)
	return p
}

// Run runs statements.
func (p Postgres) Run(t *testing.T, statements string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(p.Bin, "psql"), "-q", "-v", "ON_ERROR_STOP=1", "-d", p.Address)
	cmd.Stdin = strings.NewReader(statements)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("psql: %v\n%s", err, out)
	}
}
