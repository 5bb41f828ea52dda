package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/graphmill/graphmill/internal/proof"
)

// TestKills kills processes of jobs without warning, at seeded moments, and gives the same commands again until the output is there: the submitter, which has the
// workers in itself on Prism, and the submitter and the processes of steps. The output has the bytes of an undisturbed run, no task that was whole at a kill is
// done again, and nothing else is left.
func TestKills(t *testing.T) {
	store := shopStore(t)
	jobs := killJobs(t, store)
	kinds := slices.Sorted(maps.Keys(jobs))
	var all sync.Map // counts by kind and runner
	t.Cleanup(func() {
		all.Range(func(key, value any) bool {
			t.Logf("%s: %+v", key, *value.(*killCounts))
			return true
		})
	})
	for seed := range proof.Count(t, 6, 100) {
		kind, runner := kinds[seed%len(kinds)], []string{"steps", "prism"}[seed/len(kinds)%2]
		t.Run(fmt.Sprintf("%d %s on %s", seed, kind, runner), func(t *testing.T) {
			c := &killCounts{}
			r := rand.New(rand.NewPCG(44, uint64(seed)))
			out := filepath.Join(t.TempDir(), "out")
			k := &killRun{t: t, r: r, out: out, args: jobs[kind].args, runner: runner, counts: c}
			k.run(jobs[kind].tasks)
			if got, want := manifest(t, out), manifest(t, jobs[kind].one); got != want {
				t.Errorf("found\n%s\nexpected\n%s", got, want)
			}
			if got, want := filesBelow(t, out), filesBelow(t, jobs[kind].one); !slices.Equal(got, want) {
				t.Errorf("found the files %q, expected %q", got, want)
			}
			onlyOutput(t, filepath.Dir(out), "out")
			sum, _ := all.LoadOrStore(kind+" on "+runner, &killCounts{})
			sum.(*killCounts).join(c)
		})
	}
}

// killJob is a job of TestKills: its command, the output of an undisturbed run, and about the number of its tasks.
type killJob struct {
	args  []string
	one   string
	tasks int
}

func killJobs(t *testing.T, store string) map[string]killJob {
	t.Helper()
	dir := t.TempDir()
	sampling := []string{store, "--fanout", "4,3,2", "--seeds", "user", "--direction", "out", "--scope", "seed", "--format", "tfrecord", "--shards", "3", "--epochs", "4"}
	dispatching := []string{store, "--parts", "5", "--num-hops", "2", "--seed", "3"}
	division := []string{store, "--parts", "3", "--balance-types=false", "--seed", "3"}
	sampled, dispatched, divided := filepath.Join(dir, "sampled"), filepath.Join(dir, "dispatched"), filepath.Join(dir, "divided")
	partitionAlone(t, append(slices.Clone(division), "--out", divided)...)
	alone(t, sampled, sampling...)
	dispatchAlone(t, append(slices.Clone(dispatching), "--out", dispatched)...)
	return map[string]killJob{
		"import":    {[]string{"import", filepath.Dir(store), "--both"}, store, 56},
		"shuffle":   {slices.Concat([]string{"sample"}, sampling, []string{"--method", "shuffle"}), sampled, 64},
		"writers":   {slices.Concat([]string{"sample"}, sampling, []string{"--method", "shuffle", "--array-shards", "3"}), sampled, 67},
		"local":     {slices.Concat([]string{"sample"}, sampling, []string{"--method", "local"}), sampled, 4},
		"dispatch":  {slices.Concat([]string{"dispatch"}, dispatching), dispatched, 22},
		"partition": {slices.Concat([]string{"partition"}, division), divided, 300},
	}
}

// killCounts are the numbers of kills of TestKills, and of the tasks that were whole then.
type killCounts struct {
	Submitters, Steps, Everything int // processes killed, or all of them at once
	Early, Late                   int // kills before the first whole task, and after the end of the job
	Kept, Twice                   int // tasks that were whole at a kill, and those of them that were done again
	Commands                      int // given until the outputs were there
}

func (c *killCounts) join(o *killCounts) {
	c.Submitters, c.Steps, c.Everything = c.Submitters+o.Submitters, c.Steps+o.Steps, c.Everything+o.Everything
	c.Early, c.Late = c.Early+o.Early, c.Late+o.Late
	c.Kept, c.Twice, c.Commands = c.Kept+o.Kept, c.Twice+o.Twice, c.Commands+o.Commands
}

// killRun is one job with its kills.
type killRun struct {
	t      *testing.T
	r      *rand.Rand
	out    string
	args   []string
	runner string
	counts *killCounts

	submitter *process
	steps     []*process
}

func (k *killRun) work() string {
	return filepath.Join(filepath.Dir(k.out), "."+filepath.Base(k.out)+".work")
}

func (k *killRun) submit() {
	k.counts.Commands++
	if k.runner == "prism" {
		k.submitter = start(k.t, slices.Concat(k.args, []string{"--out", k.out, "--parallelism", "3", "--time-limit", "2m"})...)
		return
	}
	submit, _ := stepsOf(k.out, k.args)
	k.submitter = start(k.t, submit...)
}

func (k *killRun) step(i int) {
	_, step := stepsOf(k.out, k.args)
	k.steps[i] = start(k.t, step(i)...)
}

// kill kills a process. ended says that it had ended before.
func (k *killRun) kill(p *process) (ended bool) {
	_ = p.cmd.Process.Kill() // which may have ended
	text, status := p.end()
	if status > 0 && (p != k.submitter || !publishedBefore(k.t, k.out, text)) {
		k.t.Errorf("found status %d before the kill\n%s", status, text)
	}
	return status >= 0
}

// run runs the job. Each of up to three kills waits until a number of tasks is whole, of about tasks, and then for a moment.
func (k *killRun) run(tasks int) {
	k.steps = make([]*process, 3)
	k.submit()
	if k.runner == "steps" {
		for i := range k.steps {
			k.step(i)
		}
	}
	again := newTasksAgain(k.t)
	defer again.close()
	for at := 0; ; {
		at += k.r.IntN(tasks)
		if !k.until(at) {
			break
		}
		time.Sleep(time.Duration(k.r.IntN(30)) * time.Millisecond) // a random moment of a task
		victim := "everything"
		if k.runner == "steps" {
			victim = []string{"submitter", "step", "everything"}[k.r.IntN(3)]
		}
		var done bool
		switch i := k.r.IntN(len(k.steps)); victim {
		case "submitter":
			k.counts.Submitters++
			done = k.kill(k.submitter)
		case "step":
			k.counts.Steps++
			k.kill(k.steps[i])
			k.counts.Kept += again.look(k.work())
			k.step(i)
		default:
			k.counts.Everything++
			done = k.kill(k.submitter)
			for i, s := range k.steps {
				if s != nil {
					k.kill(s)
					k.steps[i] = nil
				}
			}
		}
		if done {
			k.counts.Late++
			k.end(again)
			return
		}
		if victim != "step" {
			kept := again.look(k.work())
			if k.counts.Kept += kept; kept == 0 {
				k.counts.Early++
			}
			k.submit()
			for i, s := range k.steps {
				if k.runner == "steps" && s == nil {
					k.step(i)
				}
			}
		}
		if k.r.IntN(3) == 0 {
			break
		}
	}
	if text, status := k.submitter.end(); status != 0 && !publishedBefore(k.t, k.out, text) {
		k.t.Errorf("submitter: found status %d\n%s", status, text)
	}
	k.end(again)
}

// end ends the steps, of which some may wait for another run, and counts what was done again.
func (k *killRun) end(again *tasksAgain) {
	for _, s := range k.steps {
		if s != nil {
			k.kill(s)
		}
	}
	k.counts.Twice += len(again.names())
	for _, name := range again.names() {
		k.t.Errorf("found that task %s was done again, which was whole at a kill", name)
	}
}

// until waits until a number of tasks have become whole, and is false where the submitter ends before.
func (k *killRun) until(n int) bool {
	seen := map[string]bool{}
	for {
		for _, name := range wholeTasks(k.work()) {
			seen[name] = true
		}
		if len(seen) >= n {
			return true
		}
		select {
		case <-k.submitter.gone:
			return false
		case <-time.After(time.Millisecond): // between two looks
		}
	}
}

var taskName = regexp.MustCompile(`/[0-9]{2}/[0-9]{8}$`)

// wholeTasks are the files of whole tasks in a work folder.
func wholeTasks(work string) (names []string) {
	// What disappears meanwhile is not there.
	_ = filepath.WalkDir(work, func(name string, _ fs.DirEntry, err error) error {
		if err == nil && taskName.MatchString(name) {
			names = append(names, name)
		}
		return nil
	})
	return names
}

// filesBelow are the files of a folder, from it on.
func filesBelow(t *testing.T, dir string) (names []string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		names = append(names, strings.TrimPrefix(name, dir))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return names
}

// tasksAgain finds out which files of tasks that were there get their names a second time. The kernel tells it of each rename in the folders of the tasks.
type tasksAgain struct {
	t   *testing.T
	f   *os.File
	end chan struct{}

	mu      sync.Mutex
	folders map[int32]string // by watch
	watched map[string]bool  // folders
	renames map[string]int   // that the kernel told of, by name
	whole   map[string]int   // the renames by which each became whole that the kernel tells of: 1 where its folder was watched then
	found   map[string]bool
}

func newTasksAgain(t *testing.T) *tasksAgain {
	t.Helper()
	fd, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	a := &tasksAgain{t: t, f: os.NewFile(uintptr(fd), "inotify"), end: make(chan struct{}), folders: map[int32]string{},
		watched: map[string]bool{}, renames: map[string]int{}, whole: map[string]int{}, found: map[string]bool{}}
	go a.read()
	return a
}

// watch has the kernel tell of a folder of tasks, and of its parent, in which it may be made again.
func (a *tasksAgain) watch(dir string) {
	for _, d := range []string{filepath.Dir(dir), dir} {
		raw, err := a.f.SyscallConn()
		if err != nil {
			a.t.Error(err)
			return
		}
		if err := raw.Control(func(fd uintptr) {
			// Where it fails, the folder is gone.
			if watch, err := syscall.InotifyAddWatch(int(fd), d, syscall.IN_MOVED_TO|syscall.IN_CREATE); err == nil {
				a.folders[int32(watch)] = d
			}
		}); err != nil {
			a.t.Error(err)
		}
	}
}

// look takes the files of tasks that are whole now, and returns their number.
func (a *tasksAgain) look(work string) int {
	a.t.Helper()
	names := wholeTasks(work)
	a.mu.Lock()
	defer a.mu.Unlock()
	watched := maps.Clone(a.watched)
	for _, name := range names {
		if _, known := a.whole[name]; known {
			continue
		}
		a.whole[name] = 0
		if dir := filepath.Dir(name); watched[dir] {
			a.whole[name] = 1
		} else if !a.watched[dir] {
			a.watched[dir] = true
			a.watch(dir)
		}
	}
	return len(names)
}

// read takes what the kernel tells, until close.
func (a *tasksAgain) read() {
	defer close(a.end)
	b := make([]byte, 1<<16)
	for {
		n, err := a.f.Read(b)
		if err != nil {
			return
		}
		a.mu.Lock()
		for at := 0; at < n; {
			watch, mask, size := binary.NativeEndian.Uint32(b[at:]), binary.NativeEndian.Uint32(b[at+4:]), binary.NativeEndian.Uint32(b[at+12:])
			from := at + syscall.SizeofInotifyEvent
			at = from + int(size)
			if mask&syscall.IN_Q_OVERFLOW != 0 {
				a.t.Error("found too many events")
			}
			name := filepath.Join(a.folders[int32(watch)], string(bytes.TrimRight(b[from:at], "\x00")))
			switch {
			case mask&syscall.IN_MOVED_TO != 0:
				a.renames[name]++
			case mask&syscall.IN_ISDIR != 0 && a.watched[name]: // of a stage whose tasks were all whole: it stays empty
				a.watch(name)
				for _, name := range wholeTasks(name) {
					if _, known := a.whole[name]; known {
						a.found[name] = true
					}
				}
			}
		}
		a.mu.Unlock()
	}
}

// names are the tasks that were done again.
func (a *tasksAgain) names() (list []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for name, n := range a.whole {
		if a.renames[name] > n || a.found[name] {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

func (a *tasksAgain) close() {
	_ = a.f.Close()
	<-a.end
}
