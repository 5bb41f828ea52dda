package kills

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/torture/internal/command"
	"github.com/graphmill/graphmill/torture/internal/trace"
	"github.com/graphmill/graphmill/torture/internal/workloads"
)

// signals are those that end a run in order: from a user, a scheduler, and a terminal that was closed.
var signals = []unix.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP}

// TestSignals sends 45 signals in the short form, and 600 in the long one, at random times and at chosen system calls. Status 0 comes with the whole output. Status 130
// comes with the words that nothing was left behind, and nothing is there, or that the run can be resumed, and it goes on; or with the
// words that the output is whole.
func TestSignals(t *testing.T) {
	p := workloads.New(t)
	graphmill := command.Build(t, "graphmill")
	all := subjects(t)
	all = slices.DeleteFunc(all, func(s *subject) bool { return s.workload.Python != "" })
	order := proof.Random(t, 1<<32).Perm(len(all))
	var mu sync.Mutex
	count := map[string]int{}
	t.Cleanup(func() {
		for _, name := range slices.Sorted(maps.Keys(count)) {
			t.Logf("%6d %s", count[name], name)
		}
	})
	for number := range proof.Count(t, 45, 600) {
		s := all[order[number%len(all)]]
		signal := signals[number%len(signals)]
		t.Run(fmt.Sprintf("%d-%s", number, s.workload.Name), func(t *testing.T) {
			t.Parallel()
			s.learn(t, p, graphmill)
			r := p.Prepare(t, s.workload)
			random := proof.Random(t, 1<<32+1+uint64(number))
			c := r.Call(t, graphmill)
			var got command.Result
			var when string
			if random.IntN(2) == 0 {
				after := time.Duration(random.Int64N(int64(s.took) + 1))
				when = after.String()
				c.Started = func(pid int) { send(t, pid, after, signal, false) }
				got = c.Run(t)
			} else {
				var o trace.Outcome
				o, got = trace.Run(t, c, trace.Options{Below: p.Dir, At: 1 + random.Int64N(s.calls), Signal: signal, After: random.IntN(2) == 0})
				if o.Hit != nil {
					when = fmt.Sprintf("call %d, %s %s", o.Hit.Number, o.Hit.Op, o.Hit.Path)
				}
			}
			what, bad := ended(t, r, got, s.want)
			bad = append(bad, r.Again(t, graphmill, s.want)...)
			mu.Lock()
			count[what]++
			if len(bad) > 0 {
				count["bad"]++
			}
			mu.Unlock()
			if len(bad) > 0 {
				t.Errorf("%s after %s: %s\n%s\nTORTURE_COUNT=%d go test -run 'TestSignals/^%d-' ./kills", signal, when, strings.Join(bad, "; "), got, number+1, number)
			}
			r.Remove(t)
		})
	}
}

// ended says how a run ended after a signal, and what is wrong with that.
func ended(t *testing.T, r *workloads.Run, got command.Result, want workloads.Outputs) (what string, bad []string) {
	t.Helper()
	visible, beside := r.Visible(t), r.Beside(t)
	whole := len(visible) == len(r.Workload.Out)
	if damaged := r.Damaged(t, want); damaged != "" {
		bad = append(bad, damaged)
	}
	words := got.Stdout + got.Stderr
	switch {
	case got.Signal != 0: // before the program takes signals, or after its work
		what = "ended by the signal"
		if len(visible) > 0 && !whole || len(beside) > 0 {
			bad = append(bad, fmt.Sprintf("ended by the signal itself, and %v %v are there", visible, beside))
		}
	case got.Status == 0:
		what = "done"
		if !whole || len(beside) > 0 {
			bad = append(bad, fmt.Sprintf("status 0, and only %v of %v are there, and %v beside", visible, r.Workload.Out, beside))
		}
	case got.Status != 130:
		what = "other status"
		bad = append(bad, fmt.Sprintf("found status %d, expected 0 or 130", got.Status))
	case strings.Contains(words, "nothing was left behind"):
		what = "interrupted, nothing left"
		steps := strings.Contains(words, "appended ") // and each of them is whole in the store
		if len(visible) > 0 && !steps || len(beside) > 0 {
			bad = append(bad, fmt.Sprintf("nothing was left behind, it says, and %v %v are there", visible, beside))
		}
	case strings.Contains(words, "--resume"):
		what = "interrupted, resumable"
		if whole || len(beside) == 0 {
			bad = append(bad, fmt.Sprintf("it can be resumed, it says, and %v %v are there", visible, beside))
		}
	case strings.Contains(words, "what the steps before wrote is left in out"): // quickstart
		what = "interrupted, steps left"
		if _, err := os.Stat(filepath.Join(r.Dir, "out")); err != nil || len(beside) > 0 {
			bad = append(bad, fmt.Sprintf("steps are left, it says, and %v %v are there", visible, beside))
		}
	default:
		what = "interrupted, output whole"
		if !whole || len(beside) > 0 {
			bad = append(bad, fmt.Sprintf("found %v and %v, and no word about them", visible, beside))
		}
	}
	return what, bad
}
