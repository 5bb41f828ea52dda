package faults

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/torture/internal/command"
	"github.com/graphmill/graphmill/torture/internal/disk"
	"github.com/graphmill/graphmill/torture/internal/trace"
	"github.com/graphmill/graphmill/torture/internal/workloads"
)

// page is the step in which the system caches files.
var page = int64(os.Getpagesize())

// spoiled is a run whose inputs are spoiled, and its undisturbed outputs.
type spoiled struct {
	test      string
	graphmill string
	r         *workloads.Run
	want      workloads.Outputs
	stdout    string
	count     map[string]int
}

// check judges a run of which one input was spoiled, as words say, from byte from on.
func (s *spoiled) check(t *testing.T, got command.Result, path, words string, heal func()) {
	t.Helper()
	heal()
	v := judge(t, s.r, got, broken{op: "map", path: path, errno: "EIO", page: true}, s.graphmill, s.want, s.stdout)
	switch {
	case len(v.bad) > 0:
		s.count["bad"]++
		t.Errorf("%s (%s): %s\n%s\nTORTURE_FAULT=%q go test -run '%s/^%s$' ./faults", path, words, strings.Join(v.bad, "; "), got, words, s.test, s.r.Workload.Name)
	case got.Status == 0:
		s.count["not read: the output is right"]++
	default:
		s.count["named"]++
	}
}

// places are the offsets from which a file of a size is spoiled: its first byte and, in the long form, the page in its middle.
func places(t *testing.T, size int64) []int64 {
	if size <= page || !proof.Long(t) {
		return []int64{0}
	}
	return []int64{0, size / 2 / page * page}
}

// TestDisk lets one input of each run lie on a disk that returns EIO from a byte on, under system calls and under maps.
func TestDisk(t *testing.T) {
	p := workloads.New(t)
	graphmill := command.Build(t, "graphmill")
	real, in := filepath.Join(p.Dir, "real"), filepath.Join(p.Dir, "in")
	if err := errors.Join(os.Rename(in, real), os.Mkdir(in, 0o755)); err != nil {
		t.Fatal(err)
	}
	d := disk.Mount(t, real, in)
	spoil(t, "TestDisk", p, graphmill, 30, func(t *testing.T, s *spoiled) []string {
		d.Heal()
		s.undisturbed(t)
		return d.Opened()
	}, func(t *testing.T, s *spoiled, file string, from int64) {
		call := s.r.Call(t, graphmill) // reads what the run gets on stdin
		d.Fail(file, from)
		got := call.Run(t)
		if !d.Failed() {
			d.Heal() // the next call may read the file for its stdin
			s.count["not met"]++
			return
		}
		s.check(t, got, "../../in/"+file, fmt.Sprintf("%s %d", file, from), d.Heal)
	})
}

// TestCut cuts an input of each run at a page after the run has mapped it, while the run is stopped. Files that are read, and not mapped, are not
// cut: what a shorter one has is another input.
func TestCut(t *testing.T) {
	p := workloads.New(t)
	graphmill := command.Build(t, "graphmill")
	calls := map[string][]int64{} // of the files of one workload
	spoil(t, "TestCut", p, graphmill, 30, func(t *testing.T, s *spoiled) []string {
		s.undisturbed(t)
		s.r.Reset(t)
		clear(calls)
		log := s.r.Dir + ".log"
		if _, got := trace.Run(t, s.r.Call(t, graphmill), trace.Options{Below: filepath.Join(p.Dir, "in"), Log: log}); got.Status != 0 {
			t.Fatalf("%s", got)
		}
		b, err := os.ReadFile(log)
		if err := errors.Join(err, os.Remove(log)); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			f := strings.SplitN(strings.TrimSpace(line), " ", 3)
			rel, err := filepath.Rel(filepath.Join(p.Dir, "in"), f[2])
			number, err2 := strconv.ParseInt(f[0], 10, 64)
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
			if f[1] == "mmap" {
				calls[rel] = append(calls[rel], number)
			}
		}
		var files []string
		for file := range calls {
			if info, err := os.Stat(filepath.Join(p.Dir, "in", file)); err == nil && info.Mode().IsRegular() {
				files = append(files, file)
			}
		}
		slices.Sort(files)
		return files
	}, func(t *testing.T, s *spoiled, file string, from int64) {
		random := proof.Random(t, uint64(from)<<20+uint64(len(file)))
		at := calls[file][random.IntN(len(calls[file]))]
		name := filepath.Join(p.Dir, "in", file)
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		heal := func() {
			if err := os.WriteFile(name, whole, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		defer heal()
		o, got := trace.Run(t, s.r.Call(t, graphmill), trace.Options{Below: filepath.Join(p.Dir, "in"), At: at, Cut: &from, File: name})
		if o.Hit == nil || o.Hit.Path != name {
			s.count["not met"]++
			return
		}
		s.check(t, got, "../../in/"+file, fmt.Sprintf("%s %d", file, from), heal)
	})
}

// undisturbed runs the workload and keeps what it leaves.
func (s *spoiled) undisturbed(t *testing.T) {
	t.Helper()
	whole := s.r.Call(t, s.graphmill).Run(t)
	if whole.Status != 0 {
		t.Fatalf("%s", whole)
	}
	s.want, s.stdout = s.r.Outputs(t), whole.Stdout
}

// spoil spoils the inputs of each workload, one in each run. The short form takes few workloads, and two files of each. TORTURE_FAULT="FILE BYTE"
// with -run TEST/NAME repeats one.
func spoil(t *testing.T, test string, p *workloads.Place, graphmill string, few int, files func(*testing.T, *spoiled) []string, attempt func(*testing.T, *spoiled, string, int64)) {
	count := map[string]int{}
	all := workloads.All()
	only := os.Getenv("TORTURE_FAULT")
	random := proof.Random(t, 0)
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	short := !proof.Long(t) && only == ""
	for _, w := range all {
		if short && (few == 0 || slices.Contains(heavy, w.Name)) {
			continue
		}
		few--
		t.Run(w.Name, func(t *testing.T) {
			r := p.Prepare(t, w)
			defer r.Remove(t)
			s := &spoiled{test: test, graphmill: graphmill, r: r, count: count}
			list := files(t, s)
			if short && len(list) > 2 {
				random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
				list = list[:2]
			}
			for _, file := range list {
				info, err := os.Stat(filepath.Join(p.Dir, "in", file))
				if err != nil {
					t.Fatal(err)
				}
				for _, from := range places(t, info.Size()) {
					if only != "" && only != fmt.Sprintf("%s %d", file, from) {
						continue
					}
					r.Reset(t)
					attempt(t, s, file, from)
				}
			}
		})
	}
	report(t, count)
}
