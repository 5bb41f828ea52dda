//go:build cluster

package main

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/graphmill/graphmill/internal/objects/objectstest"
	"github.com/graphmill/graphmill/internal/proof"
)

// TestSpark runs each command on one Spark of a master and a worker. beam/internal/engine has its kills and cancels.
func TestSpark(t *testing.T) {
	proof.OnlyLong(t, "a Spark, whose jobs take 12 CPU seconds each")
	up(t, "spark", "--master-port", "18377", "--page-port", "18380")
	where := []string{"--runner", "spark", "--endpoint", "localhost:" + jobPort, "--workers", "localhost:" + workerPort}
	t.Run("sample", func(t *testing.T) { sampled(t, where, "typed records") })
	t.Run("import", func(t *testing.T) { imported(t, where) })
	t.Run("dispatch", func(t *testing.T) { dispatched(t, where, "deep") })
	t.Run("partition", func(t *testing.T) { partitioned(t, where, "types") })
}

// TestSparkBucket runs all jobs on a bucket.
func TestSparkBucket(t *testing.T) {
	proof.OnlyLong(t, "a Spark whose workers reach a bucket")
	server := objectstest.New(t, "spark") // whose credentials the workers inherit
	up(t, "spark", "--master-port", "18377", "--page-port", "18380")
	inBucket(t, server, "spark", []string{"--runner", "spark", "--endpoint", "localhost:" + jobPort, "--workers", "localhost:" + workerPort})
}

// imported imports on an engine, and compares each file with the one that graphmill import writes.
func imported(t *testing.T, where []string) {
	t.Helper()
	one := shopStore(t)
	dir := t.TempDir()
	out := filepath.Join(dir, "many.store")
	if _, text, status := runHere(t, slices.Concat([]string{"import", filepath.Dir(one), "--both", "--out", out, "--time-limit", "5m"}, where)...); status != 0 {
		t.Fatalf("status %d\n%s", status, text)
	}
	if got, want := manifest(t, out), manifest(t, one); got != want {
		t.Errorf("found\n%s\nexpected\n%s", got, want)
	}
	onlyOutput(t, dir, "many.store")
	out = filepath.Join(t.TempDir(), "shards.store")
	if _, text, status := runHere(t, slices.Concat([]string{"import", filepath.Dir(one), "--both", "--array-shards", "3", "--out", out, "--time-limit", "5m"}, where)...); status != 0 {
		t.Fatalf("status %d\n%s", status, text)
	}
	if got, want := manifest(t, joined(t, out)), manifest(t, one); got != want {
		t.Errorf("in shards: found\n%s\nexpected\n%s", got, want)
	}
}
