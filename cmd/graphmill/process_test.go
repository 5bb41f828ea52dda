//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// waiting starts a command line of the shell whose last program is a graphmill that reads stdin, and waits until it reads.
func waiting(t *testing.T, line string) (cmd *exec.Cmd, stdin *os.File, stderr *bytes.Buffer) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	stderr = new(bytes.Buffer)
	cmd = exec.Command("sh", "-c", line)
	cmd.Stdin, cmd.Stderr = r, stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, "src,dst\n0,1\n"); err != nil {
		t.Fatal(err)
	}
	for range 6000 {
		left, err := unix.IoctlGetInt(int(r.Fd()), fionread)
		if err != nil {
			t.Fatal(err)
		}
		if left == 0 {
			r.Close()
			return cmd, w, stderr
		}
		time.Sleep(10 * time.Millisecond) // between two looks
	}
	t.Fatal("the command does not read stdin")
	return nil, nil, nil
}

// statusOf is the exit status of a process that has ended.
func statusOf(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return exitDone
}

// heedSignals gives the commands of a test the default signals, which they would not have under nohup.
func heedSignals(t *testing.T) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP, syscall.SIGINT)
	t.Cleanup(func() { signal.Stop(c) })
}

// TestSignals ends a command by each signal that ends one, and sends it those that it was started to ignore.
func TestSignals(t *testing.T) {
	heedSignals(t)
	t.Chdir(t.TempDir())
	const command = "exec graphmill import - --format csv --out g"
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM} {
		cmd, _, stderr := waiting(t, command)
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		// The command waits for stdin: a second signal ends it.
		time.Sleep(50 * time.Millisecond)
		_ = cmd.Process.Signal(s)
		if code := statusOf(t, cmd.Wait()); code != exitInterrupted && code != -1 {
			t.Errorf("%v: found status %d: %s", s, code, stderr)
		}
		if left := hidden(t); len(left) > 0 {
			t.Errorf("%v leaves %v", s, left)
		}
	}
	cmd, stdin, stderr := waiting(t, `trap "" HUP INT; `+command) // as nohup does
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(50 * time.Millisecond) // time for a wrong end
	stdin.Close()
	if code := statusOf(t, cmd.Wait()); code != exitDone {
		t.Errorf("ignored signals: found status %d: %s", code, stderr)
	}
	if _, err := os.Stat("g/manifest.json"); err != nil {
		t.Error(err)
	}
}

// A SIGHUP in the middle of a run, which does not wait, is an interrupt.
func TestHangUp(t *testing.T) {
	heedSignals(t)
	t.Chdir(t.TempDir())
	var stderr bytes.Buffer
	cmd := exec.Command("graphmill", "generate", "rmat", "--scale", "21", "--edge-factor", "16", "--out", "big", "--threads", "1")
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 6000 {
		if len(hidden(t)) > 0 { // the output has begun
			break
		}
		time.Sleep(10 * time.Millisecond) // between two looks
	}
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if code := statusOf(t, cmd.Wait()); code != exitInterrupted || stderr.String() != "graphmill: interrupted; nothing was left behind\n" {
		t.Errorf("found status %d: %s", code, &stderr)
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("found %v (%v)", left, err)
	}
}

// TestStdoutFails runs every command that prints, with a stdout on a full device, and with one that its reader has closed.
func TestStdoutFails(t *testing.T) {
	endInputs(t)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	r, closed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer closed.Close()
	r.Close()
	for _, line := range []string{
		"--help", "--version", "version", "version --json", "help sample", "verify --help", "verify g.store", "verify g.store --json", "verify cut", "info g.store", "info g.store --json", "info plan",
		"forecast g.store --fanout 2", "forecast g.store --fanout 2 --json", "report g.store", "report g.store --json",
		"pack g.coll --limit num_nodes=40 --limit num_edges=60", "pack g.coll --limit num_nodes=40 --limit num_edges=60 --json", "pack hist g.coll",
		"pack g.coll --stream --limit num_nodes=40 --limit num_edges=60", "pack tune g.coll --target 80", "bench sample g.store --fanout 2 --json",
		"tfgnn print ids/random.tfrecord@1", "tfgnn print ids/random.tfrecord@1 --json", "tfgnn stats uni/schema.pbtxt ids/random.tfrecord@1", "tfgnn io-spec uni/schema.pbtxt",
		"tfgnn validate uni/schema.pbtxt", "tfgnn random uni/schema.pbtxt", "chunk g.store --out out-STREAM", "walk g.store --length 3 --out walk-STREAM",
		"sample g.store --fanout 2 --out json-STREAM --json", "quickstart --out quick-STREAM",
	} {
		run := func(stdout *os.File, name string) (int, string) {
			var stderr bytes.Buffer
			cmd := exec.Command("graphmill", strings.Fields(strings.ReplaceAll(line, "STREAM", name))...)
			cmd.Stdout, cmd.Stderr = stdout, &stderr
			return statusOf(t, cmd.Run()), stderr.String()
		}
		if code, text := run(full, "full"); code != exitFailed || !strings.Contains(text, "stdout: no space left on device") {
			t.Errorf("%s > /dev/full: found status %d: %s", line, code, text)
		}
		code, text := run(closed, "pipe")
		for said := range strings.Lines(text) { // forecasts and warnings
			if strings.Contains(said, "pipe") || strings.Contains(said, "stdout") || strings.Contains(said, "interrupted") {
				t.Errorf("%s | head: found %s", line, said)
			}
		}
		if code != 141 {
			t.Errorf("%s | head: found status %d: %s", line, code, text)
		}
	}
	// Outputs whose report could not be printed are whole.
	for _, name := range []string{"out-full", "out-pipe", "walk-full", "walk-pipe", "json-full", "json-pipe"} {
		if code, text := endRun(t.Context(), "verify "+name); code != exitDone {
			t.Errorf("%s: status %d: %s", name, code, text)
		}
	}
	// A stderr that is closed does not end a run.
	cmd := exec.Command("graphmill", "dispatch", "g.store", "--parts", "2", "--out", "quiet", "--threads", "1")
	cmd.Stderr = closed
	if err := cmd.Run(); err != nil {
		t.Errorf("with a closed stderr: %v", err)
	}
}

// TestFewFiles runs commands with few open files: what fails leaves nothing, and names the limit.
func TestFewFiles(t *testing.T) {
	endInputs(t)
	for _, line := range []string{"import tables", "chunk g.store", "sample g.store --fanout 2", "dispatch g.store --parts 2", "sample g.store --fanout 2 --scope seed --format tfrecord --shards 9"} {
		for n := 10; n < 22; n += 3 {
			var stderr bytes.Buffer
			cmd := exec.Command("sh", "-c", "ulimit -n "+string(rune('0'+n/10))+string(rune('0'+n%10))+"; exec graphmill "+line+" --out out --threads 2")
			cmd.Stderr = &stderr
			code := statusOf(t, cmd.Run())
			_, err := os.Stat("out")
			if (err == nil) != (code == exitDone) && !strings.Contains(stderr.String(), "the output is complete") {
				t.Errorf("ulimit -n %d: %s: status %d, and the output is there: %v: %s", n, line, code, err == nil, &stderr)
			}
			if code != exitDone && (code != exitFailed || !strings.Contains(stderr.String(), "ulimit -n")) {
				t.Errorf("ulimit -n %d: %s: status %d: %s", n, line, code, &stderr)
			}
			if left := hidden(t); len(left) > 0 {
				t.Errorf("ulimit -n %d: %s leaves %v: %s", n, line, left, &stderr)
			}
			clean(t)
		}
	}
}
