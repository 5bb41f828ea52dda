package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/graphmill/graphmill/beam/internal/engine"
)

// TestMain makes the test program the command where its first argument is a command: the worker services of tests, and
// the submitters that tests kill, are this program.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && slices.Contains([]string{"sample", "import", "dispatch", "partition", "step", "worker", "harness"}, os.Args[1]) {
		main()
	}
	os.Exit(m.Run())
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{nil, exitUsage, "found no command"},
		{[]string{"sampel"}, exitUsage, `found command "sampel"`},
		{[]string{"sample", "a", "b"}, exitUsage, "expected one STORE"},
		{[]string{"worker", "--lisen", "x"}, exitUsage, "did you mean --listen?\nTry 'graphmill-beam worker --help'."},
		{[]string{"worker", "x"}, exitUsage, `found argument "x", expected none`},
		{[]string{"worker", "--listen", "0.0.0.0:0"}, exitFailed, "found --listen 0.0.0.0:0, which other machines can reach, expected a loopback address"},
		{[]string{"harness"}, exitFailed, "this command is run by the worker service alone"},
	} {
		var out, err bytes.Buffer
		if status := runCommand(append([]string{"graphmill-beam"}, c.args...), strings.NewReader(""), &out, &err); status != c.status || !strings.Contains(err.String(), c.want) || out.Len() > 0 {
			t.Errorf("%q: found status %d, %q, %q, expected %d and %q", c.args, status, out.String(), err.String(), c.status, c.want)
		}
	}
}

// An interruption ends a command with its own status, before the job and in the middle of one, and leaves nothing.
func TestInterrupted(t *testing.T) {
	store := shopStore(t)
	for name, args := range map[string][]string{
		"sample":    {"sample", store, "--fanout", "2", "--seeds", "user", "--direction", "out"},
		"dispatch":  {"dispatch", store, "--parts", "2"},
		"partition": {"partition", store, "--parts", "2"},
	} {
		for _, at := range []string{"before", "while"} {
			t.Run(name+" "+at, func(t *testing.T) {
				dir := t.TempDir()
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				if at == "before" {
					stop()
				} else {
					go func() { // until the work begins
						for ctx.Err() == nil {
							if list, _ := os.ReadDir(dir); len(list) > 0 {
								stop()
							}
						}
					}()
				}
				var out, errs bytes.Buffer
				line := append([]string{"graphmill-beam"}, append(args, "--runner", "prism", "--out", filepath.Join(dir, "out"))...)
				status := execute(ctx, line, nil, &out, &errs)
				if status != exitInterrupted || !strings.HasPrefix(errs.String(), "graphmill-beam: interrupted") {
					t.Errorf("found status %d and %q, expected %d", status, errs.String(), exitInterrupted)
				}
				onlyOutput(t, dir)
			})
		}
	}
}

// The examples come before the flags.
func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"sample", "--help"}, {"worker", "--help"}} {
		var out bytes.Buffer
		if status := runCommand(append([]string{"graphmill-beam"}, args...), nil, &out, io.Discard); status != exitDone {
			t.Errorf("%q: found status %d, expected %d", args, status, exitDone)
		}
		examples, flags := strings.Index(out.String(), "Examples:\n  graphmill-beam"), strings.Index(out.String(), "--help")
		if examples < 0 || flags < examples {
			t.Errorf("%q: found %q, expected examples before flags", args, out.String())
		}
	}
}

// The service tells its address and its build, and ends well by a signal.
func TestWorker(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	build, err := engine.Build()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "worker", "--listen", "localhost:0", "--http", "127.0.0.1:0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stuck := time.AfterFunc(30*time.Second, func() { cmd.Process.Kill() }) // against a hang
	defer stuck.Stop()
	lines := bufio.NewScanner(out)
	lines.Scan()
	var told struct{ Addr, Build, HTTP string }
	if err := json.Unmarshal(lines.Bytes(), &told); err != nil || told.Build != build || !strings.HasPrefix(told.Addr, "127.0.0.1:") && !strings.HasPrefix(told.Addr, "[::1]:") {
		t.Errorf("found %q, %v, expected an address on loopback and build %s", lines.Text(), err, build)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for path, want := range map[string]string{"/readyz": "ok\n", "/metrics": "graphmill_workers_total{outcome=\"refused\"} 0\n"} {
		r, err := client.Get("http://" + told.HTTP + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: found %q, %v, expected %q", path, text, err, want)
		}
	}
	cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Errorf("found %v, expected success", err)
	}
}
