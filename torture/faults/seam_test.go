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

	"github.com/graphmill/graphmill/torture/internal/command"
	"github.com/graphmill/graphmill/torture/internal/form"
	"github.com/graphmill/graphmill/torture/internal/workloads"
)

// seamCase is a run of a workload with a fault.
type seamCase struct {
	words string // of GRAPHMILL_FAULT
	broken
}

// TestSeam fails calls of the file system of package vfs and pages of its maps, one in each run. The long form fails every call with every
// error that it can have, the short form one call of each command, operation and kind of file.
//
// TORTURE_FAULT="at=12 errno=EIO" with -run TestSeam/NAME repeats one.
func TestSeam(t *testing.T) {
	p := workloads.New(t)
	graphmill, faulty := command.Build(t, "graphmill"), command.Build(t, "graphmill", "faults")
	var mu sync.Mutex
	seen := map[string]bool{} // in the short form: what was tried
	count := map[string]int{}
	t.Cleanup(func() {
		for _, name := range slices.Sorted(maps.Keys(count)) {
			t.Logf("%7d %s", count[name], name)
		}
	})
	for number, w := range workloads.All() {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			r := p.Prepare(t, w)
			whole := r.Call(t, graphmill).Run(t)
			if whole.Status != 0 {
				t.Fatalf("%s", whole)
			}
			want := r.Outputs(t)
			r.Reset(t)
			log := r.Dir + ".log"
			recorded := r.Call(t, faulty, "GRAPHMILL_FAULT=log="+log).Run(t)
			if recorded.Status != 0 {
				t.Fatalf("%s", recorded)
			}
			cases := seamCases(t, log, r.Dir)
			if words := os.Getenv("TORTURE_FAULT"); words != "" {
				cases = []seamCase{{words: words}}
			} else if !form.Long(t) {
				random := form.Random(t, uint64(number))
				random.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
				mu.Lock()
				cases = slices.DeleteFunc(cases, func(c seamCase) bool {
					key := w.Args[:min(1, len(w.Args))]
					what := fmt.Sprint(key, c.op, kind(c.path), c.page, c.errno == "EIO")
					defer func() { seen[what] = true }()
					return seen[what]
				})
				mu.Unlock()
			}
			for _, c := range cases {
				r.Reset(t)
				if err := os.Remove(log); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
				got := r.Call(t, faulty, "GRAPHMILL_FAULT="+c.words+" log="+log).Run(t)
				hit, met := readLog(t, log, r.Dir)
				if !met {
					// Threads make calls in another order, and a few of them are made only in some orders.
					mu.Lock()
					count["not met"]++
					mu.Unlock()
					continue
				}
				hit.errno, hit.page = errno(c.words), strings.HasPrefix(c.words, "page=")
				v := judge(t, r, got, hit, graphmill, want, whole.Stdout)
				mu.Lock()
				switch {
				case len(v.bad) > 0:
					count["bad"]++
				case v.harmless != "":
					count["harmless: "+v.harmless]++
				case got.Status == 0:
					count["page not read"]++
				default:
					count["named"]++
				}
				mu.Unlock()
				if len(v.bad) > 0 {
					t.Errorf("%s %s (%s): %s\n%s\nTORTURE_FAULT=%q go test -run 'TestSeam/^%s$' ./faults", hit.op, hit.path, c.words, strings.Join(v.bad, "; "), got, c.words, w.Name)
				}
			}
			r.Remove(t)
			_ = os.Remove(log)
		})
	}
}

// writing are the operations that can meet a full disk.
var writing = []string{"create", "temp", "mkdir", "write", "sync", "syncdir", "close", "rename", "truncate", "exchange", "reopen"}

// seamCases are the faults of a run whose calls were recorded.
func seamCases(t *testing.T, log, dir string) []seamCase {
	t.Helper()
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) == 0 { // a run without files
		return nil
	}
	var cases []seamCase
	add := func(words, op, path string, page bool) {
		cases = append(cases, seamCase{words, broken{op, path, errno(words), page}})
	}
	for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		f := strings.SplitN(line, " ", 4)
		if f[0] == "map" {
			first, err1 := strconv.Atoi(f[1])
			pages, err2 := strconv.Atoi(f[2])
			if err1 != nil || err2 != nil {
				t.Fatalf("found %q in the log", line)
			}
			for page := range pages {
				add(fmt.Sprintf("page=%d", first+page), "map", f[3], true)
			}
			continue
		}
		at, op := "at="+f[0], f[1]
		path := strings.Join(f[2:], " ")
		add(at+" errno=EIO", op, path, false)
		if slices.Contains(writing, op) {
			add(at+" errno=ENOSPC", op, path, false)
		}
		switch op {
		case "read", "write":
			add(at+" errno=EIO short", op, path, false)
		case "lock":
			add(at+" errno=ENOLCK", op, path, false)
		case "syncdir":
			add(at+" errno=EINVAL", op, path, false)
		case "open", "stat", "lstat", "readdir":
			add(at+" errno=EACCES", op, path, false)
			add(at+" errno=EMFILE", op, path, false)
		}
	}
	return cases
}

// readLog is the call that failed, if one did.
func readLog(t *testing.T, log, dir string) (broken, bool) {
	t.Helper()
	b, err := os.ReadFile(log)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	if line == "" {
		return broken{}, false
	}
	f := strings.SplitN(line, " ", 4)
	if f[0] == "map" {
		return broken{op: "map", path: f[3]}, true
	}
	path := strings.Join(f[2:], " ")
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsAbs(path) {
		path = rel
	}
	return broken{op: f[1], path: path}, true
}

func errno(words string) string {
	for _, w := range strings.Fields(words) {
		if e, is := strings.CutPrefix(w, "errno="); is {
			return e
		}
	}
	return "EIO"
}

var digits = regexp.MustCompile(`[0-9]+`)

// kind is what files of one kind have in common: input, output or neither, and the name without numbers; of arrays only the ending.
func kind(path string) string {
	base := digits.ReplaceAllString(filepath.Base(path), "#")
	if filepath.Ext(base) == ".npy" {
		base = ".npy"
	}
	if strings.HasPrefix(path, "../../in/") {
		return "in " + filepath.Ext(base)
	}
	return base
}
