package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/command"
	"github.com/graphmill/graphmill/internal/objects/objectstest"
)

// alone samples in one process, by the command of graphmill.
func alone(t testing.TB, out string, args ...string) {
	t.Helper()
	var text bytes.Buffer
	term := &cli.Terminal{Args: args, Stdout: &text, Stderr: &text}
	cmd := command.NewSample(term, nil)
	root := &cobra.Command{Use: "graphmill"}
	root.AddCommand(cmd)
	root.SetArgs(append([]string{"sample", "--out", out}, args...))
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("graphmill sample %q: %v\n%s", args, err, text.String())
	}
}

// TestPrism checks that each file equals the file of graphmill sample, by both methods.
func TestPrism(t *testing.T) {
	store := shopStore(t)
	all := cases(t, store)
	for _, name := range names(all) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			one := filepath.Join(dir, "one")
			alone(t, one, append([]string{store}, all[name]...)...)
			for _, method := range []string{"local", "shuffle"} {
				out := filepath.Join(dir, method)
				_, text, status := runHere(t, append([]string{"sample", store, "--runner", "prism", "--method", method, "--out", out}, all[name]...)...)
				if status != 0 {
					t.Fatalf("%s: status %d\n%s", method, status, text)
				}
				if got, want := manifest(t, out), manifest(t, one); got != want {
					t.Errorf("%s: found\n%s\nexpected\n%s", method, got, want)
				}
			}
			onlyOutput(t, dir, "one", "local", "shuffle")
		})
	}
	for _, sampler := range []string{"ladies", "fastgcn", "labor", "hgt", "ppr", "walk"} {
		for _, format := range []string{"collection", "tfrecord"} {
			t.Run(sampler+" "+format, func(t *testing.T) {
				dir := t.TempDir()
				one, out := filepath.Join(dir, "one"), filepath.Join(dir, "out")
				args := []string{store, "--seeds", "user", "--direction", "out", "--fanout", "9,7", "--sampler", sampler, "--format", format, "--batch-size", "200"}
				if sampler == "ppr" || sampler == "walk" {
					args = append(args[:5], "--fanout", "knows=6", "--sampler", sampler, "--format", format, "--limit-seeds", "300")
				}
				if sampler == "walk" {
					args = append(args, "--walk-length", "3")
				}
				alone(t, one, args...)
				if _, text, status := runHere(t, append([]string{"sample", "--method", "local", "--out", out}, args...)...); status != 0 || manifest(t, out) != manifest(t, one) {
					t.Errorf("found status %d and\n%s\nexpected\n%s\n%s", status, manifest(t, out), manifest(t, one), text)
				}
			})
		}
	}
	t.Run("shipped", func(t *testing.T) {
		dir := t.TempDir()
		one, out := filepath.Join(dir, "one"), filepath.Join(dir, "out")
		alone(t, one, append([]string{store}, all["links"]...)...)
		if _, text, status := runHere(t, append([]string{"sample", store, "--ship-graph", "--out", out}, all["links"]...)...); status != 0 || manifest(t, out) != manifest(t, one) {
			t.Errorf("found status %d and\n%s\nexpected\n%s\n%s", status, manifest(t, out), manifest(t, one), text)
		}
		onlyOutput(t, dir, "one", "out")
	})
}

// TestPrismBucket samples a store in an object store, which workers read by themselves.
func TestPrismBucket(t *testing.T) {
	store := shopStore(t)
	server := objectstest.New(t, "bucket")
	server.PutFolder(t, store, "bucket/shop.store")
	dir := t.TempDir()
	one, out := filepath.Join(dir, "one"), filepath.Join(dir, "out")
	args := cases(t, store)["links"]
	alone(t, one, append([]string{store}, args...)...)
	if _, text, status := runHere(t, append([]string{"sample", "s3://bucket/shop.store", "--out", out}, args...)...); status != 0 {
		t.Fatalf("found status %d, expected 0\n%s", status, text)
	}
	if got, want := manifest(t, out), manifest(t, one); got != want {
		t.Errorf("found\n%s\nexpected\n%s", got, want)
	}
	onlyOutput(t, dir, "one", "out")
}

// TestRefused checks that what cannot work is told before a job starts, and leaves nothing.
func TestRefused(t *testing.T) {
	store := shopStore(t)
	in := t.TempDir()
	damaged := filepath.Join(in, "not a store")
	if err := os.Mkdir(damaged, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{store, "--fanout", "2", "--runner", "storm"}, exitUsage, `found --runner "storm", expected prism, flink or spark`},
		{[]string{store, "--fanout", "2", "--runner", "flink"}, exitUsage, "found no --endpoint, expected HOST:PORT"},
		{[]string{store, "--fanout", "2", "--runner", "spark"}, exitUsage, "found no --endpoint, expected HOST:PORT"},
		{[]string{store, "--fanout", "2", "--runner", "spark", "--endpoint", "localhost:1", "--job-manager", "http://localhost:8081"}, exitUsage, "found --job-manager with --runner spark, expected none"},
		{[]string{store, "--fanout", "2", "--seeds", "user", "--runner", "flink", "--endpoint", "localhost:1"}, exitFailed, "localhost:1"},
		{[]string{store, "--fanout", "2", "--runner", "flink", "--endpoint", "flink.example:8099", "--workers", "localhost:50000"}, exitUsage, "beyond loopback"},
		{[]string{store, "--fanout", "2", "--parallelism", "0"}, exitUsage, "found --parallelism 0, expected at least 1"},
		{[]string{store, "--fanout", "2", "--method", "magic"}, exitUsage, `found --method "magic", expected auto, local or shuffle`},
		{[]string{store, "--fanout", "2", "--executor", "stream"}, exitUsage, "found --executor stream, expected auto"},
		{[]string{store, "--fanout", "2", "--seeds", "user", "--method", "shuffle", "--scope", "seed", "--format", "tfrecord", "--edge-aggregation", "node"}, exitUsage, "expected local"},
		{[]string{store, "--fanout", "2"}, exitUsage, "expected one of item, tag, user"},
		{[]string{store, "--seeds", "user", "--direction", "out", "--fanout", "4,3", "--method", "shuffle", "--memory", "1KiB"}, exitFailed, "for a task of a worker; give more --memory, or take a share of the seeds by --rank"},
		{[]string{damaged, "--fanout", "2"}, exitFailed, damaged},
		{[]string{store, "--fanout", "2", "--seeds", "user", "--time-limit", "1ns"}, exitFailed, "time limit"},
	} {
		dir := t.TempDir()
		_, text, status := runHere(t, append([]string{"sample", "--out", filepath.Join(dir, "out")}, test.args...)...)
		if status != test.status || !strings.Contains(text, test.want) {
			t.Errorf("%q: found status %d and %q, expected %d and %q", test.args, status, text, test.status, test.want)
		}
		onlyOutput(t, dir)
	}
}
