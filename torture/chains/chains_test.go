package chains

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/torture/internal/command"
)

// The number of chains of each kind in the two forms, and of those whose every step is a process of its own.
const (
	shortChains, longChains = 80, 2500
	byCommand               = 50 // one chain of this many
	byScript                = 50 // and one whose script is run afterwards
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(status int) {
		tell()
		os.Exit(status)
	}))
}

// settings sets the number of chains and their random seed, for flags of rapid that are not given.
func settings(t *testing.T) {
	set := func(name, value string) {
		if f := flag.Lookup(name); f.Value.String() == f.DefValue {
			if err := f.Value.Set(value); err != nil {
				t.Fatal(err)
			}
		}
	}
	set("rapid.checks", strconv.Itoa(proof.Count(t, shortChains, longChains)))
	set("rapid.seed", strconv.FormatUint(proof.Seed(t), 10))
	set("rapid.nofailfile", "true")
}

// chain is a run of steps in a folder of its own.
type chain struct {
	t       *rapid.T
	dir     string
	command string // the binary for steps that are processes; "" runs them in process
	lines   [][]string
	count   int // of outputs
	laws    map[string]int
	calls   map[string]int
	script  string // the folder that a failure is written to
}

// out names a new output.
func (c *chain) out(what string) string {
	c.count++
	return filepath.Join(c.dir, fmt.Sprintf("%02d-%s", c.count, what))
}

// threads and memory draw what no result depends on.
func (c *chain) run() option.Run {
	return option.Run{Threads: rapid.SampledFrom([]int{1, 2, 8}).Draw(c.t, "threads"), Memory: rapid.SampledFrom([]int64{0, 0, 160 << 20}).Draw(c.t, "memory")}
}

// holds counts a law that was checked, and fails where problem is not "".
func (c *chain) holds(law, problem string) {
	c.laws[law]++
	if problem != "" {
		c.fail(law, "%s", problem)
	}
}

// fail writes the chain as a script, and ends it. While rapid shrinks a chain, the script is the script of the smallest one.
func (c *chain) fail(law, format string, a ...any) {
	text := fmt.Sprintf(format, a...)
	if err := c.writeScript(law, text); err != nil {
		text += "\n" + err.Error()
	}
	c.t.Fatalf("law %q does not hold: %s\nthe commands are in %s", law, text, filepath.Join(c.script, "run.sh"))
}

// writeScript writes the commands of the chain, and the files that they begin with, into a folder.
func (c *chain) writeScript(law, text string) error {
	if err := os.RemoveAll(c.script); err != nil {
		return err
	}
	if err := os.MkdirAll(c.script, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(c.dir, e.Name())
		if _, err := os.Stat(filepath.Join(path, store.ManifestFile)); err == nil {
			continue // a command makes it
		}
		if strings.HasPrefix(e.Name(), "in-") && e.IsDir() {
			if err := os.CopyFS(filepath.Join(c.script, e.Name()), os.DirFS(path)); err != nil {
				return err
			}
		}
	}
	var b strings.Builder
	b.WriteString("#!/bin/sh\n# Law: " + law + "\n")
	for line := range strings.Lines(text) {
		b.WriteString("# " + line)
	}
	b.WriteString("\nset -x\ncd \"$(dirname \"$0\")\"\n")
	for _, args := range c.lines {
		b.WriteString(quoted(append([]string{"graphmill"}, relative(c.dir, args)...)) + "\n")
	}
	return os.WriteFile(filepath.Join(c.script, "run.sh"), []byte(b.String()), 0o755)
}

// scripted is the law that the script of a chain, which ran in process, gives the same bytes.
func (c *chain) scripted(binary string) {
	const law = "the script of commands gives the bytes of the library"
	kept := c.script
	defer func() { c.script = kept }()
	c.script = filepath.Join(filepath.Dir(c.dir), "script", "chain")
	if err := c.writeScript("none", ""); err != nil {
		c.t.Fatal(err)
	}
	script := c.script
	defer os.RemoveAll(script)
	cmd := exec.Command("sh", "run.sh")
	cmd.Dir = script
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(binary)+string(os.PathListSeparator)+os.Getenv("PATH"))
	said, err := cmd.CombinedOutput()
	c.script = kept
	if err != nil && len(said) == 0 { // the last command may be one that is refused
		c.fail(law, "%v", err)
	}
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		c.t.Fatal(err)
	}
	problem := ""
	for _, e := range entries {
		if _, err := os.Stat(filepath.Join(c.dir, e.Name(), store.ManifestFile)); err != nil {
			continue
		}
		sum, err := store.Sum(vfs.OS, filepath.Join(script, e.Name()))
		if err != nil || sum != c.whole(filepath.Join(c.dir, e.Name())) {
			problem += fmt.Sprintf("%s: found other bytes by the command (%v)\n", e.Name(), err)
		}
	}
	if problem != "" {
		problem += string(said)
	}
	c.holds(law, problem)
}

// content is the checksums of the files of an output apart from those that say how it was made.
func (c *chain) content(dir string) map[string]string {
	m, err := store.ReadManifest(vfs.OS, dir)
	if err != nil {
		c.fail("manifest", "%v", err)
	}
	out := map[string]string{}
	for name, f := range m.Files {
		switch name {
		case "made.json":
			continue
		case store.MetaFile:
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				c.fail("manifest", "%v", err)
			}
			var doc map[string]any
			if err := json.Unmarshal(b, &doc); err != nil {
				c.fail("manifest", "%v", err)
			}
			delete(doc, "made")
			b, _ = json.Marshal(doc)
			out[name] = string(b)
			continue
		}
		out[name] = fmt.Sprint(f)
	}
	return out
}

// different says which files differ between two outputs.
func different(a, b map[string]string, but ...string) string {
	var list []string
	for name := range maps.Keys(a) {
		if a[name] != b[name] && !slices.Contains(but, name) {
			list = append(list, name)
		}
	}
	for name := range maps.Keys(b) {
		if _, ok := a[name]; !ok && !slices.Contains(but, name) {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		return ""
	}
	slices.Sort(list)
	return "the files differ: " + strings.Join(slices.Compact(list), ", ")
}

// equalOutputs is the law that two outputs have the same bytes, apart from how they were made.
func (c *chain) equalOutputs(law, a, b string, but ...string) {
	problem := different(c.content(a), c.content(b), but...)
	if problem != "" {
		problem = filepath.Base(a) + " and " + filepath.Base(b) + ": " + problem
	}
	c.holds(law, problem)
}

// whole is the checksum of an output.
func (c *chain) whole(dir string) string {
	s, err := store.Sum(vfs.OS, dir)
	if err != nil {
		c.fail("manifest", "%v", err)
	}
	return s
}

// again is the law of a call: other threads and memory give the same bytes, so does a rerun that replaces the output,
// and a rerun that does not is refused and changes nothing.
func (c *chain) again(out string, make func(out string, run option.Run) *call) {
	sum := c.whole(out)
	switch rapid.IntRange(0, 3).Draw(c.t, "again") {
	case 1:
		other := c.out("again")
		c.must("same bytes with other threads and memory", make(other, c.run()))
		problem := ""
		if c.whole(other) != sum {
			problem = filepath.Base(out) + " and " + filepath.Base(other) + ": " + different(c.content(out), c.content(other)) + " (or how they were made)"
		}
		c.holds("same bytes with other threads and memory", problem)
	case 2:
		run := c.run()
		run.Overwrite = true
		c.must("a rerun with --force gives the same bytes", make(out, run))
		problem := ""
		if c.whole(out) != sum {
			problem = filepath.Base(out) + ": found other bytes after a rerun"
		}
		c.holds("a rerun with --force gives the same bytes", problem)
	case 3:
		x := c.runs(make(out, c.run()))
		problem := ""
		switch {
		case x.err == nil:
			problem = "found no error of a run whose output exists"
		case c.command == "" && !errors.Is(x.err, graphmill.ErrExists):
			problem = fmt.Sprintf("found %v, expected that the output exists", x.err)
		case c.whole(out) != sum:
			problem = "found other bytes after a run that was refused"
		}
		c.holds("a rerun without --force is refused, and changes nothing", problem)
	}
}

var totals = struct {
	sync.Mutex
	laws, calls   map[string]int
	chains, steps int
}{laws: map[string]int{}, calls: map[string]int{}}

// tell prints what was checked.
func tell() {
	if totals.chains == 0 {
		return
	}
	laws := 0
	for _, law := range slices.Sorted(maps.Keys(totals.laws)) {
		fmt.Printf("%9d  %s\n", totals.laws[law], law)
		laws += totals.laws[law]
	}
	fmt.Printf("%d chains, %d commands %v, %d laws held %d times\n", totals.chains, totals.steps, totals.calls, len(totals.laws), laws)
}

// folder is where chains work: in memory where that is possible.
func folder(t *testing.T) string {
	base := ""
	if _, err := os.Stat("/dev/shm"); err == nil {
		base = "/dev/shm"
	}
	dir, err := os.MkdirTemp(base, "graphmill-chains-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// check runs chains of a kind.
func check(t *testing.T, kind string, walk func(c *chain)) {
	top := folder(t)
	script := filepath.Join(os.TempDir(), "graphmill-chain-"+kind)
	bin := command.Build(t, "graphmill")
	totals.Lock() // the flags of rapid belong to all kinds
	settings(t)
	totals.Unlock()
	n, began := 0, time.Now()
	rapid.Check(t, func(rt *rapid.T) {
		n++
		c := &chain{t: rt, dir: filepath.Join(top, fmt.Sprint(n)), laws: map[string]int{}, calls: map[string]int{}, script: script}
		if err := os.Mkdir(c.dir, 0o755); err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(c.dir)
		if sometimes(rt, byCommand, "by the command") {
			c.command = bin
		}
		walk(c)
		nothingLeft(c)
		if c.command == "" && sometimes(rt, byScript, "by script") {
			c.scripted(bin)
		}
		totals.Lock()
		defer totals.Unlock()
		totals.chains++
		totals.steps += len(c.lines)
		for law, n := range c.laws {
			totals.laws[law] += n
		}
		for verb, n := range c.calls {
			totals.calls[verb] += n
		}
	})
	t.Logf("%s: %d chains in %s", kind, n, time.Since(began).Round(time.Second))
}

// nothingLeft is the law that steps leave nothing beside their outputs.
func nothingLeft(c *chain) {
	var left []string
	_ = filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), ".") && d.Name() != "." {
			left = append(left, path)
		}
		return err
	})
	problem := ""
	if left != nil {
		problem = "found " + strings.Join(left, ", ")
	}
	c.holds("nothing is left beside the outputs", problem)
}
