//go:build cluster

package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/graphmill/graphmill/beam/internal/engine"
	"github.com/graphmill/graphmill/internal/proof"
)

// The tests start Flink and Spark by scripts/flink and scripts/spark, with themselves as the worker service.

// up starts an engine by its script until the end of the test, and returns the folder of its logs.
func up(t *testing.T, name string, args ...string) (dir string) {
	t.Helper()
	script, err := filepath.Abs("../../../scripts/" + name)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	t.Cleanup(func() {
		if out, err := exec.Command(script, "down", "--dir", dir).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	args = append([]string{"up", "--dir", dir, "--binary", self, "--job-port", "18099", "--worker-port", "15000"}, args...)
	start := time.Now()
	out, err := exec.CommandContext(t.Context(), script, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("up after %s: %s", time.Since(start).Round(time.Millisecond), out)
	t.Cleanup(func() {
		if t.Failed() {
			b, _ := os.ReadFile(filepath.Join(dir, "worker.log"))
			t.Logf("worker service:\n%s", b)
		}
	})
	return dir
}

func flink(t *testing.T) engine.Options {
	t.Helper()
	build, err := engine.Build()
	if err != nil {
		t.Fatal(err)
	}
	return engine.Options{Runner: engine.Flink, Endpoint: "localhost:18099", Parallelism: 2, TimeLimit: 3 * time.Minute, Build: build, Message: message(t)}
}

// timed logs how long a step took.
func timed(t *testing.T, what string) func() {
	start := time.Now()
	return func() { t.Logf("%s: %s", what, time.Since(start).Round(time.Millisecond)) }
}

func TestFlinkEmbedded(t *testing.T) {
	proof.OnlyLong(t, "a second Flink, which runs workers itself")
	up(t, "flink", "--embedded")
	for range 2 {
		done := timed(t, "job")
		counts(t, flink(t))
		done()
	}
	fails(t, flink(t))
	cancels(t, flink(t))
}

// TestFlink runs everything on one Flink of two TaskManagers, one of which is killed at the end.
func TestFlink(t *testing.T) {
	dir := up(t, "flink", "--rest-port", "18081", "--task-managers", "2", "--slots", "1")
	t.Run("jobs", clusterJobs)
	t.Run("kill", func(t *testing.T) { managerKilled(t, dir) })
}

func clusterJobs(t *testing.T) {
	external := flink(t)
	external.Workers = "localhost:15000"
	external.JobManager = "http://localhost:18081"
	for range 2 {
		done := timed(t, "job with workers of the service")
		counts(t, external)
		done()
	}
	done := timed(t, "job with workers of the submitter")
	counts(t, flink(t))
	done()
	done = timed(t, "cancelled job")
	cancels(t, external)
	done()
	if all := jobs(t); strings.Contains(all, "RUNNING") {
		t.Errorf("found %s after the job was cancelled, expected no job that runs", all)
	}
	done = timed(t, "failed job, after Flink's restarts")
	fails(t, external)
	done()
	done = timed(t, "job of another build")
	refused(t, external)
	done()
}

// refused submits a job of another build, which the worker service refuses.
func refused(t *testing.T, o engine.Options) {
	t.Helper()
	build := o.Build
	o.Build = "0123456789abcdef"
	_, err := engine.Run(t.Context(), counting(t.TempDir(), 10), o)
	if err == nil || !strings.Contains(err.Error(), "found a worker of build "+build+", submitter has 0123456789abcdef; install the same graphmill-beam on all machines") {
		t.Errorf("found %v, expected the refusal of the worker service", err)
	}
}

// A job ends well when a TaskManager is killed that runs it, if another has the slots.
func managerKilled(t *testing.T, dir string) {
	t.Helper()
	o := flink(t)
	o.Workers, o.JobManager, o.Parallelism = "localhost:15000", "http://localhost:18081", 1
	out := t.TempDir()
	killed := make(chan error, 1)
	go func() { killed <- killBusy(t, dir, out) }()
	done := timed(t, "job with a TaskManager killed")
	_, err := engine.Run(t.Context(), countingSlowly(out, 100), o)
	done()
	if err := <-killed; err != nil {
		t.Error(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	counted(t, out)
}

// killBusy waits for the first file of a job, and kills the TaskManager without a free slot.
func killBusy(t *testing.T, dir, out string) error {
	for {
		if files, err := os.ReadDir(out); err != nil {
			return err
		} else if len(files) > 0 {
			break
		}
		select {
		case <-time.After(10 * time.Millisecond): // between two looks
		case <-t.Context().Done():
			return errors.New("found no file of the job, expected one")
		}
	}
	if err := onLoopback(dir); err != nil {
		return err
	}
	var all struct {
		TaskManagers []struct {
			ID        string
			FreeSlots int
		}
	}
	if err := get("/taskmanagers", &all); err != nil {
		return err
	}
	for _, m := range all.TaskManagers {
		if m.FreeSlots > 0 {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, "processes"))
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(b)) {
			if f := strings.Fields(line); f[0] == m.ID {
				pid, err := strconv.Atoi(f[1])
				if err != nil {
					return err
				}
				return syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
	return fmt.Errorf("found %+v, expected a TaskManager without a free slot", all)
}

// get asks Flink's REST interface.
func get(path string, answer any) error {
	r, err := http.Get("http://localhost:18081" + path)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	return json.NewDecoder(r.Body).Decode(answer)
}

// jobs returns the states of Flink's jobs.
func jobs(t *testing.T) string {
	t.Helper()
	var all struct{ Jobs []struct{ ID, Status string } }
	if err := get("/jobs", &all); err != nil {
		t.Fatal(err)
	}
	var states []string
	for _, j := range all.Jobs {
		states = append(states, j.Status)
	}
	return strings.Join(states, " ")
}

func countingSlowly(dir string, n int64) *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo0(s, &slow{dir}, beam.GroupByKey(s, beam.ParDo(s, &number{n}, beam.Impulse(s))))
	return p
}
