package limits

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/torture/internal/command"
	"github.com/graphmill/graphmill/torture/internal/workloads"
)

// under is a run of the same program with other limits.
func under(c command.Call, limits string) command.Call {
	c.Args = append([]string{"-c", limits + `; exec "$0" "$@"`, c.Program}, c.Args...)
	c.Program = "/bin/sh"
	return c
}

// Every command does its work with 64 open files. Its outputs have the rights that the mask leaves, and files are not programs.
func TestFewFiles(t *testing.T) {
	t.Parallel()
	p := workloads.New(t)
	graphmill := command.Build(t, "graphmill")
	for _, w := range workloads.All() {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			r := p.Prepare(t, w)
			defer r.Remove(t)
			got := under(r.Call(t, graphmill), "umask 027; ulimit -n 64").Run(t)
			if got.Status != 0 && !strings.Contains(got.Stderr, "too many open files") || command.Crashed(got.Stderr) {
				t.Fatalf("found a run that failed otherwise than by the limit:\n%s", got)
			}
			if got.Status != 0 {
				t.Logf("the limit is too low for %s", w.Name)
			}
			copied := map[string]bool{}
			for _, name := range w.Copy {
				copied[filepath.Base(name)] = true
			}
			if err := filepath.WalkDir(r.Dir, func(path string, d fs.DirEntry, err error) error {
				if err != nil || path == r.Dir {
					return err
				}
				if copied[filepath.Base(path)] && filepath.Dir(path) == r.Dir {
					if d.IsDir() {
						return filepath.SkipDir
					}
					return nil
				}
				info, err := d.Info()
				if err != nil || info.Mode()&fs.ModeSymlink != 0 {
					return err
				}
				forbidden := fs.FileMode(0o137)
				if info.IsDir() {
					forbidden = 0o027
				}
				if st, ok := info.Sys().(*syscall.Stat_t); ok && !info.IsDir() && st.Nlink > 1 { // a link to a file of an input, which has one mode
					return nil
				}
				if mode := info.Mode(); mode.Perm()&forbidden != 0 || mode&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
					t.Errorf("%s: found mode %s, expected none of the bits %03o", path, mode, forbidden)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A limit that is too low is an error with its name, and leaves no output that looks whole.
func TestTooFewFiles(t *testing.T) {
	t.Parallel()
	p := workloads.New(t)
	graphmill := command.Build(t, "graphmill")
	said := 0
	for i, w := range workloads.All() {
		if w.Python != "" || !proof.Long(t) && i%4 != 0 {
			continue
		}
		r := p.Prepare(t, w)
		got := under(r.Call(t, graphmill), "ulimit -n 9").Run(t)
		if command.Crashed(got.Stderr) {
			t.Errorf("found a crash:\n%s", got)
		}
		if got.Status != 0 {
			said++
			if !strings.Contains(got.Stderr, "too many open files") {
				t.Errorf("found an error without its reason:\n%s", got)
			}
			for _, name := range r.Visible(t) {
				steps := strings.HasPrefix(w.Name, "quickstart") // what the steps before wrote is left
				if _, err := os.Stat(filepath.Join(r.Dir, name)); err == nil && w.Writes() && !steps {
					t.Errorf("found the output %s of a run that failed:\n%s", name, got)
				}
			}
		}
		r.Remove(t)
	}
	if said == 0 {
		t.Error("found no command that 9 open files are too few for")
	}
}
