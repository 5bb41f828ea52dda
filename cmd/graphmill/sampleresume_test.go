package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSampleKilled ends five runs of the command after a checkpoint that they made, with
// SIGKILL or SIGINT, and lets the sixth come to its end: all bytes but the report's
// are as after a run that nothing happened to.
func TestSampleKilled(t *testing.T) {
	dir := t.TempDir()
	command := func(args ...string) (*exec.Cmd, *bytes.Buffer) {
		cmd := exec.Command("graphmill", args...)
		cmd.Dir = dir
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		return cmd, &out
	}
	must := func(t *testing.T, args ...string) {
		t.Helper()
		if cmd, out := command(args...); cmd.Run() != nil {
			t.Fatalf("%v: %s", args, out)
		}
	}
	must(t, "generate", "rmat", "--scale", "10", "--edge-factor", "8", "--out", "g.store")
	for name, form := range map[string][]string{
		"collection": {"--ops"},
		"stream":     {"--executor", "stream", "--memory", "64MiB"},
		"condensed":  {"--executor", "stream", "--memory", "64MiB", "--scope", "epoch"},
		"tfrecord":   {"--format", "tfrecord", "--gzip", "--shards", "7", "--scope", "seed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"sample", "g.store", "--fanout", "10,5", "--batch-size", "16", "--epochs", "4", "--shuffle"}, form...)
			must(t, append(args, "--out", name+".once")...)
			partial := filepath.Join(dir, "."+name+".partial", ".checkpoint.json")
			stopped := 0
			for try := 1; ; try++ {
				interrupt := try%3 == 0
				before, _ := os.ReadFile(partial)
				cmd, out := command(append(args, "--out", name, "--resume", "--checkpoint-every", "1ms")...)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				done := make(chan error, 1)
				go func() { done <- cmd.Wait() }()
				var err error
				ended := try > 5
				if ended {
					err = <-done
				} else {
					ended, err = stopBehindCheckpoint(cmd, done, partial, before, interrupt)
				}
				if ended && err == nil {
					if stopped > 0 && !strings.Contains(out.String(), "subgraphs, which an interrupted run wrote") {
						t.Errorf("found no word of what was there: %s", out)
					}
					break
				}
				if ended {
					t.Fatalf("%v: %s", err, out)
				}
				if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
					break // killed after the rename
				}
				if stopped++; interrupt && !strings.Contains(out.String(), "subgraphs are kept in ."+name+".partial, and a run with the same options and --resume continues from there") {
					t.Errorf("interrupted: %s", out)
				}
			}
			if stopped < 2 {
				t.Errorf("found %d runs that were stopped, expected more", stopped)
			}
			must(t, "verify", name)
			sameBytes(t, filepath.Join(dir, name+".once"), filepath.Join(dir, name))
		})
	}
}

// stopBehindCheckpoint ends a command when it has made a checkpoint of its own, if that
// comes before its end.
func stopBehindCheckpoint(cmd *exec.Cmd, done chan error, partial string, before []byte, interrupt bool) (ended bool, err error) {
	for {
		select {
		case err := <-done:
			return true, err
		case <-time.After(200 * time.Microsecond): // between two looks
		}
		if now, err := os.ReadFile(partial); err != nil || bytes.Equal(now, before) {
			continue
		}
		if interrupt {
			_ = cmd.Process.Signal(os.Interrupt)
		} else {
			_ = cmd.Process.Kill()
		}
		if err := <-done; err == nil {
			return true, nil // it was faster
		}
		return false, nil
	}
}

// sameBytes holds that two outputs are equal but for their reports.
func sameBytes(t *testing.T, a, b string) {
	t.Helper()
	read := func(dir string) map[string]string {
		all := map[string]string{}
		err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasPrefix(path, "report.") {
				return err
			}
			b, err := os.ReadFile(filepath.Join(dir, path))
			all[path] = string(b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	want, got := read(a), read(b)
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: found other bytes", name)
		}
		delete(got, name)
	}
	for name := range got {
		t.Errorf("%s: found a file that is not in both", name)
	}
}
