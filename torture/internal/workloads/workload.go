package workloads

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/graphmill/graphmill/internal/dispatch/transport/sftptest"
	"github.com/graphmill/graphmill/torture/internal/command"
)

// Workload is a run of the command.
type Workload struct {
	Name string
	// Args are the arguments of graphmill. Paths that begin with @ lie in the folder of the inputs.
	Args []string
	// Python, if not empty, is a script that a Python with the client of the repository runs in place of graphmill. It finds
	// the command in GRAPHMILL_COMMAND.
	Python string
	// Stdin is an input that the command reads from its standard input.
	Stdin string
	// Sends says that the run sends its output to a machine, by flags that are added to Args. What is on the machine is no output: without
	// a manifest there, an interrupted delivery leaves files from which the next one continues.
	Sends bool
	// Copy are inputs that are first copied to the working folder, because the command writes into them or beside them.
	Copy []string
	// Out are the files and folders that it writes, in the working folder. Without any the run only reads. One that is also in Copy is
	// there before: the run makes a new version of it, and leaves the old one where it fails.
	Out []string
	// Steps says that the output is whole after each of several steps, of which an interrupted run has made some.
	Steps bool
	// Resumes says that the run keeps what it has when it is interrupted, and goes on in the next run (--resume).
	Resumes bool
	// Varies are files of Out, by their path in the working folder, that differ between two runs by contract.
	Varies []string
}

// inputsFolder is the folder of the inputs as a run sees it.
const inputsFolder = "../../in/"

// Writes reports whether the run writes an output.
func (w Workload) Writes() bool { return len(w.Out) > 0 }

// amends reports whether an output is a new version of an input.
func (w Workload) amends(out string) bool { return slices.Contains(w.Copy, out) }

// Arguments are the arguments of a run: Args with the paths of inputs.
func (w Workload) Arguments() []string {
	args := slices.Clone(w.Args)
	for i, a := range args {
		if name, is := strings.CutPrefix(a, "@"); is {
			args[i] = inputsFolder + name
		} else if flag, name, is := strings.Cut(a, "=@"); is {
			args[i] = flag + "=" + inputsFolder + name
		}
	}
	return args
}

// Place is a folder with the inputs, below which runs have their working folders.
type Place struct {
	Dir     string // has in/ with the inputs, runs/, and machine/ with the disk of the machine
	binary  string // graphmill
	machine *sftptest.Server
}

// Run is a working folder, prepared for one workload.
type Run struct {
	Workload Workload
	Dir      string
	place    *Place
}

// Prepare makes an empty working folder for a workload. Remove it with Remove.
func (p *Place) Prepare(tb testing.TB, w Workload) *Run {
	tb.Helper()
	dir, err := os.MkdirTemp(filepath.Join(p.Dir, "runs"), w.Name+"-")
	if err != nil {
		tb.Fatal(err)
	}
	r := &Run{w, dir, p}
	r.Reset(tb)
	return r
}

// Place is the folder that has the inputs and the working folders of all runs.
func (r *Run) Place() string { return r.place.Dir }

// Reset empties the working folder and copies the inputs of the workload to it.
func (r *Run) Reset(tb testing.TB) {
	tb.Helper()
	if err := os.RemoveAll(r.Dir); err != nil {
		tb.Fatal(err)
	}
	if err := os.Mkdir(r.Dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	for _, name := range r.Workload.Copy {
		if err := copyTree(filepath.Join(r.place.Dir, "in", name), filepath.Join(r.Dir, filepath.Base(name))); err != nil {
			tb.Fatal(err)
		}
	}
}

// Remove removes the working folder.
func (r *Run) Remove(tb testing.TB) {
	tb.Helper()
	if os.Getenv(keep) != "" && tb.Failed() {
		return
	}
	if err := os.RemoveAll(r.Dir); err != nil {
		tb.Fatal(err)
	}
}

// Call is the run of the workload by a graphmill, which may be built with tags.
func (r *Run) Call(tb testing.TB, graphmill string, env ...string) command.Call {
	tb.Helper()
	c := command.Call{Program: graphmill, Args: r.Workload.Arguments(), Dir: r.Dir, Env: env, Limit: time.Minute}
	if r.Workload.Sends {
		m := r.place.machine
		c.Args = append(c.Args, "--ip-config", inputsFolder+"ip.txt", "--remote-dir", "/"+filepath.Base(r.Dir), "--ssh-user", "mill", "--ssh-port", strconv.Itoa(m.Port),
			"--identity", m.Identity, "--known-hosts", m.KnownHosts)
		c.Env = append(c.Env, "SSH_AUTH_SOCK=")
	}
	if r.Workload.Python != "" {
		c.Program, c.Args = python(tb), []string{"-c", r.Workload.Python}
		root, err := command.Root()
		if err != nil {
			tb.Fatal(err)
		}
		c.Env = append(c.Env, "GRAPHMILL_COMMAND="+graphmill, "PYTHONPATH="+filepath.Join(root, "python", "src"), "PYTHONDONTWRITEBYTECODE=1")
	}
	if r.Workload.Stdin != "" {
		b, err := os.ReadFile(filepath.Join(r.place.Dir, "in", r.Workload.Stdin))
		if err != nil {
			tb.Fatal(err)
		}
		c.Stdin = bytes.NewReader(b)
	}
	return c
}

// python is the Python of GRAPHMILL_PYTHON, which has NumPy.
func python(tb testing.TB) string {
	tb.Helper()
	p := os.Getenv("GRAPHMILL_PYTHON")
	if p == "" {
		tb.Fatal("found no GRAPHMILL_PYTHON, expected the path of a Python with NumPy; make torture-short sets it")
	}
	return p
}

func copyTree(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(to, os.DirFS(from))
	}
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o644)
}
