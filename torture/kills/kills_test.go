package kills

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/torture/internal/command"
	"github.com/graphmill/graphmill/torture/internal/trace"
	"github.com/graphmill/graphmill/torture/internal/workloads"
)

// subject is a workload that is killed, and what it does undisturbed.
type subject struct {
	workload workloads.Workload
	once     sync.Once
	want     workloads.Outputs
	stdout   string
	took     time.Duration
	calls    int64 // system calls on files
}

// subjects are the workloads that write, and the feed.
func subjects(t *testing.T) []*subject {
	t.Helper()
	var all []*subject
	for _, w := range workloads.All() {
		// The large graph of Debian adds time and no other code.
		if (w.Writes() || w.Python != "") && (proof.Long(t) || w.Name != "import-unigraph" && w.Name != "quickstart") {
			all = append(all, &subject{workload: w})
		}
	}
	return all
}

// learn runs the workload undisturbed.
func (s *subject) learn(t *testing.T, p *workloads.Place, graphmill string) {
	t.Helper()
	s.once.Do(func() {
		r := p.Prepare(t, s.workload)
		defer r.Remove(t)
		start := time.Now()
		got := r.Call(t, graphmill).Run(t)
		s.took = time.Since(start) // the span of the kills
		if got.Status != 0 {
			t.Fatalf("%s", got)
		}
		s.want, s.stdout = r.Outputs(t), got.Stdout
		r.Reset(t)
		outcome, got := trace.Run(t, r.Call(t, graphmill), trace.Options{Below: p.Dir})
		if got.Status != 0 || outcome.Calls == 0 {
			t.Fatalf("%s", got)
		}
		s.calls = outcome.Calls
	})
}

// TestKill kills 60 runs in the short form and 2,000 in the long one, one workload after the other. TORTURE_KILL=NUMBER repeats one.
func TestKill(t *testing.T) {
	p := workloads.New(t)
	graphmill := command.Build(t, "graphmill")
	all := subjects(t)
	first, last := 0, proof.Count(t, 60, 2000)
	if only := os.Getenv("TORTURE_KILL"); only != "" {
		n, err := strconv.Atoi(only)
		if err != nil {
			t.Fatalf("found TORTURE_KILL=%q, expected a number", only)
		}
		first, last = n, n+1
	}
	order := proof.Random(t, 0).Perm(len(all)) // so that a short form meets commands of all kinds
	var done, killed, ended, bad atomic.Int64
	t.Cleanup(func() {
		t.Logf("%d runs: %d were killed, %d ended before; %d bad", done.Load(), killed.Load(), ended.Load(), bad.Load())
	})
	t.Run("all", func(t *testing.T) {
		for number := first; number < last; number++ {
			s := all[order[number%len(all)]]
			t.Run(fmt.Sprintf("%d-%s", number, s.workload.Name), func(t *testing.T) {
				t.Parallel()
				s.learn(t, p, graphmill)
				if s.calls == 0 {
					t.Fatal("the run without a kill failed")
				}
				r := p.Prepare(t, s.workload)
				how, was, got := kill(t, p, r, s, graphmill, uint64(number))
				done.Add(1)
				if was {
					killed.Add(1)
				} else {
					ended.Add(1)
				}
				var faults []string
				if s.workload.Python != "" {
					faults = fed(t, r, got, s.stdout)
				}
				if damaged := r.Damaged(t, s.want); damaged != "" {
					faults = append(faults, damaged)
				}
				faults = append(faults, r.Again(t, graphmill, s.want)...)
				if len(faults) > 0 {
					bad.Add(1)
					t.Errorf("%s: %s\nTORTURE_KILL=%d go test -run TestKill ./kills", how, strings.Join(faults, "; "), number)
				}
				r.Remove(t)
			})
		}
	})
}

// kill runs a workload and kills it, once, or up to three times where it resumes. It says how, whether the run was killed, and how the last
// run ended.
func kill(t *testing.T, p *workloads.Place, r *workloads.Run, s *subject, graphmill string, number uint64) (how string, killed bool, got command.Result) {
	t.Helper()
	random := proof.Random(t, 1+number)
	times := 1
	if s.workload.Resumes {
		times += random.IntN(3)
	}
	var hows []string
	for range times {
		c := r.Call(t, graphmill)
		if random.IntN(2) == 0 {
			o := trace.Options{Below: p.Dir, At: 1 + random.Int64N(s.calls), Signal: unix.SIGKILL, After: random.IntN(2) == 0}
			var outcome trace.Outcome
			outcome, got = trace.Run(t, c, o)
			if outcome.Hit == nil {
				hows = append(hows, "not killed")
			} else {
				hows = append(hows, fmt.Sprintf("killed at call %d, %s %s (after it: %v)", o.At, outcome.Hit.Op, outcome.Hit.Path, o.After))
			}
			killed = killed || got.Signal != 0
			continue
		}
		after := time.Duration(random.Int64N(int64(s.took)*11/10 + 1))
		alone := s.workload.Python != "" && random.IntN(2) == 0 // the feed alone, which the client must say
		c.Started = func(pid int) {
			send(t, pid, after, unix.SIGKILL, alone)
		}
		got = c.Run(t)
		hows = append(hows, fmt.Sprintf("killed after %s", after))
		killed = killed || got.Signal != 0
		if got.Late || command.Crashed(got.Stderr) {
			t.Errorf("%s", got)
		}
	}
	return strings.Join(hows, ", then "), killed, got
}

// fed says what is wrong with a client and its feed, of which one or both were killed: the client gets right batches or an error that says
// that the feed ended, and no process is left.
func fed(t *testing.T, r *workloads.Run, got command.Result, stdout string) []string {
	t.Helper()
	var bad []string
	if !strings.HasPrefix(stdout, got.Stdout) || got.Status == 0 && got.Stdout != stdout {
		bad = append(bad, fmt.Sprintf("found other batches: %s", got))
	}
	if got.Late || got.Signal == 0 && got.Status != 0 && !strings.Contains(got.Stderr, "graphmill: the feed ended") {
		bad = append(bad, fmt.Sprintf("found no word that the feed ended: %s", got))
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) { // between two looks, and against a hang
		left := processesIn(r.Dir)
		if len(left) == 0 {
			return bad
		}
		if time.Now().After(end) { // against a hang
			return append(bad, fmt.Sprintf("the processes %v are left", left))
		}
	}
}

// processesIn are the processes whose working folder is dir.
func processesIn(dir string) []int {
	var all []int
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		if at, err := os.Readlink(link); err == nil && at == dir {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link))); err == nil {
				all = append(all, pid)
			}
		}
	}
	return all
}

// send sends a signal to a process after a time, or to the process that it started. A file descriptor of the process makes sure that no
// other process with the same id gets it.
func send(t *testing.T, pid int, after time.Duration, signal unix.Signal, child bool) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Error(err)
		return
	}
	time.AfterFunc(after, func() { // the moment of the signal
		defer unix.Close(fd)
		if !child {
			_ = unix.PidfdSendSignal(fd, signal, nil, 0) // it may have ended
			return
		}
		for _, started := range children(pid) {
			if f, err := unix.PidfdOpen(started, 0); err == nil {
				_ = unix.PidfdSendSignal(f, signal, nil, 0)
				_ = unix.Close(f)
			}
		}
	})
}

// children are the processes that a process started.
func children(pid int) []int {
	var all []int
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range threads {
		b, _ := os.ReadFile(file)
		for _, word := range strings.Fields(string(b)) {
			if child, err := strconv.Atoi(word); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}
