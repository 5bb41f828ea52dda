package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/command"
	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/option"
)

// partitionAlone divides a graph in one process by ranges, by the command of graphmill.
func partitionAlone(t testing.TB, args ...string) {
	t.Helper()
	var text bytes.Buffer
	term := &cli.Terminal{Args: args, Stdout: &text, Stderr: &text}
	root := &cobra.Command{Use: "graphmill"}
	root.AddCommand(command.NewPartition(term, nil))
	root.SetArgs(append([]string{"partition", "--method", "ranges"}, args...))
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("graphmill partition %q: %v\n%s", args, err, text.String())
	}
}

// partitionCases are the arguments of partition, by name. The last graph is large enough that nodes are clustered before.
func partitionCases(t testing.TB) map[string][]string {
	t.Helper()
	store := shopStore(t)
	large := filepath.Join(t.TempDir(), "large.store")
	s, err := graphmill.GenerateCommunity(t.Context(), large, option.Community{Nodes: 25_000, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return map[string][]string{
		"types":    {store, "--parts", "4"},
		"together": {store, "--parts", "3", "--balance-types=false", "--seed", "9", "--imbalance", "1.1"},
		"edges":    {store, "--parts", "2", "--balance-edges", "--trainers-per-machine", "2"},
		"one part": {store, "--parts", "1"},
		"clusters": {large, "--parts", "8"},
	}
}

// partitionsEqual compares the files of a division on an engine with those of one process.
func partitionsEqual(t *testing.T, args, where []string) {
	t.Helper()
	dir := t.TempDir()
	one, out := filepath.Join(dir, "one"), filepath.Join(dir, "many")
	partitionAlone(t, append(slices.Clone(args), "--out", one)...)
	if _, text, status := runHere(t, slices.Concat([]string{"partition", "--out", out}, args, where)...); status != 0 {
		t.Fatalf("status %d\n%s", status, text)
	}
	if got, want := manifest(t, out), manifest(t, one); got != want {
		t.Errorf("found\n%s\nexpected\n%s", got, want)
	}
	onlyOutput(t, dir, "one", "many")
}

// TestPrismPartition checks that each file equals the file of graphmill partition.
func TestPrismPartition(t *testing.T) {
	for name, args := range partitionCases(t) {
		t.Run(name, func(t *testing.T) {
			if name == "types" || name == "together" {
				proof.OnlyLong(t, "tests of steps and buckets divide such graphs")
			}
			var where []string
			if name == "edges" {
				where = []string{"--ship-graph", "--parallelism", "3"}
			}
			partitionsEqual(t, args, where)
		})
	}
}

// TestPartitionRefused checks that what cannot work is told before a job starts, and leaves nothing.
func TestPartitionRefused(t *testing.T) {
	store := shopStore(t)
	in := t.TempDir()
	metis := filepath.Join(in, "x.graph")
	if err := os.WriteFile(metis, []byte("2 1\n2\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{store}, exitUsage, "found no --parts"},
		{[]string{store, "--parts", "2", "--method", "fennel"}, exitUsage, "found --method fennel on a cluster, expected ranges"},
		{[]string{store, "--import", in}, exitUsage, "on a cluster, expected ranges"},
		{[]string{metis, "--parts", "2"}, exitUsage, "found a METIS file or a graph in DGL's chunked format, expected a store"},
		{[]string{store, "--parts", "2", "--preset", "high"}, exitUsage, "found --preset with --method ranges"},
		{[]string{store, "--parts", "2", "--imbalance", "1,2,3,4,5"}, exitUsage, "found 5 imbalances"},
		{[]string{store, "--parts", "2", "--memory", "1MiB"}, exitFailed, "found a memory bound of 1.00 MiB"},
	} {
		dir := t.TempDir()
		_, text, status := runHere(t, append([]string{"partition", "--out", filepath.Join(dir, "out")}, test.args...)...)
		if status != test.status || !strings.Contains(text, test.want) {
			t.Errorf("%q: found status %d, %q, expected %d and %q", test.args, status, text, test.status, test.want)
		}
		onlyOutput(t, dir)
	}
}
