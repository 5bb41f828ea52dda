package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// TestVerifyOnAMachine verifies what a machine of a cluster has: one of two parts, and
// a manifest that names no other.
func TestVerifyOnAMachine(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	graphmill := func(args ...string) (status int, out string) {
		var b bytes.Buffer
		status = runCommand(append([]string{"graphmill"}, args...), &b, &b)
		return status, b.String()
	}
	err := errors.Join(os.WriteFile(at("edges.csv"), []byte("src,dst\n0,1\n1,2\n2,3\n3,0\n"), 0o600), os.Mkdir(at("cut"), 0o700),
		os.WriteFile(at("cut/_N.txt"), []byte("0\n0\n1\n1\n"), 0o600),
		os.WriteFile(at("cut/partition_meta.json"), []byte(`{"version": "1.0.0", "num_parts": 2, "algo_name": "metis"}`), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"import", at("edges.csv"), "--out", at("g")}, {"dispatch", at("g"), "--assignment", at("cut"), "--out", at("parts")}} {
		if status, out := graphmill(args...); status != exitDone {
			t.Fatalf("%v: %s", args, out)
		}
	}
	names := []string{"g.json", "metadata.json", "part1/edge_feat.dgl", "part1/graph.dgl", "part1/node_feat.dgl"}
	m, err := store.SumFiles(t.Context(), vfs.OS, at("parts"), names, 1)
	if err != nil {
		t.Fatal(err)
	}
	text, sum, err := m.Encode()
	err = errors.Join(err, os.CopyFS(at("machine"), os.DirFS(at("parts"))), os.RemoveAll(at("machine/part0")), os.Remove(at("machine/made.json")),
		os.WriteFile(at("machine/manifest.json"), text, 0o600), os.WriteFile(at("machine/manifest.json.xxh3"), sum, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if status, out := graphmill("verify", at("machine")); status != exitDone || !strings.Contains(out, "whole (parts 1 of a graph, ") {
		t.Errorf("status %d: %s", status, out)
	}
	if status, out := graphmill("verify", at("machine"), "--against", at("g")); status != exitUsage || !strings.Contains(out, "only parts [1]") {
		t.Errorf("against the store: status %d: %s", status, out)
	}
	if err := os.Remove(at("machine/part1/graph.dgl")); err != nil {
		t.Fatal(err)
	}
	if status, out := graphmill("verify", at("machine")); status != exitDamaged || !strings.Contains(out, "part1/graph.dgl: found missing") {
		t.Errorf("without its graph: status %d: %s", status, out)
	}
}
