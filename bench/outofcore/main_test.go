//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMain lets the test binary act as the command, which starts itself for each design.
func TestMain(m *testing.M) {
	if os.Getenv("OUTOFCORE_MAIN") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Every design runs in a process of its own, and all of them sample the same subgraphs.
func TestDesigns(t *testing.T) {
	t.Setenv("OUTOFCORE_MAIN", "1")
	dir := t.TempDir()
	store, chunks := filepath.Join(dir, "g.store"), filepath.Join(dir, "g.chunks")
	for _, args := range [][]string{
		{"generate", "rmat", "--scale", "12", "--edge-factor", "8", "--out", store},
		{"chunk", store, "--out", chunks},
	} {
		if out, err := exec.Command("go", append([]string{"run", "../../cmd/graphmill"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	var out, said strings.Builder
	args := []string{"-chunks", chunks, "-seeds-share", "0.1", "-fanout", "5,3,2", "-batch-size", "64", "-epochs", "2", "-threads", "2", store}
	if err := runDesigns(t.Context(), args, &out, &said); err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	for _, row := range []string{
		`DESIGN +SCOPE +EPOCHS +THREADS +MEMORY +S/EPOCH +CPU S +GB READ`, ` memory +batch +2 +2 +- +`, ` memory-epoch +epoch `,
		` windows +batch +2 +2 +2.00 GiB `, ` window +batch +2 +2 +1.00 GiB `, ` spilled +batch +2 +2 +400 MiB `, ` condensed +epoch `,
		` condensed-1 +epoch `, ` chunks +epoch `, ` mmap +batch +2 +16 +1.00 GiB `, `sweeps: [0-9.]+ GB/s, in sequence [0-9.]+ GB/s`,
	} {
		if !regexp.MustCompile(row).MatchString(out.String()) {
			t.Errorf("found no %q in\n%s", row, out.String())
		}
	}
	for _, bad := range []struct{ args, want string }{
		{"-designs chunks", "found no folder of chunks"},
		{"-designs windoes", `found design "windoes"`},
		{"-designs memory -seeds-share 0", "found a share of 0 of the nodes as seeds"},
	} {
		if err := runDesigns(t.Context(), append(strings.Fields(bad.args), store), &out, &said); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s: found error %v, expected %q", bad.args, err, bad.want)
		}
	}
}
