package stages_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) {
	// Connections that wait for the next request end by themselves.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

// unsynced spares the tests the time until files are on the disk.
var unsynced = vfs.Unsynced{FS: vfs.OS}

// walkJob is a job whose function adds up what came along: each task of the first stage gives records of random keys and sizes, and each key of a later one passes the
// sum of its records on to other keys. The last stage notes its sums.
type walkJob struct {
	seed  uint64
	fans  []int   // records that a key of a stage gives
	to    [][]int // the stages that it gives them to
	sizes []int   // of a record, beside its sum
	keys  []int64

	mu   sync.Mutex
	sums map[int64]uint64
	fail func(stage int, key int64) error
}

// at is a random number of a place in the job.
func (w *walkJob) at(x ...uint64) uint64 {
	h := w.seed
	for _, v := range x {
		h = (h ^ v) * 0x9E3779B97F4A7C15
		h ^= h >> 29
	}
	return h
}

func (w *walkJob) do(_ context.Context, stage int, key int64, records func() ([]byte, bool), emit stages.Emit) error {
	if w.fail != nil {
		if err := w.fail(stage, key); err != nil {
			return err
		}
	}
	sum, n := uint64(0), 0
	for b, ok := records(); ok; b, ok = records() {
		if len(b) > 0 {
			sum += binary.LittleEndian.Uint64(b)
		}
		if n++; w.at(uint64(stage), uint64(key), 99)%5 == 0 {
			break // the rest is of no interest
		}
	}
	if w.at(uint64(stage), uint64(key), 99)%5 == 0 {
		sum = 1 // of records in any order
	}
	if stage == len(w.fans) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.sums[key] = sum
		return nil
	}
	buf := []byte{}
	for i := range w.fans[stage] {
		h := w.at(uint64(stage), uint64(key), uint64(i))
		to, at := w.keys[h%uint64(len(w.keys))], w.to[stage][h>>40%uint64(len(w.to[stage]))]
		if h%7 == 0 {
			emit(at, to, nil)
			continue
		}
		buf = binary.LittleEndian.AppendUint64(buf[:0], sum+h)
		buf = append(buf, make([]byte, h>>32%uint64(w.sizes[stage]+1))...)
		emit(at, to, buf) // which copies the bytes
	}
	return nil
}

// drawJob is a random job and its stages.
func drawJob(r *rapid.T) (*walkJob, []stages.Stage) {
	n := rapid.IntRange(1, 4).Draw(r, "stages")
	w := &walkJob{seed: rapid.Uint64().Draw(r, "seed"), sums: map[int64]uint64{}}
	w.keys = rapid.SliceOfNDistinct(rapid.OneOf(rapid.Int64Range(-3, 9), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, 1 << 40})), 1, 12, rapid.ID[int64]).Draw(r, "keys")
	var list []stages.Stage
	for i := range n {
		list = append(list, stages.Stage{Name: fmt.Sprint("s", i), Tasks: rapid.Int64Range(1, 5).Draw(r, "tasks")})
		if i+1 < n {
			w.fans = append(w.fans, rapid.SampledFrom([]int{3, 0, 1, 40}).Draw(r, "fan"))
			w.sizes = append(w.sizes, rapid.SampledFrom([]int{0, 5, 300}).Draw(r, "size"))
			w.to = append(w.to, []int{i + 1})
		}
	}
	for to := 1; to < n; to++ {
		for from := range to {
			if from == to-1 || rapid.Bool().Draw(r, "reads") {
				if list[to].Inputs = append(list[to].Inputs, stages.Input{From: from, For: to}); from < to-1 {
					w.to[from] = append(w.to[from], to)
				}
			}
		}
		if to > 1 && rapid.Bool().Draw(r, "shares") { // the records of the stage before
			list[to].Tasks = list[to-1].Tasks
			list[to].Inputs = append(list[to].Inputs, stages.Input{From: to - 2, For: to - 1})
		}
	}
	return w, list
}

// inMemory runs a job without files.
func inMemory(t testing.TB, w *walkJob, list []stages.Stage) map[int64]uint64 {
	t.Helper()
	made := map[stages.Input]map[int64][][]byte{}
	from := 0
	emit := func(to int, key int64, b []byte) {
		of := stages.Input{From: from, For: to}
		if made[of] == nil {
			made[of] = map[int64][][]byte{}
		}
		made[of][key] = append(made[of][key], slices.Clone(b))
	}
	for task := range list[0].Tasks {
		if err := w.do(t.Context(), 0, task, func() ([]byte, bool) { return nil, false }, emit); err != nil {
			t.Fatal(err)
		}
	}
	for stage := 1; stage < len(list); stage++ {
		from = stage
		byKey := map[int64][][]byte{}
		for _, in := range list[stage].Inputs {
			for key, records := range made[in] {
				byKey[key] = append(byKey[key], records...)
			}
		}
		for key, records := range byKey {
			if err := w.do(t.Context(), stage, key, func() ([]byte, bool) {
				if len(records) == 0 {
					return nil, false
				}
				b := records[0]
				records = records[1:]
				return b, true
			}, emit); err != nil {
				t.Fatal(err)
			}
		}
	}
	return w.sums
}

// tree is the files below a folder and their bytes.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	if err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, dir)] = string(b)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// Any job gives what it gives in memory, with any memory, any number of goroutines, shares of tasks and repeated calls; and its files have the same bytes.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		w, list := drawJob(r)
		want := maps.Clone(inMemory(t, w, list))
		var files map[string]string
		for range 2 {
			clear(w.sums)
			sub, err := os.MkdirTemp(dir, "job")
			if err != nil {
				t.Fatal(err)
			}
			j := &stages.Job{FS: unsynced, Dir: sub, Stages: list, Do: w.do, Memory: rapid.SampledFrom([]int64{0, 1, 700, 5000}).Draw(r, "memory")}
			if err := j.Prepare(); err != nil {
				r.Fatal(err)
			}
			for stage := range list {
				n := rapid.Int64Range(1, 3).Draw(r, "shares")
				for _, index := range rapid.Permutation([]int64{0, 1, 2}).Draw(r, "order") {
					if index >= n {
						continue
					}
					for range rapid.IntRange(1, 2).Draw(r, "calls") {
						if err := j.RunShare(t.Context(), stage, index, n, rapid.IntRange(1, 3).Draw(r, "threads")); err != nil {
							r.Fatal(err)
						}
					}
				}
				for range rapid.IntRange(1, 2).Draw(r, "ends") {
					if err := j.Finish(stage); err != nil {
						r.Fatal(err)
					}
				}
			}
			if !maps.Equal(w.sums, want) {
				r.Fatalf("found %v, expected %v", w.sums, want)
			}
			now := tree(t, sub)
			if files == nil {
				files = now
			}
			if !maps.Equal(files, now) {
				r.Fatalf("found the files %q, expected %q", now, files)
			}
		}
	})
}

// A job that fails at any call of the disk, or in its function, goes on from what is whole.
func TestFaults(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		w, list := drawJob(r)
		want := maps.Clone(inMemory(t, w, list))
		clear(w.sums)
		sub, err := os.MkdirTemp(dir, "job")
		if err != nil {
			t.Fatal(err)
		}
		fault := &vfs.Fault{FS: unsynced, Err: errors.New("a fault")}
		j := &stages.Job{FS: fault, Dir: sub, Stages: list, Do: w.do, Memory: rapid.SampledFrom([]int64{0, 700}).Draw(r, "memory")}
		if err := j.Prepare(); err != nil {
			r.Fatal(err)
		}
		for range rapid.IntRange(0, 6).Draw(r, "faults") {
			fault.FailAt = fault.Calls() + rapid.Int64Range(1, 60).Draw(r, "at")
			if rapid.Bool().Draw(r, "in the function") {
				fault.FailAt = 0
				left := rapid.IntRange(0, 9).Draw(r, "calls of the function")
				w.fail = func(int, int64) error {
					if left--; left < 0 {
						return errors.New("a fault")
					}
					return nil
				}
			}
			if err := j.Run(t.Context(), 1); err != nil && !strings.Contains(err.Error(), "a fault") {
				r.Fatal(err)
			}
			w.fail = nil
		}
		fault.FailAt = 0
		if err := j.Run(t.Context(), 2); err != nil {
			r.Fatal(err)
		}
		if !maps.Equal(w.sums, want) {
			r.Fatalf("found %v, expected %v", w.sums, want)
		}
		for name := range tree(t, sub) {
			if strings.Count(filepath.Base(name), ".") > 0 && !strings.HasSuffix(name, ".whole") {
				r.Errorf("found %s, expected no file of a killed task", name)
			}
		}
	})
}

// A task without its inputs is refused, and so are tasks that the job does not have and records of the last stage.
func TestRefused(t *testing.T) {
	w := &walkJob{fans: []int{3}, to: [][]int{{1}}, sizes: []int{0}, keys: []int64{1}, sums: map[int64]uint64{}}
	j := &stages.Job{FS: unsynced, Dir: t.TempDir(), Stages: []stages.Stage{{Name: "draw", Tasks: 2}, {Name: "sum", Tasks: 1, Inputs: []stages.Input{{From: 0, For: 1}}}}, Do: w.do}
	if err := j.Prepare(); err != nil {
		t.Fatal(err)
	}
	if err := j.Task(t.Context(), 0, 1); err != nil {
		t.Fatal(err)
	}
	if err := j.Task(t.Context(), 1, 0); !errors.Is(err, stages.ErrNotWhole) || !strings.Contains(err.Error(), "task 0 of stage draw") {
		t.Errorf("found %v, expected that task 0 is not whole", err)
	}
	if err := j.Finish(0); !errors.Is(err, stages.ErrNotWhole) {
		t.Errorf("found %v, expected that task 0 is not whole", err)
	}
	for _, at := range [][2]int64{{2, 0}, {-1, 0}, {0, 2}, {0, -1}} {
		if err := j.Task(t.Context(), int(at[0]), at[1]); err == nil || !strings.Contains(err.Error(), "expected one of the 2 stages") {
			t.Errorf("task %v: found %v, expected that it is refused", at, err)
		}
	}
	last := &stages.Job{FS: unsynced, Dir: t.TempDir(), Stages: []stages.Stage{{Name: "alone", Tasks: 1}}, Do: func(_ context.Context, _ int, _ int64, _ func() ([]byte, bool), emit stages.Emit) error {
		emit(1, 1, nil)
		return nil
	}}
	if err := errors.Join(last.Prepare(), last.Task(t.Context(), 0, 0)); err == nil || !strings.Contains(err.Error(), "stage alone: found a record for stage 1") {
		t.Errorf("found %v, expected that the record is refused", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the user left"))
	if err := j.Run(ctx, 2); err == nil {
		t.Error("found no error after the context ended")
	}
}

// A flipped byte of a file of records is an error of the task that reads it.
func TestDamage(t *testing.T) {
	w := &walkJob{seed: 3, fans: []int{20}, to: [][]int{{1}}, sizes: []int{9}, keys: []int64{1, 2, 3}, sums: map[int64]uint64{}}
	for _, memory := range []int64{0, 60} {
		j := &stages.Job{FS: unsynced, Dir: t.TempDir(), Stages: []stages.Stage{{Name: "draw", Tasks: 1}, {Name: "sum", Tasks: 1, Inputs: []stages.Input{{From: 0, For: 1}}}}, Do: w.do, Memory: memory}
		if err := errors.Join(j.Prepare(), j.Task(t.Context(), 0, 0)); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(j.Dir, "00", "00000000")
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range len(whole) + 1 {
			b := slices.Clone(whole)
			if i < len(whole) {
				b[i] ^= 1 << (i % 8)
			} else {
				b = b[:11]
			}
			if i >= len(whole)-4 && i < len(whole) {
				continue // the end has no segment, so that its checksum is of nothing
			}
			if err := os.WriteFile(name, b, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := j.Task(t.Context(), 1, 0); err == nil || !strings.Contains(err.Error(), "found a damaged file of records") {
				t.Fatalf("byte %d: found %v, expected an error that names the file", i, err)
			}
		}
	}
}
