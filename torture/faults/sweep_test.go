package faults

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/torture/internal/command"
	"github.com/graphmill/graphmill/torture/internal/workloads"
)

// fault is a fault that a run shall meet.
type fault struct {
	at int64 // the number of the call, or of the page
	broken
}

// String is the fault as GRAPHMILL_FAULT and TORTURE_FAULT have it.
func (f fault) String() string {
	s := fmt.Sprintf("at=%d errno=%s", f.at, f.errno)
	if f.page {
		s = fmt.Sprintf("page=%d", f.at)
	}
	if f.short {
		s += " short"
	}
	return s
}

// parseFault reads what String writes.
func parseFault(t *testing.T, words string) fault {
	t.Helper()
	f := fault{broken: broken{errno: "EIO"}}
	for _, w := range strings.Fields(words) {
		key, value, _ := strings.Cut(w, "=")
		var err error
		switch key {
		case "at", "page":
			f.page = key == "page"
			f.at, err = strconv.ParseInt(value, 10, 64)
		case "errno":
			f.errno = value
		case "short":
			f.short = true
		default:
			err = fmt.Errorf("found %q, expected at=, page=, errno= or short", w)
		}
		if err != nil {
			t.Fatalf("TORTURE_FAULT: %v", err)
		}
	}
	return f
}

// sweep fails the calls of all workloads, one in each run.
type sweep struct {
	test string
	// record runs a workload without a fault and writes its calls to a file.
	record func(t *testing.T, r *workloads.Run, log string) command.Result
	// attempt runs a workload with a fault. It returns what was met, if anything was.
	attempt func(t *testing.T, r *workloads.Run, f fault, log string) (got command.Result, met *broken)
	// The short form takes that many workloads, and faults of each.
	workloads, each int
}

// heavy are workloads that take long and run no code that others do not; the short form leaves them out.
var heavy = []string{"import-unigraph", "quickstart"}

func (s sweep) run(t *testing.T) {
	p := workloads.New(t)
	graphmill := command.Build(t, "graphmill")
	var mu sync.Mutex
	tried := map[string]bool{} // in the short form
	count := map[string]int{}
	t.Cleanup(func() { report(t, count) })
	all := workloads.All()
	only := os.Getenv("TORTURE_FAULT")
	short := !proof.Long(t) && only == ""
	taken := 0
	for _, number := range proof.Random(t, 0).Perm(len(all)) {
		w := all[number]
		if short && (slices.Contains(heavy, w.Name) || taken == s.workloads) {
			continue
		}
		taken++
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			r := p.Prepare(t, w)
			log := r.Dir + ".log"
			defer func() {
				r.Remove(t)
				_ = os.Remove(log)
			}()
			whole := r.Call(t, graphmill).Run(t)
			if whole.Status != 0 {
				t.Fatalf("%s", whole)
			}
			want := r.Outputs(t)
			r.Reset(t)
			if recorded := s.record(t, r, log); recorded.Status != 0 {
				t.Fatalf("%s", recorded)
			}
			faults := s.faults(t, log)
			if only != "" {
				faults = []fault{parseFault(t, only)}
			} else if short {
				random := proof.Random(t, uint64(number))
				random.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
				mu.Lock()
				of := 0
				faults = slices.DeleteFunc(faults, func(f fault) bool {
					what := fmt.Sprint(w.Args[:min(1, len(w.Args))], f.op, kind(f.path))
					if tried[what] || of == s.each {
						return true
					}
					tried[what] = true
					of++
					return false
				})
				mu.Unlock()
			}
			for _, f := range faults {
				r.Reset(t)
				if err := os.Remove(log); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
				got, met := s.attempt(t, r, f, log)
				mu.Lock()
				if met == nil {
					// Threads make calls in another order, and a few calls are made only in some orders.
					count["not met"]++
					mu.Unlock()
					continue
				}
				mu.Unlock()
				met.errno, met.page, met.short = f.errno, f.page, f.short
				v := judge(t, r, got, *met, graphmill, want, whole.Stdout)
				mu.Lock()
				switch {
				case len(v.bad) > 0:
					count["bad"]++
				case v.harmless != "":
					count["harmless: "+v.harmless]++
				default:
					count["named"]++
				}
				mu.Unlock()
				if len(v.bad) > 0 {
					t.Errorf("%s %s (%s): %s\n%s\nTORTURE_FAULT=%q go test -run '%s/^%s$' ./faults", met.op, met.path, f, strings.Join(v.bad, "; "), got, f, s.test, w.Name)
				}
			}
		})
	}
}

// faults are the faults of a run whose calls were recorded, a line for each: NUMBER OP PATH, or map FIRST PAGES PATH.
func (s sweep) faults(t *testing.T, log string) []fault {
	t.Helper()
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var all []fault
	for line := range strings.Lines(string(b)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 4)
		if f[0] == "map" {
			first, err1 := strconv.ParseInt(f[1], 10, 64)
			pages, err2 := strconv.ParseInt(f[2], 10, 64)
			if err1 != nil || err2 != nil {
				t.Fatalf("found %q in the log", line)
			}
			for page := range pages {
				all = append(all, fault{first + page, broken{op: "map", path: f[3], page: true, errno: "EIO"}})
			}
			continue
		}
		at, err := strconv.ParseInt(f[0], 10, 64)
		if err != nil {
			t.Fatalf("found %q in the log", line)
		}
		b := broken{op: f[1], path: strings.Join(f[2:], " "), errno: "EIO"}
		all = append(all, fault{at, b})
		if b.op == "read" || b.op == "write" {
			b.short = true
			all = append(all, fault{at, b})
			b.short = false
		}
		for _, b.errno = range errnos(b.op) {
			all = append(all, fault{at, b})
		}
	}
	return all
}

// errnos are the errors, besides EIO, that a call is failed with.
func errnos(op string) []string {
	switch op {
	case "create", "mkdir", "write", "sync", "rename", "truncate", "temp", "exchange", "reopen":
		return []string{"ENOSPC"}
	case "syncdir":
		return []string{"ENOSPC", "EINVAL"}
	case "close":
		return []string{"ENOSPC"}
	case "lock":
		return []string{"ENOLCK"}
	case "open", "stat", "lstat", "readdir":
		return []string{"EACCES", "EMFILE"}
	}
	return nil
}

// readLog is the call that failed, if one did, with its path as a run in dir has it.
func readLog(t *testing.T, log string) *broken {
	t.Helper()
	b, err := os.ReadFile(log)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	if line == "" {
		return nil
	}
	f := strings.SplitN(line, " ", 4)
	if f[0] == "map" {
		return &broken{op: "map", path: f[3]}
	}
	return &broken{op: f[1], path: strings.Join(f[2:], " ")}
}

var digits = regexp.MustCompile(`[0-9]+`)

// kind returns the name of the kind of a file: whether it is an input, and its ending. A file that all outputs have is a kind of its own,
// under its name.
func kind(path string) string {
	base := digits.ReplaceAllString(filepath.Base(path), "#")
	if strings.Contains(path, "/in/") {
		return "in " + filepath.Ext(base)
	}
	if ext := filepath.Ext(base); ext != ".partial" && ext != "" {
		return ext
	}
	return base
}

// report prints how many runs ended how.
func report(t *testing.T, count map[string]int) {
	for _, name := range slices.Sorted(maps.Keys(count)) {
		t.Logf("%7d %s", count[name], name)
	}
}
