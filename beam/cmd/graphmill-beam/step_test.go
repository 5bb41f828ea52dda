package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/internal/vfs"
)

// process is a command of this program in a process of its own.
type process struct {
	cmd  *exec.Cmd
	text bytes.Buffer
	gone chan struct{} // closed at its end
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(program, args...), gone: make(chan struct{})}
	p.cmd.Stderr = &p.text
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // the status says it
		close(p.gone)
	}()
	return p
}

// end is the text and the status of the process, -1 where it was killed.
func (p *process) end() (text string, status int) {
	<-p.gone
	return p.text.String(), p.cmd.ProcessState.ExitCode()
}

// stepsOf are the commands that make an output by steps: the submitter's, and a function for the command of process i of 3.
func stepsOf(out string, args []string) (submit []string, step func(i int) []string) {
	work := operation.Worked(out)
	return slices.Concat(args, []string{"--out", out, "--runner", "steps", "--parallelism", "3", "--time-limit", "2m"}), func(i int) []string {
		return []string{"step", work, "--index", fmt.Sprintf("%d/3", i), "--wait", "2m"}
	}
}

// runSteps plans a job, runs its steps at the same time, and joins the output. A division plans one job after the other, so that its submitter waits beside the steps.
func runSteps(t *testing.T, out string, args []string) {
	t.Helper()
	submit, step := stepsOf(out, args)
	if text, status := start(t, append(submit, "--no-wait")...).end(); status != exitTryAgain {
		t.Fatalf("submitter: found status %d\n%s", status, text)
	}
	var steps []*process
	for i := range 3 {
		steps = append(steps, start(t, step(i)...))
	}
	var submitter *process
	if args[0] == "partition" {
		submitter = start(t, submit...)
	}
	for i, s := range steps {
		if text, status := s.end(); status != 0 {
			t.Errorf("step %d: found status %d\n%s", i, status, text)
		}
	}
	if submitter == nil {
		submitter = start(t, submit...)
	}
	if text, status := submitter.end(); status != 0 {
		t.Errorf("submitter: found status %d\n%s", status, text)
	}
	if vfs.Scheme(out) == "" {
		onlyOutput(t, filepath.Dir(out), filepath.Base(out))
	}
}

// publishedBefore says whether the text of a command is that its output exists. After a kill this means that the killed submitter had published the output. It may have left the work
// folder, which is removed here. The caller compares the bytes of the output.
func publishedBefore(t *testing.T, out, text string) bool {
	t.Helper()
	if !strings.Contains(text, ": exists; choose another") {
		return false
	}
	if vfs.Scheme(out) == "" {
		for _, left := range []string{operation.Worked(out), operation.Worked(out) + ".gone"} { // whole, or partly removed
			if err := os.RemoveAll(left); err != nil {
				t.Fatal(err)
			}
		}
	}
	return true
}

// killSteps makes an output by steps beside a submitter that waits for them. Two of the processes and the submitter are killed and started again.
func killSteps(t *testing.T, r *rand.Rand, out string, args []string) {
	t.Helper()
	submit, step := stepsOf(out, args)
	submitter := start(t, submit...)
	var steps []*process
	for i := range 3 {
		steps = append(steps, start(t, step(i)...))
	}
	for range 2 {
		time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond) // a random moment
		i := r.IntN(3)
		_ = steps[i].cmd.Process.Kill()
		if text, status := steps[i].end(); status > 0 {
			t.Errorf("step %d: found status %d before the kill\n%s", i, status, text)
		}
		steps[i] = start(t, step(i)...)
	}
	_ = submitter.cmd.Process.Kill()
	if text, status := submitter.end(); status > 0 {
		t.Errorf("submitter: found status %d before the kill\n%s", status, text)
	} else if status < 0 {
		if text, status := start(t, submit...).end(); status != 0 && !publishedBefore(t, out, text) {
			t.Errorf("submitter: found status %d\n%s", status, text)
		}
	}
	for i, s := range steps {
		_ = s.cmd.Process.Kill() // one that began when the run was over waits for another
		if text, status := s.end(); status > 0 {
			t.Errorf("step %d: found status %d\n%s", i, status, text)
		}
	}
	if vfs.Scheme(out) == "" {
		onlyOutput(t, filepath.Dir(out), filepath.Base(out))
	}
}

// Indexed processes write what one process writes, also where they and the submitter are killed.
func TestSteps(t *testing.T) {
	store := shopStore(t)
	fanout := []string{"--fanout", "4,3,2", "--seeds", "user", "--direction", "out", "--batch-size", "100"}
	for name, c := range map[string]struct{ command, here []string }{
		"local":     {[]string{"sample", store, "--method", "local"}, fanout},
		"shuffle":   {[]string{"sample", store, "--method", "shuffle"}, fanout},
		"records":   {[]string{"sample", store, "--method", "shuffle"}, slices.Concat(fanout, []string{"--scope", "seed", "--format", "tfrecord", "--shards", "3"})},
		"shards":    {[]string{"sample", store, "--method", "shuffle", "--array-shards", "3"}, slices.Concat(fanout, []string{"--scope", "seed", "--epochs", "5"})},
		"writers":   {[]string{"sample", store, "--method", "local", "--array-shards", "2"}, slices.Concat(fanout, []string{"--scope", "seed", "--format", "tfrecord", "--shards", "3"})},
		"import":    {[]string{"import", filepath.Dir(store), "--array-shards", "3"}, []string{"--both"}},
		"dispatch":  {[]string{"dispatch", store}, []string{"--parts", "4", "--num-hops", "2", "--seed", "3"}},
		"partition": {[]string{"partition", store}, []string{"--parts", "4", "--seed", "3"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(7, uint64(len(name))))
			one := filepath.Join(t.TempDir(), "one")
			if name == "import" {
				one = store
			} else if name == "partition" {
				partitionAlone(t, append([]string{store, "--out", one}, c.here...)...)
			} else if name == "dispatch" {
				dispatchAlone(t, append([]string{store, "--out", one}, c.here...)...)
			} else {
				alone(t, one, append([]string{store}, c.here...)...)
			}
			for i := range proof.Count(t, 2, 20) {
				out := filepath.Join(t.TempDir(), "out")
				if args := slices.Concat(c.command, c.here); i == 0 {
					runSteps(t, out, args)
				} else {
					killSteps(t, r, out, args)
				}
				if name == "import" || name == "shards" {
					out = joined(t, out)
				}
				if got, want := manifest(t, out), manifest(t, one); got != want {
					t.Errorf("found\n%s\nexpected\n%s", got, want)
				}
			}
		})
	}
}

// A job that is planned alone is run stage by stage, and joined by the same command; a stage whose inputs are not whole says so by its status.
func TestStepsOfStages(t *testing.T) {
	store := shopStore(t)
	dir := t.TempDir()
	one, out := filepath.Join(dir, "one"), filepath.Join(dir, "out")
	args := []string{store, "--fanout", "3,2", "--seeds", "user", "--direction", "out"}
	alone(t, one, args...)
	work := filepath.Join(dir, ".out.work")
	sampling := slices.Concat([]string{"sample"}, args, []string{"--out", out, "--method", "shuffle", "--runner", "steps", "--parallelism", "2", "--no-wait"})
	_, text, status := runHere(t, sampling...)
	if status != exitTryAgain || !strings.Contains(text, "planned the stages start (1 tasks), range 1 (8 tasks), assemble (8 tasks)") {
		t.Fatalf("found status %d\n%s", status, text)
	}
	if _, text, status := runHere(t, "step", work, "--index", "0/2", "--stage", "range 1"); status != exitTryAgain || !strings.Contains(text, "found no records of task 0 of stage start") {
		t.Errorf("found status %d\n%s", status, text)
	}
	for _, stage := range []string{"start", "range 1", "assemble"} {
		for _, index := range []string{"0/2", "1/2"} {
			if _, text, status := runHere(t, "step", work, "--index", index, "--stage", stage); status != 0 {
				t.Fatalf("stage %s, index %s: found status %d\n%s", stage, index, status, text)
			}
		}
	}
	if _, text, status := runHere(t, sampling...); status != 0 {
		t.Fatalf("found status %d\n%s", status, text)
	}
	if got, want := manifest(t, out), manifest(t, one); got != want {
		t.Errorf("found\n%s\nexpected\n%s", got, want)
	}
}

// A command with other options begins anew in the same work folder where no task is whole: its absence would say to waiting steps that the run has ended.
func TestStepsWaitForNewSubmitter(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	submit := []string{"sample", shopStore(t), "--fanout", "3,2", "--seeds", "user", "--direction", "out", "--out", out, "--method", "shuffle", "--runner", "steps", "--parallelism", "2", "--no-wait"}
	var folder *os.File
	for i := range 2 {
		if _, text, status := runHere(t, append(submit, "--batch-size", strconv.Itoa(100+i))...); status != exitTryAgain {
			t.Fatalf("command %d: found status %d\n%s", i, status, text)
		}
		now, err := os.Open(operation.Worked(out)) // open, so that no other folder gets its number
		if err != nil {
			t.Fatal(err)
		}
		defer now.Close()
		if i == 0 {
			folder = now
			continue
		}
		before, err := folder.Stat()
		after, err2 := now.Stat()
		if err := errors.Join(err, err2); err != nil || !os.SameFile(before, after) {
			t.Errorf("found another work folder, expected the same one: %v", err)
		}
	}
}

// Wrong uses of steps are told.
func TestStepsUsage(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"step", dir}, exitUsage, `found --index "", expected I/N`},
		{[]string{"step", dir, "--index", "4/4"}, exitUsage, `found --index "4/4", expected I/N`},
		{[]string{"step", dir, "--index", "x"}, exitUsage, `found --index "x"`},
		{[]string{"step", dir, "--index", "0/1"}, exitTryAgain, "found no job that waits for steps"},
		{[]string{"sample", dir, "--fanout", "2", "--out", dir, "--runner", "steps", "--endpoint", "localhost:1"}, exitUsage, "found --endpoint with --runner steps"},
		{[]string{"sample", dir, "--fanout", "2", "--out", dir, "--no-wait"}, exitUsage, "found --no-wait with --runner prism"},
	} {
		if _, text, status := runHere(t, c.args...); status != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%q: found status %d, %q, expected %d and %q", c.args, status, text, c.status, c.want)
		}
	}
}
