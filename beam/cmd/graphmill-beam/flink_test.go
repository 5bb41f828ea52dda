//go:build cluster

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/objects/objectstest"
	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/option"
)

// The tests start Flink and Spark by scripts/flink and scripts/spark, with this program as the worker service and as the submitter.

const (
	jobPort    = "18399"
	restPort   = "18381"
	workerPort = "15300"
)

var (
	onEmbedded = []string{"--runner", "flink", "--endpoint", "localhost:" + jobPort}
	onCluster  = append(slices.Clone(onEmbedded), "--workers", "localhost:"+workerPort, "--job-manager", "http://localhost:"+restPort)
)

// deployment is an engine of a test.
type deployment struct {
	t   *testing.T
	dir string
}

// up starts an engine by its script until the end of the test.
func up(t *testing.T, name string, args ...string) *deployment {
	t.Helper()
	script, err := filepath.Abs("../../../scripts/" + name)
	if err != nil {
		t.Fatal(err)
	}
	d := &deployment{t: t, dir: t.TempDir()}
	t.Cleanup(func() {
		if out, err := exec.Command(script, "down", "--dir", d.dir).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	start := time.Now()
	args = append([]string{"up", "--dir", d.dir, "--binary", self(t), "--job-port", jobPort, "--worker-port", workerPort}, args...)
	if out, err := exec.CommandContext(t.Context(), script, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("up after %s", time.Since(start).Round(time.Millisecond))
	return d
}

func self(t testing.TB) string {
	t.Helper()
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// equal samples on an engine, by both methods and with workers that write the output, and compares the output with the output of one process.
func equal(t *testing.T, store, one, name string, where, args []string) {
	t.Helper()
	for _, method := range []string{"local", "shuffle", "shards"} {
		start := time.Now()
		out := filepath.Join(t.TempDir(), method)
		all := slices.Concat([]string{"sample", store, "--method", method, "--out", out, "--time-limit", "5m"}, where, args)
		if method == "shards" {
			if name != "collection" && name != "typed records" {
				continue
			}
			all = slices.Concat([]string{"sample", store, "--method", "shuffle", "--array-shards", "3", "--out", out, "--time-limit", "5m"}, where, args)
		}
		if _, text, status := runHere(t, all...); status != 0 {
			t.Fatalf("%s, %s: status %d\n%s", name, method, status, text)
		}
		if method == "shards" && name == "collection" {
			out = joined(t, out)
		}
		if got, want := manifest(t, out), manifest(t, one); got != want {
			t.Errorf("%s, %s: found\n%s\nexpected\n%s", name, method, got, want)
		}
		t.Logf("%s, %s: %s", name, method, time.Since(start).Round(time.Millisecond))
	}
}

// TestFlink runs everything on one Flink of two TaskManagers, since a start takes as long as many jobs. The kills come last.
func TestFlink(t *testing.T) {
	d := up(t, "flink", "--rest-port", restPort, "--task-managers", "2", "--slots", "2")
	t.Run("sample", func(t *testing.T) {
		sampled(t, onCluster, "collection", "epoch scope", "before", "links", "ranks", "typed records", "plan")
	})
	t.Run("dispatch", func(t *testing.T) { dispatched(t, onCluster) })
	t.Run("partition", func(t *testing.T) { partitioned(t, onCluster) })
	t.Run("kills", func(t *testing.T) { killed(t, d.dir) })
}

// TestFlinkBucket runs all jobs on a bucket.
func TestFlinkBucket(t *testing.T) {
	proof.OnlyLong(t, "a Flink whose workers reach a bucket")
	server := objectstest.New(t, "flink") // whose credentials the workers inherit
	up(t, "flink", "--rest-port", restPort, "--task-managers", "2", "--slots", "2")
	inBucket(t, server, "flink", onCluster)
}

// inBucket runs all jobs on an engine whose workers have the credentials of a bucket, and compares each manifest with the one of one process.
func inBucket(t *testing.T, server *objectstest.Server, bucket string, where []string) {
	t.Helper()
	t.Setenv("GRAPHMILL_CACHE", t.TempDir())
	for name, c := range bucketCases(t, server, bucket) {
		t.Run(name, func(t *testing.T) {
			one := filepath.Join(t.TempDir(), "one")
			c.alone(one)
			if _, text, status := runHere(t, slices.Concat(c.command, []string{"--out", "s3://" + bucket + "/" + name, "--parallelism", "2", "--time-limit", "5m"}, where)...); status != 0 {
				t.Fatalf("found status %d, expected 0\n%s", status, text)
			}
			if got, want := bucketManifest(t, server, bucket+"/"+name), manifest(t, one); got != want {
				t.Errorf("found\n%s\nexpected\n%s", got, want)
			}
			onlyInBucket(t, server, bucket, name)
			for _, file := range server.Names() {
				if !strings.HasPrefix(file, bucket+"/in/") {
					server.Delete(file)
				}
			}
		})
	}
}

func TestFlinkEmbedded(t *testing.T) {
	proof.OnlyLong(t, "a second Flink, which runs workers itself")
	up(t, "flink", "--embedded")
	t.Run("sample", func(t *testing.T) {
		sampled(t, onEmbedded, "collection", "epoch scope", "before", "links", "ranks")
	})
	t.Run("dispatch", func(t *testing.T) { dispatched(t, onEmbedded) })
	t.Run("partition", func(t *testing.T) { partitioned(t, onEmbedded, "types") })
}

func TestFlinkOneTaskManager(t *testing.T) {
	proof.OnlyLong(t, "a third Flink, of one TaskManager")
	up(t, "flink", "--rest-port", restPort, "--task-managers", "1", "--slots", "2")
	sampled(t, onCluster, "typed records")
}

func TestFlinkOneSlot(t *testing.T) {
	proof.OnlyLong(t, "a fourth Flink, of two TaskManagers with a slot each")
	up(t, "flink", "--rest-port", restPort, "--task-managers", "2", "--slots", "1")
	sampled(t, onCluster, "typed records", "plan")
}

// sampled samples on an engine, and compares each file with the one that graphmill sample writes.
func sampled(t *testing.T, where []string, list ...string) {
	t.Helper()
	store := shopStore(t)
	all := cases(t, store)
	for _, name := range list {
		one := filepath.Join(t.TempDir(), "one")
		alone(t, one, append([]string{store}, all[name]...)...)
		equal(t, store, one, name, where, all[name])
	}
}

// partitioned divides a graph on an engine, and compares each file with the one that graphmill partition writes. Without names it takes all cases.
func partitioned(t *testing.T, where []string, list ...string) {
	t.Helper()
	all := partitionCases(t)
	if len(list) == 0 {
		list = names(all)
	}
	for _, name := range list {
		start := time.Now()
		partitionsEqual(t, all[name], slices.Concat([]string{"--time-limit", "10m"}, where))
		t.Logf("%s: %s", name, time.Since(start).Round(time.Millisecond))
	}
}

// dispatched dispatches on an engine, and compares each file with the one that graphmill dispatch writes. Without names it takes all cases.
func dispatched(t *testing.T, where []string, list ...string) {
	t.Helper()
	store := shopStore(t)
	all := dispatchCases(t, store)
	if len(list) == 0 {
		list = names(all)
	}
	for _, name := range list {
		dir := t.TempDir()
		one, out := filepath.Join(dir, "one"), filepath.Join(dir, "many")
		dispatchAlone(t, append([]string{store, "--out", one}, all[name]...)...)
		start := time.Now()
		if _, text, status := runHere(t, slices.Concat([]string{"dispatch", store, "--out", out, "--time-limit", "5m"}, where, all[name])...); status != 0 {
			t.Fatalf("%s: status %d\n%s", name, status, text)
		}
		if got, want := manifest(t, out), manifest(t, one); got != want {
			t.Errorf("%s: found\n%s\nexpected\n%s", name, got, want)
		}
		t.Logf("%s: %s", name, time.Since(start).Round(time.Millisecond))
		onlyOutput(t, dir, "one", "many")
	}
}

// killed kills a TaskManager, a worker or the submitter at a seeded moment, and checks that the job ends with the
// same bytes or says that it failed, and that nothing looks whole that is not.
func killed(t *testing.T, flink string) {
	t.Helper()
	d := &deployment{t: t, dir: flink}
	dir := t.TempDir()
	store := filepath.Join(dir, "g.store")
	st, err := graphmill.GenerateRMAT(t.Context(), store, option.RMAT{Scale: 18, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	args := []string{store, "--fanout", "10,5", "--scope", "seed", "--format", "tfrecord", "--shards", "4", "--epochs", "3"}
	one := filepath.Join(dir, "one")
	alone(t, one, args...)
	sampling := func(out string) *submitter {
		return d.submit(slices.Concat([]string{"sample", "--out", out, "--method", "shuffle", "--time-limit", "4m"}, onCluster, args))
	}
	whole := func(what, out string) {
		t.Helper()
		if got, want := manifest(t, out), manifest(t, one); got != want {
			t.Errorf("%s: found\n%s\nexpected\n%s", what, got, want)
		}
	}
	var usual time.Duration
	for range 2 { // the first job meets a cold JVM
		start, out := time.Now(), filepath.Join(t.TempDir(), "out")
		if text, status := sampling(out).wait(); status != 0 {
			t.Fatalf("status %d\n%s", status, text)
		}
		whole("unharmed", out)
		usual = time.Since(start) // the pace of the kills
	}
	t.Logf("an unharmed job takes %s", usual.Round(time.Millisecond))
	r := rand.New(rand.NewPCG(3, 5))
	for i := range proof.Count(t, 3, 12) {
		victim := []string{"taskmanager", "worker", "submitter"}[i%3]
		after := time.Duration(r.Float64() * float64(usual))
		at := fmt.Sprintf("kill %d, of a %s after %s", i, victim, after.Round(time.Millisecond))
		work := t.TempDir()
		out, start := filepath.Join(work, "out"), time.Now()
		s := sampling(out)
		time.Sleep(after) // a random moment of the job
		var mend func()
		switch victim {
		case "taskmanager":
			mend = d.killManager(1 + r.IntN(2))
		case "worker":
			if !d.killWorker() {
				at += " (there was none)"
			}
		case "submitter":
			_ = s.cmd.Process.Kill()
		}
		text, status := s.wait()
		t.Logf("%s: status %d, after %s", at, status, time.Since(start).Round(time.Millisecond))
		switch _, err := os.Stat(out); {
		case status == 0:
			whole(at, out)
			onlyOutput(t, work, "out")
		case err == nil:
			t.Errorf("%s: found an output after status %d, expected none\n%s", at, status, text)
		case victim != "submitter" && text == "":
			t.Errorf("%s: found no text of the failure", at)
		}
		if mend != nil {
			mend()
		}
		if status == 0 {
			continue
		}
		if victim != "submitter" {
			t.Logf("%s: %s", at, text)
		}
		start = time.Now()
		text, status = sampling(out).wait()
		// The job of a killed submitter runs on, and no other one begins beside it.
		for tries := 0; status != 0 && victim == "submitter" && strings.Contains(text, "of an earlier run still runs") && tries < 120; tries++ {
			time.Sleep(time.Second) // between two tries
			text, status = sampling(out).wait()
		}
		if status != 0 {
			t.Fatalf("%s: again: status %d\n%s", at, status, text)
		}
		whole(at+", resumed", out)
		onlyOutput(t, work, "out")
		t.Logf("%s: resumed in %s", at, time.Since(start).Round(time.Millisecond))
	}
}

// submitter is a process that samples.
type submitter struct {
	cmd  *exec.Cmd
	text bytes.Buffer
}

func (d *deployment) submit(args []string) *submitter {
	d.t.Helper()
	s := &submitter{cmd: exec.Command(self(d.t), args...)}
	s.cmd.Stderr = &s.text
	if err := s.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	return s
}

// wait is the text and the status of the process, -1 where it was killed.
func (s *submitter) wait() (string, int) {
	err := s.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err.Error(), -1
	}
	return s.text.String(), s.cmd.ProcessState.ExitCode()
}

// pid is the id of a process of the deployment.
func (d *deployment) pid(name string) int {
	d.t.Helper()
	b, err := os.ReadFile(filepath.Join(d.dir, "processes"))
	if err != nil {
		d.t.Fatal(err)
	}
	pid := 0
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == name {
			pid, _ = strconv.Atoi(f[1])
		}
	}
	if pid == 0 {
		d.t.Fatalf("found no process %s in\n%s", name, b)
	}
	return pid
}

// killManager kills a TaskManager, and returns a function that starts it again.
func (d *deployment) killManager(number int) (mend func()) {
	d.t.Helper()
	name := fmt.Sprintf("taskmanager-%d", number)
	pid := d.pid(name)
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		d.t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		d.t.Fatal(err)
	}
	return func() {
		d.t.Helper()
		args := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = d.dir
		if err := cmd.Start(); err != nil {
			d.t.Fatal(err)
		}
		d.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		// Later kills must find it.
		f, err := os.OpenFile(filepath.Join(d.dir, "processes"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			d.t.Fatal(err)
		}
		fmt.Fprintf(f, "%s %d 0 -\n", name, cmd.Process.Pid)
		if err := f.Close(); err != nil {
			d.t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute) // against a hang
		defer cancel()
		for d.managers() != 2 {
			select {
			case <-ctx.Done():
				d.t.Fatal("found no new TaskManager after a minute")
			case <-time.After(200 * time.Millisecond): // between two looks
			}
		}
	}
}

// managers is the number of TaskManagers that Flink knows.
func (d *deployment) managers() int {
	r, err := http.Get("http://localhost:" + restPort + "/overview")
	if err != nil {
		return 0
	}
	defer r.Body.Close()
	var o struct{ Taskmanagers int }
	if json.NewDecoder(r.Body).Decode(&o) != nil {
		return 0
	}
	return o.Taskmanagers
}

// killWorker kills a child of the worker service, if it has one.
func (d *deployment) killWorker() bool {
	d.t.Helper()
	service := d.pid("worker")
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", service, service))
	if err != nil {
		d.t.Fatal(err)
	}
	all := strings.Fields(string(children))
	// Children may be listed under any thread of the service.
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", service))
	for _, name := range threads {
		b, _ := os.ReadFile(name)
		all = append(all, strings.Fields(string(b))...)
	}
	if len(all) == 0 {
		return false
	}
	pid, err := strconv.Atoi(all[0])
	if err != nil {
		d.t.Fatal(err)
	}
	return syscall.Kill(pid, syscall.SIGKILL) == nil
}
