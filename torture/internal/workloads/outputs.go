package workloads

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/torture/internal/command"
)

// Outputs is what a run left: for each file below the outputs its path in the working folder and a digest of its bytes. Reports,
// which have times, are left out, and so are the files of Varies.
type Outputs map[string]string

// Outputs reads what the run left.
func (r *Run) Outputs(tb testing.TB) Outputs {
	tb.Helper()
	o := Outputs{}
	for _, out := range r.Workload.Out {
		r.read(tb, r.Dir, out, o)
	}
	return o
}

// read adds the files of an output in a folder.
func (r *Run) read(tb testing.TB, dir, out string, o Outputs) {
	tb.Helper()
	err := filepath.WalkDir(filepath.Join(dir, out), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if os.IsNotExist(err) {
				return nil
			}
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || strings.HasPrefix(strings.TrimPrefix(d.Name(), "."), "report.") || d.Name() == "history.json" || slices.Contains(r.Workload.Varies, name) {
			return err
		}
		b, err := os.ReadFile(path)
		sum := sha256.Sum256(b)
		o[name] = hex.EncodeToString(sum[:8])
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// Differs says how the outputs differ from others; it is empty where they are equal.
func (o Outputs) Differs(want Outputs) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got, has := o[name]; !has {
			fmt.Fprintf(&b, "%s is missing; ", name)
		} else if got != want[name] {
			fmt.Fprintf(&b, "%s differs; ", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if _, has := want[name]; !has {
			fmt.Fprintf(&b, "%s is too much; ", name)
		}
	}
	return strings.TrimSuffix(b.String(), "; ")
}

// Visible are the outputs of the workload that are there. The old version of one is not.
func (r *Run) Visible(tb testing.TB) []string {
	tb.Helper()
	var there []string
	for _, out := range r.Workload.Out {
		if _, err := os.Lstat(filepath.Join(r.Dir, out)); err == nil && !(r.Workload.amends(out) && r.asBefore(tb, out) == "") {
			there = append(there, out)
		}
	}
	return there
}

// asBefore says how an output differs from the input of that name; it is empty where it is the old version.
func (r *Run) asBefore(tb testing.TB, out string) string {
	tb.Helper()
	was, is := Outputs{}, Outputs{}
	r.read(tb, filepath.Join(r.place.Dir, "in"), out, was)
	r.read(tb, r.Dir, out, is)
	return is.Differs(was)
}

// Beside are the names in the working folder that are neither outputs nor copies of inputs.
func (r *Run) Beside(tb testing.TB) []string {
	tb.Helper()
	entries, err := os.ReadDir(r.Dir)
	if err != nil {
		tb.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if slices.ContainsFunc(r.Workload.Out, func(out string) bool { return out == e.Name() || strings.HasPrefix(out, e.Name()+"/") }) {
			continue
		}
		if slices.ContainsFunc(r.Workload.Copy, func(in string) bool { return filepath.Base(in) == e.Name() }) {
			continue
		}
		names = append(names, e.Name())
	}
	return names
}

// Damaged says why an output that is visible is not whole; it is empty where all are. A folder with a manifest is judged by graphmill
// verify, and all files must have the bytes of want, unless the run makes several steps.
func (r *Run) Damaged(tb testing.TB, want Outputs) string {
	tb.Helper()
	var b strings.Builder
	got := r.Outputs(tb)
	for _, out := range r.Visible(tb) {
		if _, err := os.Lstat(filepath.Join(r.Dir, out, "manifest.json")); err == nil {
			if v := (command.Call{Program: r.place.binary, Args: []string{"verify", out}, Dir: r.Dir}).Run(tb); v.Status != 0 {
				fmt.Fprintf(&b, "%s\n", v)
			}
		}
		if r.Workload.Steps {
			continue
		}
		elsewhere := func(file string, _ string) bool { return file != out && !strings.HasPrefix(file, out+"/") }
		mine, wanted := maps.Clone(got), maps.Clone(want)
		maps.DeleteFunc(mine, elsewhere)
		maps.DeleteFunc(wanted, elsewhere)
		if d := mine.Differs(wanted); d != "" {
			fmt.Fprintf(&b, "%s is there, but %s\n", out, d)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Again runs the workload once more, on what an earlier run left, and says what is wrong with the result: it must have the bytes of want.
func (r *Run) Again(tb testing.TB, graphmill string, want Outputs) []string {
	tb.Helper()
	whole := len(r.Visible(tb)) == len(r.Workload.Out)
	amends := slices.ContainsFunc(r.Workload.Out, r.Workload.amends)
	c := r.Call(tb, graphmill)
	got := c.Run(tb)
	if got.Status != 0 && whole && len(r.Workload.Out) > 0 && (amends || strings.Contains(got.Stderr, "exists")) {
		return nil // it is whole, as Damaged found
	}
	if strings.HasPrefix(r.Workload.Name, "quickstart") && strings.Contains(got.Stderr, "exists") { // several outputs in one folder: --force goes on
		c.Args = append(c.Args, "--force")
		got = c.Run(tb)
	}
	if got.Status != 0 {
		return []string{fmt.Sprintf("the same command again fails: %s", got)}
	}
	var bad []string
	if d := r.Outputs(tb).Differs(want); d != "" {
		bad = append(bad, "the same command again gives other bytes: "+d)
	}
	if beside := r.Beside(tb); len(beside) > 0 {
		bad = append(bad, fmt.Sprintf("the same command again leaves %v", beside))
	}
	return bad
}
