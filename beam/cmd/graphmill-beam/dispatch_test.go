package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/command"
	"github.com/graphmill/graphmill/option"
)

// dispatchAlone makes parts in one process, by the command of graphmill.
func dispatchAlone(t testing.TB, args ...string) {
	t.Helper()
	var text bytes.Buffer
	term := &cli.Terminal{Args: args, Stdout: &text, Stderr: &text}
	root := &cobra.Command{Use: "graphmill"}
	root.AddCommand(command.NewDispatch(term, nil))
	root.SetArgs(append([]string{"dispatch"}, args...))
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("graphmill dispatch %q: %v\n%s", args, err, text.String())
	}
}

// divided is an assignment of a store by a method.
func divided(t testing.TB, store string, method option.Method, parts, trainers int) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "assignment")
	_, err := graphmill.Partition(t.Context(), store, out, option.Partition{Parts: parts, Method: method, TrainersPerMachine: trainers, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// dispatchCases are flags of dispatch over the shop, by name.
func dispatchCases(t testing.TB, store string) map[string][]string {
	multilevel, random := divided(t, store, option.MethodMultilevel, 3, 1), divided(t, store, option.MethodRandom, 4, 2)
	return map[string][]string{
		"one hop":   {"--assignment", multilevel},
		"hash":      {"--parts", "3", "--parts-by", "hash", "--seed", "9"},
		"deep":      {"--assignment", random, "--num-hops", "2", "--out-edges", "--graph-formats", "coo,csr,csc", "--save-orig-nids", "--save-orig-eids"},
		"no hop":    {"--assignment", random, "--num-hops", "0", "--graph-formats", "csc", "--graph-name", "shop"},
		"out edges": {"--parts", "1", "--out-edges", "--save-orig-eids"},
		"many":      {"--parts", "70", "--parts-by", "random", "--out-edges"},
	}
}

// TestPrismDispatch checks that each file equals the file of graphmill dispatch.
func TestPrismDispatch(t *testing.T) {
	store := shopStore(t)
	for name, args := range dispatchCases(t, store) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			one, out := filepath.Join(dir, "one"), filepath.Join(dir, "many")
			dispatchAlone(t, append([]string{store, "--out", one}, args...)...)
			if _, text, status := runHere(t, append([]string{"dispatch", store, "--out", out, "--ship-graph=" + strconv.FormatBool(name == "deep")}, args...)...); status != 0 {
				t.Fatalf("status %d\n%s", status, text)
			}
			if got, want := manifest(t, out), manifest(t, one); got != want {
				t.Errorf("found\n%s\nexpected\n%s", got, want)
			}
			onlyOutput(t, dir, "one", "many")
		})
	}
}

// The parts by a hash or at random equal the parts of graphmill partition with the same method.
func TestPartsBy(t *testing.T) {
	store := shopStore(t)
	for _, method := range []option.Method{option.MethodHash, option.MethodRandom} {
		dir := t.TempDir()
		by, from := filepath.Join(dir, "by"), filepath.Join(dir, "from")
		dispatchAlone(t, store, "--parts", "4", "--parts-by", string(method), "--seed", "5", "--out", by)
		dispatchAlone(t, store, "--assignment", divided(t, store, method, 4, 1), "--out", from)
		if got, want := manifest(t, by), manifest(t, from); got != want {
			t.Errorf("%s: found\n%s\nexpected\n%s", method, got, want)
		}
		onlyOutput(t, dir, "by", "from")
	}
}

// TestDispatchRefused checks that what cannot work is told before a job starts, and leaves nothing.
func TestDispatchRefused(t *testing.T) {
	store := shopStore(t)
	in := t.TempDir()
	chunks, parts := filepath.Join(in, "chunks"), filepath.Join(in, "parts")
	if err := os.Mkdir(chunks, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(chunks, "metadata.json"), []byte(`{"graph_name": "g", "node_type": ["a"], "num_nodes_per_chunk": [[1]], "edge_type": [], "num_edges_per_chunk": [], "edges": {}, "node_data": {}, "edge_data": {}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	dispatchAlone(t, store, "--parts", "2", "--out", parts)
	for _, test := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{store}, exitUsage, "found no --assignment"},
		{[]string{store, "--parts", "2", "--assignment", in}, exitUsage, "found both --assignment and --parts"},
		{[]string{store, "--parts", "2", "--parts-by", "multilevel"}, exitUsage, `found --parts-by "multilevel", expected hash or random`},
		{[]string{store, "--parts", "-1"}, exitUsage, "found --parts -1"},
		{[]string{store, "--parts", "2", "--parts-at-once", "1"}, exitUsage, "found --parts-at-once 1, expected none"},
		{[]string{store, "--parts", "2", "--memory", "1MiB"}, exitFailed, "part 0: found a memory bound of 1.00 MiB"},
		{[]string{store, "--parts", "2", "--runner", "storm"}, exitUsage, `found --runner "storm", expected prism, flink or spark`},
		{[]string{store, "--parts", "2", "--time-limit", "1ns"}, exitFailed, "time limit"},
		{[]string{chunks, "--parts", "2"}, exitUsage, "or use graphmill dispatch"},
		{[]string{parts, "--parts", "2"}, exitUsage, "to send parts, use graphmill dispatch"},
	} {
		dir := t.TempDir()
		_, text, status := runHere(t, append([]string{"dispatch", "--out", filepath.Join(dir, "out")}, test.args...)...)
		if status != test.status || !strings.Contains(text, test.want) {
			t.Errorf("%q: found status %d and %q, expected %d and %q", test.args, status, text, test.status, test.want)
		}
		onlyOutput(t, dir)
	}
}

// TestDispatchDamaged checks that the error of a worker reaches the user, and leaves nothing.
func TestDispatchDamaged(t *testing.T) {
	store := shopStore(t)
	files, err := filepath.Glob(filepath.Join(store, "edges", "*", "far.npy"))
	if err != nil || len(files) == 0 {
		t.Fatal("found no ends of edges")
	}
	f, err := os.OpenFile(files[0], os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{0xff, 0xff, 0xff, 0x7f}, 128+40); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	_, text, status := runHere(t, "dispatch", store, "--parts", "2", "--out", filepath.Join(dir, "out"))
	if status != exitFailed || !strings.Contains(text, "damaged: found source") {
		t.Errorf("found status %d and %q, expected the damage", status, text)
	}
	onlyOutput(t, dir)
}
